/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A full struct pt_regs for code that was reached by a call, not by an
 * exception: by the call in place of a function's fentry nop, or by one in a
 * slot.  It is built right under the slot of the return address, FRAME_RET
 * bytes from its start; what is in that slot is where FRAME_RETURN goes.
 *
 * No register is changed, and the flags are those before the call.  At a
 * function's entry regs->ip is the address of the call plus one, where a
 * breakpoint in its place would have left it; elsewhere it is for the user to
 * set.
 */
#ifndef _ARCH_X86_KERNEL_KPROBES_FRAME_H
#define _ARCH_X86_KERNEL_KPROBES_FRAME_H

#include <linux/objtool.h>
#include <linux/stringify.h>
#include <asm/alternative.h>
#include <asm/cpufeatures.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include "entry.h"

/*
 * An unwinder that follows frame pointers knows nothing of a function that has
 * not made its frame yet: make it, and that of its caller.
 */
#ifdef CONFIG_FRAME_POINTER
#define FRAME_LINKS	32
#else
#define FRAME_LINKS	0
#endif

#define FRAME_RET	(FRAME_SIZE + FRAME_LINKS)

.macro FRAME_LINK
	pushq	8(%rsp)			/* whoever called the function */
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	16(%rsp)		/* the function */
	pushq	%rbp
	movq	%rsp, %rbp
.endm

/* From orig_ax down; %rbp as it was before FRAME_LINK. */
.macro FRAME_PUSH_GPRS links=0
.irp reg, rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11, rbx
	pushq	%\reg
.endr
.if \links
	pushq	(FRAME_SIZE + 16 - RBX)(%rsp)
.else
	pushq	%rbp
.endif
.irp reg, r12, r13, r14, r15
	pushq	%\reg
.endr
.endm

.macro FRAME_BUILD links=FRAME_LINKS
.if \links
	FRAME_LINK
.endif
	pushq	$__KERNEL_DS
	pushq	%rsp
	pushfq
	/* Here, at the latest, since it changes the flags. */
	addq	$(16 + \links), 8(%rsp)
	pushq	$__KERNEL_CS
	pushq	(FRAME_SIZE + \links - CS)(%rsp)
	subq	$NOP_REST, (%rsp)
	pushq	$-1			/* orig_ax: no system call */
	FRAME_PUSH_GPRS links=\links
.endm

/* For an unwinder, after UNWIND_HINT_REGS: the frame no longer is of interest. */
.macro FRAME_HINT links=FRAME_LINKS
	.set frame_cfa, FRAME_SIZE + \links + 8
	UNWIND_HINT type=UNWIND_HINT_TYPE_CALL sp_reg=ORC_REG_SP sp_offset=frame_cfa
.endm

/*
 * Where calls are counted, against an underflow of the return predictor, the
 * thunk that counts a return changes the flags, and so does counting a call.
 * Here neither is: a pair that is not counted leaves the count true, or one off
 * if more was called in between than the predictor holds, which it has room for.
 */
.macro RET_KEEPS_FLAGS
#ifdef CONFIG_MITIGATION_CALL_DEPTH_TRACKING
	ALTERNATIVE "", __stringify(jmp .Lplain_ret\@), X86_FEATURE_CALL_DEPTH
	RET
.Lplain_ret\@:
	ANNOTATE_UNRET_SAFE
	ret
	int3
#else
	RET
#endif
.endm

/* All registers as in the frame, which a handler may have changed. */
.macro FRAME_RETURN links=FRAME_LINKS
.irp reg, r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
	popq	%\reg
.endr
	leaq	(EFLAGS - ORIG_RAX)(%rsp), %rsp
	popfq
	leaq	(FRAME_SIZE + \links - RSP)(%rsp), %rsp
	RET_KEEPS_FLAGS
.endm

#endif /* _ARCH_X86_KERNEL_KPROBES_FRAME_H */
