// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: an allocation fails, at each step of each call.
 *
 * The idea: an ftrace callback of ours on should_failslab() and
 * should_fail_alloc_page(), the kernel's own points of fault injection, makes
 * the n-th allocation of this task fail, for n = 1, 2, ... until a call gets
 * through without reaching its n-th.  After each failure nothing may be left,
 * and the same call, made again, succeeds.
 */
#include <kunit/test.h>
#include <linux/error-injection.h>
#include <linux/fault-inject.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

#include "index.h"
#include "internal.h"
#include "test_common.h"
#include "test_fault.h"
#include "test_x86.h"

/* More steps than any of the calls can have. */
#define MAX_STEPS	2000

static struct task_struct *victim;
static unsigned int allocations, fail_at;

/* The n-th is made to fail by returning at once, with what says "fail". */
static void inject(unsigned long ip, unsigned long parent,
		   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (!regs || current != READ_ONCE(victim) || !in_task())
		return;
	if (++allocations != fail_at)
		return;
	regs_set_return_value(regs, (unsigned long)ops->private);
	override_function_with_return(regs);
}

static struct ftrace_ops slab_ops = {
	.func = inject,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
	.private = (void *)-ENOMEM,
};

static struct ftrace_ops page_ops = {
	.func = inject,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
	.private = (void *)true,
};

static int inject_start(struct ftrace_ops *ops, void *function)
{
	unsigned long ip = ftrace_location((unsigned long)function);

	if (!ip)
		return -ENOENT;
	return ftrace_set_filter_ip(ops, ip, 0, 0) ?:
	       register_ftrace_function(ops);
}

static int faults_init(struct kunit_suite *suite)
{
	return inject_start(&slab_ops, should_failslab) ?:
	       inject_start(&page_ops, should_fail_alloc_page);
}

static void faults_exit(struct kunit_suite *suite)
{
	unregister_ftrace_function(&slab_ops);
	unregister_ftrace_function(&page_ops);
}

TEST_TARGET(fault_target_a, x + 1)
TEST_TARGET(fault_target_b, x + 2)
TEST_TARGET(fault_target_c, x + 3)

static void *entry_of(void *function)
{
	return (void *)ftrace_location((unsigned long)function);
}

struct fault_set *fault_set_make(struct kunit *test)
{
	struct fault_set *set = kunit_kzalloc(test, sizeof(*set), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, set);
	set->addr[0] = entry_of(fault_target_a);
	set->addr[1] = test_insn_named("push_reg");
	set->addr[2] = entry_of(fault_target_b);
	set->addr[3] = test_insn_named("mov_rip_load");
	set->addr[4] = test_insn_named("lock_xadd");
	set->addr[5] = entry_of(fault_target_c);
	/* Two addresses stand in it twice. */
	set->addr[6] = set->addr[0];
	set->addr[7] = set->addr[3];
	for (i = 0; i < FAULT_SET; i++) {
		KUNIT_ASSERT_NOT_NULL(test, set->addr[i]);
		KUNIT_ASSERT_NULL(test, get_kprobe(set->addr[i]));
		memcpy(set->text[i], set->addr[i], FAULT_TEXT);
	}
	return set;
}

void fault_set_fill(struct fault_set *set)
{
	int i;

	for (i = 0; i < FAULT_SET; i++) {
		struct kprobe *p = &set->kp[i];

		memset(p, 0, sizeof(*p));
		p->addr = set->addr[i];
		p->pre_handler = no_pre;
		if (i & 2)
			p->post_handler = no_post;
		set->kps[i] = p;
	}
	set->kp[4].flags = KPROBE_FLAG_DISABLED;
}

/* A site without a probe would be a leak that nobody sees. */
static bool site_is_left(void *addr)
{
	bool left;

	preempt_disable();
	left = site_find((unsigned long)addr);
	preempt_enable();
	return left;
}

void fault_set_expect_nothing(struct kunit *test, struct fault_set *set)
{
	int i;

	for (i = 0; i < FAULT_SET; i++) {
		KUNIT_EXPECT_NULL(test, get_kprobe(set->addr[i]));
		KUNIT_EXPECT_FALSE(test, site_is_left(set->addr[i]));
		KUNIT_EXPECT_MEMEQ(test, set->addr[i], set->text[i],
				   FAULT_TEXT);
	}
}

/* From here on the n-th allocation fails; true from stop when one did. */
static void faults_start(unsigned int n)
{
	allocations = 0;
	fail_at = n;
	WRITE_ONCE(victim, current);
}

static bool faults_stop(void)
{
	WRITE_ONCE(victim, NULL);
	return allocations >= fail_at;
}

