// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: return probes, as a caller sees them.
 *
 * The idea: every call of a probed function ends in exactly one of three ways
 * that can be counted: handled, declined by the entry handler, or missed.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>

#include "test_common.h"

#define CALLS	3
#define COOKIE	0x5eedc0deUL

TEST_TARGET(ret_target, x * 5 + 2)
TEST_TARGET(other_target, x + 100)

static noinline u32 nested_target(u32 depth)
{
	u32 below = depth > 1 ? nested_target(depth - 1) : 0;

	/* Keeps the recursion from being made a loop. */
	barrier();
	return below + 1;
}

static u32 (*call_ret)(u32) = ret_target;
static u32 (*call_other)(u32) = other_target;
static u32 (*call_nested)(u32) = nested_target;

/* A return probe, and what its handlers saw. */
struct counted_ret {
	struct kretprobe	rp;
	int			entered;
	int			returned;
	/* The entry handler declines calls with an argument below this. */
	u32			decline_below;
	/* Of the last call. */
	unsigned long		value;
	unsigned long		ret_addr;
	unsigned long		data;
	bool			right_probe;
};

static struct counted_ret *to_counted(struct kretprobe *rp)
{
	return container_of(rp, struct counted_ret, rp);
}

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct counted_ret *c = to_counted(get_kretprobe(ri));
	u32 arg = regs_get_kernel_argument(regs, 0);

	c->entered++;
	if (c->rp.data_size)
		*(unsigned long *)ri->data = arg + COOKIE;
	return arg < c->decline_below;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct counted_ret *c = to_counted(rp);

	c->returned++;
	c->value = regs_return_value(regs);
	c->ret_addr = get_kretprobe_retaddr(ri);
	if (rp->data_size)
		c->data = *(unsigned long *)ri->data;
	c->right_probe = rp == &c->rp && rp->handler == on_return;
	return 0;
}

static void set_up(struct counted_ret *c, void *addr)
{
	memset(c, 0, sizeof(*c));
	c->rp.kp.addr = addr;
	c->rp.handler = on_return;
}

static void call_targets(struct kunit *test)
{
	u32 i;

	for (i = 0; i < CALLS; i++) {
		KUNIT_EXPECT_EQ(test, READ_ONCE(call_ret)(i), i * 5 + 2);
		KUNIT_EXPECT_EQ(test, READ_ONCE(call_other)(i), i + 100);
	}
}

static void test_kretprobe(struct kunit *test)
{
	static struct counted_ret c;

	set_up(&c, ret_target);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.returned, CALLS);
	KUNIT_EXPECT_EQ(test, c.value, (CALLS - 1) * 5 + 2);
	KUNIT_EXPECT_TRUE(test, c.right_probe);
	KUNIT_EXPECT_EQ(test, c.rp.nmissed, 0);
	unregister_kretprobe(&c.rp);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.returned, CALLS);
}

static void test_kretprobes(struct kunit *test)
{
	static struct counted_ret a, b;
	struct kretprobe *set[] = { &a.rp, &b.rp };

	set_up(&a, ret_target);
	set_up(&b, other_target);
	KUNIT_ASSERT_EQ(test, register_kretprobes(set, 2), 0);
	call_targets(test);
	unregister_kretprobes(set, 2);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, a.returned, CALLS);
	KUNIT_EXPECT_EQ(test, b.returned, CALLS);
	KUNIT_EXPECT_EQ(test, b.value, CALLS - 1 + 100);
}

/* Data written at entry is there at the return of the same call. */
static void test_entry_handler(struct kunit *test)
{
	static struct counted_ret c;

	set_up(&c, ret_target);
	c.rp.entry_handler = on_entry;
	c.rp.data_size = sizeof(unsigned long);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	call_targets(test);
	unregister_kretprobe(&c.rp);
	KUNIT_EXPECT_EQ(test, c.entered, CALLS);
	KUNIT_EXPECT_EQ(test, c.returned, CALLS);
	KUNIT_EXPECT_EQ(test, c.data, CALLS - 1 + COOKIE);
}

static void test_entry_handler_declines(struct kunit *test)
{
	static struct counted_ret c;

	set_up(&c, ret_target);
	c.rp.entry_handler = on_entry;
	c.decline_below = CALLS - 1;
	c.rp.maxactive = 1;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	call_targets(test);
	unregister_kretprobe(&c.rp);
	KUNIT_EXPECT_EQ(test, c.entered, CALLS);
	/* A declined call gives its instance back: none is missed. */
	KUNIT_EXPECT_EQ(test, c.returned, 1);
	KUNIT_EXPECT_EQ(test, c.rp.nmissed, 0);
}

/* With no instance left, a call is missed: neither handler sees it. */
static void test_maxactive(struct kunit *test)
{
	static struct counted_ret c;

	set_up(&c, nested_target);
	c.rp.entry_handler = on_entry;
	c.rp.maxactive = 2;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(call_nested)(5), 5);
	KUNIT_EXPECT_EQ(test, c.entered, 2);
	KUNIT_EXPECT_EQ(test, c.returned, 2);
	KUNIT_EXPECT_EQ(test, c.rp.nmissed, 3);
	/* Both instances are free again. */
	KUNIT_EXPECT_EQ(test, READ_ONCE(call_nested)(2), 2);
	KUNIT_EXPECT_EQ(test, c.returned, 4);
	KUNIT_EXPECT_EQ(test, c.rp.nmissed, 3);
	unregister_kretprobe(&c.rp);
}

