// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a displaced instruction does what it did in its place.
 *
 * The idea: run a function without a probe, then with one on the instruction of
 * interest, from the same registers, flags and memory.  Whatever comes out must
 * be the same, bit for bit.  So it is for breakpoints, and for jumps where the
 * text allows them: there all cases are probed at once, since jumps over several
 * instructions take long to come.  The cases are in test_x86.S; and there are those
 * of the kernel that fault by the way, where it copies from and to users.
 */
#include <kunit/test.h>
#include <linux/extable.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <uapi/linux/mman.h>
#include <asm/processor-flags.h>
#include <asm/text-patching.h>

#include "internal.h"
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

/*
 * Copies from and to user memory that ends at user_edge, or before the copy does.
 * The instructions that may fault are found by their exception table entries, and
 * known by their opcodes: so whichever of them this CPU runs are probed.
 */
#define COPY_MOST	96
#define MISSING_MOST	16

static const unsigned int copy_lens[] = { 3, 8, 13, 70 };

#define NR_LENS		ARRAY_SIZE(copy_lens)

static unsigned long user_edge;
static u8 *user_tail;		/* the last COPY_MOST bytes before it, as we see them */

/* What a copy comes to. */
struct copied {
	unsigned long	left;
	u8		kernel[COPY_MOST];
	u8		user[COPY_MOST];
};

static struct copied copied, bare_copied[NR_LENS][MISSING_MOST + 1];

/* As copy_user_generic() calls it. */
static unsigned long call_rep_movs(void *to, const void *from, unsigned long len)
{
	stac();
	asm volatile("call rep_movs_alternative"
		     : "+c" (len), "+D" (to), "+S" (from), ASM_CALL_CONSTRAINT
		     : : "memory", "rax");
	clac();
	return len;
}

static unsigned long call_copy_from(void *to, const void *from, unsigned long len)
{
	return copy_from_user(to, (const void __user __force *)from, len);
}

static unsigned long call_copy_to(void *to, const void *from, unsigned long len)
{
	return copy_to_user((void __user __force *)to, from, len);
}

/**
 * struct user_copy - a function that copies
 * @name:	for the report
 * @symbol:	where its instructions are
 * @copy:	calls it; returns how many bytes were not copied
 * @to_user:	the kernel's memory is what is copied
 */
struct user_copy {
	const char	*name;
	const char	*symbol;
	unsigned long	(*copy)(void *to, const void *from, unsigned long len);
	bool		to_user;
};

static const struct user_copy user_copies[] = {
	{ "rep_movs, from", "rep_movs_alternative", call_rep_movs },
	{ "rep_movs, to", "rep_movs_alternative", call_rep_movs, .to_user = true },
	{ "_copy_from_user", "_copy_from_user", call_copy_from },
	{ "_copy_to_user", "_copy_to_user", call_copy_to, .to_user = true },
};

static void describe_copy(const struct user_copy *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(user_copy, user_copies, describe_copy);

static void copy_once(const struct user_copy *c, unsigned int len, unsigned int missing)
{
	void *user = (void *)(user_edge - len + missing);
	unsigned int i;

	for (i = 0; i < COPY_MOST; i++) {
		copied.kernel[i] = i * 3;
		user_tail[i] = i * 5 + 1;
	}
	copied.left = c->to_user ? c->copy(user, copied.kernel, len) :
				   c->copy(copied.kernel, user, len);
	memcpy(copied.user, user_tail, COPY_MOST);
}

/*
 * The instruction that is probed: a mov of so many bytes that reads or writes
 * memory; a rep movs of units of that size; or (@unit is 0) a branch.
 */
static struct {
	struct kprobe	kp;
	unsigned int	unit;
	bool		reads;
	bool		writes;
	/* What the handlers saw in one copy; of the last hit, how far it went. */
	unsigned int	hits;
	unsigned int	post;
	unsigned long	from;
	unsigned long	at;
	unsigned long	end;
} mover;

static struct task_struct *copier;
static bool copies_to_user;

static int mover_pre(struct kprobe *p, struct pt_regs *regs)
{
	bool rep = mover.reads && mover.writes;

	if (current != copier)
		return 0;
	mover.at = copies_to_user ? regs->di : regs->si;
	mover.end = mover.at + mover.unit * (rep ? regs->cx : 1);
	if (!mover.hits++)
		mover.from = mover.at;
	return 0;
}

static void mover_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	if (current == copier)
		mover.post++;
}

static void set_up_mover(unsigned long addr)
{
	const u8 *text = (const u8 *)addr;
	bool rep = text[0] == 0xf3, wide;

	memset(&mover, 0, sizeof(mover));
	text += rep;
	wide = text[0] == 0x48;
	text += wide;
	mover.kp.addr = (void *)addr;
	mover.kp.pre_handler = mover_pre;
	mover.reads = rep || (*text & ~1) == 0x8a;
	mover.writes = rep || (*text & ~1) == 0x88;
	if (mover.reads || mover.writes)
		mover.unit = wide ? 8 : 1;
}

