/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hits that arrive by a call: at a function's entry, where ftrace has put the
 * call in place of the nop; and from a slot.
 *
 * The usual hit is dealt with here from end to end, in registers that the frame
 * has saved: no hit is cheaper than one that calls nothing but the handlers.
 * What is rare goes to C, in entry.c.  Nothing in here may be probed or traced.
 *
 * Throughout: %rbx the site, %r12 its address, %r13 the probe.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/frame.h>
#include <asm/kprobes.h>
#include <asm/nops.h>
#include <asm/percpu.h>

#include "../../../../kernel/kprobes/index.h"
#include "../../../../kernel/kprobes/slots.h"
#include "entry.h"
#include "frame.h"

/* site_find(); to \none when there is no site. */
.macro FIND_SITE none:req
	movq	kprobe_site_index(%rip), %rdx
	movl	INDEX_SHIFT(%rdx), %ecx
	movabsq	$INDEX_HASH, %rax
	imulq	%r12, %rax
	shrq	%cl, %rax
.Llook\@:
	movq	INDEX_ENTRY(%rdx, %rax, 8), %rbx
	testq	%rbx, %rbx
	jz	\none
	cmpq	%r12, (%rbx)
	je	.Lfound\@
	incl	%eax
	andl	INDEX_MASK(%rdx), %eax
	jmp	.Llook\@
.Lfound\@:
.endm

/* site_count_hit(): a jump label, which is a nop unless hits are counted. */
.macro COUNT_HIT
#ifdef CONFIG_JUMP_LABEL
.Lcount_label\@:
	.byte	BYTES_NOP5
	.pushsection __jump_table, "aw"
	.balign	8
	.long	.Lcount_label\@ - ., .Lcount_yes\@ - .
	.quad	kprobe_counting - .
	.popsection
#else
	cmpl	$0, kprobe_counting(%rip)
	jne	.Lcount_yes\@
#endif
.Lcount_back\@:
	.subsection 1
.Lcount_yes\@:
	movq	%rbx, %rdi
	call	kprobe_count_hit
	jmp	.Lcount_back\@
	.previous
.endm

/*
 * The pre-handlers of a lane; to \redirected as soon as one has set regs->ip.
 * %r13 is walked along under RCU: preemption is off.
 */
.macro RUN_PRE lane:req redirected:req
	movq	(SITE_PROBES + \lane * SITE_LANE_SIZE)(%rbx), %r13
	testq	%r13, %r13
	jz	.Ldone\@
.Lprobe\@:
	testb	$KPROBE_OFF, KPROBE_FLAGS(%r13)
	jnz	.Lnext\@
	movq	KPROBE_PRE_HANDLER(%r13), %rax
	testq	%rax, %rax
	jz	.Lnext\@
	movq	%r13, PER_CPU_VAR(current_kprobe)
	movq	%r13, %rdi
	movq	%rsp, %rsi
	CALL_NOSPEC rax
	testl	%eax, %eax
	jnz	\redirected
.Lnext\@:
	movq	(%r13), %r13
	testq	%r13, %r13
	jnz	.Lprobe\@
.Ldone\@:
.endm

/* The post-handlers of a lane; in REDIRECT every probe has one. */
.macro RUN_POST lane:req
	movq	$STATUS_SSDONE, PER_CPU_VAR(kprobe_ctlblk)
	movq	(SITE_PROBES + \lane * SITE_LANE_SIZE)(%rbx), %r13
	testq	%r13, %r13
	jz	.Ldone\@
.Lprobe\@:
	testb	$KPROBE_OFF, KPROBE_FLAGS(%r13)
	jnz	.Lnext\@
	movq	KPROBE_POST_HANDLER(%r13), %rax
.if \lane == OBSERVE
	testq	%rax, %rax
	jz	.Lnext\@
.endif
	movq	%r13, PER_CPU_VAR(current_kprobe)
	movq	%r13, %rdi
	movq	%rsp, %rsi
	xorl	%edx, %edx
	CALL_NOSPEC rax
.Lnext\@:
	movq	(%r13), %r13
	testq	%r13, %r13
	jnz	.Lprobe\@
.Ldone\@:
.endm

/* At a function's entry the instruction is a nop, and has run. */
.macro POST_AT_ENTRY lane:req
	addq	$NOP_REST, RIP(%rsp)
	RUN_POST \lane
.endm

/*
 * The ftrace method, for a function whose only user is one lane: ftrace calls
 * us instead of its own trampoline.  Shared functions come by ops->func, which
 * does the same: ftrace.c.
 */
.macro FTRACE_ENTRY name:req lane:req
SYM_CODE_START(\name)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR		/* direct calls only */
	FRAME_BUILD
	incl	PER_CPU_VAR(pcpu_hot + X86_preempt_count)
	movq	RIP(%rsp), %r12
	decq	%r12
	cmpq	$0, PER_CPU_VAR(current_kprobe)
	jne	.Lmissed\@
	FIND_SITE .Lout\@

	COUNT_HIT
	movq	$STATUS_ACTIVE, PER_CPU_VAR(kprobe_ctlblk)
	RUN_PRE \lane .Lredirected\@
