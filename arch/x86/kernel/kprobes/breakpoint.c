// SPDX-License-Identifier: GPL-2.0
/*
 * A hit on a breakpoint, and the pokes that make one.
 *
 * The trap sends the task to the slot as it is, interrupts and preemption
 * unchanged.  The copy there ends in a jump back or, when post-handlers are to
 * run, in a call that does so: no state is kept in between, and the instruction
 * may be interrupted and go on elsewhere.  When it takes a page fault it leaves
 * the slot for good and starts again at the trap: kprobe_page_fault() says why.
 */
#include <linux/perf_event.h>
#include <asm/text-patching.h>

#include "../../../../kernel/kprobes/count.h"
#include "../../../../kernel/kprobes/hit.h"
#include "insn.h"

/* Have the displaced instruction's effect, and the post-handlers behind it. */
static __always_inline void run_displaced(struct probe_site *site, struct pt_regs *regs,
					  bool post)
{
	const struct site_insn *si = site_insn(site);

	/* A jump is about to land, and to take more than this instruction. */
	if (READ_ONCE(si->routed)) {
		regs->ip = (unsigned long)si->detour + SLOT_COPY;
		return;
	}
	if (si->emulate) {
		regs->ip = site->addr + si->len;
		if (si->emulate(si, regs)) {
			if (post)
				site_run_post(site, regs, ALL_LANES);
			return;
		}
	}
	regs->ip = (unsigned long)si->slot + (post ? SLOT_COPY_POST : SLOT_COPY);
}

static __always_inline void hit(struct probe_site *site, struct pt_regs *regs)
{
	site_count_hit(site);
	if (unlikely(kprobe_running())) {
		site_count_missed(site, ALL_LANES);
		run_displaced(site, regs, false);
		return;
	}
	/* Whose pre_handler was run has said so before it joined: site_join(). */
	if (!site_run_pre(site, regs, ALL_LANES))
		run_displaced(site, regs, site_has_post(site, ALL_LANES));
}

/**
 * kprobe_int3_handler() - a breakpoint trap, in the kernel or not
 * @regs: the registers; ip is past the breakpoint
 *
 * Context: any, as in an NMI; interrupts off.
 * Return: 1 when the trap was ours and is dealt with, else 0.
 */
int kprobe_int3_handler(struct pt_regs *regs)
{
	unsigned long addr = regs->ip - INT3_INSN_SIZE;
	struct probe_site *site;

	if (user_mode(regs))
		return 0;

	site = site_find(addr);
	if (likely(site && site_is_displaced(site))) {
		hit(site, regs);
		return 1;
	}
	/* Disarmed since this CPU fetched it: the instruction is back. */
	if (*(u8 *)addr != INT3_INSN_OPCODE) {
		regs->ip = addr;
		return 1;
	}
	return 0;
}
NOKPROBE_SYMBOL(kprobe_int3_handler);

/**
 * kprobe_fault_handler() - an exception while a handler is running
 * @regs:   the registers at the exception
 * @trapnr: which
 *
 * There is nothing to repair: see the top of this file.  An exception in a slot
 * finds its exception table entry through kprobe_slot_origin().
 *
 * Return: 0, to have the exception handled as any other.
 */
int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	return 0;
}
NOKPROBE_SYMBOL(kprobe_fault_handler);

/* A byte is written at once: a CPU sees the breakpoint or the instruction. */
static void poke(struct probe_site *site, u8 from, u8 to)
{
	void *addr = (void *)site->addr;

	text_poke(addr, &to, INT3_INSN_SIZE);
	perf_event_text_poke(addr, &from, INT3_INSN_SIZE, &to, INT3_INSN_SIZE);
}

/*
 * Both sync whatever they did: that nothing was to be poked is rare, and without a
 * way around the sync it can be seen that each step has one.
 */
void arch_breakpoints_set(struct llist_head *sites)
{
	struct probe_site *site;

	for_each_site(site, sites) {
		/* Another lane has it armed already. */
		if (site->armed)
			continue;
		poke(site, site_insn(site)->bytes[0], INT3_INSN_OPCODE);
	}
	text_poke_sync();
}

void arch_breakpoints_clear(struct llist_head *sites)
{
	struct probe_site *site;

	for_each_site(site, sites) {
		if (!site->armed || site->armed & ~site->change)
			continue;
		poke(site, INT3_INSN_OPCODE, site_insn(site)->bytes[0]);
	}
	text_poke_sync();
}
