// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: the events that there are.
 *
 * The one idea: an event is found by its name in a table, however many there are.
 * The list of dynamic events, which all kinds share, gives the order in which they
 * are shown.
 */
#define pr_fmt(fmt) "trace_kprobe: " fmt

#include <linux/cleanup.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_kprobe.h"

/*
 * Every probe that is not deleted, by the group and name of its event; under
 * event_mutex.  Thousands of events are no rarity, tens of thousands are.
 */
static DEFINE_HASHTABLE(probes_by_name, 12);

/**
 * trace_kprobe_alloc() - make a probe without members
 * @group:	of its event
 * @event:	its event's name
 * @nargs:	room for so many arguments
 * @is_return:	a return probe
 *
 * Context: may sleep.
 * Return: the probe, or an ERR_PTR(): -ENOMEM, or as trace_probe_init().
 */
struct trace_kprobe *trace_kprobe_alloc(const char *group, const char *event,
					int nargs, bool is_return)
{
	struct trace_kprobe *tk;
	int err = -ENOMEM;

	tk = kzalloc(struct_size(tk, tp.args, nargs), GFP_KERNEL);
	if (!tk)
		return ERR_PTR(-ENOMEM);
	INIT_HLIST_NODE(&tk->node);
	INIT_LIST_HEAD(&tk->pending);
	dyn_event_init(&tk->devent, &trace_kprobe_ops);
	tk->is_return = is_return;

	tk->nhit = alloc_percpu(unsigned long);
	if (tk->nhit)
		err = trace_probe_init(&tk->tp, event, group, false, nargs);
	if (!err)
		return tk;
	free_percpu(tk->nhit);
	kfree(tk);
	return ERR_PTR(err);
}

/**
 * trace_kprobe_free() - undo trace_kprobe_alloc()
 * @tk:	the probe, in no list and with no registered member; or NULL
 *
 * Context: may sleep.
 */
void trace_kprobe_free(struct trace_kprobe *tk)
{
	if (!tk)
		return;
	trace_probe_cleanup(&tk->tp);
	kvfree(trace_kprobe_members(tk));
	kfree(tk->symbol);
	free_percpu(tk->nhit);
	kfree(tk);
}

static u32 name_hash(const char *group, const char *event)
{
	return jhash(event, strlen(event), jhash(group, strlen(group), 0));
}

static bool is_named(struct trace_kprobe *tk, const char *group, const char *event)
{
	return !strcmp(trace_probe_name(&tk->tp), event) &&
	       !strcmp(trace_probe_group_name(&tk->tp), group);
}

/**
 * trace_kprobe_find() - a probe of the event of a name
 * @event:	its name
 * @group:	its group
 *
 * Context: event_mutex held.
 * Return: one of the event's probes that are not deleted, or NULL.
 */
struct trace_kprobe *trace_kprobe_find(const char *event, const char *group)
{
	struct trace_kprobe *tk;

	hash_for_each_possible(probes_by_name, tk, node, name_hash(group, event))
		if (is_named(tk, group, event))
			return tk;
	return NULL;
}

/* @tk is registered: show it. */
static void list_add_probe(struct trace_kprobe *tk)
{
	dyn_event_add(&tk->devent, trace_probe_event_call(&tk->tp));
	hash_add(probes_by_name, &tk->node,
		 name_hash(trace_probe_group_name(&tk->tp), trace_probe_name(&tk->tp)));
}

static void list_del_probe(struct trace_kprobe *tk)
{
	hash_del(&tk->node);
	dyn_event_remove(&tk->devent);
}

/* Registering */

/* As definitions see it: the same text is the same place. */
static bool same_place(const struct trace_kprobe *a, const struct trace_kprobe *b)
{
	if (!a->symbol || !b->symbol)
		return a->symbol == b->symbol &&
		       trace_kprobe_only(a)->addr == trace_kprobe_only(b)->addr;
	return a->offset == b->offset && !strcmp(a->symbol, b->symbol);
}

/* Names and types are known to agree. */
static bool same_arguments(const struct trace_probe *a, const struct trace_probe *b)
{
	unsigned int i;

	for (i = 0; i < a->nr_args; i++)
		if (strcmp(a->args[i].comm, b->args[i].comm))
			return false;
	return true;
}

static bool has_same_probe(struct trace_kprobe *of, const struct trace_kprobe *tk)
{
	struct trace_kprobe *other;

	for_each_trace_kprobe_of(other, &of->tp)
		if (!other->retired && same_place(other, tk) &&
		    same_arguments(&other->tp, &tk->tp))
			return true;
	return false;
}

