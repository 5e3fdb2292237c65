/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enabling, disabling or deleting several events in one stroke.
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
 *	guard(trace_kprobe_deletion)();
 *		delete; event_mutex is not held where it begins nor where its
 *		scope ends.  It belongs to the task and nests.
 */

#ifndef _TRACE_PROBE_BATCH_H
#define _TRACE_PROBE_BATCH_H

#include <linux/cleanup.h>

#ifdef CONFIG_KPROBE_EVENTS
void trace_kprobe_batch_begin(void);
int trace_kprobe_batch_commit(int ret);
void trace_kprobe_delete_begin(void);
void trace_kprobe_delete_end(void);
#else
static inline void trace_kprobe_batch_begin(void) { }
static inline int trace_kprobe_batch_commit(int ret) { return ret; }
static inline void trace_kprobe_delete_begin(void) { }
static inline void trace_kprobe_delete_end(void) { }
#endif

DEFINE_LOCK_GUARD_0(trace_kprobe_deletion, trace_kprobe_delete_begin(),
		    trace_kprobe_delete_end())

#endif /* _TRACE_PROBE_BATCH_H */
