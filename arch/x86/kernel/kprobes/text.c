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
#include "../../../../kernel/kprobes/jump.h"
#include "../../../../kernel/kprobes/slots.h"
#include "insn.h"

/* Neither of a task, nor on one stack, from its entry to its return. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__switch_to" },
	{ }
};

/* A hit returns through these, be it that or what alternatives put in its place. */
static int __init blacklist_return_thunks(void)
{
	int ret = 0;

#ifdef CONFIG_MITIGATION_RETHUNK
	ret = kprobe_add_ksym_blacklist((unsigned long)__x86_return_thunk);
	if (ret >= 0)
		ret = kprobe_add_ksym_blacklist((unsigned long)x86_return_thunk);
#endif
	return min(ret, 0);
}

int __init arch_populate_kprobe_blacklist(void)
{
	int err;

	err = kprobe_add_area_blacklist((unsigned long)__entry_text_start,
					(unsigned long)__entry_text_end);
#ifdef CONFIG_MITIGATION_RETPOLINE
	/* A hit calls its handlers through these. */
	if (!err)
		err = kprobe_add_area_blacklist((unsigned long)__x86_indirect_thunk_array,
						(unsigned long)(__x86_indirect_thunk_array + 16));
#endif
	return err ?: blacklist_return_thunks();
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

bool text_has_debugger(unsigned long addr)
{
#ifdef CONFIG_KGDB
	return kgdb_has_hit_break(addr);
#else
	return false;
#endif
}

/* The bytes at @addr, as many as there are before a page that is not. */
int text_read(u8 *buf, unsigned long addr)
{
	size_t len = min_t(size_t, MAX_INSN_SIZE, PAGE_SIZE - offset_in_page(addr));

	memset(buf, 0, MAX_INSN_SIZE);
	if (!copy_from_kernel_nofault(buf, (void *)addr, MAX_INSN_SIZE))
		return 0;
	return copy_from_kernel_nofault(buf, (void *)addr, len);
}

/* The length of the instruction at @addr, below what we may have armed there. */
static int insn_length_at(unsigned long addr)
{
	struct probe_site *site = site_find(addr);
	u8 buf[MAX_INSN_SIZE];
	struct insn insn;

	if (site && site_is_displaced(site)) {
		if (displaced(site)->jump == JUMP_ARMED)
			return site_insn(site)->jump_len;
		return site_insn(site)->len;
	}
	if (text_has_debugger(addr) || text_read(buf, addr))
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

/* More bytes of filling in a row than there are between two functions. */
#define FILLING_MAX	128

static bool is_filling(unsigned long addr)
{
	u8 byte;

	return !get_kernel_nofault(byte, (u8 *)addr) && byte == INT3_INSN_OPCODE &&
	       !site_find(addr);
}

/*
 * Decode from the start of the function: the only way to know.  A symbol reaches
 * to the next one, and so does what may be megabytes of filling behind a section.
 */
static int check_boundary(unsigned long addr)
{
	unsigned long size, offset, at;
	unsigned int filling = 0;
	int len;

	if (!kallsyms_lookup_size_offset(addr, &size, &offset))
		return -EINVAL;
	for (at = addr - offset; at < addr; at += len) {
		len = insn_length_at(at);
		if (len < 0)
			return len;
		filling = len == INT3_INSN_SIZE && is_filling(at) ? filling + 1 : 0;
		if (filling > FILLING_MAX)
			return -EINVAL;
	}
	return at == addr && !text_has_debugger(addr) ? 0 : -EILSEQ;
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
	err = text_read(si->bytes, site->addr);
	if (!err)
		err = insn_classify(si);
	if (err) {
		kfree(si);
		return -EINVAL;
	}
	if (IS_ENABLED(CONFIG_OPTPROBES) && insn_takes_jump(si, site->addr))
		si->jump_len = si->len;
	displaced(site)->insn = si;
	return 0;
}

/* Emulation of a branch through memory may have to fall back to the real thing. */
static bool needs_slot(const struct site_insn *si)
{
	return !si->emulate || si->operand.memory || si->jump_len;
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

static_assert(SLOT_COPY + JUMP_REGION_MAX - 1 + JMP32_INSN_SIZE <= SLOT_COPY_POST);
static_assert(SLOT_COPY_POST + MAX_INSN_SIZE + CALL_INSN_SIZE <= SLOT_SITE);

/* A slot that is being put together: what will stand there, and where. */
struct slot_text {
	u8		buf[INSN_SLOT_SIZE];
	void		*slot;
	unsigned int	at;
};

static int put_copy(struct slot_text *t, const struct site_insn *si, unsigned long addr)
{
	int err = displace(t->buf + t->at, si, addr, (unsigned long)t->slot + t->at);

	t->at += si->len;
	return err;
}

/* A jump or a call; out of reach for neither, they are all in the kernel's half. */
static void put_branch(struct slot_text *t, u8 opcode, const void *to)
{
	__text_gen_insn(t->buf + t->at, opcode, t->slot + t->at, to, JMP32_INSN_SIZE);
	t->at += JMP32_INSN_SIZE;
}

static int slot_begin(struct slot_text *t, const struct probe_site *site,
		      unsigned int len, bool restarts)
{
	t->slot = insn_slot_alloc(site->addr, len, restarts);
	if (!t->slot)
		return -ENOMEM;
	memset(t->buf, INT3_INSN_OPCODE, sizeof(t->buf));
	*(const struct probe_site **)(t->buf + SLOT_SITE) = site;
	t->at = 0;
	if (IS_ENABLED(CONFIG_OPTPROBES))
		put_branch(t, CALL_INSN_OPCODE, kprobe_entry_jump);
	t->at = SLOT_COPY;
	return 0;
}

static void slot_publish(struct slot_text *t)
{
	perf_event_text_poke(t->slot, NULL, 0, t->buf, sizeof(t->buf));
	text_poke_copy(t->slot, t->buf, sizeof(t->buf));
}

bool arch_site_has_slot(const struct probe_site *site)
{
	return site_insn(site)->slot || site_insn(site)->detour;
}

int arch_site_displace(struct probe_site *site)
{
	struct site_insn *si = site_insn(site);
	struct slot_text t;
	int err;

	if (!needs_slot(si))
		return 0;
	err = slot_begin(&t, site, si->len, true);
	if (err)
		return err;
	si->slot = t.slot;

	err = put_copy(&t, si, site->addr);
	if (err)
		return err;
	put_branch(&t, JMP32_INSN_OPCODE, (void *)site->addr + si->len);
	t.at = SLOT_COPY_POST;
	err = put_copy(&t, si, site->addr);
	if (err)
		return err;
	put_branch(&t, CALL_INSN_OPCODE, kprobe_entry_resume);

	slot_publish(&t);
	if (si->jump_len)
		si->detour = si->slot;
	return 0;
}

/**
 * detour_make() - a slot for all the instructions that a jump displaces
 * @site: the site, which knows how many bytes they are
 *
 * A fault in the detour is one in the detour: it has no address in the text to
 * start again from.
 *
 * Context: may sleep; kprobe_mutex held, text_mutex not.
 * Return: the slot, or an ERR_PTR of -ENOMEM or -EINVAL.
 */
void *detour_make(const struct probe_site *site)
{
	unsigned long addr = site->addr, stop = addr + site_insn(site)->jump_len;
	struct site_insn si = *site_insn(site);
	struct slot_text t;
	int err;

	err = slot_begin(&t, site, site_insn(site)->jump_len, false);
	if (err)
		return ERR_PTR(err);

	while (!err) {
		err = put_copy(&t, &si, addr);
		addr += si.len;
		if (err || addr >= stop)
			break;
		err = text_read(si.bytes, addr) ?: insn_classify(&si);
	}
	if (err) {
		insn_slot_free(t.slot);
		return ERR_PTR(-EINVAL);
	}
	put_branch(&t, JMP32_INSN_OPCODE, (void *)stop);
	t.at = SLOT_COPY_POST;
	put_branch(&t, JMP32_INSN_OPCODE, t.slot + SLOT_COPY);
	slot_publish(&t);
	return t.slot;
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
	struct site_insn *si = site_insn(site);

	if (si->slot)
		slot_free(si->slot);
	if (si->detour && si->detour != si->slot)
		slot_free(si->detour);
	kfree(si);
}

void arch_describe_insn(const struct probe_site *site, struct kprobe *p)
{
	bool moved = site_is_displaced(site);

	p->ainsn.insn = moved ? site_insn(site)->bytes : NULL;
	p->opcode = moved ? site_insn(site)->bytes[0] : *(u8 *)site->addr;
}

/* Copies have the length of what they are copies of. */
unsigned int arch_slot_progress(unsigned int at, unsigned int len)
{
	unsigned int copied;

	if (at < SLOT_COPY)
		return 0;
	copied = at - (at < SLOT_COPY_POST ? SLOT_COPY : SLOT_COPY_POST);
	/* Behind the branch at the end nothing is, but what returns to the next copy. */
	return copied < len + JMP32_INSN_SIZE ? min(copied, len) : 0;
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
