/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit: functions to probe, see test_x86.h, and every kind of instruction that
 * a probe may have to displace.
 *
 * The idea of the second part: a case is a function that runs one instruction
 * of interest between others that make its effect visible in registers.  It is
 * called by kprobes_test_call(), which has loaded all registers: %rsi and %rdi
 * with addresses of memory, %rcx with 0, 1 or 2, the flags with all sorts.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include "test_x86.h"

/*
 * Not by a thunk: the one that tracks the depth of calls changes the flags.  As
 * long as the jump to it, which decides what pads the function.
 */
.macro TEST_RET
	ANNOTATE_UNRET_SAFE
	ret
	.fill	4, 1, 0xcc
.endm

SYM_FUNC_START(kprobes_test_call)
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rsi
	push	%rdi
	lea	-8(%rsp), %rax
	mov	%rax, TR_SP(%rsi)
	push	TR_FLAGS(%rsi)
	popfq
	mov	TR_AX(%rsi), %rax
	mov	TR_BX(%rsi), %rbx
	mov	TR_CX(%rsi), %rcx
	mov	TR_DX(%rsi), %rdx
	mov	TR_DI(%rsi), %rdi
	mov	TR_BP(%rsi), %rbp
	mov	TR_R8(%rsi), %r8
	mov	TR_R9(%rsi), %r9
	mov	TR_R10(%rsi), %r10
	mov	TR_R11(%rsi), %r11
	mov	TR_R12(%rsi), %r12
	mov	TR_R13(%rsi), %r13
	mov	TR_R14(%rsi), %r14
	mov	TR_R15(%rsi), %r15
	mov	TR_SI(%rsi), %rsi
	ANNOTATE_RETPOLINE_SAFE
	call	*(%rsp)
	pushfq
	push	%rsi
	mov	24(%rsp), %rsi
	mov	%rax, TR_AX(%rsi)
	mov	%rbx, TR_BX(%rsi)
	mov	%rcx, TR_CX(%rsi)
	mov	%rdx, TR_DX(%rsi)
	mov	%rdi, TR_DI(%rsi)
	mov	%rbp, TR_BP(%rsi)
	mov	%r8, TR_R8(%rsi)
	mov	%r9, TR_R9(%rsi)
	mov	%r10, TR_R10(%rsi)
	mov	%r11, TR_R11(%rsi)
	mov	%r12, TR_R12(%rsi)
	mov	%r13, TR_R13(%rsi)
	mov	%r14, TR_R14(%rsi)
	mov	%r15, TR_R15(%rsi)
	pop	TR_SI(%rsi)
	pop	TR_FLAGS(%rsi)
	add	$16, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	RET
SYM_FUNC_END(kprobes_test_call)
STACK_FRAME_NON_STANDARD kprobes_test_call

SYM_FUNC_START(kprobes_test_nop_first)
.Lat_first:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	TEST_RET
SYM_FUNC_END(kprobes_test_nop_first)

SYM_FUNC_START(kprobes_test_nop_middle)
	nopl	(%rax)
.Lat_middle:
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	TEST_RET
SYM_FUNC_END(kprobes_test_nop_middle)

	/* Three of three bytes: a jump displaces two of them. */
SYM_FUNC_START(kprobes_test_nops)
.Lat_nops:
	nopl	(%rax)
	nopl	(%rax)
	nopl	(%rax)
	TEST_RET
SYM_FUNC_END(kprobes_test_nops)

/*
 * Additions, each of which tells that it has run once: three bytes each, and the
 * last one five.
 */
.macro adding name frame=0
SYM_FUNC_START(kprobes_test_add_\name)
.if \frame
	FRAME_BEGIN
.endif
.Lat_add_\name:
	mov	%rdi, %rax
	add	$1, %eax
	add	$2, %eax
	add	$4, %eax
	add	$0x100000, %eax
.Lend_add_\name:
.if \frame
	FRAME_END
.endif
	TEST_RET