static void test_maxactive_default(struct kunit *test)
{
	static struct counted_ret c;
	int most = max(10U, 2 * num_possible_cpus());

	set_up(&c, nested_target);
	c.rp.nmissed = 42;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	KUNIT_EXPECT_EQ(test, c.rp.maxactive, most);
	KUNIT_EXPECT_EQ(test, c.rp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(call_nested)(most), most);
	KUNIT_EXPECT_EQ(test, c.returned, most);
	KUNIT_EXPECT_EQ(test, c.rp.nmissed, 0);
	unregister_kretprobe(&c.rp);
}

static void test_disabled(struct kunit *test)
{
	static struct counted_ret c;

	set_up(&c, ret_target);
	c.rp.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.returned, 0);
	KUNIT_EXPECT_EQ(test, enable_kretprobe(&c.rp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.returned, CALLS);
	KUNIT_EXPECT_EQ(test, disable_kretprobe(&c.rp), 0);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, c.returned, CALLS);
	unregister_kretprobe(&c.rp);
}

/* Two return probes and a probe share the function; each return is seen twice. */
static void test_shared(struct kunit *test)
{
	struct kprobe kp = {
		.addr = (void *)ret_target,
		.pre_handler = no_pre,
	};
	static struct counted_ret a, b;

	set_up(&a, ret_target);
	set_up(&b, ret_target);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&a.rp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&b.rp), 0);
	call_targets(test);
	unregister_kretprobe(&a.rp);
	call_targets(test);
	unregister_kprobe(&kp);
	call_targets(test);
	unregister_kretprobe(&b.rp);
	call_targets(test);
	KUNIT_EXPECT_EQ(test, a.returned, CALLS);
	KUNIT_EXPECT_EQ(test, b.returned, 3 * CALLS);
	KUNIT_EXPECT_EQ(test, b.value, (CALLS - 1) * 5 + 2);
}

/* What a probed function sees of its callers. */
static unsigned long seen_caller;
static unsigned long trace[32];
static unsigned int trace_len;

static noinline void tracing_target(void)
{
	seen_caller = (unsigned long)__builtin_return_address(0);
	trace_len = stack_trace_save(trace, ARRAY_SIZE(trace), 0);
}

/* One call site, so that every call returns to the same address. */
static noinline void call_tracing(void)
{
	tracing_target();
	barrier();
}

/* An unwinder, and the probe's owner, are told the true return address. */
static void test_return_address(struct kunit *test)
{
	static struct counted_ret c;
	unsigned long true_caller;
	unsigned int i;
	bool found = false;

	call_tracing();
	true_caller = seen_caller;
	set_up(&c, tracing_target);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	call_tracing();
	unregister_kretprobe(&c.rp);
	KUNIT_EXPECT_EQ(test, c.ret_addr, true_caller);
	/* The address in the frame is the hook's, not the caller's. */
	KUNIT_EXPECT_NE(test, seen_caller, true_caller);
	KUNIT_EXPECT_TRUE(test, is_kretprobe_trampoline(seen_caller));

	for (i = 0; i < trace_len; i++)
		found |= trace[i] == true_caller;
	if (IS_ENABLED(CONFIG_ARCH_CORRECT_STACKTRACE_ON_KRETPROBE))
		KUNIT_EXPECT_TRUE(test, found);
}

static DECLARE_COMPLETION(inside);
static DECLARE_COMPLETION(leave);

static noinline int sleeping_target(void)
{
	complete(&inside);
	wait_for_completion(&leave);
	return 17;
}

static int sleeper(void *unused)
{
	return sleeping_target();
}

/* A call in flight outlives its probe: it returns, and nobody is told. */
static void test_unregister_in_flight(struct kunit *test)
{
	static struct counted_ret c;
	struct task_struct *task;

	reinit_completion(&inside);
	reinit_completion(&leave);
	set_up(&c, sleeping_target);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&c.rp), 0);
	task = kthread_create(sleeper, NULL, "kretprobe-test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&inside);
	unregister_kretprobe(&c.rp);
	memset(&c, 0xff, sizeof(c));
	c.returned = 0;
	complete(&leave);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), 17);
	put_task_struct(task);
	KUNIT_EXPECT_EQ(test, c.returned, 0);
}

static struct kunit_case kretprobes_cases[] = {
	KUNIT_CASE(test_kretprobe),
	KUNIT_CASE(test_kretprobes),
	KUNIT_CASE(test_entry_handler),
	KUNIT_CASE(test_entry_handler_declines),
	KUNIT_CASE(test_maxactive),
	KUNIT_CASE(test_maxactive_default),
	KUNIT_CASE(test_disabled),
	KUNIT_CASE(test_shared),
	KUNIT_CASE(test_return_address),
	KUNIT_CASE(test_unregister_in_flight),
	{}
};

static struct kunit_suite kretprobes_suite = {
	.name = "kretprobes_test",
	.test_cases = kretprobes_cases,
};

kunit_test_suites(&kretprobes_suite);
