// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and preparing text for breakpoints: is this the start of an
 * instruction, and where can its copy run?
 */
#include <linux/kallsyms.h>
#include <linux/kgdb.h>
#include <linux/perf_event.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "../../../../kernel/kprobes/internal.h"
#include "insn.h"

/* Neither of a task, nor on one stack, from its entry to its return. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__switch_to" },
	{ }
};

int __init arch_populate_kprobe_blacklist(void)
{
	int err;

	err = kprobe_add_area_blacklist((unsigned long)__entry_text_start,
					(unsigned long)__entry_text_end);
#ifdef CONFIG_MITIGATION_RETPOLINE
	/* A hit calls its handlers through these, and returns through them. */
	if (!err)
		err = kprobe_add_area_blacklist((unsigned long)__x86_indirect_thunk_array,
						(unsigned long)(__x86_indirect_thunk_array + 16));
#endif
	return err;
}

/*
 * A breakpoint in place of ENDBR would make an indirect call to the function a
 * control protection fault, and ftrace's nop is behind it.
 */
unsigned long arch_skip_entry_prologue(unsigned long func)
{
	u32 first;

	if (IS_ENABLED(CONFIG_X86_KERNEL_IBT) &&
	    !get_kernel_nofault(first, (u32 *)func) && is_endbr(first))
		return func + ENDBR_INSN_SIZE;
	return func;
}

static bool debugger_is_at(unsigned long addr)
{
#ifdef CONFIG_KGDB
	return kgdb_has_hit_break(addr);
#else
	return false;
#endif
}

/* The bytes at @addr, as many as there are before a page that is not. */
static int read_text(u8 *buf, unsigned long addr)
{
	size_t len = min_t(size_t, MAX_INSN_SIZE, PAGE_SIZE - offset_in_page(addr));

	memset(buf, 0, MAX_INSN_SIZE);
	if (!copy_from_kernel_nofault(buf, (void *)addr, MAX_INSN_SIZE))
		return 0;
	return copy_from_kernel_nofault(buf, (void *)addr, len);
}

/* The length of the instruction at @addr, below our own breakpoint if there is one. */
static int insn_length_at(unsigned long addr)
{
	struct probe_site *site = site_find(addr);
	u8 buf[MAX_INSN_SIZE];
	struct insn insn;

	if (site && site->insn)
		return site->insn->len;
	if (debugger_is_at(addr) || read_text(buf, addr))
		return -EILSEQ;
	if (insn_decode_kernel(&insn, buf))
		return -EILSEQ;
	return insn.length;
}

/* Decode from the start of the function: the only way to know. */
static int check_boundary(unsigned long addr)
{
	unsigned long size, offset, at;
	int len;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return -EINVAL;
	for (at = addr - offset; at < addr; at += len) {
		len = insn_length_at(at);
		if (len < 0)
			return len;
	}
	return at == addr && !debugger_is_at(addr) ? 0 : -EILSEQ;
}

int arch_site_decode(struct probe_site *site)
{
	struct site_insn *si;
	int err;

	err = check_boundary(site->addr);
	if (err)
		return err;

	si = kzalloc(sizeof(*si), GFP_KERNEL);
	if (!si)
		return -ENOMEM;
	err = read_text(si->bytes, site->addr);
	if (!err)
		err = insn_classify(si);
	if (err) {
		kfree(si);
		return -EINVAL;
	}
	site->insn = si;
	return 0;
}

/* Emulation of a branch through memory may have to fall back to the real thing. */
static bool needs_slot(const struct site_insn *si)
{
	return !si->emulate || si->operand.memory;
}

/* A copy of the instruction for @dest, put together at @buf. */
static int displace(u8 *buf, const struct site_insn *si, unsigned long addr,
		    unsigned long dest)
{
	struct insn insn;
	long disp;

	memcpy(buf, si->bytes, si->len);
	if (insn_decode_kernel(&insn, si->bytes))
		return -EINVAL;
	if (!insn_rip_relative(&insn))
		return 0;

	/* The same operand, as seen from the copy. */
	disp = (long)insn.displacement.value + addr - dest;
	if (disp != (s32)disp)
		return -EINVAL;
	*(s32 *)(buf + insn_offset_displacement(&insn)) = disp;
	return 0;
}

int arch_site_displace(struct probe_site *site)
{
	struct site_insn *si = site->insn;
	unsigned long slot, back;
	u8 buf[INSN_SLOT_SIZE];
	int err;

	if (!needs_slot(si))
		return 0;
	si->slot = insn_slot_alloc(site->addr);
	if (!si->slot)
		return -ENOMEM;

	slot = (unsigned long)si->slot;
	memset(buf, INT3_INSN_OPCODE, sizeof(buf));
	err = displace(buf, si, site->addr, slot);
	if (!err)
		err = displace(buf + SLOT_TRAP, si, site->addr, slot + SLOT_TRAP);
	if (err)
		return err;

	back = slot + si->len;
	__text_gen_insn(buf + si->len, JMP32_INSN_OPCODE, (void *)back,
			(void *)site->addr + si->len, JMP32_INSN_SIZE);
	perf_event_text_poke(si->slot, NULL, 0, buf, sizeof(buf));
	text_poke_copy(si->slot, buf, sizeof(buf));
	return 0;
}

static void slot_free(void *slot)
{
	u8 buf[INSN_SLOT_SIZE];

	memcpy(buf, slot, sizeof(buf));
	perf_event_text_poke(slot, buf, sizeof(buf), NULL, 0);
	insn_slot_free(slot);
}

void arch_site_free(struct probe_site *site)
{
	if (site->insn->slot)
		slot_free(site->insn->slot);
	kfree(site->insn);
	site->insn = NULL;
}

void arch_describe_insn(const struct probe_site *site, struct kprobe *p)
{
	p->ainsn.insn = site->insn ? site->insn->bytes : NULL;
	p->opcode = site->insn ? site->insn->bytes[0] : *(u8 *)site->addr;
}

void arch_slot_page_seal(void *page)
{
	memset(page, INT3_INSN_OPCODE, PAGE_SIZE);
	/* Never both writable and executable; vfree() undoes it. */
	set_memory_rox((unsigned long)page, 1);
}

void arch_slot_fill(void *slot)
{
	text_poke_set(slot, INT3_INSN_OPCODE, INSN_SLOT_SIZE);
}
