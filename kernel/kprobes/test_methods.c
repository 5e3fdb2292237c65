// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a handler cannot tell the method that brought it the hit.
 *
 * The idea: the same empty function is called with known registers, and what is
 * probed is an fentry nop (the ftrace method), or a nop that is no fentry: with
 * jumps not allowed (the breakpoint method), or allowed, with room for one in a
 * nop, or in several.  One set of expectations covers every field of pt_regs and
 * all else that a handler can look at.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/processor-flags.h>
#include <asm/segment.h>

#include "jump.h"
#include "test_common.h"
#include "test_x86.h"

#define CALLS		3

static noinline void fentry_target(void)
{
	barrier();
}

enum method {
	FTRACE,
	BREAKPOINT,
	JUMP_OF_ONE,
	JUMP_OVER_SEVERAL,
};

/* A nop to probe, and the method that it leads to. */
struct target {
	const char	*name;
	void		(*fn)(void);
	const u32	*at;		/* NULL: the entry, wherever its nop is */
	enum method	method;
	u8		size;
};

static const struct target targets[] = {
	{ "fentry", fentry_target, NULL,
	  IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) ? FTRACE : BREAKPOINT, 5 },
	{ "first", kprobes_test_nop_first, &kprobes_test_nop_first_at,
	  BREAKPOINT, 5 },
	{ "middle", kprobes_test_nop_middle, &kprobes_test_nop_middle_at,
	  BREAKPOINT, 5 },
	{ "several", kprobes_test_nops, &kprobes_test_nops_at, BREAKPOINT, 3 },
	{ "first, jump", kprobes_test_nop_first, &kprobes_test_nop_first_at,
	  JUMP_OF_ONE, 5 },
	{ "middle, jump", kprobes_test_nop_middle, &kprobes_test_nop_middle_at,
	  JUMP_OF_ONE, 5 },
	{ "several, jump", kprobes_test_nops, &kprobes_test_nops_at,
	  JUMP_OVER_SEVERAL, 3 },
};

static void describe(const struct target *t, char *desc)
{
	strscpy(desc, t->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(target, targets, describe);

/* What one handler saw. */
struct sight {
	unsigned int	hits;
	struct pt_regs	regs;
	struct kprobe	*running;
	unsigned long	status;
};

static struct sight pre_sight, post_sight;

static void look(struct sight *s, struct pt_regs *regs)
{
	s->hits++;
	s->regs = *regs;
	s->running = kprobe_running();
	s->status = get_kprobe_ctlblk()->kprobe_status;
}

static int look_pre(struct kprobe *p, struct pt_regs *regs)
{
	look(&pre_sight, regs);
	return 0;
}

static void look_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
	look(&post_sight, regs);
}

/* What a probe says of itself by its post-handler. */
enum kind {
	PLAIN,			/* there is none */
	REDIRECTING,
	OBSERVING,
};

static void set_up_probe(struct kprobe *p, const struct target *t, enum kind kind)
{
	memset(&pre_sight, 0, sizeof(pre_sight));
	memset(&post_sight, 0, sizeof(post_sight));
	memset(p, 0, sizeof(*p));
	p->addr = (void *)t->fn + (t->at ? *t->at : 0);
	p->pre_handler = look_pre;
	if (kind != PLAIN)
		p->post_handler = look_post;
	if (kind == OBSERVING)
		p->flags = KPROBE_FLAG_OBSERVER;
}

/* Is a jump in use where probes of these kinds (a bit mask) stand? */
static bool is_jumped(const struct target *t, unsigned int kinds)
{
	if (!IS_ENABLED(CONFIG_OPTPROBES) || !kinds || kinds & BIT(REDIRECTING))
		return false;
	return t->method == JUMP_OF_ONE ||
	       (t->method == JUMP_OVER_SEVERAL && kinds == BIT(PLAIN));
}

/* All is as it will stay: the probe, and others of @kinds, are at @t. */
static void expect_settled(struct kunit *test, struct kprobe *p,
			   const struct target *t, unsigned int kinds)
{
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, kprobe_ftrace(p), t->method == FTRACE);
	KUNIT_EXPECT_EQ(test, kprobe_optimized(p), is_jumped(t, kinds));
}

