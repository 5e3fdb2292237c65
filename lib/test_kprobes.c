// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the basic promises of kprobes, as a caller sees them.
 *
 * The idea: small functions of known effect are called a known number of
 * times, and handlers count exactly.  A count that is only "not zero" would
 * hide a handler that runs twice.  Return probes, methods, errors and displaced
 * instructions have suites of their own in kernel/kprobes/.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "../kernel/kprobes/test_common.h"

#define CALLS	3

TEST_TARGET(target_a, x * 3 + 1)
TEST_TARGET(target_b, x ^ 0x55)
TEST_TARGET(target_never, x - 7)

NOKPROBE_SYMBOL(target_never);

/* Calls through these cannot be folded, cloned or moved by the compiler. */
static u32 (*call_a)(u32) = target_a;
static u32 (*call_b)(u32) = target_b;

/* The probed function must also still do its work. */
static void call_targets(struct kunit *test)
{
	u32 i;

	for (i = 0; i < CALLS; i++) {
		KUNIT_EXPECT_EQ(test, READ_ONCE(call_a)(i), i * 3 + 1);
		KUNIT_EXPECT_EQ(test, READ_ONCE(call_b)(i), i ^ 0x55);
	}
}

static void test_kprobe(struct kunit *test)
{
	static struct counted c;

	set_up_counted(&c, target_a);
	c.kp.post_handler = count_post;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.pre, CALLS);
	KUNIT_EXPECT_EQ(test, c.post, CALLS);
	KUNIT_EXPECT_EQ(test, c.arg, CALLS - 1);
	KUNIT_EXPECT_EQ(test, c.kp.nmissed, 0);

	unregister_kprobe(&c.kp);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.pre, CALLS);
	KUNIT_EXPECT_EQ(test, c.post, CALLS);
}

/* A probe without any handler is legal, and so is one with a post-handler only. */
static void test_kprobe_few_handlers(struct kunit *test)
{
	static struct counted none, post;

	set_up_counted(&none, target_a);
	none.kp.pre_handler = NULL;
	set_up_counted(&post, target_b);
	post.kp.pre_handler = NULL;
	post.kp.post_handler = count_post;
	KUNIT_ASSERT_EQ(test, register_kprobe(&none.kp), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&post.kp), 0);
	call_targets(test);
	unregister_kprobe(&post.kp);
	unregister_kprobe(&none.kp);
	KUNIT_EXPECT_EQ(test, none.pre + none.post + post.pre, 0);
	KUNIT_EXPECT_EQ(test, post.post, CALLS);
}

static void test_kprobes(struct kunit *test)
{
	static struct counted a, b;
	struct kprobe *set[] = { &a.kp, &b.kp };

	set_up_counted(&a, target_a);
	set_up_counted(&b, target_b);
	KUNIT_ASSERT_EQ(test, register_kprobes(set, 2), 0);
	call_targets(test);
	unregister_kprobes(set, 2);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, a.pre, CALLS);
	KUNIT_EXPECT_EQ(test, b.pre, CALLS);
}

/* The same structure, used again without being cleared. */
static void test_register_again(struct kunit *test)
{
	static struct counted c;
	int i;

	set_up_counted(&c, target_a);
	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
		call_targets(test);
		KUNIT_EXPECT_EQ(test, c.pre, i * CALLS);
		unregister_kprobe(&c.kp);
	}
}

static void test_symbol_name(struct kunit *test)
{
	static struct counted c;

	set_up_counted(&c, NULL);
	c.kp.symbol_name = "kunit_run_tests";
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_NOT_NULL(test, c.kp.addr);
	KUNIT_EXPECT_PTR_EQ(test, get_kprobe(c.kp.addr), &c.kp);
	unregister_kprobe(&c.kp);
}

static void test_disabled(struct kunit *test)
{
	static struct counted c;

	set_up_counted(&c, target_a);
	c.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&c.kp));
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.pre, 0);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), 0);
	KUNIT_EXPECT_FALSE(test, kprobe_disabled(&c.kp));
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.pre, CALLS);
	/* Enabling what is enabled changes nothing. */
	KUNIT_EXPECT_EQ(test, enable_kprobe(&c.kp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.pre, 2 * CALLS);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), 0);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(&c.kp));
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.pre, 2 * CALLS);
	unregister_kprobe(&c.kp);
}

/* In what order probes of one address go must not matter to those that stay. */
static void test_many_at_one_address(struct kunit *test)
{
	static struct counted c[4];
	static const u8 orders[][4] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 1, 3, 0, 2 }, { 2, 0, 3, 1 } };
	int o, i, gone;

	for (o = 0; o < ARRAY_SIZE(orders); o++) {
		for (i = 0; i < 4; i++) {
			set_up_counted(&c[i], target_a);
			if (i & 1)
				c[i].kp.post_handler = count_post;
			if (i == 2)
				c[i].kp.flags = KPROBE_FLAG_DISABLED;
			KUNIT_ASSERT_EQ(test, register_kprobe(&c[i].kp), 0);
		}
		for (gone = 0; gone < 4; gone++) {
			call_targets(test);
			unregister_kprobe(&c[orders[o][gone]].kp);
		}
		call_targets(test);
		for (i = 0; i < 4; i++) {
			gone = orders[o][i];
			/* It saw the rounds up to the one after which it went. */
			KUNIT_EXPECT_EQ(test, c[gone].pre,
					gone == 2 ? 0 : (i + 1) * CALLS);
			KUNIT_EXPECT_EQ(test, c[gone].post,
					gone & 1 ? (i + 1) * CALLS : 0);
		}
		KUNIT_EXPECT_NULL(test, get_kprobe(c[0].kp.addr));
	}
}