SYM_FUNC_END(kprobes_test_add_\name)
	.if .Lend_add_\name - .Lat_add_\name - KPROBES_TEST_ADD_TEXT
	.error "KPROBES_TEST_ADD_TEXT is wrong"
	.endif
.endm

	adding	a
	adding	b
	adding	c
	adding	framed, frame=1

SYM_FUNC_START(kprobes_test_add_ones)
	mov	%rdi, %rax
.Lat_add_ones:
	.rept	KPROBES_TEST_ONES
	add	$1, %eax
	.endr
.Lend_add_ones:
	TEST_RET
SYM_FUNC_END(kprobes_test_add_ones)
	.if .Lend_add_ones - .Lat_add_ones - KPROBES_TEST_ONES * KPROBES_TEST_ONE_SIZE
	.error "KPROBES_TEST_ONE_SIZE is wrong"
	.endif

	/* The argument, once; the loop goes into the middle of what a jump takes. */
SYM_FUNC_START(kprobes_test_into)
	xor	%eax, %eax
.Lat_into:
	mov	%rdi, %rdx
1:	add	$1, %eax
	sub	$1, %edx
	jg	1b
	TEST_RET
SYM_FUNC_END(kprobes_test_into)

	/* The same, but the loop goes to the start of it. */
SYM_FUNC_START(kprobes_test_onto)
	xor	%eax, %eax
	mov	%rdi, %rdx
1:
.Lat_onto:
	add	$1, %eax
	sub	$1, %edx
	jg	1b
	TEST_RET
SYM_FUNC_END(kprobes_test_onto)

	/* The return is not to be moved. */
SYM_FUNC_START(kprobes_test_at_return)
.Lat_at_return:
	mov	%rdi, %rax
	TEST_RET
SYM_FUNC_END(kprobes_test_at_return)

	/* A jump label's nop may become a jump to who knows where. */
SYM_FUNC_START(kprobes_test_label)
.Lat_label:
	mov	%rdi, %rax
	add	$1, %eax
	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	TEST_RET
SYM_FUNC_END(kprobes_test_label)

	/* Behind its end are nops as long as those of jump labels. */
SYM_FUNC_START(kprobes_test_padded)
.Lat_padded:
	mov	%rdi, %rax
	add	$1, %eax
	TEST_RET
SYM_FUNC_END(kprobes_test_padded)
	.byte	BYTES_NOP2
	.byte	BYTES_NOP5

	/* Its end is inside of what a jump would take; what is behind goes on. */
SYM_FUNC_START(kprobes_test_at_end)
.Lat_at_end:
	mov	%rdi, %rax
	.type kprobes_test_at_end, @function
	.size kprobes_test_at_end, . - kprobes_test_at_end
SYM_INNER_LABEL(kprobes_test_behind_end, SYM_L_GLOBAL)
	.type kprobes_test_behind_end, @function
	add	$1, %eax
	TEST_RET
	.size kprobes_test_behind_end, . - kprobes_test_behind_end
STACK_FRAME_NON_STANDARD kprobes_test_at_end
STACK_FRAME_NON_STANDARD kprobes_test_behind_end

	/* Where an indirect branch may land is not to be moved. */
SYM_FUNC_START(kprobes_test_pad)
.Lat_pad:
	mov	%rdi, %rax
	ENDBR
	ANNOTATE_NOENDBR
	add	$1, %eax
	TEST_RET
SYM_FUNC_END(kprobes_test_pad)

	/* Where it goes nobody can tell; it is not taken. */
SYM_FUNC_START(kprobes_test_indirect)
.Lat_indirect:
	mov	%rdi, %rax
	add	$1, %eax
	js	1f
	TEST_RET
1:	ANNOTATE_RETPOLINE_SAFE
	jmp	*%rdx
SYM_FUNC_END(kprobes_test_indirect)
STACK_FRAME_NON_STANDARD kprobes_test_indirect

	/* Two parts of a function, and neither knows where the other jumps to. */