/* By the method that the target names. */
static void register_alone(struct kunit *test, struct kprobe *p,
			   const struct target *t, enum kind kind)
{
	KUNIT_ASSERT_EQ(test, register_kprobe(p), 0);
	expect_settled(test, p, t, BIT(kind));
}

static void set_up_regs(struct test_regs *r)
{
	test_regs_fill(r, 0x0101010101010101ULL, X86_EFLAGS_FIXED |
		       X86_EFLAGS_IF | X86_EFLAGS_CF | X86_EFLAGS_SF);
}

static void expect_regs(struct kunit *test, const struct pt_regs *seen,
			const struct test_regs *r, unsigned long ip)
{
	KUNIT_EXPECT_EQ(test, seen->ip, ip);
	KUNIT_EXPECT_EQ(test, seen->sp, r->sp);
	KUNIT_EXPECT_EQ(test, seen->orig_ax, -1UL);
	KUNIT_EXPECT_EQ(test, seen->cs, __KERNEL_CS);
	/* An exception tells what the CPU has: null, after an entry from user mode. */
	if (seen->ss)
		KUNIT_EXPECT_EQ(test, seen->ss, __KERNEL_DS);
	KUNIT_EXPECT_EQ(test, seen->flags, r->flags);
	test_regs_expect(test, seen, r);
}

/* What a call does without a probe is what it must do with one. */
static void call_and_compare(struct kunit *test, const struct target *t,
			     struct test_regs *in, struct test_regs *bare)
{
	struct test_regs out;

	set_up_regs(in);
	out = *in;
	kprobes_test_call(t->fn, &out);
	in->sp = out.sp;
	/*
	 * Nobody's at a function's entry, where ftrace uses it for itself; nor are
	 * the flags at its return, where a thunk may.
	 */
	if (t->method == FTRACE) {
		out.r11 = 0;
		out.flags = 0;
	}
	if (bare->sp)
		KUNIT_EXPECT_MEMEQ(test, &out, bare, TR_SP);
	*bare = out;
}

static void handlers_see(struct kunit *test, enum kind kind)
{
	const struct target *t = test->param_value;
	static struct kprobe p;
	struct test_regs in, bare = { };
	unsigned long addr;

	set_up_probe(&p, t, kind);
	call_and_compare(test, t, &in, &bare);
	register_alone(test, &p, t, kind);
	addr = (unsigned long)p.addr;
	call_and_compare(test, t, &in, &bare);
	KUNIT_EXPECT_EQ(test, pre_sight.hits, 1);
	expect_regs(test, &pre_sight.regs, &in, addr + 1);
	KUNIT_EXPECT_PTR_EQ(test, pre_sight.running, &p);
	KUNIT_EXPECT_EQ(test, pre_sight.status, KPROBE_HIT_ACTIVE);
	KUNIT_EXPECT_EQ(test, post_sight.hits, kind == PLAIN ? 0 : 1);
	if (kind != PLAIN) {
		expect_regs(test, &post_sight.regs, &in, addr + t->size);
		KUNIT_EXPECT_PTR_EQ(test, post_sight.running, &p);
		KUNIT_EXPECT_EQ(test, post_sight.status, KPROBE_HIT_SSDONE);
	}
	preempt_disable();
	KUNIT_EXPECT_NULL(test, kprobe_running());
	preempt_enable();
	unregister_kprobe(&p);
	call_and_compare(test, t, &in, &bare);
	KUNIT_EXPECT_EQ(test, pre_sight.hits, 1);
}

static void test_pre(struct kunit *test)
{
	handlers_see(test, PLAIN);
}

static void test_pre_and_post(struct kunit *test)
{
	handlers_see(test, REDIRECTING);
}

static void test_observer(struct kunit *test)
{
	handlers_see(test, OBSERVING);
}

/* Each of several probes is the running one in its own handlers. */
static int is_running_pre(struct kprobe *p, struct pt_regs *regs)
{
	if (kprobe_running() == p)
		pre_sight.hits++;
	return 0;
}

static void is_running_post(struct kprobe *p, struct pt_regs *regs,
			    unsigned long flags)
{
	if (kprobe_running() == p)
		post_sight.hits++;
}

