// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: enabling and disabling them, whole sets at once.
 *
 * The one idea: what is wanted and what is are two things.  Enabling and disabling
 * say what is wanted of an event; then the engine is given, in one call, all the
 * members for which that is not so yet.  In a batch the second step waits for the
 * commit.
 *
 * All is under event_mutex; kprobe_mutex is taken inside, by the engine.
 */
#include <linux/cleanup.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/rcupdate.h>
#include <linux/trace_events.h>

#include "trace_kprobe.h"
#include "trace_probe_batch.h"

/* Open batches, inside one another; and what the outermost is to do. */
static unsigned int batch_depth;
static LIST_HEAD(batch_events);		/* by trace_kprobe.pending of the one that stands for it */
static struct trace_array *batch_tr;	/* the instance that they were enabled in */
static bool batch_disabled;		/* hits may still be under way */

/* Both for one event; if it was in the open batch, that has less to do. */
static int apply_now(struct trace_kprobe *tk)
{
	LIST_HEAD(alone);
	int err;

	list_move(&tk->pending, &alone);
	trace_kprobes_disarm(&alone);
	err = trace_kprobes_arm(&alone, TRACE_KPROBE_EVENT);
	list_del_init(&tk->pending);
	return err;
}

/*
 * The base believes that it has enabled this event in the batch, and it cannot be
 * armed.  A trigger may have put the file in soft mode since, in which it would not
 * be disabled.
 */
static void take_back(struct trace_kprobe *tk)
{
	struct event_file_link *link, *next;
	bool soft;

	list_for_each_entry_safe(link, next, &tk->tp.event->files, list) {
		struct trace_event_file *file = link->file;

		if (file->tr != batch_tr)
			continue;
		/* As the base says it. */
		pr_info("event trace: Could not enable event %s\n", trace_probe_name(&tk->tp));
		soft = test_and_clear_bit(EVENT_FILE_FL_SOFT_MODE_BIT, &file->flags);
		trace_event_enable_disable(file, 0, 0);
		if (soft)
			set_bit(EVENT_FILE_FL_SOFT_MODE_BIT, &file->flags);
		return;
	}
}

/* Apart from each other, since together they could not be armed.  The first error. */
static int arm_halves(struct list_head *events, unsigned int n)
{
	struct list_head *cut = events;
	LIST_HEAD(half);
	int err, second;
	unsigned int i;

	err = trace_kprobes_arm(events, TRACE_KPROBE_EVENT);
	if (!err)
		return 0;
	if (n == 1) {
		take_back(list_first_entry(events, struct trace_kprobe, pending));
		return err;
	}

	for (i = 0; i < n / 2; i++)
		cut = cut->next;
	list_cut_position(&half, events, cut);
	err = arm_halves(&half, n / 2);
	second = arm_halves(events, n - n / 2);
	list_splice(&half, events);
	return err ?: second;
}

/* Keep @tk, which stands for its event, for the commit, if it may wait. */
static bool batch_takes(struct trace_kprobe *tk, struct trace_event_file *file)
{
	/* perf waits for what it enables, and so does who has set soft mode. */
	if (!batch_depth || !file || file->flags & EVENT_FILE_FL_SOFT_MODE)
		return false;
	if (batch_tr && batch_tr != file->tr)
		return false;
	batch_tr = file->tr;
	/* From where it was added to an enabled event, too: the commit does more. */
	list_move_tail(&tk->pending, &batch_events);
	return true;
}

/* What is wanted of an event: the file, or perf if there is none. */
static int want(struct trace_probe *tp, struct trace_event_file *file)
{
	if (file)
		return trace_probe_add_file(tp, file);
	trace_probe_set_flag(tp, TP_FLAG_PROFILE);
	return 0;
}

static int unwant(struct trace_probe *tp, struct trace_event_file *file)
{
	if (file)
		return trace_probe_remove_file(tp, file);
	trace_probe_clear_flag(tp, TP_FLAG_PROFILE);
	return 0;
}

/**
 * trace_kprobe_enable() - an instance, or perf, wants an event's hits
 * @call:	the event
 * @file:	the instance's event file; NULL for perf
 *
 * When it returns 0 the event is armed, or will be at the commit of the open batch;
 * an error of the commit takes the file's enabled state back.
 *
 * Context: event_mutex held; may sleep.
 * Return: 0; -ENODEV: the event has no probes, or ftrace is off; -EBUSY: another
 * user holds the place; -ENOMEM.  After an error nothing has changed.
 */
int trace_kprobe_enable(struct trace_event_call *call, struct trace_event_file *file)
{
	struct trace_kprobe *tk = trace_kprobe_of_call(call);
	int err;

	lockdep_assert_held(&event_mutex);
	if (WARN_ON_ONCE(!tk))
		return -ENODEV;
	err = want(&tk->tp, file);
	if (err || batch_takes(tk, file))
		return err;

	err = apply_now(tk);
	if (err) {
		unwant(&tk->tp, file);
		/* An earlier failure of a member may have left others armed. */
		apply_now(tk);
	}
	return err;
}

/**
 * trace_kprobe_disable() - an instance, or perf, does not want an event's hits
 * @call:	the event
 * @file:	the instance's event file; NULL for perf
 *
 * When it returns no hit looks at @file any more, or none will at the commit of the
 * open batch.  (perf waits for the hits by itself.)
 *
 * Context: event_mutex held; may sleep.
 * Return: 0; -ENODEV: the event has no probes; -ENOENT: it is not enabled there.
 */
int trace_kprobe_disable(struct trace_event_call *call, struct trace_event_file *file)
{
	struct trace_kprobe *tk = trace_kprobe_of_call(call);
	int err;

	lockdep_assert_held(&event_mutex);
	if (WARN_ON_ONCE(!tk))
		return -ENODEV;
	err = unwant(&tk->tp, file);
	if (err)
		return err;

	if (batch_takes(tk, file)) {
		batch_disabled = true;
		return 0;
	}
	apply_now(tk);
	if (file)
		synchronize_rcu();
	return 0;
}

/**
 * trace_kprobe_batch_begin() - what is enabled and disabled from here on may wait
 *
 * Batches nest; the outermost counts.
 *
 * Context: event_mutex held until the commit.
 */
void trace_kprobe_batch_begin(void)
{
	lockdep_assert_held(&event_mutex);
	batch_depth++;
}

/**
 * trace_kprobe_batch_commit() - arm and disarm what has waited
 * @ret:	what the caller would return without us
 *
 * All is armed in one transaction, and disarmed in one, with one grace period.  If
 * they cannot be armed together it is tried with halves of them, down to one event;
 * what cannot be armed alone is disabled again, the others stay.
 *
 * Context: event_mutex held since trace_kprobe_batch_begin(); may sleep.
 * Return: @ret if it is an error; else 0, or the first error as
 * trace_kprobe_enable().
 */
int trace_kprobe_batch_commit(int ret)
{
	int err;

	lockdep_assert_held(&event_mutex);
	if (batch_depth > 1) {
		batch_depth--;
		return ret;
	}

	trace_kprobes_disarm(&batch_events);
	err = arm_halves(&batch_events, list_count_nodes(&batch_events));
	/* Their grace period, too, if some were taken back. */
	if (batch_disabled)
		synchronize_rcu();

	while (!list_empty(&batch_events))
		list_del_init(batch_events.next);
	batch_depth = 0;
	batch_disabled = false;
	batch_tr = NULL;
	return ret ?: err;
}