SYM_FUNC_START(kprobes_test_parted)
.Lat_parted:
	mov	%rdi, %rax
	add	$1, %eax
	cmp	$7, %eax
	je	kprobes_test_parted.cold
	TEST_RET
SYM_FUNC_END(kprobes_test_parted)
STACK_FRAME_NON_STANDARD kprobes_test_parted

SYM_FUNC_START(kprobes_test_parted.cold)
.Lat_cold:
	mov	%rdi, %rax
	add	$1, %eax
	TEST_RET
SYM_FUNC_END(kprobes_test_parted.cold)

	.pushsection .rodata
	.balign	4
SYM_DATA(kprobes_test_pad_at, .long .Lat_pad - kprobes_test_pad)
SYM_DATA(kprobes_test_indirect_at, .long .Lat_indirect - kprobes_test_indirect)
SYM_DATA(kprobes_test_parted_at, .long .Lat_parted - kprobes_test_parted)
SYM_DATA(kprobes_test_cold_at, .long .Lat_cold - kprobes_test_parted.cold)
SYM_DATA(kprobes_test_add_at, .long .Lat_add_a - kprobes_test_add_a)
SYM_DATA(kprobes_test_add_framed_at, .long .Lat_add_framed - kprobes_test_add_framed)
SYM_DATA(kprobes_test_add_ones_at, .long .Lat_add_ones - kprobes_test_add_ones)
SYM_DATA(kprobes_test_into_at, .long .Lat_into - kprobes_test_into)
SYM_DATA(kprobes_test_onto_at, .long .Lat_onto - kprobes_test_onto)
SYM_DATA(kprobes_test_at_return_at, .long .Lat_at_return - kprobes_test_at_return)
SYM_DATA(kprobes_test_label_at, .long .Lat_label - kprobes_test_label)
SYM_DATA(kprobes_test_padded_at, .long .Lat_padded - kprobes_test_padded)
SYM_DATA(kprobes_test_at_end_at, .long .Lat_at_end - kprobes_test_at_end)
SYM_DATA(kprobes_test_nops_at, .long .Lat_nops - kprobes_test_nops)
SYM_DATA(kprobes_test_nop_first_at, .long .Lat_first - kprobes_test_nop_first)
SYM_DATA(kprobes_test_nop_middle_at, .long .Lat_middle - kprobes_test_nop_middle)
	.popsection

SYM_FUNC_START(kprobes_test_elsewhere)
	mov	$TEST_ELSEWHERE, %eax
	TEST_RET
SYM_FUNC_END(kprobes_test_elsewhere)

SYM_FUNC_START(kprobes_test_direct)
	pushfq
	incq	kprobes_test_direct_calls(%rip)
	popfq
	TEST_RET
SYM_FUNC_END(kprobes_test_direct)

	.pushsection .data
	.balign	8
SYM_DATA(kprobes_test_direct_calls, .quad 0)
SYM_DATA_LOCAL(.Lword, .quad 0x1122334455667788)
	/* The table of cases is subsection 1, their names are subsection 2. */
	.subsection 1
	.balign	8
SYM_DATA_START(kprobes_test_insns)
	.popsection

.macro begin name
SYM_FUNC_START_LOCAL(kprobes_test_insn_\name)
.endm

.macro probed name, insn:vararg
.Lat_\name:
	\insn
.Lnext_\name:
.endm

/*
 * A return may not be moved, and so, without the nop, a short instruction before
 * it could not have a jump.
 */
.macro finish name, flags=0
	nopl	0(%rax)
	TEST_RET
SYM_FUNC_END(kprobes_test_insn_\name)
	STACK_FRAME_NON_STANDARD kprobes_test_insn_\name
	.pushsection .data
	.subsection 1
	.quad	kprobes_test_insn_\name, .Lname_\name
	.long	.Lat_\name - kprobes_test_insn_\name, .Lnext_\name - .Lat_\name
	.long	\flags, 0
	.subsection 2
.Lname_\name:
	.asciz	"\name"
	.popsection