static void each_is_running(struct kunit *test, enum kind others)
{
	const struct target *t = test->param_value;
	static struct kprobe p[3];
	struct test_regs in, bare = { };
	int i;

	for (i = 0; i < 3; i++) {
		set_up_probe(&p[i], t, i ? others : PLAIN);
		p[i].pre_handler = is_running_pre;
		if (p[i].post_handler)
			p[i].post_handler = is_running_post;
		KUNIT_ASSERT_EQ(test, register_kprobe(&p[i]), 0);
	}
	for (i = 0; i < 3; i++)
		expect_settled(test, &p[i], t, BIT(PLAIN) | BIT(others));
	for (i = 0; i < CALLS; i++)
		call_and_compare(test, t, &in, &bare);
	for (i = 0; i < 3; i++)
		unregister_kprobe(&p[i]);
	KUNIT_EXPECT_EQ(test, pre_sight.hits, 3 * CALLS);
	KUNIT_EXPECT_EQ(test, post_sight.hits, others == PLAIN ? 0 : 2 * CALLS);
}

static void test_each_is_running(struct kunit *test)
{
	each_is_running(test, PLAIN);
	each_is_running(test, REDIRECTING);
	each_is_running(test, OBSERVING);
}

/* A handler may change any register but the stack pointer. */
static int change_pre(struct kprobe *p, struct pt_regs *regs)
{
	pre_sight.hits++;
	regs->ax = 0xa;
	regs->bx += 1;
	regs->cx = 0xc;
	regs->dx = 0xd;
	regs->si = 0x51;
	regs->di = 0xd1;
	regs->bp += 2;
	regs->r8 = 0x80;
	regs->r9 = 0x90;
	regs->r10 = 0x100;
	regs->r11 = 0x110;
	regs->r12 += 3;
	regs->r13 += 4;
	regs->r14 += 5;
	regs->r15 += 6;
	regs->flags ^= X86_EFLAGS_CF | X86_EFLAGS_ZF;
	return 0;
}

static void test_change_regs(struct kunit *test)
{
	const struct target *t = test->param_value;
	static struct kprobe p;
	struct pt_regs changed;
	struct test_regs in;

	set_up_probe(&p, t, PLAIN);
	p.pre_handler = change_pre;
	set_up_regs(&in);
	changed = (struct pt_regs){
		.bx = in.bx, .bp = in.bp, .r12 = in.r12, .r13 = in.r13,
		.r14 = in.r14, .r15 = in.r15, .flags = in.flags,
		.orig_ax = -1, .cs = __KERNEL_CS, .ss = __KERNEL_DS,
	};
	change_pre(&p, &changed);
	register_alone(test, &p, t, PLAIN);
	kprobes_test_call(t->fn, &in);
	unregister_kprobe(&p);
	changed.sp = in.sp;
	/* See call_and_compare(). */
	if (t->method == FTRACE) {
		changed.r11 = in.r11;
		changed.flags = in.flags;
	}
	KUNIT_EXPECT_EQ(test, pre_sight.hits, 2);
	expect_regs(test, &changed, &in, 0);
}

static int redirect_pre(struct kprobe *p, struct pt_regs *regs)
{
	pre_sight.hits++;
	regs->ip = (unsigned long)kprobes_test_elsewhere;
	return 1;
}

/* A pre-handler that returns non-zero has set regs->ip, and is obeyed. */
static void redirects(struct kunit *test, enum kind kind)
{
	const struct target *t = test->param_value;
	static struct kprobe p;
	struct test_regs in;
	int i;

	set_up_probe(&p, t, kind);
	p.pre_handler = redirect_pre;
	register_alone(test, &p, t, kind);
	for (i = 1; i <= CALLS; i++) {
		set_up_regs(&in);
		kprobes_test_call(t->fn, &in);
		KUNIT_EXPECT_EQ(test, in.ax, TEST_ELSEWHERE);
		KUNIT_EXPECT_EQ(test, pre_sight.hits, i);
	}
	unregister_kprobe(&p);
	/* The instruction was not run, so there is no "after" it. */
	KUNIT_EXPECT_EQ(test, post_sight.hits, 0);
	KUNIT_EXPECT_EQ(test, p.nmissed, 0);
	set_up_regs(&in);
	kprobes_test_call(t->fn, &in);
	KUNIT_EXPECT_NE(test, in.ax, TEST_ELSEWHERE);
}

