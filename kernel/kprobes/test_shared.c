// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a probed function that others watch, too.
 *
 * The idea: an ftrace callback, an fprobe or a direct caller comes to the same
 * fentry before the probe or after it.  Either way each of them is called once
 * a call, the probe sees the registers that it always sees, and a redirection
 * is obeyed.
 */
#include <kunit/test.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/processor-flags.h>

#include "test_x86.h"

#define CALLS	3

static noinline void shared_target(void)
{
	barrier();
}

/* Where ftrace says that the function's fentry is. */
static unsigned long shared_ip;

/* Calls that the other user of the function was told of. */
static unsigned long other_calls;

static void other_callback(unsigned long ip, unsigned long parent,
			   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	other_calls++;
}

/* A direct caller that gets on with one that redirects. */
static int direct_may_share(struct ftrace_ops *ops, enum ftrace_ops_cmd cmd)
{
	return 0;
}

static struct ftrace_ops args_ops = { .func = other_callback };

static struct ftrace_ops regs_ops = {
	.func = other_callback,
	.flags = FTRACE_OPS_FL_SAVE_REGS,
};

static struct ftrace_ops direct_ops = { .ops_func = direct_may_share };

static int come_ops(struct ftrace_ops *ops)
{
	return ftrace_set_filter_ip(ops, shared_ip, 0, 0) ?:
	       register_ftrace_function(ops);
}

static void go_ops(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
	ftrace_set_filter_ip(ops, shared_ip, 1, 0);
}

static int come_args(void)
{
	return come_ops(&args_ops);
}

static void go_args(void)
{
	go_ops(&args_ops);
}

static int come_regs(void)
{
	return come_ops(&regs_ops);
}

static void go_regs(void)
{
	go_ops(&regs_ops);
}

static int fprobe_entry(struct fprobe *fp, unsigned long ip,
			unsigned long ret_ip, struct pt_regs *regs, void *data)
{
	other_calls++;
	return 0;
}

/* A new one each time: unregistering leaves a filter in it that was freed. */
static struct fprobe *shared_fprobe;

static int come_fprobe(void)
{
	int err;

	shared_fprobe = kzalloc(sizeof(*shared_fprobe), GFP_KERNEL);
	if (!shared_fprobe)
		return -ENOMEM;
	shared_fprobe->entry_handler = fprobe_entry;
	err = register_fprobe_ips(shared_fprobe, &shared_ip, 1);
	if (err)
		kfree(shared_fprobe);
	return err;
}

static void go_fprobe(void)
{
	unregister_fprobe(shared_fprobe);
	kfree(shared_fprobe);
}

static int come_direct(void)
{
	int err;

	kprobes_test_direct_calls = 0;
	err = ftrace_set_filter_ip(&direct_ops, shared_ip, 0, 0);
	return err ?: register_ftrace_direct(&direct_ops,
					     (long)kprobes_test_direct);
}

static void go_direct(void)
{
	other_calls += kprobes_test_direct_calls;
	unregister_ftrace_direct(&direct_ops, (long)kprobes_test_direct, false);
	ftrace_set_filter_ip(&direct_ops, shared_ip, 1, 0);
}

static int come_none(void)
{
	other_calls += CALLS;
	return 0;
}

static void go_none(void)
{
}

struct other {
	const char *name;
	int (*come)(void);
	void (*go)(void);
};

static const struct other others[] = {
	{ "none", come_none, go_none },
	{ "ftrace, arguments", come_args, go_args },
	{ "ftrace, registers", come_regs, go_regs },
	{ "fprobe", come_fprobe, go_fprobe },
	{ "direct", come_direct, go_direct },
};