.endm

/* Nothing before the instruction, nothing after it. */
.macro plain name, insn:vararg
	begin	\name
	probed	\name, \insn
	finish	\name
.endm

/* Something was pushed: look at it. */
.macro pushing name, insn:vararg
	begin	\name
	probed	\name, \insn
	pop	%rdx
	finish	\name
.endm

/* A jump, taken or not, over an instruction that tells. */
.macro jumping name, insn:vararg
	begin	\name
	mov	$2, %edx
	probed	\name, \insn .Lland_\name
	mov	$1, %edx
.Lland_\name:
	finish	\name, INSN_BRANCH
.endm

	/* Moves and arithmetic. */
	plain	nop1, nop
	plain	nop4, nopl 0(%rax)
	plain	nop9, nopw 0x200(%rax, %rax)
	plain	mov_reg, mov %rdi, %rdx
	plain	mov_imm32, mov $0x12345678, %edx
	plain	mov_imm64, movabs $0x123456789abcdef0, %rdx
	plain	mov_load, mov 8(%rsi), %rdx
	plain	mov_store, mov %rdx, 8(%rsi)
	plain	mov_store_imm, movq $-5, 8(%rsi)
	plain	mov_load_byte, movzbl 3(%rsi), %edx
	plain	mov_word, mov %dx, 2(%rsi)
	plain	mov_rip_load, mov .Lword(%rip), %rdx
	plain	cmp_rip_imm8, cmpb $0x77, .Lword+1(%rip)
	plain	imul_rip_imm32, imul $0x12345, .Lword(%rip), %edx
	plain	lea_rip, lea .Lword(%rip), %rdx
	plain	lea_sib, lea 0x40(%rsi, %rcx, 8), %rdx
	plain	add_imm8, add $0x7f, %rdx
	plain	adc_reg, adc %rdx, %r9
	plain	sub_rax_imm32, sub $0x11223344, %rax
	plain	test_byte, testb $0x10, (%rsi)
	plain	xor_r8, xor %r8d, %r15d
	plain	cmov, cmovc %rdi, %rdx
	plain	setcc, setbe %dl
	plain	bt_mem, btsq $5, (%rsi)
	plain	bswap, bswap %r12
	plain	shift_cl, shl %cl, %rdx
	plain	mul, mul %r9
	plain	xchg_mem, xchg %rdx, (%rsi)
	plain	lock_xadd, lock xadd %rdx, (%rsi)
	plain	lock_cmpxchg, lock cmpxchg %rdx, (%rsi)
	plain	data16_add, add $0x1234, %dx
	plain	cmc, cmc
	plain	stc, stc
	plain	lahf, lahf
	plain	xlat, xlatb
	plain	rep_movsb, rep movsb
	plain	rep_stosq, rep stosq
	plain	repe_cmpsb, repe cmpsb
	plain	lodsw, lodsw

	begin	mov_rip_store
	probed	mov_rip_store, mov %rdx, .Lscratch(%rip)
	mov	.Lscratch(%rip), %r9
	finish	mov_rip_store
	.pushsection .data
	.balign	8
