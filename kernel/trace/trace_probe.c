// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: the life of an event, and of the probes behind it.
 *
 * The one idea: an event is made for one probe, and lives as long as one probe
 * belongs to it.  A probe that is appended to another one's event lets go of its
 * own.
 *
 * Whether a name is in use is asked of a table, since to ask all events would make
 * each one dearer than the one before.  The table has the events registered here,
 * of whatever kind; others are asked only in a group that has any, which the count
 * in its directory tells.
 *
 * All is under event_mutex, or works on what nobody else has seen yet.
 */
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "trace_probe.h"

/**
 * struct trace_probe_group - a group in which there are probe events
 * @node:	in the table of groups
 * @nr_events:	how many registered probe events are in it; it lives while there are
 * @name:	its name
 */
struct trace_probe_group {
	struct hlist_node	node;
	unsigned int		nr_events;
	char			name[];
};

/* Registered probe events by group and name, and their groups; event_mutex. */
static DEFINE_HASHTABLE(events, 10);
static DEFINE_HASHTABLE(groups, 6);

static u32 group_hash(const char *group)
{
	return full_name_hash(groups, group, strlen(group));
}

static u32 event_hash(const char *group, const char *event)
{
	return group_hash(group) ^ full_name_hash(events, event, strlen(event));
}

static struct trace_probe_group *find_group(const char *name)
{
	struct trace_probe_group *group;

	hash_for_each_possible(groups, group, node, group_hash(name)) {
		if (!strcmp(group->name, name))
			return group;
	}
	return NULL;
}

static int get_group(const char *name)
{
	struct trace_probe_group *group = find_group(name);
	size_t size = strlen(name) + 1;

	if (!group) {
		group = kzalloc(struct_size(group, name, size), GFP_KERNEL);
		if (!group)
			return -ENOMEM;
		memcpy(group->name, name, size);
		hash_add(groups, &group->node, group_hash(name));
	}
	group->nr_events++;
	return 0;
}

/* Undo get_group(). */
static void put_group(const char *name)
{
	struct trace_probe_group *group = find_group(name);

	if (WARN_ON_ONCE(!group) || --group->nr_events)
		return;
	hash_del(&group->node);
	kfree(group);
}

static bool is_named(struct trace_event_call *call, const char *group, const char *event)
{
	return !strcmp(trace_event_name(call), event) &&
	       call->class->system && !strcmp(call->class->system, group);
}

/* Is a probe event registered under this name? */
static bool used_by_probes(const char *group, const char *event)
{
	struct trace_probe_event *tpe;

	hash_for_each_possible(events, tpe, node, event_hash(group, event)) {
		if (is_named(&tpe->call, group, event))
			return true;
	}
	return false;
}

/* May there be events in the group that are no probe events? */
static bool has_others(const char *name)
{
	struct trace_array *tr = top_trace_array();
	struct trace_probe_group *group = find_group(name);
	struct trace_subsystem_dir *dir;

	/* Before tracefs is set up there are events, and no directories. */
	if (!tr || !tr->event_dir)
		return true;

	list_for_each_entry(dir, &tr->systems, list) {
		if (!strcmp(dir->subsystem->name, name))
			return !group || dir->nr_events != group->nr_events;
	}
	return false;
}

static bool used_by_others(const char *group, const char *event)
{
	struct trace_event_call *call;

	if (!has_others(group))
		return false;
	list_for_each_entry(call, &ftrace_events, list) {
		if (is_named(call, group, event))
			return true;
	}
	return false;
}

static struct trace_probe_event *alloc_event(const char *name, const char *group,
					     bool with_filter)
{
	struct trace_probe_event *tpe;

	tpe = kzalloc(struct_size(tpe, filter, with_filter), GFP_KERNEL);
	if (!tpe)
		return NULL;
	INIT_LIST_HEAD(&tpe->files);
	INIT_LIST_HEAD(&tpe->probes);
	INIT_LIST_HEAD(&tpe->class.fields);
	tpe->grace = get_completed_synchronize_rcu();
	tpe->call.class = &tpe->class;
	tpe->call.name = kstrdup(name, GFP_KERNEL);
	tpe->class.system = kstrdup(group, GFP_KERNEL);
	return tpe;
}

static void free_event(struct trace_probe_event *tpe)
{
	kfree(tpe->class.system);
	kfree(tpe->call.name);
	kfree(tpe->call.print_fmt);
	kfree(tpe);
}

/**
 * trace_probe_init() - make a probe, and an event of its own
 * @tp:		the probe; zeroed, with room for @nargs arguments
 * @event:	the event's name, which is a good one
 * @group:	its group's
 * @alloc_filter: whether it is a uprobe event, which has a filter
 * @nargs:	how many arguments will be parsed
 *
 * Context: process context.
 * Return: 0; or -ENOMEM, and trace_probe_cleanup() may be called or not.
 */