static void describe(const struct other *o, char *desc)
{
	strscpy(desc, o->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(other, others, describe);

/* What the probe saw. */
static unsigned int pre_hits, post_hits, strange;
static struct test_regs wanted;
/* Of the running call; .sp is set before the function is entered. */
static struct test_regs out;
static bool redirect;

/* Without the flags: another user's trampoline may have changed them. */
static bool as_wanted(const struct pt_regs *regs, unsigned long ip)
{
	return regs->ip == ip && regs->orig_ax == -1 &&
	       regs->sp == out.sp && regs->cs == __KERNEL_CS &&
	       regs->ss == __KERNEL_DS && regs->flags & X86_EFLAGS_IF &&
	       test_regs_same(regs, &wanted);
}

static int shared_pre(struct kprobe *p, struct pt_regs *regs)
{
	pre_hits++;
	strange += !as_wanted(regs, (unsigned long)p->addr + 1);
	strange += kprobe_running() != p;
	if (redirect)
		regs->ip = (unsigned long)kprobes_test_elsewhere;
	return redirect;
}

static void shared_post(struct kprobe *p, struct pt_regs *regs,
			unsigned long flags)
{
	post_hits++;
	strange += !as_wanted(regs, shared_ip + MCOUNT_INSN_SIZE);
}

/* Call the function CALLS times, with all that are there watching. */
static void call_watched(struct kunit *test, bool redirected)
{
	int i;

	for (i = 0; i < CALLS; i++) {
		out = wanted;
		kprobes_test_call(shared_target, &out);
		if (redirected)
			KUNIT_EXPECT_EQ(test, out.ax, TEST_ELSEWHERE);
		/* Nobody's at a function's entry: ftrace uses it for itself. */
		out.r11 = wanted.r11;
		if (!redirected)
			KUNIT_EXPECT_MEMEQ(test, &out, &wanted, TR_FLAGS);
	}
}

static void set_up(struct kunit *test, struct kprobe *p, bool with_post)
{
	memset(p, 0, sizeof(*p));
	p->addr = (void *)shared_target;
	p->pre_handler = shared_pre;
	if (with_post)
		p->post_handler = shared_post;
	shared_ip = ftrace_location((unsigned long)shared_target);
	KUNIT_ASSERT_NE(test, shared_ip, 0);

	pre_hits = 0;
	post_hits = 0;
	strange = 0;
	other_calls = 0;
	redirect = false;
	test_regs_fill(&wanted, 0x0303030303030303ULL,
		       X86_EFLAGS_FIXED | X86_EFLAGS_IF);
}

static void expect_counts(struct kunit *test, bool with_post)
{
	KUNIT_EXPECT_EQ(test, pre_hits, CALLS);
	KUNIT_EXPECT_EQ(test, post_hits, with_post ? CALLS : 0);
	KUNIT_EXPECT_EQ(test, strange, 0);
	KUNIT_EXPECT_EQ(test, other_calls, CALLS);
}

/* Both come, in one order or the other; or neither does, and false. */
static bool both_come(struct kunit *test, struct kprobe *p,
		      const struct other *o, bool other_first)
{
	int other_err = other_first ? o->come() : 0;
	int err = register_kprobe(p);

	if (!other_first && !err)
		other_err = o->come();
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, other_err, 0);
	if (!err && !other_err)
		return true;
	if (!err)
		unregister_kprobe(p);
	if (!other_err && other_first)
		o->go();
	return false;
}

static void share(struct kunit *test, bool with_post, bool other_first)
{
	const struct other *o = test->param_value;
	static struct kprobe p;

	set_up(test, &p, with_post);
	if (!both_come(test, &p, o, other_first))
		return;
	call_watched(test, false);
	/* And in either order they go. */
	if (other_first)
		o->go();
	unregister_kprobe(&p);
	if (!other_first)
		o->go();
	expect_counts(test, with_post);
	call_watched(test, false);
	KUNIT_EXPECT_EQ(test, pre_hits, CALLS);
}

static void test_probe_comes_last(struct kunit *test)
{
	share(test, false, true);
	share(test, true, true);
}

static void test_probe_comes_first(struct kunit *test)
{
	share(test, false, false);
	share(test, true, false);
}

/* The other one leaves, and comes again, while the probe stays. */
static void test_other_comes_and_goes(struct kunit *test)
{
	const struct other *o = test->param_value;
	static struct kprobe p;

	set_up(test, &p, true);
	if (!both_come(test, &p, o, false))
		return;
	call_watched(test, false);
	o->go();
	call_watched(test, false);
	KUNIT_EXPECT_EQ(test, o->come(), 0);
	call_watched(test, false);
	o->go();
	call_watched(test, false);
	unregister_kprobe(&p);
	KUNIT_EXPECT_EQ(test, pre_hits, 4 * CALLS);
	KUNIT_EXPECT_EQ(test, post_hits, 4 * CALLS);
	KUNIT_EXPECT_EQ(test, other_calls, 2 * CALLS);
	KUNIT_EXPECT_EQ(test, strange, 0);
}

static void redirect_shared(struct kunit *test, bool other_first)
{
	const struct other *o = test->param_value;
	static struct kprobe p;

	set_up(test, &p, true);
	if (!both_come(test, &p, o, other_first))
		return;
	redirect = true;
	call_watched(test, true);
	redirect = false;
	unregister_kprobe(&p);
	o->go();
	KUNIT_EXPECT_EQ(test, pre_hits, CALLS);
	KUNIT_EXPECT_EQ(test, post_hits, 0);
	KUNIT_EXPECT_EQ(test, strange, 0);
}

static void test_redirect(struct kunit *test)
{
	redirect_shared(test, true);
	redirect_shared(test, false);
}

static struct kunit_case shared_cases[] = {
	KUNIT_CASE_PARAM(test_probe_comes_last, other_gen_params),
	KUNIT_CASE_PARAM(test_probe_comes_first, other_gen_params),
	KUNIT_CASE_PARAM(test_other_comes_and_goes, other_gen_params),
	KUNIT_CASE_PARAM(test_redirect, other_gen_params),
	{}
};

static struct kunit_suite shared_suite = {
	.name = "kprobes_shared",
	.test_cases = shared_cases,
};

kunit_test_suites(&shared_suite);