static void test_register(struct kunit *test)
{
	struct fault_set *set = fault_set_make(test);
	unsigned int n, failed = 0;
	bool injected = true;
	int err;

	for (n = 1; injected && n < MAX_STEPS; n++) {
		fault_set_fill(set);
		faults_start(n);
		err = register_kprobes(set->kps, FAULT_SET);
		injected = faults_stop();
		if (err) {
			failed++;
			KUNIT_EXPECT_TRUE(test, injected);
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "step %u\n", n);
			fault_set_expect_nothing(test, set);
			err = register_kprobes(set->kps, FAULT_SET);
			KUNIT_ASSERT_EQ_MSG(test, err, 0, "step %u\n", n);
		}
		unregister_kprobes(set->kps, FAULT_SET);
		fault_set_expect_nothing(test, set);
	}
	/* Each new site takes memory, and ftrace does. */
	KUNIT_EXPECT_GE(test, failed, 3);
	KUNIT_EXPECT_FALSE(test, injected);
}

/* Unregistering has no way to fail, whatever memory there is. */
static void test_unregister(struct kunit *test)
{
	struct fault_set *set = fault_set_make(test);
	bool injected = true;
	unsigned int n;

	for (n = 1; injected && n < MAX_STEPS; n++) {
		fault_set_fill(set);
		KUNIT_ASSERT_EQ(test, register_kprobes(set->kps, FAULT_SET), 0);
		faults_start(n);
		/* In halves: a change of ftrace's filter, then its end. */
		unregister_kprobes(set->kps, FAULT_SET / 2);
		KUNIT_EXPECT_MEMEQ(test, set->addr[1], set->text[1],
				   FAULT_TEXT);
		KUNIT_EXPECT_MEMEQ(test, set->addr[2], set->text[2],
				   FAULT_TEXT);
		unregister_kprobes(set->kps + FAULT_SET / 2, FAULT_SET / 2);
		injected = faults_stop();
		fault_set_expect_nothing(test, set);
	}
	KUNIT_EXPECT_FALSE(test, injected);
}

static void test_enable_disable(struct kunit *test)
{
	struct fault_set *set = fault_set_make(test);
	bool injected = true;
	unsigned int n;
	int i, err;

	fault_set_fill(set);
	for (i = 0; i < FAULT_SET; i++)
		set->kp[i].flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobes(set->kps, FAULT_SET), 0);
	for (n = 1; injected && n < MAX_STEPS; n++) {
		faults_start(n);
		err = enable_kprobes(set->kps, FAULT_SET);
		injected = faults_stop();
		if (err) {
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "step %u\n", n);
			for (i = 0; i < FAULT_SET; i++) {
				KUNIT_EXPECT_TRUE(test,
						  kprobe_disabled(&set->kp[i]));
				KUNIT_EXPECT_MEMEQ(test, set->addr[i],
						   set->text[i], FAULT_TEXT);
			}
			err = enable_kprobes(set->kps, FAULT_SET);
			KUNIT_EXPECT_EQ_MSG(test, err, 0, "step %u\n", n);
		}
		faults_start(n);
		KUNIT_EXPECT_EQ(test, disable_kprobes(set->kps, FAULT_SET), 0);
		injected |= faults_stop();
		for (i = 0; i < FAULT_SET; i++)
			KUNIT_EXPECT_MEMEQ(test, set->addr[i], set->text[i],
					   FAULT_TEXT);
	}
	unregister_kprobes(set->kps, FAULT_SET);
	fault_set_expect_nothing(test, set);
	KUNIT_EXPECT_FALSE(test, injected);
}

#ifdef CONFIG_KRETPROBES
static void test_kretprobes(struct kunit *test)
{
	struct fault_set *set = fault_set_make(test);
	static struct kretprobe rp[3];
	struct kretprobe *rps[] = { &rp[0], &rp[1], &rp[2] };
	unsigned int n, failed = 0;
	bool injected = true;
	int i, err;

	for (n = 1; injected && n < MAX_STEPS; n++) {
		memset(rp, 0, sizeof(rp));
		for (i = 0; i < 3; i++) {
			/* Places 0, 2 and 5 are functions' entries. */
			rp[i].kp.addr = set->addr[i * 5 / 2];
			rp[i].handler = no_ret;
			rp[i].data_size = i * 100;
		}
		faults_start(n);
		err = register_kretprobes(rps, 3);
		injected = faults_stop();
		if (err) {
			failed++;
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "step %u\n", n);
			fault_set_expect_nothing(test, set);
			err = register_kretprobes(rps, 3);
			KUNIT_ASSERT_EQ_MSG(test, err, 0, "step %u\n", n);
		}
		unregister_kretprobes(rps, 3);
		fault_set_expect_nothing(test, set);
	}
	KUNIT_EXPECT_GE(test, failed, 3);
	KUNIT_EXPECT_FALSE(test, injected);
}
#else
static void test_kretprobes(struct kunit *test)
{
	kunit_skip(test, "no CONFIG_KRETPROBES");
}
#endif

static struct kunit_case faults_cases[] = {
	KUNIT_CASE(test_register),
	KUNIT_CASE(test_unregister),
	KUNIT_CASE(test_enable_disable),
	KUNIT_CASE(test_kretprobes),
	{}
};

static struct kunit_suite faults_suite = {
	.name = "kprobes_faults",
	.suite_init = faults_init,
	.suite_exit = faults_exit,
	.test_cases = faults_cases,
};

kunit_test_suites(&faults_suite);
