// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: typed entry probes, alone and paired with return probes.
 *
 * The idea: a function of many arguments, of several widths, is called with
 * values that no two arguments share; the handler has the same prototype and
 * keeps what it is given.
 */
#include <kunit/test.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "test_common.h"

#define NR_ARGS	12

static_assert(NR_ARGS <= 6 + JPROBE_STACK_WORDS);

/* In the order of the prototype; six in registers, six on the stack. */
static u64 seen[NR_ARGS];
static int entries, returns, order, entry_order, return_entry_order;
static unsigned long returned;

static noinline u64 many(u64 a, u8 b, void *c, int d, u16 e, s64 f,
			 u64 g, u8 h, void *i, int j, u16 k, s64 l)
{
	barrier();
	return a + b + (unsigned long)c + d + e + f + g + h + (unsigned long)i + j + k + l;
}

/* What the function does is not changed by what its handler does to its own. */
static u64 many_entry(u64 a, u8 b, void *c, int d, u16 e, s64 f,
		      u64 g, u8 h, void *i, int j, u16 k, s64 l)
{
	u64 args[] = { a, b, (unsigned long)c, d, e, f, g, h, (unsigned long)i, j, k, l };

	memcpy(seen, args, sizeof(seen));
	entries++;
	entry_order = ++order;
	a = 0;
	g = 0;
	l = 0;
	barrier_data(&a);
	barrier_data(&g);
	barrier_data(&l);
	return ~0ULL;
}

static u64 call_many(void)
{
	typeof(many) *fn = READ_ONCE((typeof(many) *){ many });

	return fn(1, 2, (void *)3, -4, 5, -6, 7, 8, (void *)9, -10, 11, -12);
}

static const u64 expected[NR_ARGS] = { 1, 2, 3, -4, 5, -6, 7, 8, 9, -10, 11, -12 };

static int ret_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return_entry_order = ++order;
	return 0;
}

static int ret_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returns++;
	returned = regs_return_value(regs);
	return 0;
}

static int set_up(struct kunit *test)
{
	memset(seen, 0, sizeof(seen));
	entries = 0;
	returns = 0;
	order = 0;
	returned = 0;
	return 0;
}

static void test_arguments(struct kunit *test)
{
	struct jprobe jp = {
		.kp.addr = (void *)many,
		.entry = JPROBE_ENTRY(many_entry),
	};
	u64 bare = call_many();

	KUNIT_ASSERT_EQ(test, register_jprobe(&jp), 0);
	KUNIT_EXPECT_EQ(test, call_many(), bare);
	unregister_jprobe(&jp);
	KUNIT_EXPECT_EQ(test, entries, 1);
	KUNIT_EXPECT_MEMEQ(test, seen, expected, sizeof(seen));
	KUNIT_EXPECT_EQ(test, call_many(), bare);
	KUNIT_EXPECT_EQ(test, entries, 1);
}

static void test_pair(struct kunit *test)
{
	struct jprobe jp = {
		.kp.addr = (void *)many,
		.entry = JPROBE_ENTRY(many_entry),
	};
	struct kretprobe rp = {
		.handler = ret_handler,
		.entry_handler = ret_entry,
	};
	u64 bare = call_many();

	KUNIT_ASSERT_EQ(test, register_jrprobe(&jp, &rp), 0);
	KUNIT_EXPECT_PTR_EQ(test, jp.kp.addr, rp.kp.addr);
	KUNIT_EXPECT_EQ(test, call_many(), bare);
	unregister_jrprobe(&jp, &rp);
	KUNIT_EXPECT_EQ(test, call_many(), bare);
	KUNIT_EXPECT_EQ(test, entries, 1);
	KUNIT_EXPECT_EQ(test, returns, 1);
	KUNIT_EXPECT_EQ(test, returned, bare);
	KUNIT_EXPECT_LT(test, entry_order, return_entry_order);
}

static void test_plain_pair(struct kunit *test)
{
	struct counted c;
	struct kretprobe rp = { .handler = ret_handler };

	set_up_counted(&c, many);
	KUNIT_ASSERT_EQ(test, register_erprobe(&c.kp, &rp), 0);
	call_many();
	call_many();
	unregister_erprobe(&c.kp, &rp);
	KUNIT_EXPECT_EQ(test, c.pre, 2);
	KUNIT_EXPECT_EQ(test, returns, 2);
}

static noinline u32 other(u32 x)
{
	barrier();
	return x;
}

/* What is refused leaves nothing behind, and the same probes can be registered. */
static void test_refused(struct kunit *test)
{
	struct jprobe jp = { .kp.addr = (void *)many };
	struct kretprobe rp = { .handler = ret_handler };

	KUNIT_EXPECT_EQ(test, register_jprobe(NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	jp.entry = JPROBE_ENTRY(many_entry);
	KUNIT_EXPECT_EQ(test, register_jrprobe(&jp, NULL), -EINVAL);

	rp.kp.addr = (void *)other;
	KUNIT_EXPECT_EQ(test, register_jrprobe(&jp, &rp), -EINVAL);
	rp.kp.addr = NULL;
	rp.data_size = KRETPROBE_MAX_DATA_SIZE + 1;
	KUNIT_EXPECT_EQ(test, register_jrprobe(&jp, &rp), -E2BIG);
	KUNIT_EXPECT_NULL(test, rp.kp.addr);
	rp.data_size = 0;
	jp.kp.offset = 64;
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	jp.kp.offset = 0;

	call_many();
	KUNIT_EXPECT_EQ(test, entries + returns, 0);
	KUNIT_ASSERT_EQ(test, register_jrprobe(&jp, &rp), 0);
	KUNIT_EXPECT_EQ(test, register_jprobe(&jp), -EINVAL);
	call_many();
	unregister_jrprobe(&jp, &rp);
	KUNIT_EXPECT_EQ(test, entries, 1);
	KUNIT_EXPECT_EQ(test, returns, 1);
}

static struct kunit_case typed_cases[] = {
	KUNIT_CASE(test_arguments),
	KUNIT_CASE(test_pair),
	KUNIT_CASE(test_plain_pair),
	KUNIT_CASE(test_refused),
	{}
};

static struct kunit_suite typed_suite = {
	.name = "kprobes_typed",
	.init = set_up,
	.test_cases = typed_cases,
};

kunit_test_suites(&typed_suite);
