// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: what may not be probed, and what may not be asked for.
 *
 * The idea: each refusal is the documented errno, and leaves nothing behind:
 * the same structure, corrected, can be registered at once.
 */
#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include <asm/nospec-branch.h>

#include "test_common.h"
#include "test_fault.h"

TEST_TARGET(plain_target, x * 11)
TEST_TARGET(forbidden_target, x * 13)

NOKPROBE_SYMBOL(forbidden_target);

/* A function with text that others rewrite or trap on. */
static DEFINE_STATIC_KEY_FALSE(test_key);

static int static_callee(int x)
{
	return x + 1;
}

DEFINE_STATIC_CALL(kprobes_test_call_site, static_callee);

static noinline int reserved_target(int x)
{
	if (static_branch_unlikely(&test_key))
		x += 5;
	x = static_call(kprobes_test_call_site)(x);
	WARN_ON_ONCE(x == -17);
	return x;
}

/* The function above is in this; what follows it may be, too. */
#define RESERVED_SIZE	256

static bool in_reserved(unsigned long addr)
{
	return addr - (unsigned long)reserved_target < RESERVED_SIZE;
}

/* Registering is refused with @errno; then the same structure is good. */
static void expect_refused(struct kunit *test, struct kprobe *p, int errno,
			   const char *what)
{
	int err = register_kprobe(p);

	KUNIT_EXPECT_EQ_MSG(test, err, errno, "%s\n", what);
	if (!err)
		unregister_kprobe(p);
	memset(p, 0, sizeof(*p));
	p->addr = (void *)plain_target;
	err = register_kprobe(p);
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "%s, corrected\n", what);
	if (!err)
		unregister_kprobe(p);
	memset(p, 0, sizeof(*p));
	p->pre_handler = no_pre;
}

static void test_no_such_place(struct kunit *test)
{
	static struct kprobe p;
	static unsigned long data;

	p.symbol_name = "no_such_symbol_anywhere";
	expect_refused(test, &p, -ENOENT, "unknown symbol");
	p.symbol_name = "no_such_module:plain_target";
	expect_refused(test, &p, -ENOENT, "symbol of an unknown module");
	p.addr = (void *)&data;
	expect_refused(test, &p, -EINVAL, "data");
	p.addr = (void *)8;
	expect_refused(test, &p, -EINVAL, "no text at all");
	expect_refused(test, &p, -EINVAL, "neither symbol nor address");
	p.addr = (void *)plain_target;
	p.symbol_name = "kunit_run_tests";
	expect_refused(test, &p, -EINVAL, "symbol and address");
}

static void test_forbidden_place(struct kunit *test)
{
	static struct kprobe p;

	p.addr = (void *)forbidden_target;
	expect_refused(test, &p, -EINVAL, "blacklisted function");
	p.symbol_name = "asm_exc_int3";
	expect_refused(test, &p, -EINVAL, "entry text");
#ifdef CONFIG_MITIGATION_RETHUNK
	p.symbol_name = "__x86_return_thunk";
	expect_refused(test, &p, -EINVAL, "where functions return through");
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)x86_return_thunk));
#endif
}

static void test_mid_instruction(struct kunit *test)
{
	unsigned long nop = ftrace_location((unsigned long)plain_target);
	static struct kprobe p;
	int i;

	KUNIT_ASSERT_NE(test, nop, 0);
	for (i = 1; i < MCOUNT_INSN_SIZE; i++) {
		p.addr = (void *)nop + i;
		expect_refused(test, &p, -EILSEQ, "inside an fentry nop");
	}
}

#ifdef CONFIG_JUMP_LABEL
static void test_jump_label(struct kunit *test)
{
	struct jump_entry *j;
	static struct kprobe p;
	int found = 0;

	for (j = __start___jump_table; j < __stop___jump_table; j++) {
		if (!in_reserved(jump_entry_code(j)))
			continue;
		found++;
		p.addr = (void *)jump_entry_code(j);
		expect_refused(test, &p, -EINVAL, "jump label");
	}
	KUNIT_EXPECT_GT(test, found, 0);
}
#else
static void test_jump_label(struct kunit *test)
{
	kunit_skip(test, "no CONFIG_JUMP_LABEL");
}
#endif

static void test_static_call(struct kunit *test)
{
	struct static_call_site *s;
	static struct kprobe p;
	unsigned long addr;
	int found = 0;

	for (s = __start_static_call_sites; s < __stop_static_call_sites; s++) {
		addr = (unsigned long)&s->addr + s->addr;
		if (!in_reserved(addr))
			continue;
		found++;
		p.addr = (void *)addr;
		expect_refused(test, &p, -EINVAL, "static call");
	}
	KUNIT_EXPECT_GT(test, found, 0);
}

static void test_bug_trap(struct kunit *test)
{
	unsigned long at = (unsigned long)reserved_target;
	unsigned long end = at + RESERVED_SIZE;
	static struct kprobe p;

	while (at < end && !find_bug(at))
		at++;
	KUNIT_ASSERT_LT(test, at, end);
	p.addr = (void *)at;
	expect_refused(test, &p, -EINVAL, "ud2 of a WARN");
	/* Keeps the function; and its text still works. */
	KUNIT_EXPECT_EQ(test, reserved_target(1), 2);
}

