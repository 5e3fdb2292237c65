// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions whose effect is had on the saved registers, without running them:
 * those that depend on where they stand (branches), and the frequent ones at the
 * start of a function (push), for which a slot would be the slower way.
 *
 * A push may only be emulated from the breakpoint's handler: its entry code
 * leaves a gap on the stack for it.
 */
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>

#include "insn.h"

static __always_inline unsigned long *operand_reg(u8 offset, struct pt_regs *regs)
{
	return (void *)regs + offset;
}

static bool operand_read(const struct site_insn *insn, struct pt_regs *regs,
			 unsigned long *val)
{
	const struct insn_operand *op = &insn->operand;
	unsigned long addr = insn->disp;

	if (!op->memory) {
		*val = *operand_reg(op->base, regs);
		return true;
	}
	if (op->base != OPERAND_NO_REG)
		addr += *operand_reg(op->base, regs);
	if (op->index != OPERAND_NO_REG)
		addr += *operand_reg(op->index, regs) << op->shift;
	if (op->gs)
		addr += this_cpu_read(this_cpu_off);
	__get_kernel_nofault(val, (void *)addr, unsigned long, fault);
	return true;
fault:
	return false;
}
NOKPROBE_SYMBOL(operand_read);

/* What changes nothing but regs->ip. */
bool emulate_nop(const struct site_insn *insn, struct pt_regs *regs)
{
	return true;
}
NOKPROBE_SYMBOL(emulate_nop);

/* jmp rel8, rel32 */
bool emulate_jmp(const struct site_insn *insn, struct pt_regs *regs)
{
	regs->ip += insn->disp;
	return true;
}
NOKPROBE_SYMBOL(emulate_jmp);

/* jo .. jg rel8, rel32 */
bool emulate_jcc(const struct site_insn *insn, struct pt_regs *regs)
{
	int3_emulate_jcc(regs, insn->cond, regs->ip, insn->disp);
	return true;
}
NOKPROBE_SYMBOL(emulate_jcc);

/* loopne, loope, loop, jrcxz: the counter is rcx, or ecx with an 0x67 prefix */
bool emulate_loop(const struct site_insn *insn, struct pt_regs *regs)
{
	unsigned long count = regs->cx;
	bool zf = regs->flags & X86_EFLAGS_ZF;
	bool taken;

	if (insn->cond != LOOP_JRCXZ) {
		count--;
		/* Writing ecx clears the upper half. */
		regs->cx = insn->addr32 ? (u32)count : count;
	}
	if (insn->addr32)
		count = (u32)count;

	switch (insn->cond) {
	case LOOP_NE:
		taken = count && !zf;
		break;
	case LOOP_E:
		taken = count && zf;
		break;
	case LOOP_ANY:
		taken = count;
		break;
	default:
		taken = !count;
	}
	if (taken)
		regs->ip += insn->disp;
	return true;
}
NOKPROBE_SYMBOL(emulate_loop);

/* call rel32 */
bool emulate_call(const struct site_insn *insn, struct pt_regs *regs)
{
	int3_emulate_push(regs, regs->ip);
	regs->ip += insn->disp;
	return true;
}
NOKPROBE_SYMBOL(emulate_call);

/* ret, ret imm16 */
bool emulate_ret(const struct site_insn *insn, struct pt_regs *regs)
{
	regs->ip = int3_emulate_pop(regs);
	regs->sp += insn->disp;
	return true;
}
NOKPROBE_SYMBOL(emulate_ret);

/* push r64 */
bool emulate_push(const struct site_insn *insn, struct pt_regs *regs)
{
	int3_emulate_push(regs, *operand_reg(insn->operand.base, regs));
	return true;
}
NOKPROBE_SYMBOL(emulate_push);

/* pop r64 */
bool emulate_pop(const struct site_insn *insn, struct pt_regs *regs)
{
	unsigned long val = int3_emulate_pop(regs);

	*operand_reg(insn->operand.base, regs) = val;
	return true;
}
NOKPROBE_SYMBOL(emulate_pop);

/* jmp r/m64 */
bool emulate_jmp_to(const struct site_insn *insn, struct pt_regs *regs)
{
	return operand_read(insn, regs, &regs->ip);
}
NOKPROBE_SYMBOL(emulate_jmp_to);

/* call r/m64 */
bool emulate_call_to(const struct site_insn *insn, struct pt_regs *regs)
{
	unsigned long target;

	if (!operand_read(insn, regs, &target))
		return false;
	int3_emulate_push(regs, regs->ip);
	regs->ip = target;
	return true;
}
NOKPROBE_SYMBOL(emulate_call_to);