int trace_probe_init(struct trace_probe *tp, const char *event,
		     const char *group, bool alloc_filter, int nargs)
{
	struct trace_probe_event *tpe = alloc_event(event, group, alloc_filter);

	if (!tpe)
		return -ENOMEM;
	if (!tpe->call.name || !tpe->class.system) {
		free_event(tpe);
		return -ENOMEM;
	}
	tp->event = tpe;
	tp->nr_args = nargs;
	list_add(&tp->list, &tpe->probes);
	return 0;
}

/*
 * An event's fields are named by the strings of its first probe.  Those of the next
 * say the same.
 */
static void hand_over_names(struct trace_probe *from, struct trace_probe *to)
{
	unsigned int i;

	for (i = 0; i < from->nr_args; i++) {
		swap(from->args[i].name, to->args[i].name);
		swap(from->args[i].fmt, to->args[i].fmt);
	}
}

/* It goes, and its event stays. */
static void leave_event(struct trace_probe *tp)
{
	/* Entries are printed by what the first probe has, under this alone. */
	down_write(&trace_event_sem);
	if (list_is_first(&tp->list, &tp->event->probes))
		hand_over_names(tp, list_next_entry(tp, list));
	list_del_init(&tp->list);
	up_write(&trace_event_sem);
}

/**
 * trace_probe_unlink() - take a probe out of its event
 * @tp:	the probe; no hit looks at it any more
 *
 * With its last probe goes the event, which is not registered any more then.
 */
void trace_probe_unlink(struct trace_probe *tp)
{
	if (trace_probe_has_sibling(tp)) {
		leave_event(tp);
	} else {
		list_del_init(&tp->list);
		free_event(tp->event);
	}
	tp->event = NULL;
}

/**
 * trace_probe_cleanup() - free what a probe has
 * @tp:	the probe; it need not be complete, nor be in an event
 */
void trace_probe_cleanup(struct trace_probe *tp)
{
	struct probe_arg *arg;

	/* First: whoever stays in its event may take over something. */
	if (tp->event)
		trace_probe_unlink(tp);
	for (arg = tp->args; arg < tp->args + tp->nr_args; arg++)
		traceprobe_free_probe_arg(arg);
	if (tp->entry_arg)
		kfree(tp->entry_arg->code);
	kfree(tp->entry_arg);
}

/**
 * trace_probe_append() - put a probe behind an existing event
 * @tp:	the probe; its own event is not registered, and freed
 * @to:	a probe of the event
 *
 * Return: 0; -EBUSY if @tp's own event is another probe's, too.
 */
int trace_probe_append(struct trace_probe *tp, struct trace_probe *to)
{
	if (trace_probe_has_sibling(tp))
		return -EBUSY;
	trace_probe_unlink(tp);
	tp->event = to->event;
	/* Who has a reference to the event may be looking. */
	list_add_tail_rcu(&tp->list, &to->event->probes);
	return 0;
}

/*
 * Tracing does not say when it had no memory to show an event in an instance, and
 * an event without files cannot be enabled.
 */
static bool is_shown(struct trace_event_call *call)
{
	struct trace_event_file *newest;
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		/* An instance may want none of ours; before there is tracefs, files wait. */
		if (tr->system_names || !tr->event_dir)
			continue;
		newest = list_first_entry_or_null(&tr->events, struct trace_event_file, list);
		if (!newest || newest->event_call != call || !newest->ei)
			return false;
	}
	return true;
}

/* Adds it to the events of tracing, and to ours. */
static int add_event(struct trace_probe_event *tpe)
{
	const char *group = tpe->class.system;
	int err = get_group(group);

	if (err)
		return err;
	err = -ENODEV;
	if (!register_trace_event(&tpe->call.event))
		goto put;
	err = trace_add_event_call(&tpe->call);
	if (err)
		goto unregister;
	if (!is_shown(&tpe->call)) {
		trace_remove_event_call(&tpe->call);
		err = -ENOMEM;
		goto put;
	}
	hash_add(events, &tpe->node, event_hash(group, tpe->call.name));
	return 0;

unregister:
	unregister_trace_event(&tpe->call.event);
put:
	put_group(group);
	return err;
}

/**
 * trace_probe_register_event_call() - show an event to the rest of tracing
 * @tp:	the first probe of the event; class and functions are set
 *
 * Context: process context, under event_mutex.
 * Return: 0; -EEXIST if the name is in use, -ENODEV if tracing has no number
 * left for it, -ENOMEM.
 */
int trace_probe_register_event_call(struct trace_probe *tp)
{
	const char *group = trace_probe_group_name(tp);
	const char *event = trace_probe_name(tp);

	if (used_by_probes(group, event) || used_by_others(group, event))
		return -EEXIST;
	return add_event(tp->event);
}

/**
 * trace_probe_unregister_event_call() - take a probe's event away from tracing
 * @tp:	a probe of the event
 *
 * Context: process context, under event_mutex.  Waits for a grace period if it
 * was disabled so shortly before that a hit may still write to its files.
 * Return: 0; -EBUSY if it is enabled, or perf holds it.
 */