static void test_redirect(struct kunit *test)
{
	redirects(test, REDIRECTING);
}

/* Who has no post_handler ought not to do it, and is obeyed all the same. */
static void test_redirect_plain(struct kunit *test)
{
	redirects(test, PLAIN);
}

/* Probes of all kinds at one place. */
static struct counted mixed[3];
static struct kprobe *const mixed_kps[] = {
	&mixed[PLAIN].kp, &mixed[REDIRECTING].kp, &mixed[OBSERVING].kp,
};

static int count_and_redirect_pre(struct kprobe *p, struct pt_regs *regs)
{
	count_pre(p, regs);
	return redirect_pre(p, regs);
}

static void set_up_mixed(const struct target *t)
{
	int kind;

	for (kind = PLAIN; kind <= OBSERVING; kind++) {
		memset(&mixed[kind], 0, sizeof(mixed[kind]));
		set_up_probe(mixed_kps[kind], t, kind);
		mixed_kps[kind]->pre_handler =
			kind == REDIRECTING ? count_and_redirect_pre : count_pre;
		if (kind != PLAIN)
			mixed_kps[kind]->post_handler = count_post;
	}
}

/* With these kinds (a bit mask) registered: who is hit, and by what method. */
static void expect_mixed(struct kunit *test, const struct target *t,
			 unsigned int kinds)
{
	bool elsewhere = kinds & BIT(REDIRECTING);
	struct test_regs in;
	int kind, i;

	for (kind = PLAIN; kind <= OBSERVING; kind++) {
		mixed[kind].pre = 0;
		mixed[kind].post = 0;
		if (kinds & BIT(kind))
			expect_settled(test, mixed_kps[kind], t, kinds);
	}
	for (i = 0; i < CALLS; i++) {
		set_up_regs(&in);
		kprobes_test_call(t->fn, &in);
		KUNIT_EXPECT_EQ(test, in.ax == TEST_ELSEWHERE, elsewhere);
	}
	for (kind = PLAIN; kind <= OBSERVING; kind++)
		KUNIT_EXPECT_EQ_MSG(test, mixed[kind].pre,
				    kinds & BIT(kind) ? CALLS : 0,
				    "kind %d of %x\n", kind, kinds);
	/* An fentry nop has run when the observer is called, whoever comes next. */
	if (t->method == FTRACE)
		elsewhere = false;
	KUNIT_EXPECT_EQ(test, mixed[OBSERVING].post,
			kinds & BIT(OBSERVING) && !elsewhere ? CALLS : 0);
	KUNIT_EXPECT_EQ(test, mixed[REDIRECTING].post, 0);
}

static const u8 orders[][3] = {
	{ PLAIN, REDIRECTING, OBSERVING }, { PLAIN, OBSERVING, REDIRECTING },
	{ REDIRECTING, PLAIN, OBSERVING }, { REDIRECTING, OBSERVING, PLAIN },
	{ OBSERVING, PLAIN, REDIRECTING }, { OBSERVING, REDIRECTING, PLAIN },
};

/* Each order of coming, and each of going; not each with each, to be quick. */
static void test_mixed(struct kunit *test)
{
	const struct target *t = test->param_value;
	unsigned int o, i, kinds = 0;
	const u8 *come, *go;

	for (o = 0; o < ARRAY_SIZE(orders); o++) {
		come = orders[o];
		go = orders[(o * 5 + 2) % ARRAY_SIZE(orders)];
		set_up_mixed(t);
		for (i = 0; i < 3; i++) {
			KUNIT_EXPECT_EQ(test, register_kprobe(mixed_kps[come[i]]), 0);
			kinds |= BIT(come[i]);
			expect_mixed(test, t, kinds);
		}
		for (i = 0; i < 3; i++) {
			unregister_kprobe(mixed_kps[go[i]]);
			kinds &= ~BIT(go[i]);
			expect_mixed(test, t, kinds);
		}
	}
}

/* A handler's own faults are fixed up, whatever brought it here. */
static long fault_answer;

