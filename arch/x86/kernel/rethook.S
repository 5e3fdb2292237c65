/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return hook: where a hooked function returns to.
 *
 * The idea: the function's ret has taken the trampoline's address from its slot.
 * A call as the first instruction makes the slot anew and gives the CPU's return
 * predictor a partner for our own ret.  At any instruction, then, an unwinder
 * finds either the trampoline's first address in ip, or something in the slot
 * that is_rethook_trampoline() knows, or the true address.
 *
 * No register is changed, flags included, but by handlers: functions with
 * conventions of their own can be hooked.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

	.text

SYM_CODE_START(arch_rethook_trampoline)
	/* Unwinders know this address and what is above the stack. */
	UNWIND_HINT_UNDEFINED
	ANNOTATE_NOENDBR
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lreturned
	int3
.Lreturned:
	UNWIND_HINT_FUNC

	/* struct pt_regs, with its end at the slot. */
	pushq	$__KERNEL_DS
	pushq	%rsp
	pushfq
	/* The function's ret was counted, our call is to be. */
	CALL_DEPTH_ACCOUNT
	pushq	$__KERNEL_CS
	pushq	$arch_rethook_trampoline
	pushq	$-1
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	ENCODE_FRAME_POINTER

	movq	%rsp, %rdi
	call	rethook_return

	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	/* orig_ax, ip, cs; lea, since flags are restored next */
	leaq	24(%rsp), %rsp
	popfq
	leaq	16(%rsp), %rsp
	/* rethook_return() has put the true address in the slot. */
	RET
SYM_CODE_END(arch_rethook_trampoline)
_ASM_NOKPROBE(arch_rethook_trampoline)
