// SPDX-License-Identifier: GPL-2.0
/*
 * What happens when a site is reached: its probes are run, lane by lane.
 *
 * This is the same for every method.  Nothing here takes a lock, writes memory
 * that CPUs share, or calls anything that could be traced or probed; the object
 * is built without ftrace and without sanitizers for that reason.
 */
#include <linux/atomic.h>

#include "internal.h"

/* The probe whose handler this CPU is in.  Only the CPU itself touches it. */
DEFINE_PER_CPU(struct kprobe *, current_kprobe);
DEFINE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/* Stands in for a probe while a foreign callback must not be re-entered. */
static struct kprobe busy_probe = {
	.addr = (void *)~0UL,
};

/**
 * site_run_pre() - run the pre-handlers of a site
 * @site:  what was reached
 * @regs:  the registers, as a pre-handler is promised them
 * @lanes: bit mask of the lanes to run
 *
 * Context: any, preemption off, no other handler running on this CPU.
 * Return: true when a handler has set regs->ip and the hit ends here.
 */
bool site_run_pre(struct probe_site *site, struct pt_regs *regs, unsigned int lanes)
{
	struct kprobe *p;
	bool redirected;
	int lane;

	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_ACTIVE;

	for_each_lane(lane) {
		if (!(lanes & BIT(lane)))
			continue;
		hlist_for_each_entry_rcu_notrace(p, &site->probes[lane], hlist) {
			if (!p->pre_handler || kprobe_disabled(p))
				continue;
			__this_cpu_write(current_kprobe, p);
			redirected = p->pre_handler(p, regs);
			if (redirected) {
				reset_current_kprobe();
				return true;
			}
		}
	}
	reset_current_kprobe();
	return false;
}
NOKPROBE_SYMBOL(site_run_pre);

/**
 * site_run_post() - run the post-handlers of a site
 * @site:  what was reached
 * @regs:  the registers after the displaced instruction
 * @lanes: bit mask of the lanes to run
 *
 * Context: any, preemption off, no other handler running on this CPU.
 */
void site_run_post(struct probe_site *site, struct pt_regs *regs, unsigned int lanes)
{
	struct kprobe *p;

	if (!(lanes & BIT(LANE_REDIRECT)))
		return;

	get_kprobe_ctlblk()->kprobe_status = KPROBE_HIT_SSDONE;

	hlist_for_each_entry_rcu_notrace(p, &site->probes[LANE_REDIRECT], hlist) {
		if (kprobe_disabled(p))
			continue;
		__this_cpu_write(current_kprobe, p);
		p->post_handler(p, regs, 0);
	}
	reset_current_kprobe();
}
NOKPROBE_SYMBOL(site_run_post);

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
