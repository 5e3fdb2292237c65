// SPDX-License-Identifier: GPL-2.0
/*
 * A hit that comes through ftrace: make the registers look as a breakpoint on
 * the nop would have left them, run the handlers, and put back what ftrace and
 * the function's other users keep in them.
 */
#include <linux/ftrace.h>
#include <asm/text-patching.h>

#include "../../../../kernel/kprobes/arm_ftrace.h"
#include "../../../../kernel/kprobes/count.h"
#include "../../../../kernel/kprobes/hit.h"

/* A call of a function that both lanes trace comes here once for each. */
static __always_inline bool lane_counts(const struct probe_site *site, unsigned int lanes)
{
	return lanes & BIT(LANE_OBSERVE) || !(READ_ONCE(site->armed) & BIT(LANE_OBSERVE));
}

static __always_inline void ftrace_hit(unsigned long ip, struct ftrace_regs *fregs,
				       unsigned int lanes)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);
	unsigned long saved_ip, saved_ax;
	struct probe_site *site;

	preempt_disable_notrace();

	site = site_find(ip);
	/* Disarmed, while this call was on its way here. */
	if (unlikely(!site || !regs))
		goto out;
	if (lane_counts(site, lanes))
		site_count_hit(site);
	if (unlikely(kprobe_running())) {
		site_count_missed(site, lanes);
		goto out;
	}

	/* ftrace has ip behind the call, and orig_ax may name a direct caller. */
	saved_ip = regs->ip;
	saved_ax = regs->orig_ax;
	regs->orig_ax = ~0UL;
	regs->ip = ip + INT3_INSN_SIZE;

	if (!site_run_pre(site, regs, lanes)) {
		/* The nop has run. */
		regs->ip = ip + MCOUNT_INSN_SIZE;
		if (site_has_post(site, lanes))
			site_run_post(site, regs, lanes);
		regs->ip = saved_ip;
	}
	regs->orig_ax = saved_ax;
out:
	preempt_enable_notrace();
}

void ftrace_hit_observe(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	ftrace_hit(ip, fregs, BIT(LANE_OBSERVE));
}
NOKPROBE_SYMBOL(ftrace_hit_observe);

void ftrace_hit_redirect(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	ftrace_hit(ip, fregs, BIT(LANE_REDIRECT));
}
NOKPROBE_SYMBOL(ftrace_hit_redirect);