/* One of two is switched off and on again: the other never notices. */
static void test_disable_one_of_two(struct kunit *test)
{
	static struct counted a, b;

	set_up_counted(&a, target_a);
	set_up_counted(&b, target_a);
	KUNIT_ASSERT_EQ(test, register_kprobe(&a.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&b.kp), 0);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&a.kp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&b.kp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&a.kp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, a.pre, CALLS);
	KUNIT_EXPECT_EQ(test, b.pre, CALLS);
	unregister_kprobe(&a.kp);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&b.kp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, b.pre, 2 * CALLS);
	unregister_kprobe(&b.kp);
}

static int calling_pre(struct kprobe *p, struct pt_regs *regs)
{
	count_pre(p, regs);
	READ_ONCE(call_b)(1);
	return 0;
}

static void calling_post(struct kprobe *p, struct pt_regs *regs,
			 unsigned long flags)
{
	count_post(p, regs, flags);
	READ_ONCE(call_b)(1);
}

/* A hit from within a handler is not handled, but counted. */
static void test_reentrant(struct kunit *test)
{
	static struct counted outer, inner, inner2;

	set_up_counted(&outer, target_a);
	outer.kp.pre_handler = calling_pre;
	outer.kp.post_handler = calling_post;
	set_up_counted(&inner, target_b);
	set_up_counted(&inner2, target_b);
	KUNIT_ASSERT_EQ(test, register_kprobe(&outer.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&inner.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&inner2.kp), 0);
	call_targets(test);
	unregister_kprobe(&inner2.kp);
	unregister_kprobe(&inner.kp);
	unregister_kprobe(&outer.kp);
	KUNIT_EXPECT_EQ(test, outer.pre, CALLS);
	KUNIT_EXPECT_EQ(test, outer.post, CALLS);
	KUNIT_EXPECT_EQ(test, outer.kp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, inner.pre, CALLS);
	KUNIT_EXPECT_EQ(test, inner.kp.nmissed, 2 * CALLS);
	KUNIT_EXPECT_EQ(test, inner2.pre, CALLS);
	KUNIT_EXPECT_EQ(test, inner2.kp.nmissed, 2 * CALLS);
}

/* While "busy", a CPU's hits are missed, and counted. */
static void test_busy(struct kunit *test)
{
	static struct counted c;

	set_up_counted(&c, target_b);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	kprobe_busy_begin();
	READ_ONCE(call_b)(1);
	kprobe_busy_end();
	READ_ONCE(call_b)(1);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
	KUNIT_EXPECT_EQ(test, c.kp.nmissed, 1);
}

static void test_blacklist(struct kunit *test)
{
	static struct counted c;

	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((long)target_never));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist((long)target_a));
	set_up_counted(&c, target_never);
	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), -EINVAL);
}

static void test_on_func_entry(struct kunit *test)
{
	kprobe_opcode_t *addr = (void *)target_a;

	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(addr, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, "kunit_run_tests", 0),
			0);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(addr, NULL, 13), -EINVAL);
	KUNIT_EXPECT_EQ(test, kprobe_on_func_entry(NULL, "no_such_symbol", 0),
			-ENOENT);
}

static void test_get_kprobe(struct kunit *test)
{
	static struct counted c;

	KUNIT_EXPECT_NULL(test, get_kprobe(target_a));
	set_up_counted(&c, target_a);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_PTR_EQ(test, get_kprobe(c.kp.addr), &c.kp);
	KUNIT_EXPECT_NULL(test, get_kprobe(c.kp.addr + 1));
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_NULL(test, get_kprobe(c.kp.addr));
}

static struct kunit_case kprobes_cases[] = {
	KUNIT_CASE(test_kprobe),
	KUNIT_CASE(test_kprobe_few_handlers),
	KUNIT_CASE(test_kprobes),
	KUNIT_CASE(test_register_again),
	KUNIT_CASE(test_symbol_name),
	KUNIT_CASE(test_disabled),
	KUNIT_CASE(test_many_at_one_address),
	KUNIT_CASE(test_disable_one_of_two),
	KUNIT_CASE(test_reentrant),
	KUNIT_CASE(test_busy),
	KUNIT_CASE(test_blacklist),
	KUNIT_CASE(test_on_func_entry),
	KUNIT_CASE(test_get_kprobe),
	{}
};

static struct kunit_suite kprobes_suite = {
	.name = "kprobes_test",
	.test_cases = kprobes_cases,
};

kunit_test_suites(&kprobes_suite);

MODULE_DESCRIPTION("KUnit tests of kprobes");
MODULE_LICENSE("GPL");
