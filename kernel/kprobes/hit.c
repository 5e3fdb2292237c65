// SPDX-License-Identifier: GPL-2.0
/*
 * The state of the hit that a CPU is in, and what is done with the hits that
 * arrive meanwhile.
 *
 * Nothing here takes a lock, or calls anything that could be traced or probed;
 * the object is built without ftrace and without sanitizers for that reason.
 */
#include <linux/atomic.h>

#include "hit.h"

/*
 * The probe whose handler this CPU is in.  Only the CPU itself touches it: a hit
 * within a hit is known by it.
 */
DEFINE_PER_CPU(struct kprobe *, current_kprobe);
DEFINE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/* Stands in for a probe while a foreign callback must not be re-entered. */
static struct kprobe busy_probe = {
	.addr = (void *)~0UL,
};

/**
 * kprobes_inc_nmissed_count() - count a hit whose handlers were not run
 * @p: the probe
 *
 * Context: any.
 */
void kprobes_inc_nmissed_count(struct kprobe *p)
{
	/* Exact, and only paid when something was missed. */
	raw_atomic_long_inc((atomic_long_t *)&p->nmissed);
}
NOKPROBE_SYMBOL(kprobes_inc_nmissed_count);

/**
 * site_count_missed() - a site was reached from within a handler
 * @site:  what was reached
 * @lanes: bit mask of the lanes that are not run
 *
 * Context: any, preemption off.
 */
void site_count_missed(struct probe_site *site, unsigned int lanes)
{
	struct kprobe *p;
	int lane;

	for_each_lane(lane) {
		if (!(lanes & BIT(lane)))
			continue;
		hlist_for_each_entry_rcu_notrace(p, &site->probes[lane], hlist)
			if (!kprobe_disabled(p))
				kprobes_inc_nmissed_count(p);
	}
}
NOKPROBE_SYMBOL(site_count_missed);

/**
 * kprobe_busy_begin() - probes hit from here on, on this CPU, are missed
 *
 * For callbacks that share the promise made to handlers: not re-entered.
 *
 * Context: any, not within a handler.  Turns preemption off.
 */
void kprobe_busy_begin(void)
{
	preempt_disable_notrace();
	__this_cpu_write(current_kprobe, &busy_probe);
	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;
}
NOKPROBE_SYMBOL(kprobe_busy_begin);

/**
 * kprobe_busy_end() - undo kprobe_busy_begin()
 *
 * Context: the one that called kprobe_busy_begin().
 */
void kprobe_busy_end(void)
{
	reset_current_kprobe();
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_busy_end);