.if \lane == OBSERVE
	cmpb	$0, SITE_WATCHED(%rbx)
	jne	.Lpost\@
.else
	POST_AT_ENTRY \lane
.endif
.Lidle\@:
	movq	$0, PER_CPU_VAR(current_kprobe)
.Lout\@:
	decl	PER_CPU_VAR(pcpu_hot + X86_preempt_count)
	jz	.Lpreempt\@
.Lreturn\@:
	FRAME_RETURN

.if \lane == OBSERVE
.Lpost\@:
	POST_AT_ENTRY \lane
	jmp	.Lidle\@
.endif
.Lredirected\@:
	movq	RIP(%rsp), %rax
	movq	%rax, FRAME_RET(%rsp)
	jmp	.Lidle\@
.Lmissed\@:
	movq	%r12, %rdi
	movl	$(1 << \lane), %esi
	call	kprobe_entry_missed
	jmp	.Lout\@
.Lpreempt\@:
	call	arch_preempt_again
	jmp	.Lreturn\@
SYM_CODE_END(\name)
_ASM_NOKPROBE(\name)
.endm

	.text

FTRACE_ENTRY kprobe_entry_observe OBSERVE
FTRACE_ENTRY kprobe_entry_redirect REDIRECT

/*
 * arch_call_typed(): a call with the arguments of another.  The handler is any C
 * function, variadic ones included: %al is the number of vector registers.
 */
SYM_FUNC_START(arch_call_typed)
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$(JPROBE_STACK_WORDS * 8), %rsp
	movq	%rdi, %r10
	movq	%rsi, %r11
	movq	%rdx, %rsi
	movq	%rsp, %rdi
	movl	$JPROBE_STACK_WORDS, %ecx
	rep movsq
	movq	RDI(%r10), %rdi
	movq	RSI(%r10), %rsi
	movq	RDX(%r10), %rdx
	movq	RCX(%r10), %rcx
	movq	R8(%r10), %r8
	movq	R9(%r10), %r9
	xorl	%eax, %eax
	CALL_NOSPEC r11
	leave
	RET
SYM_FUNC_END(arch_call_typed)
_ASM_NOKPROBE(arch_call_typed)

#ifdef CONFIG_OPTPROBES
/*
 * Called from the start of a detour, where a jump has led; returns to the copies
 * behind the call.
 */
SYM_CODE_START(kprobe_entry_jump)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR
	FRAME_BUILD links=0
	movq	FRAME_SIZE(%rsp), %rbx
	andq	$-INSN_SLOT_SIZE, %rbx
	movq	SLOT_SITE(%rbx), %rbx
	movq	(%rbx), %r12
	leaq	1(%r12), %rax
	movq	%rax, RIP(%rsp)
	UNWIND_HINT_REGS
	ENCODE_FRAME_POINTER
	incl	PER_CPU_VAR(pcpu_hot + X86_preempt_count)
	cmpq	$0, PER_CPU_VAR(current_kprobe)
	jne	.Ljump_missed

	COUNT_HIT
	movq	$STATUS_ACTIVE, PER_CPU_VAR(kprobe_ctlblk)
	RUN_PRE OBSERVE .Ljump_redirected
	cmpb	$0, SITE_WATCHED(%rbx)
	jne	.Ljump_watched
.Ljump_idle:
	movq	$0, PER_CPU_VAR(current_kprobe)
.Ljump_out:
	decl	PER_CPU_VAR(pcpu_hot + X86_preempt_count)
	jz	.Ljump_preempt
.Ljump_return:
	FRAME_HINT links=0
	FRAME_RETURN links=0

	UNWIND_HINT_REGS
	/* To the copy that kprobe_entry_resume() follows. */
.Ljump_watched:
	addq	$(SLOT_COPY_POST - SLOT_COPY), FRAME_SIZE(%rsp)
	jmp	.Ljump_idle
.Ljump_redirected:
	movq	RIP(%rsp), %rax
	movq	%rax, FRAME_SIZE(%rsp)
	jmp	.Ljump_idle
.Ljump_missed:
	movq	%r12, %rdi
	movl	$(1 << OBSERVE), %esi
	call	kprobe_entry_missed
	jmp	.Ljump_out
.Ljump_preempt:
	call	arch_preempt_again
	jmp	.Ljump_return
SYM_CODE_END(kprobe_entry_jump)
_ASM_NOKPROBE(kprobe_entry_jump)
#endif

/*
 * Called from a slot behind the displaced instruction; goes on in the text.
 */
SYM_CODE_START(kprobe_entry_resume)
	UNWIND_HINT_FUNC
	ANNOTATE_NOENDBR
	FRAME_BUILD links=0
	UNWIND_HINT_REGS
	ENCODE_FRAME_POINTER
	movq	FRAME_SIZE(%rsp), %rdi
	movq	%rsp, %rsi
	call	kprobe_entry_resumed
	movq	RIP(%rsp), %rax
	movq	%rax, FRAME_SIZE(%rsp)
	FRAME_HINT links=0
	FRAME_RETURN links=0
SYM_CODE_END(kprobe_entry_resume)
_ASM_NOKPROBE(kprobe_entry_resume)
