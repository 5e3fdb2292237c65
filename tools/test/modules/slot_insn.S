/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions with an instruction in the middle that a probe must displace into
 * an executable slot, since it is not one whose effect an engine would compute
 * itself.  Where it stands is told by an offset beside each function.
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/errno.h>
#include <asm/nospec-branch.h>
#include <asm/smap.h>

/* void slot_fill(char *to, size_t bytes): takes as long as there are bytes */
SYM_FUNC_START(slot_fill)
	mov	%rsi, %rcx
	mov	$0x5a, %eax
.Lfill:
	rep stosb
	RET
SYM_FUNC_END(slot_fill)

/* int slot_load(const int __user *from): 1 more than what is there, or -EFAULT */
SYM_FUNC_START(slot_load)
	mov	$1, %eax
	ASM_STAC
.Lload:
	add	(%rdi), %eax
	ASM_CLAC
	RET
.Lload_fault:
	ASM_CLAC
	mov	$-EFAULT, %eax
	RET
	_ASM_EXTABLE_UA(.Lload, .Lload_fault)
SYM_FUNC_END(slot_load)

/* int slot_eaters(const int *from): each addition is to take a slot */
SYM_FUNC_START(slot_eaters)
	xor	%eax, %eax
.Leaters:
	.rept	64
	add	(%rdi), %eax
	.endr
	RET
SYM_FUNC_END(slot_eaters)

	.section .rodata
	.balign	4
SYM_DATA(slot_fill_offset, .long .Lfill - slot_fill)
SYM_DATA(slot_load_offset, .long .Lload - slot_load)
SYM_DATA(slot_eaters_offset, .long .Leaters - slot_eaters)