static int refuse_existing(int index, int error)
{
	trace_probe_log_set_index(index);
	__trace_probe_log_err(0, error);
	return -EEXIST;
}

/* May @tk be one more probe of the event of @to? */
static int check_append(struct trace_kprobe *tk, struct trace_kprobe *to)
{
	int arg;

	if (tk->is_return != to->is_return)
		return refuse_existing(0, TP_ERR_DIFF_PROBE_TYPE);
	arg = trace_probe_compare_arg_type(&tk->tp, &to->tp);
	if (arg)	/* counted from 1, and behind the place */
		return refuse_existing(arg + 1, TP_ERR_DIFF_ARG_TYPE);
	if (has_same_probe(to, tk))
		return refuse_existing(0, TP_ERR_SAME_PROBE);
	return 0;
}

/* Members of a module that is not loaded can wait. */
static int register_now_or_later(struct trace_kprobe *tk)
{
	int err = trace_kprobe_register_members(tk);

	if (err != -ENOENT || !trace_kprobe_awaits_module(tk->symbol))
		return err;
	pr_warn("This probe might be able to register after target module is loaded. Continue.\n");
	return 0;
}

static int register_further(struct trace_kprobe *tk, struct trace_kprobe *to)
{
	int err;

	err = check_append(tk, to) ?: trace_probe_append(&tk->tp, &to->tp);
	if (err)
		return err;
	err = register_now_or_later(tk);
	if (err)
		trace_probe_unlink(&tk->tp);
	return err;
}

/* Tracing does not look at what defining the fields returns. */
static bool has_all_fields(struct trace_kprobe *tk)
{
	unsigned int in_head = tk->is_return ? 2 : 1;

	return list_count_nodes(&trace_probe_event_call(&tk->tp)->class->fields) ==
	       in_head + tk->tp.nr_args;
}

static int register_first(struct trace_kprobe *tk)
{
	int err;

	trace_kprobe_init_call(tk);
	err = trace_probe_register_event_call(&tk->tp);
	if (err == -EEXIST)
		return refuse_existing(0, TP_ERR_EVENT_EXIST);
	if (err) {
		pr_warn("Failed to register probe event(%d)\n", err);
		return err;
	}
	err = has_all_fields(tk) ? register_now_or_later(tk) : -ENOMEM;
	if (err)
		trace_probe_unregister_event_call(&tk->tp);
	return err;
}

/**
 * trace_kprobe_register() - make a definition an event, or part of one
 * @tk:	the definition, complete
 *
 * If there is an event of its name, of the same kind and with the same arguments,
 * it is one more probe of that.  Says in the error log what is wrong with the name.
 *
 * Context: dyn_event_ops_mutex held, event_mutex not; may sleep.
 * Return: 0; -EEXIST: the name is taken; else as trace_kprobe_register_members().
 */
int trace_kprobe_register(struct trace_kprobe *tk)
{
	struct trace_kprobe *old;
	int err;

	guard(mutex)(&event_mutex);
	old = trace_kprobe_find(trace_probe_name(&tk->tp), trace_probe_group_name(&tk->tp));
	err = old ? register_further(tk, old) : register_first(tk);
	if (err)
		return err;
	list_add_probe(tk);
	trace_kprobe_arm_later(tk);
	return 0;
}

/* Counts */

/**
 * trace_kprobe_hits() - how often were a probe's members hit?
 * @tk:	the probe
 *
 * Context: any.
 * Return: the hits that were handled, whether anyone recorded them or not.
 */
unsigned long trace_kprobe_hits(struct trace_kprobe *tk)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(tk->nhit, cpu));
	return sum;
}

/**
 * trace_kprobe_misses() - how many hits were not handled?
 * @tk:	the probe
 *
 * A hit within another hit is missed by the entry, which the engine counts in the
 * kprobe; a call for which there is no instance is missed by the return probe, and
 * its entry was none.  So nothing is counted twice.
 *
 * Context: event_mutex or RCU held.
 * Return: the misses, also of members whose module is gone; without event_mutex some
 * may be counted twice while it goes.
 */
unsigned long trace_kprobe_misses(struct trace_kprobe *tk)
{
	struct trace_kprobe_members *set = trace_kprobe_members(tk);
	unsigned long sum = READ_ONCE(tk->lost);
	struct trace_kprobe_member *m;

	for_each_member(m, set) {
		if (!READ_ONCE(m->registered))
			continue;
		sum += READ_ONCE(m->rp.kp.nmissed);
		if (tk->is_return)
			sum += READ_ONCE(m->rp.nmissed);
	}
	return sum;
}

/* What dynamic events ask of ours */