static void test_registered_twice(struct kunit *test)
{
	static struct kprobe p;
	struct kprobe *twice[] = { &p, &p };

	p.addr = (void *)plain_target;
	KUNIT_EXPECT_EQ(test, register_kprobes(twice, 2), -EINVAL);
	KUNIT_EXPECT_NULL(test, get_kprobe((void *)plain_target));
	memset(&p, 0, sizeof(p));
	p.addr = (void *)plain_target;
	KUNIT_ASSERT_EQ(test, register_kprobe(&p), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&p), -EINVAL);
	/* The refusal has not harmed the one that is there. */
	KUNIT_EXPECT_PTR_EQ(test, get_kprobe(p.addr), &p);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&p), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe(&p), -EINVAL);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&p), 0);
	unregister_kprobe(&p);
	KUNIT_EXPECT_NULL(test, get_kprobe(p.addr));
}

static void test_bad_arrays(struct kunit *test)
{
	static struct kprobe p = { .addr = (void *)plain_target };
	static struct kretprobe rp;
	struct kprobe *set[] = { &p };
	struct kretprobe *rset[] = { &rp };

	rp.kp.addr = (void *)plain_target;
	KUNIT_EXPECT_EQ(test, register_kprobes(set, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobes(set, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobes(NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kretprobes(rset, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kretprobes(rset, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kretprobes(NULL, 1), -EINVAL);
	/* These have no errno to return; they must do nothing. */
	unregister_kprobes(set, 0);
	unregister_kprobes(set, -1);
	unregister_kretprobes(rset, 0);
}

static void test_never_registered(struct kunit *test)
{
	static struct kprobe p = { .addr = (void *)plain_target };
	static struct kretprobe rp;

	rp.kp.addr = (void *)plain_target;
	KUNIT_EXPECT_EQ(test, enable_kprobe(&p), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&p), -EINVAL);
	KUNIT_EXPECT_EQ(test, enable_kretprobe(&rp), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_kretprobe(&rp), -EINVAL);
	unregister_kprobe(&p);
	KUNIT_EXPECT_NULL(test, get_kprobe((void *)plain_target));

	/* Nor after it was unregistered. */
	memset(&p, 0, sizeof(p));
	p.addr = (void *)plain_target;
	KUNIT_ASSERT_EQ(test, register_kprobe(&p), 0);
	unregister_kprobe(&p);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&p), -EINVAL);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&p), -EINVAL);
}

static void test_bad_kretprobe(struct kunit *test)
{
	static struct kretprobe rp;

	rp.kp.addr = (void *)plain_target;
	rp.kp.offset = 13;
	rp.handler = no_ret;
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -EINVAL);

	memset(&rp, 0, sizeof(rp));
	rp.kp.symbol_name = "no_such_symbol_anywhere";
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -ENOENT);

	memset(&rp, 0, sizeof(rp));
	rp.kp.addr = (void *)plain_target;
	rp.data_size = KRETPROBE_MAX_DATA_SIZE + 1;
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -E2BIG);

	memset(&rp, 0, sizeof(rp));
	rp.kp.addr = (void *)forbidden_target;
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -EINVAL);

	memset(&rp, 0, sizeof(rp));
	rp.kp.addr = (void *)plain_target;
	rp.handler = no_ret;
	rp.data_size = KRETPROBE_MAX_DATA_SIZE;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	KUNIT_EXPECT_EQ(test, register_kretprobe(&rp), -EINVAL);
	KUNIT_EXPECT_EQ(test, READ_ONCE(rp.nmissed), 0);
	unregister_kretprobe(&rp);
}

/* One bad element, at every place: all are undone, and nothing is armed. */
static void test_one_bad_of_many(struct kunit *test)
{
	struct fault_set *set = fault_set_make(test);
	struct kprobe *bad;
	int i;

	for (i = 0; i < FAULT_SET; i++) {
		fault_set_fill(set);
		bad = set->kps[i];
		memset(bad, 0, sizeof(*bad));
		bad->addr = (void *)forbidden_target;
		KUNIT_EXPECT_EQ(test, register_kprobes(set->kps, FAULT_SET),
				-EINVAL);
		fault_set_expect_nothing(test, set);
		bad->addr = (void *)plain_target;
		KUNIT_ASSERT_EQ(test, register_kprobes(set->kps, FAULT_SET), 0);
		unregister_kprobes(set->kps, FAULT_SET);
		fault_set_expect_nothing(test, set);
	}
}

static struct kunit_case errors_cases[] = {
	KUNIT_CASE(test_no_such_place),
	KUNIT_CASE(test_forbidden_place),
	KUNIT_CASE(test_mid_instruction),
	KUNIT_CASE(test_jump_label),
	KUNIT_CASE(test_static_call),
	KUNIT_CASE(test_bug_trap),
	KUNIT_CASE(test_registered_twice),
	KUNIT_CASE(test_bad_arrays),
	KUNIT_CASE(test_never_registered),
	KUNIT_CASE(test_bad_kretprobe),
	KUNIT_CASE(test_one_bad_of_many),
	{}
};

static struct kunit_suite errors_suite = {
	.name = "kprobes_errors",
	.test_cases = errors_cases,
};

kunit_test_suites(&errors_suite);
