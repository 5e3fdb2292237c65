// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: what the x86 suites share: registers as a handler and as a caller see
 * them, and instructions by name.
 */
#include <kunit/test.h>
#include <linux/ptrace.h>
#include <linux/string.h>

#include "test_x86.h"

#define REG(reg) { #reg, offsetof(struct pt_regs, reg), \
		   offsetof(struct test_regs, reg) }

/* All but the stack pointer and the flags, of which more is to be said. */
static const struct {
	const char	*name;
	u16		seen;
	u16		known;
} general[] = {
	REG(ax), REG(bx), REG(cx), REG(dx), REG(si), REG(di), REG(bp), REG(r8),
	REG(r9), REG(r10), REG(r11), REG(r12), REG(r13), REG(r14), REG(r15),
};

static_assert(ARRAY_SIZE(general) == TR_FLAGS / sizeof(u64));

static u64 reg_at(const void *regs, u16 offset)
{
	return *(const u64 *)(regs + offset);
}

bool test_regs_same(const struct pt_regs *seen, const struct test_regs *r)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(general); i++)
		if (reg_at(seen, general[i].seen) != reg_at(r, general[i].known))
			return false;
	return true;
}

void test_regs_expect(struct kunit *test, const struct pt_regs *seen,
		      const struct test_regs *r)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(general); i++)
		KUNIT_EXPECT_EQ_MSG(test, reg_at(seen, general[i].seen),
				    reg_at(r, general[i].known), "%s\n",
				    general[i].name);
}

void test_regs_fill(struct test_regs *r, u64 step, u64 flags)
{
	u64 *reg = (u64 *)r;
	int i;

	for (i = 0; i < TR_FLAGS / sizeof(u64); i++)
		reg[i] = step * (i + 1);
	r->flags = flags;
}

void *test_insn_named(const char *name)
{
	const struct insn_case *c;

	for (c = kprobes_test_insns; c < kprobes_test_insns_end; c++)
		if (!strcmp(c->name, name))
			return (void *)c->fn + c->at;
	return NULL;
}
