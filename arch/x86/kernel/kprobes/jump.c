// SPDX-License-Identifier: GPL-2.0
/*
 * Jumps in place of breakpoints, on x86: which instructions one may displace,
 * the detour they run in instead, and the pokes.
 *
 * A detour is a slot that begins with a call of kprobe_entry_jump(): for the
 * engine it is a function's entry of its own making.  The stub returns to the
 * copies behind the call, which end in a jump back.
 */
#include <linux/extable.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

#include "../../../../kernel/kprobes/index.h"
#include "../../../../kernel/kprobes/jump.h"
#include "insn.h"

/* Does the instruction do the same wherever it stands? */
static bool may_move(const struct site_insn *si)
{
	return !si->emulate || si->emulate == emulate_nop ||
	       si->emulate == emulate_push || si->emulate == emulate_pop;
}

/**
 * insn_takes_jump() - can a jump displace this one instruction?
 * @si:   the instruction
 * @addr: where it stands
 *
 * Context: text_mutex held.
 */
bool insn_takes_jump(const struct site_insn *si, unsigned long addr)
{
	void *first = (void *)addr, *last = first + si->len - 1;

	return si->len >= JMP32_INSN_SIZE && may_move(si) &&
	       !search_exception_tables(addr) &&
	       !alternatives_text_reserved(first, last);
}

bool arch_jump_is_single(const struct displaced_site *ds)
{
	return ds->insn->detour && ds->insn->detour == ds->insn->slot;
}

unsigned int arch_jump_region(const struct displaced_site *ds)
{
	return ds->insn->jump_len;
}

/* ud1, ud2: what warnings and bugs are made of; int3, which is behind a return. */
static bool is_trap(const struct site_insn *si)
{
	return si->bytes[0] == INT3_INSN_OPCODE ||
	       (si->bytes[0] == 0x0f && (si->bytes[1] == 0x0b || si->bytes[1] == 0xb9));
}

/* The instruction at @addr, below whatever we have armed there. */
static bool insn_at(unsigned long addr, struct site_insn *si)
{
	struct probe_site *site = site_find(addr);

	memset(si, 0, sizeof(*si));
	if (site && site_is_displaced(site))
		memcpy(si->bytes, site_insn(site)->bytes, sizeof(si->bytes));
	else if (text_has_debugger(addr) || text_read(si->bytes, addr))
		return false;
	if (!insn_classify(si))
		return true;
	/* It cannot be displaced, but it goes nowhere either. */
	return si->len && (is_trap(si) || is_landing_pad(si));
}

/**
 * struct jump_plan - what is looked at before a jump displaces several
 * @func:	the function
 * @end:	behind it
 * @addr:	the region
 * @stop:	behind it
 */
struct jump_plan {
	unsigned long	func;
	unsigned long	end;
	unsigned long	addr;
	unsigned long	stop;
};

/* A part of another function, split off by the compiler, jumps back to it. */
static bool is_cold_part(const char *name)
{
	return strstr(name, ".cold");
}

static bool plan_function(struct jump_plan *plan)
{
	char name[KSYM_NAME_LEN], *module;
	unsigned long size, offset;

	if (!kallsyms_lookup(plan->addr, &size, &offset, &module, name))
		return false;
	plan->func = plan->addr - offset;
	plan->end = plan->func + size;
	return !is_cold_part(name);
}

static bool debugger_is_in(const struct jump_plan *plan)
{
	unsigned long addr;

	for (addr = plan->addr; addr < plan->stop; addr++)
		if (text_has_debugger(addr))
			return true;
	return false;
}

/* Enough instructions for a jump, all of which may move. */
static bool plan_region(struct jump_plan *plan)
{
	void *first = (void *)plan->addr, *last;
	bool patched = false;
	struct site_insn si;

	for (plan->stop = plan->addr; plan->stop - plan->addr < JMP32_INSN_SIZE;
	     plan->stop += si.len) {
		if (!insn_at(plan->stop, &si) || !may_move(&si) || is_trap(&si) ||
		    is_landing_pad(&si))
			return false;
		/* The site's own was looked at when it was made. */
		if (plan->stop != plan->addr)
			patched |= arch_text_may_be_patched(plan->stop);
	}
	if (plan->stop > plan->end || debugger_is_in(plan) ||
	    ftrace_location_range(plan->addr, plan->stop - 1))
		return false;

	last = (void *)plan->stop - 1;
	if (alternatives_text_reserved(first, last))
		return false;
	return !patched || (!jump_label_text_reserved(first, last) &&
			    !static_call_text_reserved(first, last));
}

/*
 * Does a jump through the thunk leave the function?  A computed goto does not, but
 * where there are landing pads it can be at none of the region's instructions.
 */
static bool is_leaving_thunk(unsigned long target)
{
#if defined(CONFIG_MITIGATION_RETPOLINE) && defined(CONFIG_X86_KERNEL_IBT)
	return target - (unsigned long)__x86_indirect_thunk_array <
	       sizeof(__x86_indirect_thunk_array[0]) * 16;
#else
	return false;
#endif
}

/* To the start of another function, which does not come back into the middle. */
static bool leaves_for_good(unsigned long target)
{
	char name[KSYM_NAME_LEN], *module;
	unsigned long size, offset;

	if (is_leaving_thunk(target))
		return true;
	if (!kallsyms_lookup(target, &size, &offset, &module, name))
		return false;
	return target == arch_skip_entry_prologue(target - offset) || !offset ?
	       !is_cold_part(name) : false;
}

