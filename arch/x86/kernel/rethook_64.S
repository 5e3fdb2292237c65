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
 * The usual return is dealt with here from end to end: one call with one instance.
 * rethook_return_slow() is the same in C, and more.
 *
 * No register is changed, flags included, but by handlers: functions with
 * conventions of their own can be hooked.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/ptrace-abi.h>
#include <asm/rethook.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

#include "kprobes/frame.h"

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
	pushq	$__KERNEL_CS
	pushq	$arch_rethook_trampoline
	pushq	$-1
	FRAME_PUSH_GPRS
	ENCODE_FRAME_POINTER

	incl	PER_CPU_VAR(pcpu_hot + X86_preempt_count)
	movq	PER_CPU_VAR(pcpu_hot + X86_current_task), %r13
	movq	TASK_rethooks(%r13), %rbx
	leaq	FRAME_SIZE(%rsp), %rax
	/* No instance at all would be a fault here, as good a death as any. */
	cmpq	%rax, RETHOOK_NODE_frame(%rbx)
	jne	.Lslow
	movq	RETHOOK_NODE_ret_addr(%rbx), %rdx
	cmpq	$arch_rethook_trampoline, %rdx
	je	.Lslow
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	cmpq	$return_to_handler, %rdx
	je	.Lslow
#endif

	/* What handlers see; and unwinders need the instance no more. */
	addq	$16, RSP(%rsp)
	movq	%rdx, RIP(%rsp)
	movq	%rdx, FRAME_SIZE(%rsp)

	movq	RETHOOK_NODE_rethook(%rbx), %r12
	movq	RETHOOK_handler(%r12), %rax
	movq	RETHOOK_data(%r12), %rsi
	testq	%rax, %rax
	jz	.Ldone
	movq	%rbx, %rdi
#ifdef CONFIG_KPROBES
	cmpb	$0, RETHOOK_is_kretprobe(%r12)
	jne	.Lkretprobe
#endif
	movq	%rsp, %rcx
	CALL_NOSPEC rax

	/* Off the task's list, and into the pool. */
.Ldone:
	movq	(%rbx), %rax
	movq	%rax, TASK_rethooks(%r13)
	movq	RETHOOK_pool(%r12), %rcx
	movq	__percpu RETHOOK_POOL_top(%rcx), %rax
	cmpq	__percpu RETHOOK_POOL_end(%rcx), %rax
	jae	.Lrecycle_slow
	movq	$0, RETHOOK_NODE_rethook(%rbx)
	movq	%rbx, (%rax)
	addq	$8, __percpu RETHOOK_POOL_top(%rcx)
.Lfinish:
	decl	PER_CPU_VAR(pcpu_hot + X86_preempt_count)
	jz	.Lpreempt
.Lrestore:
	/*
	 * To the true address, which by now is in the slot.  Neither this return
	 * nor the call above is counted (FRAME_RETURN); the function's own were.
	 */
	FRAME_RETURN links=0

#ifdef CONFIG_KPROBES
.Lkretprobe:
	movq	%rsi, PER_CPU_VAR(current_kprobe)
	movq	$STATUS_ACTIVE, PER_CPU_VAR(kprobe_ctlblk)
	movq	%rsp, %rsi
	CALL_NOSPEC rax
	movq	$0, PER_CPU_VAR(current_kprobe)
	jmp	.Ldone
#endif
.Lrecycle_slow:
	movq	%rbx, %rdi
	call	rethook_recycle_slow
	jmp	.Lfinish
.Lslow:
	movq	%rsp, %rdi
	call	rethook_return_slow
	jmp	.Lfinish
.Lpreempt:
	call	arch_preempt_again
	jmp	.Lrestore
SYM_CODE_END(arch_rethook_trampoline)
_ASM_NOKPROBE(arch_rethook_trampoline)
