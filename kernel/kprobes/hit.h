/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens when a site is reached: its probes are run, lane by lane.
 *
 * This is the same for every method; the entry stub has it in assembly.  It is
 * a header because a hit has no time for calls: each method's handler is one
 * function with all of this in it.  Nothing here takes a lock, writes memory
 * that CPUs share, or calls anything that could be traced or probed.
 */
#ifndef _KERNEL_KPROBES_HIT_H
#define _KERNEL_KPROBES_HIT_H

#include "index.h"
#include "internal.h"

#define ALL_LANES	(BIT(LANE_OBSERVE) | BIT(LANE_REDIRECT))

static __always_inline void hit_status(unsigned long status)
{
	__this_cpu_write(kprobe_ctlblk.kprobe_status, status);
}

/* Returns true when a handler has set regs->ip and the hit ends here. */
static __always_inline bool lane_run_pre(struct probe_site *site, enum probe_lane lane,
					 struct pt_regs *regs)
{
	struct kprobe *p;

	hlist_for_each_entry_rcu_notrace(p, &site->probes[lane], hlist) {
		if (!p->pre_handler || kprobe_disabled(p))
			continue;
		__this_cpu_write(current_kprobe, p);
		if (unlikely(p->pre_handler(p, regs)))
			return true;
	}
	return false;
}

/*
 * Run the pre-handlers of the lanes in the bit mask @lanes, with the registers as
 * they are promised to them.
 *
 * Context: any, preemption off, no other handler running on this CPU.
 * Return: true when a handler has set regs->ip and the hit ends here.
 */
static __always_inline bool site_run_pre(struct probe_site *site, struct pt_regs *regs,
					 unsigned int lanes)
{
	bool redirected = false;

	hit_status(KPROBE_HIT_ACTIVE);
	if (lanes & BIT(LANE_OBSERVE))
		redirected = lane_run_pre(site, LANE_OBSERVE, regs);
	if (lanes & BIT(LANE_REDIRECT) && !redirected)
		redirected = lane_run_pre(site, LANE_REDIRECT, regs);
	reset_current_kprobe();
	return redirected;
}

static __always_inline void lane_run_post(struct probe_site *site, enum probe_lane lane,
					  struct pt_regs *regs)
{
	struct kprobe *p;

	hlist_for_each_entry_rcu_notrace(p, &site->probes[lane], hlist) {
		if (!p->post_handler || kprobe_disabled(p))
			continue;
		__this_cpu_write(current_kprobe, p);
		p->post_handler(p, regs, 0);
	}
}

/* Has any probe of these lanes a post_handler? */
static __always_inline bool site_has_post(const struct probe_site *site,
					  unsigned int lanes)
{
	return (lanes & BIT(LANE_OBSERVE) && READ_ONCE(site->watched)) ||
	       (lanes & BIT(LANE_REDIRECT) && READ_ONCE(site->probes[LANE_REDIRECT].first));
}

/*
 * Run the post-handlers of the lanes in the bit mask @lanes, with the registers as
 * the instruction has left them.
 *
 * Context: as site_run_pre().
 */
static __always_inline void site_run_post(struct probe_site *site, struct pt_regs *regs,
					  unsigned int lanes)
{
	hit_status(KPROBE_HIT_SSDONE);
	if (lanes & BIT(LANE_OBSERVE) && READ_ONCE(site->watched))
		lane_run_post(site, LANE_OBSERVE, regs);
	if (lanes & BIT(LANE_REDIRECT))
		lane_run_post(site, LANE_REDIRECT, regs);
	reset_current_kprobe();
}

#endif /* _KERNEL_KPROBES_HIT_H */
