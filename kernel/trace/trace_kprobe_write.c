// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: what one write deletes, and what it adds to enabled events.
 *
 * The one idea: a line only puts aside what it deletes, and what it adds is disarmed.
 * Whoever ends the write has the engine arm all that was added, and let go of all
 * that was deleted, in a call each.
 *
 * All is under event_mutex; kprobe_mutex is taken inside, by the engine.
 */
#define pr_fmt(fmt) "trace_kprobe: " fmt

#include <linux/cleanup.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "trace_kprobe.h"
#include "trace_probe_batch.h"

/* Deleted, and not unregistered yet; by trace_kprobe.pending. */
static LIST_HEAD(retired_probes);

/* Of events that were enabled, and not armed yet; by trace_kprobe.pending. */
static LIST_HEAD(added_probes);

/*
 * The task that writes several lines, and how deep it is in that.  Others may
 * meanwhile write as well: what they add is armed at once, and what they find put
 * aside they clear away with theirs.
 */
static struct task_struct *writer;
static unsigned int writer_depth;

/* Added */

/**
 * trace_kprobe_arm_later() - a probe was added to an event that may be enabled
 * @tk:	the probe, registered; if this task is in a write it is disarmed
 *
 * Context: event_mutex held.
 */
void trace_kprobe_arm_later(struct trace_kprobe *tk)
{
	lockdep_assert_held(&event_mutex);
	if (trace_kprobe_in_write() && trace_probe_is_enabled(&tk->tp))
		list_add_tail(&tk->pending, &added_probes);
}

/* One that cannot be armed is not to be there; unless it is the last of its event. */
static int arm_or_delete(struct trace_kprobe *tk)
{
	LIST_HEAD(alone);
	int err;

	list_move(&tk->pending, &alone);
	err = trace_kprobes_arm(&alone, TRACE_KPROBE_ALONE);
	list_del_init(&tk->pending);
	if (!err)
		return 0;
	pr_warn("Could not arm one more probe of %s/%s, at %s (%d)\n",
		trace_probe_group_name(&tk->tp), trace_probe_name(&tk->tp),
		tk->symbol ?: "an address", err);
	tk->devent.ops->free(&tk->devent);
	return err;
}

/* In one transaction; if that fails, line by line.  The first error. */
static int arm_added(void)
{
	int err, first = 0;

	guard(mutex)(&event_mutex);
	if (!trace_kprobes_arm(&added_probes, TRACE_KPROBE_ALONE))
		while (!list_empty(&added_probes))
			list_del_init(added_probes.next);
	while (!list_empty(&added_probes)) {
		err = arm_or_delete(list_first_entry(&added_probes, struct trace_kprobe,
						     pending));
		first = first ?: err;
	}
	return first;
}

/* Deleted */

static void unregister_retired(void)
{
	struct trace_kprobe_member *m;
	struct trace_kprobe_set set;
	struct trace_kprobe *tk;
	unsigned int n = 0;

	list_for_each_entry(tk, &retired_probes, pending)
		n += trace_kprobe_members(tk)->nr;

	trace_kprobe_set_init(&set, n);
	list_for_each_entry(tk, &retired_probes, pending) {
		for_each_member(m, trace_kprobe_members(tk)) {
			if (m->registered)
				trace_kprobe_set_add(&set, m, trace_kprobe_unregister);
			WRITE_ONCE(m->registered, false);
		}
	}
	trace_kprobe_set_call(&set, trace_kprobe_unregister);
	trace_kprobe_set_free(&set);
}

/*
 * perf, and BPF with it, look at the probes and their symbols without event_mutex.
 * They have a reference to the event, which is taken under event_mutex.
 */
static void free_retired(void)
{
	struct trace_kprobe *tk, *next;

	unregister_retired();
	list_for_each_entry_safe(tk, next, &retired_probes, pending) {
		list_del_init(&tk->pending);
		if (trace_event_dyn_busy(trace_probe_event_call(&tk->tp)))
			continue;
		trace_probe_unlink(&tk->tp);
		trace_kprobe_free(tk);
	}
}

/**
 * trace_kprobe_retire() - unregister a deleted probe, and free it
 * @tk:	the probe; nothing leads to it but its event, and that only if the event has
 *	other probes
 *
 * When this task is inside of guard(trace_kprobe_write) that happens at its end, for
 * all that was deleted in it.  If someone has a reference to the event then, @tk is
 * freed with the next of its probes that is deleted, or with the last.
 *
 * Context: event_mutex held; may sleep.
 */
void trace_kprobe_retire(struct trace_kprobe *tk)
{
	struct trace_kprobe *other;

	lockdep_assert_held(&event_mutex);
	/* It may have been added in the same write, and not be armed yet. */
	list_del_init(&tk->pending);
	for_each_trace_kprobe_of(other, &tk->tp)
		if (other->retired && list_empty(&other->pending))
			list_add_tail(&other->pending, &retired_probes);
	if (!trace_kprobe_in_write())
		free_retired();
}

/* The write */

/**
 * trace_kprobe_in_write() - does this task add or delete several probes?
 *
 * Context: any.
 * Return: true inside of guard(trace_kprobe_write), but in no more than one task.
 */
bool trace_kprobe_in_write(void)
{
	return READ_ONCE(writer) == current;
}

/**
 * trace_kprobe_write_begin() - this task is going to delete events, or to add some
 *
 * One task at a time can have its changes collected.  Others do not wait for it.
 *
 * Context: any that trace_kprobe_write_end() is called in later.
 */
void trace_kprobe_write_begin(void)
{
	struct task_struct *none = NULL;

	if (trace_kprobe_in_write() || try_cmpxchg(&writer, &none, current))
		writer_depth++;
}

/**
 * trace_kprobe_write_end() - undo trace_kprobe_write_begin()
 *
 * The outermost unregisters all that was deleted, in one transaction and one grace
 * period, and frees it; and empties the buffers that may have entries of it.
 *
 * Context: event_mutex not held; may sleep.
 */
void trace_kprobe_write_end(void)
{
	if (!trace_kprobe_in_write() || --writer_depth)
		return;

	mutex_lock(&event_mutex);
	free_retired();
	trace_kprobe_reset_kept();
	/* The next writer finds our depth, which is 0. */
	smp_store_release(&writer, NULL);
	mutex_unlock(&event_mutex);
}

/**
 * trace_kprobe_run_commands() - trace_parse_run_command(), as one write
 * @file:	what is written to
 * @buffer:	the lines
 * @count:	their length
 * @ppos:	as the file operation's
 * @createfn:	runs a line
 *
 * When it returns, the places that its lines have added to enabled events are armed.
 * One that cannot be armed is deleted again; the others stay.
 *
 * Context: may sleep.
 * Return: @count; or what the line that failed has returned, or the first place that
 * could not be armed, as enable_kprobes().
 */
ssize_t trace_kprobe_run_commands(struct file *file, const char __user *buffer,
				  size_t count, loff_t *ppos,
				  int (*createfn)(const char *))
{
	ssize_t ret;
	int err;

	guard(trace_kprobe_write)();
	ret = trace_parse_run_command(file, buffer, count, ppos, createfn);
	err = trace_kprobe_in_write() ? arm_added() : 0;
	return ret < 0 ? ret : err ?: ret;
}
