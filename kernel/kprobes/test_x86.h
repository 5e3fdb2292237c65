/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit: what test_x86.S offers to the C files.
 *
 * The idea: a function is called with every register known, and every register
 * is kept as it was at the return.  So nothing that a probe changes can hide.
 */
#ifndef _KERNEL_KPROBES_TEST_X86_H
#define _KERNEL_KPROBES_TEST_X86_H

/* Offsets in struct test_regs. */
#define TR_AX		0
#define TR_BX		8
#define TR_CX		16
#define TR_DX		24
#define TR_SI		32
#define TR_DI		40
#define TR_BP		48
#define TR_R8		56
#define TR_R9		64
#define TR_R10		72
#define TR_R11		80
#define TR_R12		88
#define TR_R13		96
#define TR_R14		104
#define TR_R15		112
#define TR_FLAGS	120
#define TR_SP		128

/* What kprobes_test_elsewhere() returns. */
#define TEST_ELSEWHERE	0xe15e

/* The bytes of the additions in kprobes_test_add_*(), and what they add. */
#define KPROBES_TEST_ADD_TEXT	17
#define KPROBES_TEST_ADD_SUM	0x100007

/* The additions of one in kprobes_test_add_ones(), and the bytes of each. */
#define KPROBES_TEST_ONES	200
#define KPROBES_TEST_ONE_SIZE	3

/* The instruction continues elsewhere than behind itself. */
#define INSN_BRANCH	1

#ifndef __ASSEMBLY__
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct kunit;
struct pt_regs;

/**
 * struct test_regs - the registers before and after a call
 * @sp: at the callee's entry, where the return address is
 *
 * The others are set by the caller of kprobes_test_call(), and changed by it.
 */
struct test_regs {
	u64 ax, bx, cx, dx, si, di, bp;
	u64 r8, r9, r10, r11, r12, r13, r14, r15;
	u64 flags;
	u64 sp;
};

static_assert(offsetof(struct test_regs, r15) == TR_R15);
static_assert(offsetof(struct test_regs, flags) == TR_FLAGS);
static_assert(offsetof(struct test_regs, sp) == TR_SP);

/* Call @fn with the registers of @regs, and keep them as it left them. */
void kprobes_test_call(void (*fn)(void), struct test_regs *regs);

/* Empty functions with a nop of five bytes: first, and after another nop. */
void kprobes_test_nop_first(void);
void kprobes_test_nop_middle(void);
extern const u32 kprobes_test_nop_first_at, kprobes_test_nop_middle_at;

/* An empty function with nops of three bytes, to probe the first of. */
void kprobes_test_nops(void);
extern const u32 kprobes_test_nops_at;

/* Add KPROBES_TEST_ADD_SUM in several instructions, the first of which is there. */
u32 kprobes_test_add_a(u32 x);
u32 kprobes_test_add_b(u32 x);
u32 kprobes_test_add_c(u32 x);
extern const u32 kprobes_test_add_at;

/* The same; with frame pointers, inside of a frame. */
u32 kprobes_test_add_framed(u32 x);
extern const u32 kprobes_test_add_framed_at;

/* Add one, KPROBES_TEST_ONES times. */
u32 kprobes_test_add_ones(u32 x);
extern const u32 kprobes_test_add_ones_at;

/*
 * Where a jump over several instructions has no place: another jump leads into
 * the middle, a return or a landing pad is inside, the function ends there, a nop may
 * become a jump label's, an indirect jump is in the function, or the function has a
 * part elsewhere, or is it.  And where it has one: another jump leads to the start.
 */
u32 kprobes_test_into(u32 x);
u32 kprobes_test_at_return(u32 x);
u32 kprobes_test_at_end(u32 x);
u32 kprobes_test_padded(u32 x);
u32 kprobes_test_label(u32 x);
u32 kprobes_test_pad(u32 x);
u32 kprobes_test_indirect(u32 x);
u32 kprobes_test_parted(u32 x);
u32 kprobes_test_cold(u32 x) asm("kprobes_test_parted.cold");
u32 kprobes_test_onto(u32 x);
extern const u32 kprobes_test_padded_at, kprobes_test_pad_at, kprobes_test_indirect_at;
extern const u32 kprobes_test_parted_at, kprobes_test_cold_at;
extern const u32 kprobes_test_into_at, kprobes_test_at_return_at, kprobes_test_at_end_at;
extern const u32 kprobes_test_label_at, kprobes_test_onto_at;

/* Returns TEST_ELSEWHERE; a place to be redirected to. */
void kprobes_test_elsewhere(void);

/* A direct caller for ftrace: counts, and changes no register. */
void kprobes_test_direct(void);
extern unsigned long kprobes_test_direct_calls;

/**
 * struct insn_case - an instruction to displace
 * @fn:		a function that runs it
 * @name:	for the report
 * @at:		its place in @fn, in bytes
 * @len:	its length in bytes
 * @flags:	INSN_BRANCH, or 0
 */
struct insn_case {
	void		(*fn)(void);
	const char	*name;
	u32		at;
	u32		len;
	u32		flags;
	u32		unused;
};

static_assert(sizeof(struct insn_case) == 32);

extern const struct insn_case kprobes_test_insns[], kprobes_test_insns_end[];

/* The place of the instruction in the case of that name, or NULL. */
void *test_insn_named(const char *name);

/* A value for each register that no other has: @step once, twice, ... */
void test_regs_fill(struct test_regs *r, u64 step, u64 flags);

/* All registers but ip, sp and flags: are they those? */
bool test_regs_same(const struct pt_regs *seen, const struct test_regs *r);
void test_regs_expect(struct kunit *test, const struct pt_regs *seen,
		      const struct test_regs *r);

#endif /* !__ASSEMBLY__ */
#endif /* _KERNEL_KPROBES_TEST_X86_H */
