// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: sets of probes, enabled and disabled as one.
 *
 * The idea: a set mixes probes that share an address, that are disabled, and
 * return probes with entry probes.  What a call of the set says, each of its
 * probes must do, and none outside of it may notice.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "test_common.h"

#define CALLS	2
#define NR	4

TEST_TARGET(set_target_a, x + 1)
TEST_TARGET(set_target_b, x + 2)

static u32 (*call_a)(u32) = set_target_a;
static u32 (*call_b)(u32) = set_target_b;

static struct counted set[NR];
static struct kprobe *kps[NR];

/* 0 and 1 are on one function, 2 and 3 on another; 1 and 3 may redirect. */
static void set_up(void)
{
	int i;

	for (i = 0; i < NR; i++) {
		set_up_counted(&set[i], i < 2 ? set_target_a : set_target_b);
		kps[i] = &set[i].kp;
		if (i & 1)
			kps[i]->post_handler = no_post;
	}
}

static void reset_hits(void)
{
	int i;

	for (i = 0; i < NR; i++)
		set[i].pre = 0;
}

/* Call both functions; of @mask's probes each must count, and no other. */
static void expect_hits(struct kunit *test, unsigned int mask)
{
	int i;

	reset_hits();
	for (i = 0; i < CALLS; i++) {
		KUNIT_EXPECT_EQ(test, READ_ONCE(call_a)(i), i + 1);
		KUNIT_EXPECT_EQ(test, READ_ONCE(call_b)(i), i + 2);
	}
	for (i = 0; i < NR; i++) {
		KUNIT_EXPECT_EQ_MSG(test, set[i].pre, mask & BIT(i) ? CALLS : 0,
				    "probe %d of mask %x\n", i, mask);
		KUNIT_EXPECT_EQ(test, kprobe_disabled(kps[i]),
				!(mask & BIT(i)));
	}
}

static void test_enable_disable(struct kunit *test)
{
	set_up();
	kps[1]->flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR), 0);
	expect_hits(test, 0xd);
	KUNIT_EXPECT_EQ(test, disable_kprobes(kps, NR), 0);
	expect_hits(test, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobes(kps, NR), 0);
	expect_hits(test, 0xf);
	/* Half of a shared address, and of the set. */
	KUNIT_EXPECT_EQ(test, disable_kprobes(kps + 1, 2), 0);
	expect_hits(test, 0x9);
	KUNIT_EXPECT_EQ(test, enable_kprobes(kps, 2), 0);
	expect_hits(test, 0xb);
	unregister_kprobes(kps, NR);
}

/* Every mask of disabled probes, at registration and later. */
static void test_every_mask(struct kunit *test)
{
	unsigned int from, to;
	int i;

	for (from = 0; from < BIT(NR); from++) {
		to = ~from * 5 % BIT(NR);
		set_up();
		for (i = 0; i < NR; i++)
			if (!(from & BIT(i)))
				kps[i]->flags = KPROBE_FLAG_DISABLED;
		KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR), 0);
		expect_hits(test, from);
		for (i = 0; i < NR; i++)
			KUNIT_EXPECT_EQ(test, to & BIT(i) ?
					enable_kprobe(kps[i]) :
					disable_kprobe(kps[i]), 0);
		expect_hits(test, to);
		unregister_kprobes(kps, NR);
	}
}

/* A set may be unregistered in other portions than it came in. */
static void test_portions(struct kunit *test)
{
	set_up();
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR), 0);
	unregister_kprobes(kps + 1, 2);
	reset_hits();
	READ_ONCE(call_a)(1);
	READ_ONCE(call_b)(1);
	KUNIT_EXPECT_EQ(test, set[0].pre, 1);
	KUNIT_EXPECT_EQ(test, set[1].pre + set[2].pre, 0);
	KUNIT_EXPECT_EQ(test, set[3].pre, 1);
	unregister_kprobe(kps[3]);
	unregister_kprobe(kps[0]);
	READ_ONCE(call_a)(1);
	READ_ONCE(call_b)(1);
	KUNIT_EXPECT_EQ(test, set[0].pre + set[3].pre, 2);
}

/* One that is not registered fails the call, for all of them. */
static void test_one_stranger(struct kunit *test)
{
	set_up();
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR - 1), 0);
	KUNIT_EXPECT_EQ(test, disable_kprobes(kps, NR), -EINVAL);
	KUNIT_EXPECT_FALSE(test, kprobe_disabled(kps[0]));
	KUNIT_EXPECT_EQ(test, disable_kprobes(kps, NR - 1), 0);
	KUNIT_EXPECT_EQ(test, enable_kprobes(kps, NR), -EINVAL);
	KUNIT_EXPECT_TRUE(test, kprobe_disabled(kps[0]));
	KUNIT_EXPECT_EQ(test, enable_kprobes(kps, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_kprobes(NULL, 1), -EINVAL);
	unregister_kprobes(kps, NR - 1);
}

#ifdef CONFIG_KRETPROBES
static unsigned int returns;

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returns++;
	return 0;
}

static void test_kretprobes(struct kunit *test)
{
	static struct kretprobe rp[2];
	struct kretprobe *rps[] = { &rp[0], &rp[1] };

	memset(rp, 0, sizeof(rp));
	rp[0].kp.addr = (void *)set_target_a;
	rp[0].handler = count_return;
	rp[1].kp.addr = (void *)set_target_b;
	rp[1].handler = count_return;
	set_up();
	returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobes(rps, 2), 0);
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR), 0);
	expect_hits(test, 0xf);
	KUNIT_EXPECT_EQ(test, returns, 2 * CALLS);
	KUNIT_EXPECT_EQ(test, disable_kretprobes(rps, 2), 0);
	expect_hits(test, 0xf);
	KUNIT_EXPECT_EQ(test, returns, 2 * CALLS);
	KUNIT_EXPECT_EQ(test, disable_kprobes(kps, NR), 0);
	KUNIT_EXPECT_EQ(test, enable_kretprobes(rps, 2), 0);
	expect_hits(test, 0);
	KUNIT_EXPECT_EQ(test, returns, 4 * CALLS);
	unregister_kprobes(kps, NR);
	unregister_kretprobes(rps, 2);
}
#else
static void test_kretprobes(struct kunit *test)
{
	kunit_skip(test, "no CONFIG_KRETPROBES");
}
#endif

static struct kunit_case sets_cases[] = {
	KUNIT_CASE(test_enable_disable),
	KUNIT_CASE(test_every_mask),
	KUNIT_CASE(test_portions),
	KUNIT_CASE(test_one_stranger),
	KUNIT_CASE(test_kretprobes),
	{}
};

static struct kunit_suite sets_suite = {
	.name = "kprobes_sets",
	.test_cases = sets_cases,
};

kunit_test_suites(&sets_suite);