/* A nop that may be a jump label, whose target cannot be told. */
static bool may_become_jump(const struct site_insn *si, unsigned long addr)
{
	if (si->emulate != emulate_nop && si->bytes[0] != 0x66)
		return false;
	if (si->len == JMP32_INSN_SIZE)
		return !ftrace_location_range(addr, addr);
	return si->len == JMP8_INSN_SIZE;
}

/* Can the instruction at @addr lead into the middle of the region? */
static bool leads_inside(const struct jump_plan *plan, const struct site_insn *si,
			 unsigned long addr)
{
	unsigned long target = addr + si->len + si->disp;

	if (search_exception_tables(addr) || may_become_jump(si, addr))
		return true;
	if (si->emulate == emulate_jmp_to)
		return true;
	if (si->emulate != emulate_jmp && si->emulate != emulate_jcc &&
	    si->emulate != emulate_loop && si->emulate != emulate_call)
		return false;
	if (target > plan->addr && target < plan->stop)
		return true;
	if (si->emulate == emulate_call)
		return false;
	return (target < plan->func || target >= plan->end) && !leaves_for_good(target);
}

/* What is behind it is reached by a branch or not at all. */
static bool never_goes_on(const struct site_insn *si)
{
	return si->emulate == emulate_ret || si->emulate == emulate_jmp ||
	       si->emulate == emulate_jmp_to || is_trap(si);
}

static bool is_nop(const struct site_insn *si)
{
	return si->emulate == emulate_nop || (si->bytes[0] == 0x66 && si->bytes[1] == 0x90);
}

/* Nothing from here on but what fills up to the next function. */
static bool is_padding(const struct jump_plan *plan, unsigned long addr)
{
	struct site_insn si;

	for (; addr < plan->end; addr += si.len)
		if (!insn_at(addr, &si) || !is_nop(&si))
			return false;
	return true;
}

/* Only a function that can be read to its end has a region to trust. */
static bool nobody_jumps_inside(const struct jump_plan *plan)
{
	struct probe_site *site;
	struct site_insn si;
	unsigned long addr;
	bool ended = false;

	for (addr = plan->func; addr < plan->end; addr += si.len) {
		site = site_find(addr);
		/* What a jump has displaced cannot lead anywhere. */
		if (site && site_is_displaced(site) &&
		    displaced(site)->jump == JUMP_ARMED) {
			si.len = site_insn(site)->jump_len;
			ended = false;
			continue;
		}
		/* Nops again, but no jump label is behind the last return. */
		if (ended && is_padding(plan, addr))
			break;
		if (!insn_at(addr, &si) || leads_inside(plan, &si, addr))
			return false;
		ended = never_goes_on(&si);
	}
	return true;
}

bool arch_jump_check(struct displaced_site *ds)
{
	struct jump_plan plan = { .addr = ds->site.addr };
	struct site_insn *si = ds->insn;

	if (!plan_function(&plan) || !plan_region(&plan) || !nobody_jumps_inside(&plan))
		return false;
	si->jump_len = plan.stop - plan.addr;
	/* The bytes behind the instruction may not have been ours to read before. */
	memcpy(si->bytes + si->len, (void *)(plan.addr + si->len),
	       max(0, (int)(JMP32_INSN_SIZE - si->len)));
	return true;
}

int arch_jump_prepare(struct displaced_site *ds)
{
	void *detour;

	if (ds->insn->detour)
		return 0;
	detour = detour_make(&ds->site);
	if (IS_ERR(detour))
		return PTR_ERR(detour);
	ds->insn->detour = detour;
	return 0;
}

void arch_jump_route(struct displaced_site *ds, bool detour)
{
	WRITE_ONCE(ds->insn->routed, detour);
}

static void say_poke(const struct displaced_site *ds, u8 *jump, bool jumped)
{
	u8 trap[JMP32_INSN_SIZE];

	memcpy(trap, ds->insn->bytes, sizeof(trap));
	trap[0] = INT3_INSN_OPCODE;
	perf_event_text_poke((void *)ds->site.addr, jumped ? trap : jump, sizeof(trap),
			     jumped ? jump : trap, sizeof(trap));
}

static void make_jump(const struct displaced_site *ds, u8 *jump)
{
	__text_gen_insn(jump, JMP32_INSN_OPCODE, (void *)ds->site.addr,
			ds->insn->detour, JMP32_INSN_SIZE);
}

/*
 * The first byte is a breakpoint before, between and after: the bytes behind it
 * are never executed while they change.
 */
void arch_jumps_set(struct list_head *jumps)
{
	u8 jump[JMP32_INSN_SIZE];
	struct displaced_site *ds;

	list_for_each_entry(ds, jumps, jump_node) {
		make_jump(ds, jump);
		text_poke((void *)ds->site.addr + 1, jump + 1, sizeof(jump) - 1);
		say_poke(ds, jump, true);
	}
	text_poke_sync();
	list_for_each_entry(ds, jumps, jump_node) {
		make_jump(ds, jump);
		text_poke((void *)ds->site.addr, jump, 1);
	}
	text_poke_sync();
}

void arch_jumps_clear(struct list_head *jumps)
{
	const u8 int3 = INT3_INSN_OPCODE;
	u8 jump[JMP32_INSN_SIZE];
	struct displaced_site *ds;

	list_for_each_entry(ds, jumps, jump_node)
		text_poke((void *)ds->site.addr, &int3, 1);
	text_poke_sync();
	list_for_each_entry(ds, jumps, jump_node) {
		text_poke((void *)ds->site.addr + 1, ds->insn->bytes + 1,
			  JMP32_INSN_SIZE - 1);
		make_jump(ds, jump);
		say_poke(ds, jump, false);
	}
	text_poke_sync();
}
