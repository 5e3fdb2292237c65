// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a displaced instruction does what it did in its place.
 *
 * The idea: run a function without a probe, then with one on the instruction of
 * interest, from the same registers, flags and memory.  Whatever comes out must
 * be the same, bit for bit.  The cases are in test_x86.S.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <asm/processor-flags.h>

#include "test_x86.h"

/* Enough for an index by %al from its start, and for string operations. */
#define MEMORY		640

/* %rcx is a count of loops or of bytes, and a byte of an address. */
static const u64 counts[] = { 0, 1, 2 };

/* All flags that a conditional jump may look at; each combination is run. */
static const u64 flag_bits[] = {
	X86_EFLAGS_CF, X86_EFLAGS_PF, X86_EFLAGS_ZF, X86_EFLAGS_SF,
	X86_EFLAGS_OF };

#define NR_FLAG_SETS	BIT(ARRAY_SIZE(flag_bits))
#define NR_RUNS		(ARRAY_SIZE(counts) * NR_FLAG_SETS)

/* All that a case may change. */
struct outcome {
	struct test_regs	regs;
	u8			memory[MEMORY];
};

/* The cases work on this one, so that addresses in registers compare, too. */
static struct outcome work;
static struct outcome expected[NR_RUNS];

static const struct insn_case *running;
static unsigned int pre_hits, post_hits, wrong_ip;

static unsigned long addr_of(const struct insn_case *c)
{
	return (unsigned long)c->fn + c->at;
}

static int insn_pre(struct kprobe *p, struct pt_regs *regs)
{
	pre_hits++;
	if (regs->ip != addr_of(running) + 1)
		wrong_ip++;
	return 0;
}

static void insn_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
	post_hits++;
	if (!(running->flags & INSN_BRANCH) &&
	    regs->ip != addr_of(running) + running->len)
		wrong_ip++;
}

static u64 flags_of_run(unsigned int run)
{
	u64 flags = X86_EFLAGS_FIXED | X86_EFLAGS_IF;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flag_bits); i++)
		if (run & BIT(i))
			flags |= flag_bits[i];
	return flags;
}

static void set_up_run(unsigned int run)
{
	struct test_regs *r = &work.regs;
	unsigned int i;

	for (i = 0; i < MEMORY; i++)
		work.memory[i] = i * 7 + run;
	memset(r, 0, sizeof(*r));
	r->ax = 0xa0a1a2a3a4a5a6a7ULL;
	r->bx = (unsigned long)work.memory;
	r->cx = counts[run / NR_FLAG_SETS];
	r->dx = 0xd0d1d2d3d4d5d6d7ULL + run;
	r->si = (unsigned long)work.memory + 320;
	r->di = (unsigned long)work.memory + 480;
	r->bp = 0xb0b1b2b3b4b5b6b7ULL;
	r->r8 = 0x0807060504030201ULL;
	r->r9 = 0x99;
	r->r10 = 10;
	r->r11 = 11;
	r->r12 = 0x1211100908070605ULL;
	r->r13 = 13;
	r->r14 = 14;
	r->r15 = 0xf0f1f2f3f4f5f6f7ULL;
	r->flags = flags_of_run(run);
}

static void do_run(const struct insn_case *c, unsigned int run)
{
	set_up_run(run);
	kprobes_test_call(c->fn, &work.regs);
}

static void expect_same(struct kunit *test, const struct insn_case *c,
			unsigned int run, const char *how)
{
	const u64 *got = (u64 *)&work, *want = (u64 *)&expected[run];
	int i;

	if (!memcmp(&work, &expected[run], sizeof(work)))
		return;
	for (i = 0; i < sizeof(work) / sizeof(u64); i++)
		if (got[i] != want[i])
			break;
	KUNIT_FAIL(test,
		   "%s, %s, cx %llu, flags %llx: word %d is %llx, not %llx\n",
		   c->name, how, counts[run / NR_FLAG_SETS], flags_of_run(run),
		   i, got[i], want[i]);
}