/* Each attempt is one hit, and only what did not fault has a post-handler run. */
static void expect_attempts(struct kunit *test, const char *how)
{
	bool on_user = copies_to_user ? mover.writes : mover.reads;
	bool faulted = on_user && mover.hits && mover.end > user_edge;
	bool rep = mover.reads && mover.writes;

	if (mover.unit && !rep && mover.hits)
		KUNIT_EXPECT_EQ_MSG(test, mover.at - mover.from,
				    (mover.hits - 1) * mover.unit, "%s\n", how);
	else
		KUNIT_EXPECT_LE_MSG(test, mover.hits, 1, "%s\n", how);
	/* By bytes it comes to the very last that is there, and to the next. */
	if (on_user && mover.unit == 1 && mover.hits)
		KUNIT_EXPECT_EQ_MSG(test, mover.end - user_edge,
				    rep ? copied.left : !!copied.left, "%s\n", how);
	KUNIT_EXPECT_EQ_MSG(test, mover.post,
			    mover.kp.post_handler ? mover.hits - faulted : 0,
			    "%s\n", how);
}

/* All copies, compared with what they are without a probe; returns the hits. */
static unsigned int copy_all(struct kunit *test, const struct user_copy *c,
			     const char *how)
{
	unsigned int i, missing, hits = 0;

	for (i = 0; i < NR_LENS; i++) {
		for (missing = 0; missing <= min(copy_lens[i], MISSING_MOST); missing++) {
			mover.hits = 0;
			mover.post = 0;
			copy_once(c, copy_lens[i], missing);
			if (!how) {
				KUNIT_EXPECT_EQ(test, copied.left, missing);
				bare_copied[i][missing] = copied;
				continue;
			}
			KUNIT_EXPECT_MEMEQ_MSG(test, &copied, &bare_copied[i][missing],
					       sizeof(copied), "%s, %u of %u\n", how,
					       missing, copy_lens[i]);
			expect_attempts(test, how);
			hits += mover.hits;
		}
	}
	return hits;
}

/* By each method that it can have: a jump is none of them. */
static unsigned int probe_mover(struct kunit *test, const struct user_copy *c,
				unsigned long addr)
{
	static const struct {
		const char	*how;
		bool		jumps, post;
		u32		flags;
	} ways[] = {
		{ "no jumps" },
		{ "jumps allowed", .jumps = true },
		{ "with a post_handler", .jumps = true, .post = true },
		{ "observed", .jumps = true, .post = true, KPROBE_FLAG_OBSERVER },
	};
	unsigned int i, hits[ARRAY_SIZE(ways)] = { };

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		jumps_allow(ways[i].jumps);
		set_up_mover(addr);
		mover.kp.post_handler = ways[i].post ? mover_post : NULL;
		mover.kp.flags = ways[i].flags;
		KUNIT_ASSERT_EQ(test, register_kprobe(&mover.kp), 0);
		wait_for_kprobe_optimizer();
		KUNIT_EXPECT_FALSE(test, kprobe_optimized(&mover.kp));
		if (mover.unit)
			KUNIT_EXPECT_TRUE(test, arch_site_has_slot(probe_site_of(&mover.kp)));
		hits[i] = copy_all(test, c, ways[i].how);
		unregister_kprobe(&mover.kp);
		KUNIT_EXPECT_EQ(test, mover.kp.nmissed, 0);
		KUNIT_EXPECT_EQ_MSG(test, hits[i], hits[0], "%s\n", ways[i].how);
	}
	return hits[0];
}

/* Two pages of a user's, of which there is but the first. */
static void set_up_user(struct kunit *test)
{
	unsigned long user;
	struct page *page;

	user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, user, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(user));
	user_edge = user + PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, vm_munmap(user_edge, PAGE_SIZE), 0);
	KUNIT_ASSERT_EQ(test, get_user_pages_fast(user, 1, FOLL_WRITE, &page), 1);
	user_tail = page_address(page) + PAGE_SIZE - COPY_MOST;
	put_page(page);
}

static void test_user_copy(struct kunit *test)
{
	const struct user_copy *c = test->param_value;
	unsigned long fn, size, offset, addr;
	unsigned int probed = 0, hit = 0;

	fn = kallsyms_lookup_name(c->symbol);
	KUNIT_ASSERT_NE(test, fn, 0);
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(fn, &size, &offset));
	set_up_user(test);
	copier = current;
	copies_to_user = c->to_user;
	copy_all(test, c, NULL);
	for (addr = fn; addr < fn + size; addr++) {
		if (!search_exception_tables(addr))
			continue;
		probed++;
		hit += !!probe_mover(test, c, addr);
	}
	copier = NULL;
	kunit_info(test, "of %u instructions that may fault %u were run\n", probed, hit);
	/* Bytes, words, and all at once: each loads and stores, or does both. */
	KUNIT_EXPECT_GE(test, hit, c->copy == call_rep_movs ? 5 : 1);
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
	KUNIT_CASE_PARAM(test_user_copy, user_copy_gen_params),
	{}
};

static struct kunit_suite insn_suite = {
	.name = "kprobes_insn",
	.exit = insn_exit,
	.test_cases = insn_cases,
};

kunit_test_suites(&insn_suite);
