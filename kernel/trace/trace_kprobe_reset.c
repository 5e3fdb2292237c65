// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: emptying the ring buffers of what is deleted, once for all of it.
 *
 * An entry knows its event by a number.  So the base empties the buffers of the
 * instances in which a deleted event was ever enabled, with grace periods of their
 * own, before another event may be given its number.
 *
 * The one idea: until the write is through, the numbers stay in use, though
 * their events are gone.  Then the buffers are emptied, then the numbers are free.
 *
 * All but the numbers is under event_mutex; these belong to the task that writes, of
 * which there is one.
 */
#include <linux/cleanup.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/types.h>

#include "trace_kprobe.h"
#include "trace_probe_batch.h"

/* A part of all that there are, so that others do not miss them. */
static u16 kept_types[1024];
static unsigned int nr_kept;

/**
 * trace_kprobe_keeps_type() - is an event's number to stay in use although it goes?
 * @type:	the number
 *
 * Context: process context; called when any event goes.
 * Return: true: it is freed when this task's write ends.
 */
bool trace_kprobe_keeps_type(int type)
{
	if (!trace_kprobe_in_write() || nr_kept == ARRAY_SIZE(kept_types))
		return false;
	kept_types[nr_kept++] = type;
	return true;
}

/* What is to be emptied, now or later: the base takes a flag of an event that stays back. */
static void put_off(void)
{
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		tr->clear_later |= tr->clear_trace;
		tr->clear_trace = false;
	}
}

static void empty_all(void)
{
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		tr->clear_trace |= tr->clear_later;
		tr->clear_later = false;
	}
	tracing_reset_all_online_cpus_unlocked();
	while (nr_kept)
		trace_event_free_type(kept_types[--nr_kept]);
}

/**
 * trace_kprobe_reset_buffers() - events have been deleted: see to their entries
 *
 * The buffers that may have entries of theirs are emptied, or will be when this
 * task's write ends.
 *
 * Context: event_mutex held since the first of the events was deleted; may sleep.
 */
void trace_kprobe_reset_buffers(void)
{
	lockdep_assert_held(&event_mutex);
	guard(mutex)(&trace_types_lock);
	if (!trace_kprobe_in_write())
		tracing_reset_all_online_cpus_unlocked();
	else if (nr_kept < ARRAY_SIZE(kept_types))
		put_off();
	else	/* there may be numbers that are free already */
		empty_all();
}

/**
 * trace_kprobe_reset_kept() - this task's write ends
 *
 * Context: event_mutex held; may sleep.
 */
void trace_kprobe_reset_kept(void)
{
	lockdep_assert_held(&event_mutex);
	if (!nr_kept)
		return;
	guard(mutex)(&trace_types_lock);
	empty_all();
}
