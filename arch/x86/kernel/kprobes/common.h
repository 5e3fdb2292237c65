/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Register frames in inline assembly: a struct pt_regs on the stack, built by
 * code that no exception has entered.
 *
 * The user has pushed ss, sp and flags.  SAVE_REGS_STRING leaves room for cs, ip
 * and orig_ax and pushes the rest; RESTORE_REGS_STRING takes all of that off
 * again, up to flags.  Neither changes the flags.
 */
#ifndef _ARCH_X86_KERNEL_KPROBES_COMMON_H
#define _ARCH_X86_KERNEL_KPROBES_COMMON_H

#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/unwind_hints.h>

#ifdef CONFIG_X86_64

#define REGS_PUSH(reg)	"	pushq	%" #reg "\n"
#define REGS_POP(reg)	"	popq	%" #reg "\n"
/* lea, since the flags are live */
#define REGS_SKIP(n)	"	leaq	" #n "(%rsp), %rsp\n"

#define SAVE_REGS_STRING						\
	REGS_SKIP(-24)							\
	REGS_PUSH(rdi) REGS_PUSH(rsi) REGS_PUSH(rdx) REGS_PUSH(rcx)	\
	REGS_PUSH(rax) REGS_PUSH(r8)  REGS_PUSH(r9)  REGS_PUSH(r10)	\
	REGS_PUSH(r11) REGS_PUSH(rbx) REGS_PUSH(rbp) REGS_PUSH(r12)	\
	REGS_PUSH(r13) REGS_PUSH(r14) REGS_PUSH(r15)			\
	ENCODE_FRAME_POINTER

#define RESTORE_REGS_STRING						\
	REGS_POP(r15) REGS_POP(r14) REGS_POP(r13) REGS_POP(r12)		\
	REGS_POP(rbp) REGS_POP(rbx) REGS_POP(r11) REGS_POP(r10)		\
	REGS_POP(r9)  REGS_POP(r8)  REGS_POP(rax) REGS_POP(rcx)		\
	REGS_POP(rdx) REGS_POP(rsi) REGS_POP(rdi)			\
	REGS_SKIP(24)

#endif /* CONFIG_X86_64 */

#endif /* _ARCH_X86_KERNEL_KPROBES_COMMON_H */
