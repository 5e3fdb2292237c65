// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a displaced instruction does what it did in its place.
 *
 * The idea: run a function without a probe, then with one on the instruction of
 * interest, from the same registers, flags and memory.  Whatever comes out must
 * be the same, bit for bit.  So it is for breakpoints, and for jumps where the
 * text allows them: there all cases are probed at once, since jumps over several
 * instructions take long to come.  The cases are in test_x86.S.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <asm/processor-flags.h>
#include <asm/text-patching.h>

#include "jump.h"
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
static struct outcome bare[NR_RUNS];

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
			const struct outcome *expected, unsigned int run,
			const char *how)
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
 * to become that.  Always called from the same function of the test, and so
 * always with the same stack pointer, which some cases show.
 */
static noinline void run_all(struct kunit *test, const struct insn_case *c,
			     struct outcome *expected, const char *how)
{
	unsigned int run;

	running = c;
	pre_hits = 0;
	post_hits = 0;
	wrong_ip = 0;
	for (run = 0; run < NR_RUNS; run++) {
		do_run(c, run);
		if (how)
			expect_same(test, c, expected, run, how);
		else
			expected[run] = work;
	}
}

static void set_up_probe(struct kprobe *p, const struct insn_case *c, bool with_post)
{
	memset(p, 0, sizeof(*p));
	p->addr = (void *)addr_of(c);
	p->pre_handler = insn_pre;
	if (with_post)
		p->post_handler = insn_post;
}

static void expect_hits(struct kunit *test, const struct insn_case *c,
			const struct kprobe *p, const char *how)
{
	KUNIT_EXPECT_EQ_MSG(test, pre_hits, NR_RUNS, "%s, %s\n", c->name, how);
	KUNIT_EXPECT_EQ_MSG(test, wrong_ip, 0, "%s, %s\n", c->name, how);
	KUNIT_EXPECT_EQ(test, p->nmissed, 0);
	/* An instruction that faults is not followed by a post-handler. */
	if (p->post_handler && strncmp(c->name, "fault", 5))
		KUNIT_EXPECT_EQ_MSG(test, post_hits, NR_RUNS, "%s, %s\n",
				    c->name, how);
}

static void test_breakpoint(struct kunit *test)
{
	const struct insn_case *c = test->param_value;
	static const char *const how[] = { "without a post_handler",
					   "with a post_handler" };
	static struct kprobe p;
	int with_post;

	jumps_allow(false);
	run_all(test, c, bare, NULL);
	for (with_post = 0; with_post < 2; with_post++) {
		set_up_probe(&p, c, with_post);
		KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&p), 0, "%s\n", c->name);
		KUNIT_EXPECT_FALSE(test, kprobe_optimized(&p));
		run_all(test, c, bare, how[with_post]);
		expect_hits(test, c, &p, how[with_post]);
		unregister_kprobe(&p);
	}
	/* And it is back in its place. */
	run_all(test, c, bare, "after the probe");
	KUNIT_EXPECT_EQ(test, pre_hits, 0);
}

/* Every case, probed at the same time. */
static struct {
	unsigned int	num;
	struct kprobe	*kp;
	struct kprobe	**kps;
	struct outcome	(*expected)[NR_RUNS];
} all;

static void free_all(void *unused)
{
	kvfree(all.expected);
	memset(&all, 0, sizeof(all));
}

static void set_up_all(struct kunit *test, bool observed)
{
	unsigned int i;

	all.num = kprobes_test_insns_end - kprobes_test_insns;
	all.kp = kunit_kcalloc(test, all.num, sizeof(*all.kp), GFP_KERNEL);
	all.kps = kunit_kcalloc(test, all.num, sizeof(*all.kps), GFP_KERNEL);
	all.expected = kvcalloc(all.num, sizeof(*all.expected), GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_all, NULL), 0);
	KUNIT_ASSERT_NOT_NULL(test, all.kp);
	KUNIT_ASSERT_NOT_NULL(test, all.kps);
	KUNIT_ASSERT_NOT_NULL(test, all.expected);

	for (i = 0; i < all.num; i++) {
		all.kps[i] = &all.kp[i];
		set_up_probe(all.kps[i], &kprobes_test_insns[i], observed);
		if (observed)
			all.kps[i]->flags = KPROBE_FLAG_OBSERVER;
	}
}

/* The least of how many cases must have got a jump, for the test to be one. */
#define LEAST_OF_ONE	15
#define LEAST_SEVERAL	30

static void expect_jumps(struct kunit *test, bool observed)
{
	unsigned int i, one = 0, several = 0;

	for (i = 0; i < all.num; i++) {
		if (!kprobe_optimized(all.kps[i]))
			continue;
		if (kprobes_test_insns[i].len >= JMP32_INSN_SIZE)
			one++;
		else
			several++;
	}
	kunit_info(test, "of %u instructions %u have a jump, and %u share one\n",
		   all.num, one, several);
	if (!IS_ENABLED(CONFIG_OPTPROBES))
		return;
	KUNIT_EXPECT_GE(test, one, LEAST_OF_ONE);
	/* What comes behind the first instruction must be able to come at all. */
	if (observed)
		KUNIT_EXPECT_EQ(test, several, 0);
	else
		KUNIT_EXPECT_GE(test, several, LEAST_SEVERAL);
}

static void jumped(struct kunit *test, bool observed, const char *how)
{
	const struct insn_case *c = kprobes_test_insns;
	unsigned int i;

	jumps_allow(true);
	set_up_all(test, observed);
	for (i = 0; i < all.num; i++)
		run_all(test, &c[i], all.expected[i], NULL);

	KUNIT_ASSERT_EQ(test, register_kprobes(all.kps, all.num), 0);
	wait_for_kprobe_optimizer();
	expect_jumps(test, observed);
	for (i = 0; i < all.num; i++) {
		run_all(test, &c[i], all.expected[i], how);
		expect_hits(test, &c[i], all.kps[i], how);
	}
	unregister_kprobes(all.kps, all.num);

	for (i = 0; i < all.num; i++) {
		run_all(test, &c[i], all.expected[i], "after the jumps");
		KUNIT_EXPECT_EQ(test, pre_hits, 0);
	}
}

static void test_jump(struct kunit *test)
{
	jumped(test, false, "by a jump");
}

static void test_jump_observed(struct kunit *test)
{
	jumped(test, true, "by a jump, observed");
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
			bare[0] = work;
			do_run(c, run);
			bare[0].regs.sp = work.regs.sp;
			effect |= !!memcmp(&work, &bare[0], sizeof(work));
			ways |= work.regs.dx;
		}
		KUNIT_EXPECT_TRUE_MSG(test, effect, "%s has no effect\n",
				      c->name);
		if (is_conditional(c))
			KUNIT_EXPECT_EQ_MSG(test, ways, 3,
					    "%s goes one way only\n", c->name);
	}
}

static void insn_exit(struct kunit *test)
{
	jumps_allow(true);
}

static struct kunit_case insn_cases[] = {
	KUNIT_CASE(test_cases_tell),
	KUNIT_CASE_PARAM(test_breakpoint, next_case),
	KUNIT_CASE(test_jump),
	KUNIT_CASE(test_jump_observed),
	{}
};

static struct kunit_suite insn_suite = {
	.name = "kprobes_insn",
	.exit = insn_exit,
	.test_cases = insn_cases,
};

kunit_test_suites(&insn_suite);
