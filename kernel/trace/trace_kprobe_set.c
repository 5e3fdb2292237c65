// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: the members of many probes, for one call of the engine.
 *
 * The one idea: what can fail needs room for all of them, so that it is all or none;
 * what cannot fail is done a few at a time when there is no memory.
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
 * @engine:	with this
 *
 * Context: as @engine.
 * Return: 0, or as @engine for those that were in it.
 */
int trace_kprobe_set_add(struct trace_kprobe_set *set, struct trace_kprobe_member *m,
			 int (*engine)(struct kprobe **kps, int num))
{
	int err = set->nr == set->room ? trace_kprobe_set_call(set, engine) : 0;

	set->kps[set->nr++] = &m->rp.kp;
	return err;
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

/**
 * trace_kprobe_count_differing() - how many members are not as they are to be?
 * @tk:		the probe
 * @armed:	are they to be armed?
 *
 * Context: event_mutex held.
 * Return: the number; 0 when @tk is deleted.
 */
unsigned int trace_kprobe_count_differing(struct trace_kprobe *tk, bool armed)
{
	struct trace_kprobe_member *m;
	unsigned int n = 0;

	if (tk->retired)
		return 0;
	for_each_member(m, trace_kprobe_members(tk))
		n += member_differs(m, armed);
	return n;
}

/**
 * trace_kprobe_set_add_differing() - trace_kprobe_set_add() for those members
 * @set:	the set
 * @tk:		the probe
 * @armed:	are they to be armed?
 * @engine:	what makes them so
 *
 * Context: event_mutex held; may sleep.
 */
void trace_kprobe_set_add_differing(struct trace_kprobe_set *set, struct trace_kprobe *tk,
				    bool armed,
				    int (*engine)(struct kprobe **kps, int num))
{
	struct trace_kprobe_member *m;

	if (tk->retired)
		return;
	for_each_member(m, trace_kprobe_members(tk))
		if (member_differs(m, armed))
			trace_kprobe_set_add(set, m, engine);
}