.Lscratch:
	.quad	0
	.popsection

	/* The stack. */
	pushing	push_reg, push %rcx
	pushing	push_r12, push %r12
	pushing	push_imm8, push $-3
	pushing	push_imm32, push $0x12345678
	pushing	push_mem, pushq 8(%rsi)
	pushing	push_sp, push %rsp
	pushing	pushf, pushfq

	begin	lea_sp
	probed	lea_sp, lea -8(%rsp), %rsp
	mov	%rsp, %rdx
	add	$8, %rsp
	finish	lea_sp

	begin	sub_sp
	probed	sub_sp, sub $8, %rsp
	mov	%rsp, %rdx
	add	$8, %rsp
	finish	sub_sp

	begin	pop_reg
	push	%r9
	probed	pop_reg, pop %rdx
	finish	pop_reg

	begin	pop_r15
	push	%r9
	probed	pop_r15, pop %r15
	finish	pop_r15

	begin	pop_mem
	push	%r9
	probed	pop_mem, popq 8(%rsi)
	finish	pop_mem

	begin	pop_sp
	push	%rsp
	probed	pop_sp, pop %rsp
	mov	%rsp, %rdx
	finish	pop_sp

	begin	popf
	pushfq
	xorq	$1, (%rsp)
	probed	popf, popfq
	finish	popf

	begin	mov_from_sp
	probed	mov_from_sp, mov %rsp, %rdx
	finish	mov_from_sp

	begin	mov_to_sp
	mov	%rsp, %rdx
	push	%rcx
	probed	mov_to_sp, mov %rdx, %rsp
	finish	mov_to_sp

	begin	load_by_sp
	push	%r9
	probed	load_by_sp, mov (%rsp), %rdx
	pop	%r8
	finish	load_by_sp

	begin	leave
	push	%rbp
	mov	%rsp, %rbp
	push	%rcx
	probed	leave, leave
	mov	%rsp, %rdx
	finish	leave

	/* The interrupt flag. */
	begin	cli
	probed	cli, cli
	pushfq
	pop	%rdx
	sti
	finish	cli

	begin	sti
	cli
	probed	sti, sti
	nop
	pushfq
	pop	%rdx
	finish	sti

	begin	pushf_irqs_off
	cli
	probed	pushf_irqs_off, pushfq
	pop	%rdx
	sti
	finish	pushf_irqs_off

	begin	popf_irqs_off
	pushfq
	cli
	probed	popf_irqs_off, popfq
	pushfq
	pop	%rdx
	finish	popf_irqs_off

	begin	add_irqs_off
	cli
	probed	add_irqs_off, add $0x100, %rax
	pushfq
	pop	%rdx
	sti
	finish	add_irqs_off

	/* Jumps. */
	jumping	jmp_rel8, jmp
	jumping	jmp_rel32, {disp32} jmp
	.irp cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	jumping	j\cc\()_rel8, j\cc
	jumping	j\cc\()_rel32, {disp32} j\cc
	.endr
	jumping	loop, loop
	jumping	loope, loope
	jumping	loopne, loopne
	jumping	jrcxz, jrcxz
	jumping	jecxz, jecxz

	begin	jmp_back
	jmp	1f
2:	mov	$3, %edx
	jmp	3f
1:	probed	jmp_back, jmp 2b
	mov	$1, %edx
3:
	finish	jmp_back, INSN_BRANCH

	begin	jmp_reg
	lea	1f(%rip), %rax
	ANNOTATE_RETPOLINE_SAFE
	probed	jmp_reg, jmp *%rax
	mov	$1, %edx
1:	ENDBR
	finish	jmp_reg, INSN_BRANCH

	begin	jmp_r11
	lea	1f(%rip), %r11
	ANNOTATE_RETPOLINE_SAFE
	probed	jmp_r11, jmp *%r11
	mov	$1, %edx
1:	ENDBR
	finish	jmp_r11, INSN_BRANCH

	begin	jmp_mem
	lea	1f(%rip), %rax
	mov	%rax, 8(%rsi)
	ANNOTATE_RETPOLINE_SAFE
	probed	jmp_mem, jmp *8(%rsi)
	mov	$1, %edx
1:	ENDBR
	finish	jmp_mem, INSN_BRANCH

	begin	jmp_rip_mem
	lea	1f(%rip), %rax
	mov	%rax, .Lscratch(%rip)
	ANNOTATE_RETPOLINE_SAFE
	probed	jmp_rip_mem, jmp *.Lscratch(%rip)
	mov	$1, %edx
1:	ENDBR
	finish	jmp_rip_mem, INSN_BRANCH

	/* Calls and returns: the callee also tells where it would return to. */
SYM_FUNC_START_LOCAL(kprobes_test_callee)
	mov	(%rsp), %rdx
	TEST_RET
