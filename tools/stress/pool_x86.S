/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kprobe_stress: functions with an instruction to displace, each of another
 * kind.  All of them return their argument plus their number.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include "stress.h"

	.pushsection .rodata
	.balign	8
SYM_DATA_START(stress_asm)
	.popsection

.macro function nr, before, insn
SYM_FUNC_START_LOCAL(stress_asm_\nr)
	\before
.Lat_\nr:
	\insn
	lea	\nr(%rdi), %rax
	RET
SYM_FUNC_END(stress_asm_\nr)
	STACK_FRAME_NON_STANDARD stress_asm_\nr
	.pushsection .rodata
	.quad	stress_asm_\nr, .Lat_\nr - stress_asm_\nr
	.popsection
.endm

SYM_FUNC_START_LOCAL(stress_asm_callee)
	RET
SYM_FUNC_END(stress_asm_callee)

	/* Emulated, or not worth a slot. */
	function 0, "nop", "nopl 0(%rax, %rax)"
	function 1, "nop", "push %rdi; pop %rdi"
	function 2, "nop", "call stress_asm_callee"
	function 3, "test %rdi, %rdi", "je 1f; nop; 1:"
	function 4, "nop", "jmp 1f; int3; 1:"
	/* Run from a slot. */
	function 5, "nop", "add $0x12345678, %rax"
	function 6, "nop", "mov stress_asm(%rip), %rax"
	function 7, "mov $3, %ecx", "shl %cl, %rax"

	.pushsection .rodata
SYM_DATA_END(stress_asm)
	.popsection
