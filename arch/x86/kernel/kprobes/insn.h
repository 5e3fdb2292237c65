/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A displaced instruction: its bytes, and how its effect is had.
 */
#ifndef _ARCH_X86_KERNEL_KPROBES_INSN_H
#define _ARCH_X86_KERNEL_KPROBES_INSN_H

#include <linux/types.h>
#include <linux/unaligned.h>
#include <asm/ibt.h>
#include <asm/insn.h>
#include <asm/ptrace.h>

#include "entry.h"

struct insn_operand;
struct probe_site;
struct site_insn;

/**
 * typedef emulate_t - have the effect of an instruction
 * @insn: the instruction
 * @regs: the registers before it, with ip already past it; changed
 *
 * Return: false when it cannot be had (memory that is not there): the slot must
 * run the instruction, and will fault as it would have.
 */
typedef bool (*emulate_t)(const struct site_insn *insn, struct pt_regs *regs);

/* No register: an operand without a base or an index. */
#define OPERAND_NO_REG	0xff

/**
 * struct insn_operand - a register, or memory
 * @base:	offset of a register in pt_regs
 * @index:	likewise
 * @shift:	how far the index is shifted
 * @memory:	the operand is what is found at the computed address
 * @gs:		the address is relative to this CPU's data
 */
struct insn_operand {
	u8	base;
	u8	index;
	u8	shift;
	bool	memory	: 1;
	bool	gs	: 1;
};

/**
 * struct site_insn - the displaced instruction of a probe site
 * @emulate:	NULL: it runs from its slot
 * @slot:	NULL: it always is emulated
 * @detour:	where a jump goes: @slot when the instruction alone makes room for
 *		it, another slot, or NULL; once set it stays
 * @disp:	relative target, displacement of @operand, or bytes that a return
 *		takes off the stack
 * @operand:	of push, pop and indirect branches
 * @cond:	condition code of a jump; opcode of a loop
 * @addr32:	a loop counts in ecx
 * @len:	bytes in the text
 * @bytes:	the bytes, and those behind them
 * @jump_len:	bytes that a jump displaces, 0 if that is not known
 * @routed:	the breakpoint sends tasks to @detour
 *
 * A slot begins with a call of kprobe_entry_jump(), for tasks that come by a jump.
 * It holds the instruction twice: at SLOT_COPY followed by a jump back, and at
 * SLOT_COPY_POST followed by a call of kprobe_entry_resume(), which runs the
 * post-handlers.  At SLOT_SITE is a pointer to the site.  The slot of a detour for
 * several instructions has them at SLOT_COPY, and at SLOT_COPY_POST a jump there:
 * it serves no post-handlers, but one may come while a hit is under way.
 */
struct site_insn {
	emulate_t		emulate;
	void			*slot;
	void			*detour;
	s32			disp;
	struct insn_operand	operand;
	u8			cond;
	bool			addr32;
	u8			len;
	u8			bytes[MAX_INSN_SIZE];
	u8			jump_len;
	bool			routed;
};

/* site_insn.cond of emulate_loop(): the opcodes */
#define LOOP_NE		0xe0
#define LOOP_E		0xe1
#define LOOP_ANY	0xe2
#define LOOP_JRCXZ	0xe3

/* Where an indirect branch lands; what was one, and is sealed, is a nop. */
static inline bool is_landing_pad(const struct site_insn *si)
{
	return si->bytes[0] != 0x66 && is_endbr(get_unaligned((u32 *)si->bytes));
}

/* insn.c */
int insn_classify(struct site_insn *si);

/* jump.c */
bool insn_takes_jump(const struct site_insn *si, unsigned long addr);

/* text.c */
int text_read(u8 *buf, unsigned long addr);
bool text_has_debugger(unsigned long addr);
void *detour_make(const struct probe_site *site);

/* emulate.c */
bool emulate_nop(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_jmp(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_jcc(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_loop(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_call(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_ret(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_push(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_pop(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_jmp_to(const struct site_insn *insn, struct pt_regs *regs);
bool emulate_call_to(const struct site_insn *insn, struct pt_regs *regs);

#endif /* _ARCH_X86_KERNEL_KPROBES_INSN_H */
