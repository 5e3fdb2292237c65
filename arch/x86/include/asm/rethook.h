/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return hook: what it needs to know of x86-64.
 */
#ifndef _ASM_X86_RETHOOK_H
#define _ASM_X86_RETHOOK_H

/* What the trampoline looks at, asserted in rethook.c. */
#define RETHOOK_NODE_rethook	8
#define RETHOOK_NODE_ret_addr	16
#define RETHOOK_NODE_frame	24
#define RETHOOK_handler		0
#define RETHOOK_data		8
#define RETHOOK_pool		16
#define RETHOOK_is_kretprobe	38
#define RETHOOK_POOL_top	0
#define RETHOOK_POOL_end	16

#ifndef __ASSEMBLY__

#include <linux/linkage.h>
#include <asm/ptrace.h>

/* The trampoline's first instruction, call rel32. */
#define ARCH_RETHOOK_CALL_SIZE	5

void arch_rethook_trampoline(void);
asmlinkage void arch_preempt_again(void);

/* At a function's entry, however it was reached, the return address is on top. */
static __always_inline unsigned long *arch_rethook_slot(struct pt_regs *regs, bool mcount)
{
	return (unsigned long *)regs->sp;
}

/*
 * The frame that the trampoline builds lies right under the slot.  Whatever a
 * handler does to ip and sp has no effect, all other registers are restored.
 */
static __always_inline unsigned long *arch_rethook_return_slot(struct pt_regs *regs)
{
	return (unsigned long *)(regs + 1);
}

/*
 * A handler is shown the registers as they will be when the call has returned;
 * the trampoline has left in sp where it stood when it pushed that.
 */
static __always_inline void arch_rethook_fix_regs(struct pt_regs *regs, unsigned long ret_addr)
{
	regs->sp += 2 * sizeof(long);
	regs->ip = ret_addr;
}

#endif /* __ASSEMBLY__ */

#endif /* _ASM_X86_RETHOOK_H */