static int faulting_pre(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long word;

	pre_sight.hits++;
	fault_answer = copy_from_kernel_nofault(&word, (void *)-4096UL,
						sizeof(word));
	return 0;
}

static void test_handler_faults(struct kunit *test)
{
	const struct target *t = test->param_value;
	static struct kprobe p;
	struct test_regs in, bare = { };

	set_up_probe(&p, t, PLAIN);
	p.pre_handler = faulting_pre;
	fault_answer = 0;
	register_alone(test, &p, t, PLAIN);
	call_and_compare(test, t, &in, &bare);
	unregister_kprobe(&p);
	call_and_compare(test, t, &in, &bare);
	KUNIT_EXPECT_EQ(test, pre_sight.hits, 1);
	KUNIT_EXPECT_EQ(test, fault_answer, -EFAULT);
}

/* A place may be named by symbol and offset, or by address and offset. */
static void test_symbol_and_offset(struct kunit *test)
{
	void *at = (void *)kprobes_test_nop_middle + kprobes_test_nop_middle_at;
	struct kprobe by_symbol = {
		.symbol_name = "kprobes_test_nop_middle",
		.offset = kprobes_test_nop_middle_at,
	};
	struct kprobe by_addr = {
		.addr = (void *)kprobes_test_nop_middle,
		.offset = kprobes_test_nop_middle_at,
	};

	KUNIT_ASSERT_EQ(test, register_kprobe(&by_symbol), 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)by_symbol.addr, at);
	unregister_kprobe(&by_symbol);
	KUNIT_ASSERT_EQ(test, register_kprobe(&by_addr), 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)by_addr.addr, at);
	KUNIT_EXPECT_EQ(test, by_addr.opcode, 0x0f);
	unregister_kprobe(&by_addr);
}

/* The slot of a displaced instruction is text, and has a symbol. */
static void test_slot_is_text(struct kunit *test)
{
	char name[KSYM_NAME_LEN], type;
	unsigned long slot;
	struct kprobe p = { .addr = test_insn_named("lock_xadd") };

	KUNIT_ASSERT_NOT_NULL(test, p.addr);
	KUNIT_ASSERT_EQ(test, register_kprobe(&p), 0);
	if (!kprobe_get_kallsym(0, &slot, &type, name)) {
		KUNIT_EXPECT_TRUE(test, is_kprobe_insn_slot(slot));
		KUNIT_EXPECT_TRUE(test, kernel_text_address(slot));
		KUNIT_EXPECT_EQ(test, type, 't');
		KUNIT_EXPECT_STREQ(test, name, "kprobe_insn_page");
	} else {
		KUNIT_FAIL(test, "no symbol for the page of slots\n");
	}
	KUNIT_EXPECT_FALSE(test, is_kprobe_insn_slot((long)p.addr));
	unregister_kprobe(&p);
}

static int methods_init(struct kunit *test)
{
	const struct target *t = test->param_value;

	jumps_allow(!t || t->method != BREAKPOINT);
	return 0;
}

static void methods_exit(struct kunit *test)
{
	jumps_allow(true);
}

static struct kunit_case methods_cases[] = {
	KUNIT_CASE_PARAM(test_pre, target_gen_params),
	KUNIT_CASE_PARAM(test_pre_and_post, target_gen_params),
	KUNIT_CASE_PARAM(test_observer, target_gen_params),
	KUNIT_CASE_PARAM(test_each_is_running, target_gen_params),
	KUNIT_CASE_PARAM(test_change_regs, target_gen_params),
	KUNIT_CASE_PARAM(test_redirect, target_gen_params),
	KUNIT_CASE_PARAM(test_redirect_plain, target_gen_params),
	KUNIT_CASE_PARAM(test_mixed, target_gen_params),
	KUNIT_CASE_PARAM(test_handler_faults, target_gen_params),
	KUNIT_CASE(test_symbol_and_offset),
	KUNIT_CASE(test_slot_is_text),
	{}
};

static struct kunit_suite methods_suite = {
	.name = "kprobes_methods",
	.init = methods_init,
	.exit = methods_exit,
	.test_cases = methods_cases,
};

kunit_test_suites(&methods_suite);