static int trace_kprobe_create(const char *raw_command)
{
	return trace_probe_create(raw_command, trace_kprobe_parse);
}

/* The place as it is shown: "SYM", "SYM+offs", or an address, hashed. */
static int place_text(const struct trace_kprobe *tk, char *buf, size_t size)
{
	if (!tk->symbol)
		return snprintf(buf, size, "0x%p", trace_kprobe_only(tk)->addr);
	if (tk->offset)
		return snprintf(buf, size, "%s+%lu", tk->symbol, tk->offset);
	return snprintf(buf, size, "%s", tk->symbol);
}

#define PLACE_TEXT_LEN	(MODULE_NAME_LEN + KSYM_NAME_LEN + 24)

/**
 * trace_kprobe_show() - write a definition, so that it can be read again
 * @m:	where to
 * @ev:	a kprobe event
 *
 * Context: event_mutex held.
 * Return: 0.
 */
int trace_kprobe_show(struct seq_file *m, struct dyn_event *ev)
{
	struct trace_kprobe *tk = to_trace_kprobe(ev);
	char place[PLACE_TEXT_LEN];
	unsigned int i;

	seq_putc(m, tk->is_return ? 'r' : 'p');
	if (tk->maxactive)
		seq_printf(m, "%d", tk->maxactive);
	/* Who may not know an address sees what stands for it. */
	if (!tk->symbol && kallsyms_show_value(m->file->f_cred))
		snprintf(place, sizeof(place), "0x%lx",
			 (unsigned long)trace_kprobe_only(tk)->addr);
	else
		place_text(tk, place, sizeof(place));
	seq_printf(m, ":%s/%s %s", trace_probe_group_name(&tk->tp),
		   trace_probe_name(&tk->tp), place);
	for (i = 0; i < tk->tp.nr_args; i++)
		seq_printf(m, " %s=%s", tk->tp.args[i].name, tk->tp.args[i].comm);
	seq_putc(m, '\n');
	return 0;
}

static bool trace_kprobe_is_busy(struct dyn_event *ev)
{
	return trace_probe_is_enabled(&to_trace_kprobe(ev)->tp);
}

/* Is @tk the last of its event that is not deleted? */
static bool is_last(struct trace_kprobe *tk)
{
	struct trace_kprobe *other;

	for_each_trace_kprobe_of(other, &tk->tp)
		if (other != tk && !other->retired)
			return false;
	return true;
}

static int remove_event(struct trace_kprobe *tk)
{
	if (trace_probe_is_enabled(&tk->tp) ||
	    trace_event_dyn_busy(trace_probe_event_call(&tk->tp)) ||
	    trace_probe_unregister_event_call(&tk->tp))
		return -EBUSY;
	return 0;
}

static int trace_kprobe_release(struct dyn_event *ev)
{
	struct trace_kprobe *tk = to_trace_kprobe(ev);
	int err = is_last(tk) ? remove_event(tk) : 0;

	if (err)
		return err;
	list_del_probe(tk);
	WRITE_ONCE(tk->retired, true);
	trace_kprobe_retire(tk);
	return 0;
}

/* An address is shown hashed, and may be given as it is. */
static bool is_place(const struct trace_kprobe *tk, const char *text)
{
	char place[PLACE_TEXT_LEN];
	unsigned long addr;

	place_text(tk, place, sizeof(place));
	if (!strcmp(text, place))
		return true;
	return !tk->symbol && !kstrtoul(text, 0, &addr) &&
	       addr == (unsigned long)trace_kprobe_only(tk)->addr;
}

static bool trace_kprobe_match(const char *system, const char *event,
			       int argc, const char **argv, struct dyn_event *ev)
{
	struct trace_kprobe *tk = to_trace_kprobe(ev);

	if (*event && strcmp(event, trace_probe_name(&tk->tp)))
		return false;
	if (system && strcmp(system, trace_probe_group_name(&tk->tp)))
		return false;
	if (!argc)
		return true;
	return is_place(tk, argv[0]) &&
	       trace_probe_match_command_args(&tk->tp, argc - 1, argv + 1);
}

struct dyn_event_operations trace_kprobe_ops = {
	.match		= trace_kprobe_match,
	.show		= trace_kprobe_show,
	.create		= trace_kprobe_create,
	.is_busy	= trace_kprobe_is_busy,
	.free		= trace_kprobe_release,
};

/* Early, so that definitions may come from the kernel before there are files. */
static int __init trace_kprobe_init_early(void)
{
	return dyn_event_register(&trace_kprobe_ops) ?: trace_kprobe_module_init();
}
core_initcall(trace_kprobe_init_early);