SYM_FUNC_END(kprobes_test_callee)

	/* A call of another function may be made one that counts: flags again. */
	begin	call_rel32
	probed	call_rel32, call 1f
	jmp	2f
1:	mov	(%rsp), %rdx
	TEST_RET
2:
	finish	call_rel32, INSN_BRANCH

	begin	call_reg
	lea	kprobes_test_callee(%rip), %rax
	ANNOTATE_RETPOLINE_SAFE
	probed	call_reg, call *%rax
	finish	call_reg, INSN_BRANCH

	begin	call_r10
	lea	kprobes_test_callee(%rip), %r10
	ANNOTATE_RETPOLINE_SAFE
	probed	call_r10, call *%r10
	finish	call_r10, INSN_BRANCH

	begin	call_mem
	lea	kprobes_test_callee(%rip), %rax
	mov	%rax, 8(%rsi)
	ANNOTATE_RETPOLINE_SAFE
	probed	call_mem, call *8(%rsi)
	finish	call_mem, INSN_BRANCH

	/* %rcx is 0, 1 or 2. */
	begin	call_sib
	lea	kprobes_test_callee(%rip), %rax
	mov	%rax, 8(%rsi)
	mov	%rax, 16(%rsi)
	mov	%rax, 24(%rsi)
	ANNOTATE_RETPOLINE_SAFE
	probed	call_sib, call *8(%rsi, %rcx, 8)
	finish	call_sib, INSN_BRANCH

	begin	call_by_sp
	lea	kprobes_test_callee(%rip), %rax
	push	%rax
	ANNOTATE_RETPOLINE_SAFE
	probed	call_by_sp, call *(%rsp)
	pop	%rax
	finish	call_by_sp, INSN_BRANCH

	begin	ret
	call	1f
	mov	%rsp, %rdx
	jmp	2f
1:	ANNOTATE_UNRET_SAFE
	probed	ret, ret
	int3
2:
	finish	ret, INSN_BRANCH

	begin	ret_imm16
	push	%rcx
	call	1f
	mov	%rsp, %rdx
	jmp	2f
1:	ANNOTATE_UNRET_SAFE
	probed	ret_imm16, ret $8
	int3
2:
	finish	ret_imm16, INSN_BRANCH

	/* Faults that are expected, and fixed up. */
	begin	fault_page
	mov	$-4096, %rdx
	probed	fault_page, mov 8(%rdx), %rax
	jmp	2f
1:	mov	$-14, %rax
2:	_ASM_EXTABLE(.Lat_fault_page, 1b)
	finish	fault_page, INSN_BRANCH

	begin	fault_gp
	movabs	$0x8000000000000000, %rdx
	probed	fault_gp, mov (%rdx), %rax
	jmp	2f
1:	mov	$-14, %rax
2:	_ASM_EXTABLE(.Lat_fault_gp, 1b)
	finish	fault_gp, INSN_BRANCH

	begin	no_fault
	probed	no_fault, mov 8(%rsi), %rax
	jmp	2f
1:	mov	$-14, %rax
2:	_ASM_EXTABLE(.Lat_no_fault, 1b)
	finish	no_fault

	/* With room for a jump, but where a fault may begin. */
	begin	fault_long
	mov	$-4096, %rdx
	probed	fault_long, {disp32} mov 8(%rdx), %rax
	jmp	2f
1:	mov	$-14, %rax
2:	_ASM_EXTABLE(.Lat_fault_long, 1b)
	finish	fault_long, INSN_BRANCH

	/* Next to where a fault may begin. */
	begin	near_fault
	probed	near_fault, mov $-4096, %rdx
.Lat_near_fault_it:
	mov	8(%rdx), %rax
	jmp	2f
1:	mov	$-14, %rax
2:	_ASM_EXTABLE(.Lat_near_fault_it, 1b)
	finish	near_fault

	.pushsection .data
	.subsection 1
SYM_DATA_END_LABEL(kprobes_test_insns, SYM_L_GLOBAL, kprobes_test_insns_end)
	.popsection
