/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enabling, disabling, extending or deleting several events in one stroke.
 *
 * Between begin and commit kprobe events only note what is wanted; commit does
 * it in one transaction of the engine and one grace period.  The touch points
 * in trace_events.c and trace_dynevent.c stand around their loops.
 *
 * There are two kinds, since a write to kprobe_events lets go of event_mutex
 * between its lines:
 *
 *	trace_kprobe_batch_begin(), trace_kprobe_batch_commit()
 *		enable and disable; event_mutex is held throughout
 *	guard(trace_kprobe_write)();
 *		delete; event_mutex is not held where it begins nor where its
 *		scope ends.  It belongs to the task and nests.
 *	trace_kprobe_run_commands()
 *		a write of several lines, which may delete, and may add places to
 *		events that are enabled.
 *
 * In a write, the ring buffers are emptied once; trace_kprobe_reset.c.
 */

#ifndef _TRACE_PROBE_BATCH_H
#define _TRACE_PROBE_BATCH_H

#include <linux/cleanup.h>
#include <linux/types.h>

#include "trace.h"

#ifdef CONFIG_KPROBE_EVENTS
void trace_kprobe_batch_begin(void);
int trace_kprobe_batch_commit(int ret);
void trace_kprobe_write_begin(void);
void trace_kprobe_write_end(void);
ssize_t trace_kprobe_run_commands(struct file *file, const char __user *buffer,
				  size_t count, loff_t *ppos,
				  int (*createfn)(const char *));
bool trace_kprobe_keeps_type(int type);
void trace_kprobe_reset_buffers(void);
#else
static inline void trace_kprobe_batch_begin(void) { }
static inline int trace_kprobe_batch_commit(int ret) { return ret; }
static inline void trace_kprobe_write_begin(void) { }
static inline void trace_kprobe_write_end(void) { }
#define trace_kprobe_run_commands trace_parse_run_command
static inline bool trace_kprobe_keeps_type(int type) { return false; }
static inline void trace_kprobe_reset_buffers(void) { tracing_reset_all_online_cpus(); }
#endif

/* trace_output.c's, as it is edited: free a number that was kept. */
void trace_event_free_type(int type);

DEFINE_LOCK_GUARD_0(trace_kprobe_write, trace_kprobe_write_begin(),
		    trace_kprobe_write_end())

#endif /* _TRACE_PROBE_BATCH_H */