/*
 * All runs of a case, to be compared with what was expected, or (@how is NULL)
 * to become that.  Always called from the same function, and so always with the
 * same stack pointer, which some cases show.
 */
static noinline void run_all(struct kunit *test, const struct insn_case *c,
			     const char *how)
{
	unsigned int run;

	pre_hits = 0;
	post_hits = 0;
	wrong_ip = 0;
	for (run = 0; run < NR_RUNS; run++) {
		do_run(c, run);
		if (how)
			expect_same(test, c, run, how);
		else
			expected[run] = work;
	}
}

static void expect_hits(struct kunit *test, const struct insn_case *c,
			const struct kprobe *p)
{
	const char *how = p->post_handler ? "with a post_handler" :
					    "without a post_handler";

	KUNIT_EXPECT_EQ_MSG(test, pre_hits, NR_RUNS, "%s, %s\n", c->name, how);
	KUNIT_EXPECT_EQ_MSG(test, wrong_ip, 0, "%s, %s\n", c->name, how);
	KUNIT_EXPECT_EQ(test, p->nmissed, 0);
	/* An instruction that faults is not followed by a post-handler. */
	if (p->post_handler && strncmp(c->name, "fault", 5))
		KUNIT_EXPECT_EQ_MSG(test, post_hits, NR_RUNS, "%s, %s\n",
				    c->name, how);
}

static void test_displaced(struct kunit *test)
{
	const struct insn_case *c = test->param_value;
	struct kprobe plain = {
		.addr = (void *)addr_of(c),
		.pre_handler = insn_pre,
	};
	struct kprobe with_post = {
		.addr = (void *)addr_of(c),
		.pre_handler = insn_pre,
		.post_handler = insn_post,
	};

	running = c;
	run_all(test, c, NULL);

	KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&plain), 0, "%s\n", c->name);
	run_all(test, c, "without a post_handler");
	unregister_kprobe(&plain);
	expect_hits(test, c, &plain);

	KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&with_post), 0, "%s\n",
			    c->name);
	run_all(test, c, "with a post_handler");
	unregister_kprobe(&with_post);
	expect_hits(test, c, &with_post);

	/* And it is back in its place. */
	run_all(test, c, "after the probe");
	KUNIT_EXPECT_EQ(test, pre_hits, 0);
}

static const void *next_case(const void *prev, char *desc)
{
	const struct insn_case *c = prev ? prev + sizeof(*c) :
					   kprobes_test_insns;

	if (c == kprobes_test_insns_end)
		return NULL;
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
	return c;
}

/* Which is run: 1 when the case fell through its jump, 2 when it jumped. */
static bool is_conditional(const struct insn_case *c)
{
	return !strncmp(c->name, "loop", 4) ||
	       (c->name[0] == 'j' && strncmp(c->name, "jmp", 3));
}

/* The cases themselves: can the outcome tell what their instruction does? */
static void test_cases_tell(struct kunit *test)
{
	const struct insn_case *c;
	unsigned int run, ways;
	bool effect;

	for (c = kprobes_test_insns; c < kprobes_test_insns_end; c++) {
		effect = !strncmp(c->name, "nop", 3);
		ways = 0;
		for (run = 0; run < NR_RUNS; run++) {
			set_up_run(run);
			expected[0] = work;
			do_run(c, run);
			expected[0].regs.sp = work.regs.sp;
			effect |= !!memcmp(&work, &expected[0], sizeof(work));
			ways |= work.regs.dx;
		}
		KUNIT_EXPECT_TRUE_MSG(test, effect, "%s has no effect\n",
				      c->name);
		if (is_conditional(c))
			KUNIT_EXPECT_EQ_MSG(test, ways, 3,
					    "%s goes one way only\n", c->name);
	}
}

static struct kunit_case insn_cases[] = {
	KUNIT_CASE(test_cases_tell),
	KUNIT_CASE_PARAM(test_displaced, next_case),
	{}
};

static struct kunit_suite insn_suite = {
	.name = "kprobes_insn",
	.test_cases = insn_cases,
};

kunit_test_suites(&insn_suite);