int trace_probe_unregister_event_call(struct trace_probe *tp)
{
	struct trace_probe_event *tpe = tp->event;
	int err;

	if (!trace_probe_is_enabled(tp))
		cond_synchronize_rcu(tpe->grace);
	err = trace_remove_event_call(&tpe->call);
	if (err)
		return err;
	hash_del(&tpe->node);
	put_group(tpe->class.system);
	return 0;
}

/**
 * trace_probe_add_file() - have an event's hits written to a trace instance
 * @tp:		a probe of the event
 * @file:	the event's file in the instance
 *
 * Context: process context, under event_mutex.  The probes are armed by the
 * caller.
 * Return: 0, or -ENOMEM.
 */
int trace_probe_add_file(struct trace_probe *tp, struct trace_event_file *file)
{
	struct event_file_link *link = kmalloc(sizeof(*link), GFP_KERNEL);

	if (link) {
		*link = (struct event_file_link) { .file = file };
		list_add_tail_rcu(&link->list, &tp->event->files);
		trace_probe_set_flag(tp, TP_FLAG_TRACE);
	}
	return link ? 0 : -ENOMEM;
}

/**
 * trace_probe_get_file_link() - an event's link to a trace instance
 * @tp:		a probe of the event
 * @file:	the event's file in the instance
 *
 * Context: under event_mutex.
 * Return: the link, or NULL if the event is not enabled there.
 */
struct event_file_link *trace_probe_get_file_link(struct trace_probe *tp,
						  struct trace_event_file *file)
{
	struct event_file_link *link, *found = NULL;

	trace_probe_for_each_link(link, tp)
		found = link->file == file ? link : found;
	return found;
}

/**
 * trace_probe_remove_file() - no longer write an event's hits to a trace instance
 * @tp:		a probe of the event
 * @file:	the event's file in the instance
 *
 * It does not wait for the hits that have seen @file: who frees that waits, which
 * is tracing for an instance and trace_probe_unregister_event_call() for an event.
 *
 * Context: process context, under event_mutex.
 * Return: 0, or -ENOENT if the event is not enabled there.
 */
int trace_probe_remove_file(struct trace_probe *tp,
			    struct trace_event_file *file)
{
	struct event_file_link *link = trace_probe_get_file_link(tp, file);

	if (!link)
		return -ENOENT;
	list_del_rcu(&link->list);
	if (list_empty(&tp->event->files))
		trace_probe_clear_flag(tp, TP_FLAG_TRACE);
	tp->event->grace = get_state_synchronize_rcu();
	kfree_rcu(link, rcu);
	return 0;
}

static bool same_type(const struct probe_arg *a, const struct probe_arg *b)
{
	return a->type == b->type && a->count == b->count && !strcmp(a->name, b->name);
}

/**
 * trace_probe_compare_arg_type() - can two probes stand behind one event?
 * @a:	a probe
 * @b:	the other
 *
 * Return: 0 if their arguments have the same names and types; or a number from 1:
 * of the first that only one of them has; else of the first that differs.
 */
int trace_probe_compare_arg_type(struct trace_probe *a, struct trace_probe *b)
{
	unsigned int i;

	if (a->nr_args != b->nr_args)
		return min(a->nr_args, b->nr_args) + 1;
	for (i = 0; i < a->nr_args; i++) {
		if (!same_type(&a->args[i], &b->args[i]))
			return i + 1;
	}
	return 0;
}

/* Is @text "NAME=TEXT" of the argument? */
static bool is_arg(const struct probe_arg *arg, const char *text)
{
	size_t len = strlen(arg->name);

	return !strncmp(text, arg->name, len) && text[len] == '=' &&
	       !strcmp(text + len + 1, arg->comm);
}

/**
 * trace_probe_match_command_args() - is this the probe that a command means?
 * @tp:		the probe
 * @argc:	how many arguments the command gives
 * @argv:	them, as the list of events shows them
 *
 * Return: true if @tp's arguments begin with these.
 */
bool trace_probe_match_command_args(struct trace_probe *tp,
				    int argc, const char **argv)
{
	int i;

	if (argc > (int)tp->nr_args)
		return false;
	for (i = 0; i < argc; i++) {
		if (!is_arg(&tp->args[i], argv[i]))
			return false;
	}
	return true;
}

/**
 * trace_probe_create() - call a parser with the words of a command
 * @raw_command: the command
 * @createfn:	the parser
 *
 * Context: process context, under dyn_event_ops_mutex.
 * Return: what @createfn returns, 0 for an empty command, or -ENOMEM.
 */
int trace_probe_create(const char *raw_command, int (*createfn)(int, const char **))
{
	int err, argc;
	char **words = argv_split(GFP_KERNEL, raw_command, &argc);

	if (!words)
		return -ENOMEM;
	err = argc ? createfn(argc, (const char **)words) : 0;
	/* Not every parser does it, and the words go. */
	trace_probe_log_clear();
	argv_free(words);
	return err;
}
