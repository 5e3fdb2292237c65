// SPDX-License-Identifier: GPL-2.0
/*
 * What entry_64.S leaves to C, because it is rare, and what it believes of C's
 * structures.
 */
#include <linux/preempt.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

#include "../../../../kernel/kprobes/count.h"
#include "../../../../kernel/kprobes/hit.h"
#include "../../../../kernel/kprobes/slots.h"
#include "entry.h"
#include "insn.h"

static_assert(offsetof(struct kprobe, hlist.next) == 0);
static_assert(offsetof(struct kprobe, pre_handler) == KPROBE_PRE_HANDLER);
static_assert(offsetof(struct kprobe, post_handler) == KPROBE_POST_HANDLER);
static_assert(offsetof(struct kprobe, flags) == KPROBE_FLAGS);
static_assert((KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED) == KPROBE_OFF);
static_assert(offsetof(struct probe_site, addr) == 0);
static_assert(offsetof(struct probe_site, probes) == SITE_PROBES);
static_assert(sizeof_field(struct probe_site, probes[0]) == SITE_LANE_SIZE);
static_assert(offsetof(struct probe_site, watched) == SITE_WATCHED);
static_assert(LANE_OBSERVE == OBSERVE && LANE_REDIRECT == REDIRECT);
static_assert(offsetof(struct kprobe_ctlblk, kprobe_status) == 0);
static_assert(KPROBE_HIT_ACTIVE == STATUS_ACTIVE && KPROBE_HIT_SSDONE == STATUS_SSDONE);
static_assert(CALL_INSN_SIZE - INT3_INSN_SIZE == NOP_REST);

/* Reached from within a handler. */
void kprobe_entry_missed(unsigned long addr, unsigned int lanes)
{
	struct probe_site *site = site_find(addr);

	if (!site)
		return;
	site_count_hit(site);
	site_count_missed(site, lanes);
}
NOKPROBE_SYMBOL(kprobe_entry_missed);

/* The displaced instruction has run in its slot, which has called us. */
void kprobe_entry_resumed(unsigned long slot_ip, struct pt_regs *regs)
{
	unsigned long slot = slot_ip & -INSN_SLOT_SIZE;
	struct probe_site *site = *(struct probe_site **)(slot + SLOT_SITE);

	preempt_disable_notrace();
	regs->ip = site->addr + site_insn(site)->len;
	/* Its trap came from within a handler: missed there, so here. */
	if (likely(!kprobe_running()))
		site_run_post(site, regs, ALL_LANES);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_entry_resumed);
