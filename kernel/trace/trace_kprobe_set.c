// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: the members of many probes, for one call of the engine.
 *
 * The one idea: what can fail needs room for all of them, so that it is all or none;
 * what cannot fail is done a few at a time when there is no memory.  Which members
 * are to be armed, and are not, is asked twice: to count them, and to collect them.
 */
#include <linux/slab.h>

#include "trace_kprobe.h"

/**
 * trace_kprobe_set_init() - make an empty set
 * @set:	the set
 * @room:	for so many members; without memory @set->room is less
 *
 * Context: may sleep.
 */
void trace_kprobe_set_init(struct trace_kprobe_set *set, unsigned int room)
{
	set->nr = 0;
	set->kps = NULL;
	if (room > ARRAY_SIZE(set->few))
		set->kps = kvmalloc_array(room, sizeof(*set->kps), GFP_KERNEL);
	set->room = set->kps ? room : ARRAY_SIZE(set->few);
	if (!set->kps)
		set->kps = set->few;
}

/**
 * trace_kprobe_set_free() - undo trace_kprobe_set_init()
 * @set:	the set
 *
 * Context: may sleep.
 */
void trace_kprobe_set_free(struct trace_kprobe_set *set)
{
	if (set->kps != set->few)
		kvfree(set->kps);
}

/**
 * trace_kprobe_set_call() - do with all of a set
 * @set:	the set, empty afterwards
 * @engine:	what
 *
 * Context: as @engine.
 * Return: 0, or as @engine.
 */
int trace_kprobe_set_call(struct trace_kprobe_set *set,
			  int (*engine)(struct kprobe **kps, int num))
{
	int err = set->nr ? engine(set->kps, set->nr) : 0;

	set->nr = 0;
	return err;
}

/**
 * trace_kprobe_set_add() - one more
 * @set:	the set; if it is full, what is in it is done
 * @m:		the member, which is registered
 * @engine:	with this; where it can fail, there is room for all
 *
 * Context: as @engine.
 */
void trace_kprobe_set_add(struct trace_kprobe_set *set, struct trace_kprobe_member *m,
			  int (*engine)(struct kprobe **kps, int num))
{
	if (set->nr == set->room)
		trace_kprobe_set_call(set, engine);
	set->kps[set->nr++] = &m->rp.kp;
}

/**
 * trace_kprobe_unregister() - unregister_mixed_kprobes(), for a set
 * @kps:	the probes
 * @num:	how many
 *
 * Context: may sleep; waits for a grace period.
 * Return: 0.
 */
int trace_kprobe_unregister(struct kprobe **kps, int num)
{
	unregister_mixed_kprobes(kps, num);
	return 0;
}

/* Is there something to do for the engine, to have @m armed or not? */
static bool member_differs(struct trace_kprobe_member *m, bool armed)
{
	/* What has no text any more stays as it is. */
	if (!m->registered || kprobe_gone(&m->rp.kp))
		return false;
	return kprobe_disabled(&m->rp.kp) == armed;
}

/* Count such members of a probe, and put them into the set if there is one. */
static unsigned int collect_of(struct trace_kprobe *tk, bool armed, struct trace_kprobe_set *set)
{
	struct trace_kprobe_member *m;
	unsigned int n = 0;

	if (tk->retired)
		return 0;
	for_each_member(m, trace_kprobe_members(tk)) {
		if (!member_differs(m, armed))
			continue;
		n++;
		if (set)
			trace_kprobe_set_add(set, m, armed ? enable_kprobes : disable_kprobes);
	}
	return n;
}

static unsigned int collect(struct list_head *probes, enum trace_kprobe_scope scope,
			    bool armed, struct trace_kprobe_set *set)
{
	struct trace_kprobe *of, *tk;
	unsigned int n = 0;

	list_for_each_entry(of, probes, pending) {
		if (trace_probe_is_enabled(&of->tp) != armed)
			continue;
		if (scope == TRACE_KPROBE_ALONE) {
			n += collect_of(of, armed, set);
			continue;
		}
		for_each_trace_kprobe_of(tk, &of->tp)
			n += collect_of(tk, armed, set);
	}
	return n;
}

/**
 * trace_kprobes_arm() - arm probes whose events are enabled
 * @probes:	some, by trace_kprobe.pending
 * @scope:	these, or all that their events have
 *
 * In one transaction: all or none.
 *
 * Context: event_mutex held; may sleep.
 * Return: 0; -ENOMEM; or as enable_kprobes().
 */
int trace_kprobes_arm(struct list_head *probes, enum trace_kprobe_scope scope)
{
	unsigned int n = collect(probes, scope, true, NULL);
	struct trace_kprobe_set set;
	int err = -ENOMEM;

	trace_kprobe_set_init(&set, n);
	if (n <= set.room) {
		collect(probes, scope, true, &set);
		err = trace_kprobe_set_call(&set, enable_kprobes);
	}
	trace_kprobe_set_free(&set);
	return err;
}

/**
 * trace_kprobes_disarm() - disarm all probes of events that are not enabled
 * @probes:	one of each event, by trace_kprobe.pending
 *
 * In one transaction, if there is memory.
 *
 * Context: event_mutex held; may sleep.
 */
void trace_kprobes_disarm(struct list_head *probes)
{
	struct trace_kprobe_set set;

	trace_kprobe_set_init(&set, collect(probes, TRACE_KPROBE_EVENT, false, NULL));
	collect(probes, TRACE_KPROBE_EVENT, false, &set);
	trace_kprobe_set_call(&set, disable_kprobes);
	trace_kprobe_set_free(&set);
}
