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

#include "../../../../kernel/kprobes/index.h"
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

/*
 * A jump label is a nop or a jump; a static call is a call, a jump, a nop, a
 * return, or "xor %eax, %eax" behind prefixes that make it five bytes.
 */
bool arch_text_may_be_patched(unsigned long addr)
{
	switch (*(u8 *)addr) {
	case 0x0f:	/* nop, jcc */
	case 0x2e:	/* xor with prefixes */
	case 0x3e:	/* nop with a prefix */
	case 0x66:	/* nop of two bytes */
	case 0x70 ... 0x7f:
	case 0x90:
	case JMP8_INSN_OPCODE:
	case JMP32_INSN_OPCODE:
	case CALL_INSN_OPCODE:
	case RET_INSN_OPCODE:
	case INT3_INSN_OPCODE:
		return true;
	}
	return false;
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

/* At @offset in the slot: a copy, and behind it a jump or a call to @to. */
static int copy_and(u8 *buf, const struct probe_site *site, unsigned int offset,
		    u8 opcode, const void *to)
{
	const struct site_insn *si = site->insn;
	void *at = si->slot + offset;
	int err;

	err = displace(buf + offset, si, site->addr, (unsigned long)at);
	if (err)
		return err;
	offset += si->len;
	at += si->len;
	__text_gen_insn(buf + offset, opcode, at, to, text_opcode_size(opcode));
	return 0;
}

bool arch_site_has_slot(const struct probe_site *site)
{
	return site->insn->slot;
}

int arch_site_displace(struct probe_site *site)
{
	struct site_insn *si = site->insn;
	u8 buf[INSN_SLOT_SIZE];
	int err;

	if (!needs_slot(si))
		return 0;
	si->slot = insn_slot_alloc(site->addr);
	if (!si->slot)
		return -ENOMEM;

	memset(buf, INT3_INSN_OPCODE, sizeof(buf));
	err = copy_and(buf, site, SLOT_COPY, JMP32_INSN_OPCODE,
		       (void *)site->addr + si->len);
	if (!err)
		err = copy_and(buf, site, SLOT_COPY_POST, CALL_INSN_OPCODE,
			       kprobe_entry_resume);
	if (err)
		return err;
	*(struct probe_site **)(buf + SLOT_SITE) = site;

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
