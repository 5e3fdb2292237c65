/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kprobe_stress: functions with instructions to displace, each of another kind.
 * All of them return their argument plus their number.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include "stress.h"

	.pushsection .rodata
	.balign	8
SYM_DATA_START(stress_asm)
	.popsection

/* Two places: the first instruction behind @before, and the one behind that. */
.macro function nr, before, insn, second="nopl 0(%rax)"
SYM_FUNC_START_LOCAL(stress_asm_\nr)
	\before
.Lfirst_\nr:
	\insn
.Lsecond_\nr:
	\second
	lea	\nr(%rdi), %rax
	RET
SYM_FUNC_END(stress_asm_\nr)
	STACK_FRAME_NON_STANDARD stress_asm_\nr
	.pushsection .rodata
	.quad	stress_asm_\nr, .Lfirst_\nr - stress_asm_\nr
	.quad	.Lsecond_\nr - stress_asm_\nr
	.popsection
.endm

SYM_FUNC_START_LOCAL(stress_asm_callee)
	RET
SYM_FUNC_END(stress_asm_callee)

	/* The witnesses': a jump, and what runs from a slot. */
	function 0, "nop", "mov $0x12345678, %eax"
	function 1, "mov $3, %ecx", "shl %cl, %rax", "je 1f; nop; 1:"
	/* Emulated, or not worth a slot. */
	function 2, "nop", "nopl 0(%rax, %rax)"
	function 3, "nop", "push %rdi; pop %rdi"
	function 4, "nop", "call stress_asm_callee"
	function 5, "test %rdi, %rdi", "je 1f; nop; 1:"
	function 6, "nop", "jmp 1f; int3; 1:"
	/* A jump takes their place at once. */
	function 7, "nop", "add $0x12345678, %rax"
	function 8, "nop", "mov stress_asm(%rip), %rax", "movabs $0x123456789abcdef0, %rcx"
	/* Run from a slot. */
	function 9, "mov $3, %ecx", "shl %cl, %rax", "bsr %rdi, %rcx"
	/* A jump takes the place of several, in time; the second is among them. */
	function 10, "nop", "mov %rdi, %rax", "mov %rax, %rcx; xor %edx, %edx"
	function 11, "nop", "push %rdi", "mov %rdi, %rcx; pop %rax; mov %rcx, %rdx"
	function 12, "nop", "xor %eax, %eax", "inc %rax; dec %rcx; inc %rcx"
	function 13, "nop", "lea (%rdi), %rax", "mov %rax, %rdx; nop"

	.pushsection .rodata
SYM_DATA_END(stress_asm)
	.popsection
