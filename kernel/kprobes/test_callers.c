// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: callers that make a mistake, or ask for what cannot be.
 *
 * A table: a call, the errno that it is given, and how many lines the log has
 * then, which is one for each mistake.  After each nothing is armed, and a proper
 * caller is served as before.  The same table, in words, is the section "Bad
 * callers" of Documentation/trace/kprobes.rst.
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <asm/sections.h>
#include <trace/events/printk.h>

#include "internal.h"
#include "test_common.h"

#define LOOP	1000
#define PLACES	200

TEST_TARGET(good_target, x * 7)
TEST_TARGET(other_target, x * 9)
TEST_TARGET(black_target, x * 17)

NOKPROBE_SYMBOL(black_target);

static u32 (*call_good)(u32 x) = good_target;
static int data_not_text;

/* What a row may use; make_good() has it ready. */
static struct kprobe kp, kp2;
static struct kretprobe rp, rp2;
static struct jprobe jp;
static struct kprobe *kps[2];
static struct kretprobe *rps[2];

static void make_good(void)
{
	memset(&kp, 0, sizeof(kp));
	memset(&kp2, 0, sizeof(kp2));
	memset(&rp, 0, sizeof(rp));
	memset(&rp2, 0, sizeof(rp2));
	memset(&jp, 0, sizeof(jp));
	kp.addr = (void *)good_target;
	kp.pre_handler = no_pre;
	kp2.addr = (void *)other_target;
	rp.kp.addr = (void *)good_target;
	rp.handler = no_ret;
	rp2.kp.addr = (void *)other_target;
	rp2.handler = no_ret;
	jp.kp.addr = (void *)good_target;
	jp.entry = JPROBE_ENTRY(no_pre);
	kps[0] = &kp;
	kps[1] = &kp2;
	rps[0] = &rp;
	rps[1] = &rp2;
}

/* Wild places */

static int probe_at(unsigned long addr)
{
	kp.addr = (void *)addr;
	return register_kprobe(&kp);
}

static int probe_symbol(const char *name)
{
	kp.addr = NULL;
	kp.symbol_name = name;
	return register_kprobe(&kp);
}

static int at_neither(void)
{
	return probe_at(0);
}

static int at_both(void)
{
	kp.symbol_name = "kunit_run_tests";
	return register_kprobe(&kp);
}

static int at_first_page(void)
{
	return probe_at(8);
}

static int at_user(void)
{
	return probe_at(0x400000);
}

static int at_no_address(void)
{
	return probe_at(0x0123456789abcdef);
}

static int at_last(void)
{
	return probe_at(~0UL);
}

static int at_data(void)
{
	return probe_at((unsigned long)&data_not_text);
}

static int at_stack(void)
{
	unsigned long word;

	return probe_at((unsigned long)&word);
}

static int at_rodata(void)
{
	return probe_at((unsigned long)__start_rodata);
}

static int at_vmalloc_hole(void)
{
	return probe_at(VMALLOC_END - PAGE_SIZE);
}

static int at_module_hole(void)
{
	return probe_at(MODULES_END - PAGE_SIZE);
}

static int at_black(void)
{
	return probe_at((unsigned long)black_target);
}

static int at_entry_text(void)
{
	return probe_symbol("asm_exc_int3");
}

static int at_nothing(void)
{
	return probe_symbol("no_such_symbol_anywhere");
}

static int at_empty_name(void)
{
	return probe_symbol("");
}

static int at_no_module(void)
{
	return probe_symbol("no_such_module:good_target");
}

static int at_data_symbol(void)
{
	return probe_symbol("system_state");
}

/* The symbol's value is an offset, which may look like a user address. */
static int at_percpu_symbol(void)
{
	return probe_symbol("current_kprobe");
}

/* Megabytes that belong to no function, though a symbol stands before them. */
static int at_filling(void)
{
	return probe_at((unsigned long)__entry_text_end + SZ_64K);
}

static int at_mid_fentry(void)
{
	return probe_at(ftrace_location((unsigned long)good_target) + 2);
}

/* The nop is of five bytes, and its function goes on behind it. */
static int at_mid_insn(void)
{
	unsigned long at = ftrace_location((unsigned long)good_target) + MCOUNT_INSN_SIZE;
	struct insn insn;

	while (!insn_decode_kernel(&insn, (void *)at) && insn.length == 1)
		at++;
	return probe_at(at + 1);
}

/* perf names all places as offsets from _text: that is no mistake by itself. */
static int far_from_symbol(void)
{
	kp.offset = (unsigned long)good_target - (unsigned long)_text;
	return probe_symbol("_text") ?: (unregister_kprobe(&kp), 0);
}

static int far_beyond_symbol(void)
{
	kp.offset = UINT_MAX;
	return probe_symbol("kunit_run_tests");
}

/* Sets */

static int set_null(void)
{
	return register_kprobes(NULL, 1);
}

static int set_of_none(void)
{
	return register_kprobes(kps, 0);
}

static int set_negative(void)
{
	return register_kprobes(kps, -1);
}

static int set_enormous(void)
{
	return register_kprobes(kps, INT_MAX);
}

static int set_with_null(void)
{
	kps[1] = NULL;
	return register_kprobes(kps, 2);
}

static int set_with_one_twice(void)
{
	kps[1] = &kp;
	return register_kprobes(kps, 2);
}

static int register_null(void)
{
	return register_kprobe(NULL);
}

static int register_twice(void)
{
	int err = register_kprobe(&kp);

	if (err)
		return err;
	err = register_kprobe(&kp);
	/* The first is not harmed. */
	if (disable_kprobe(&kp) || enable_kprobe(&kp))
		err = 0;
	unregister_kprobe(&kp);
	return err;
}

/* What a caller leaves in it, or does not know of, has no effect. */
static int unknown_flags(void)
{
	int err;

	kp.flags = ~KPROBE_FLAG_DISABLED;
	err = register_kprobe(&kp);
	if (err)
		return err;
	err = kprobe_disabled(&kp) || kprobe_gone(&kp) || kp.flags & ~0x3f ? -EIO : 0;
	unregister_kprobe(&kp);
	return err;
}

/* Unregistering: there is no errno, but what it leaves can be seen. */

static int unregister_null(void)
{
	unregister_kprobe(NULL);
	unregister_kprobes(kps, 0);
	unregister_kretprobe(NULL);
	unregister_jprobe(NULL);
	return 0;
}

static int unregister_null_set(void)
{
	unregister_kprobes(NULL, 1);
	return 0;
}

static int unregister_enormous(void)
{
	unregister_kprobes(kps, INT_MAX);
	return 0;
}

static int unregister_never(void)
{
	unregister_kprobe(&kp);
	return kp.addr ? -EIO : 0;
}

static int unregister_again(void)
{
	int err = register_kprobe(&kp);

	unregister_kprobe(&kp);
	unregister_kprobe(&kp);
	return err;
}

static int unregister_one_twice(void)
{
	int err = register_kprobe(&kp);

	kps[1] = &kp;
	unregister_kprobes(kps, 2);
	return err ?: kp.addr ? 0 : -EIO;
}

/* A set with bad ones: the good one goes all the same. */
static int unregister_some_bad(void)
{
	int err = register_kprobe(&kp2);

	unregister_kprobes(kps, 2);
	return err;
}

/* Enabling and disabling */

static int enable_null(void)
{
	return enable_kprobe(NULL);
}

static int enable_null_set(void)
{
	return enable_kprobes(NULL, 3);
}

static int enable_never(void)
{
	return enable_kprobe(&kp);
}

static int disable_null(void)
{
	return disable_kprobe(NULL);
}

static int disable_never(void)
{
	return disable_kprobe(&kp);
}

static int disable_enormous(void)
{
	return disable_kprobes(kps, INT_MAX);
}

static int enable_some_bad(void)
{
	int err = register_kprobe(&kp);

	if (err)
		return err;
	err = disable_kprobes(kps, 2);
	if (kprobe_disabled(&kp))
		err = -EIO;
	unregister_kprobe(&kp);
	return err;
}

/* Return probes */

static int ret_null(void)
{
	return register_kretprobe(NULL);
}

static int ret_null_set(void)
{
	return register_kretprobes(NULL, 1);
}

static int ret_enormous(void)
{
	return register_kretprobes(rps, INT_MAX);
}

static int ret_mid_function(void)
{
	rp.kp.offset = 13;
	return register_kretprobe(&rp);
}

static int ret_too_much_data(void)
{
	rp.data_size = KRETPROBE_MAX_DATA_SIZE + 1;
	return register_kretprobe(&rp);
}

static int ret_no_size_at_all(void)
{
	rp.data_size = SIZE_MAX;
	return register_kretprobe(&rp);
}

/* Only a limit: no memory is taken for it. */
static int ret_any_maxactive(void)
{
	int err;

	rp.maxactive = INT_MAX;
	err = register_kretprobe(&rp);
	if (!err)
		unregister_kretprobe(&rp);
	return err;
}

static int ret_negative_maxactive(void)
{
	int err;

	rp.maxactive = INT_MIN;
	err = register_kretprobe(&rp);
	if (!err)
		unregister_kretprobe(&rp);
	return err;
}

static int ret_of_switch(void)
{
	rp.kp.addr = NULL;
	rp.kp.symbol_name = "__switch_to";
	return register_kretprobe(&rp);
}

/* The same by the address that the engine would have it at. */
static int ret_of_switch_nop(void)
{
	void *func = kprobe_lookup_name("__switch_to", 0);

	rp.kp.addr = (void *)ftrace_location((unsigned long)func) ?: func;
	return register_kretprobe(&rp);
}

static int ret_with_one_twice(void)
{
	rps[1] = &rp;
	return register_kretprobes(rps, 2);
}

static int ret_registered_twice(void)
{
	int err = register_kretprobe(&rp);

	if (err)
		return err;
	err = register_kretprobe(&rp);
	unregister_kretprobe(&rp);
	return err;
}

static int ret_unregister_never(void)
{
	unregister_kretprobe(&rp);
	return rp.kp.addr ? -EIO : 0;
}

static int ret_unregister_again(void)
{
	int err = register_kretprobe(&rp);

	unregister_kretprobe(&rp);
	unregister_kretprobe(&rp);
	return err;
}

static int ret_unregister_one_twice(void)
{
	int err = register_kretprobe(&rp);

	rps[1] = &rp;
	unregister_kretprobes(rps, 2);
	return err ?: rp.rh ? -EIO : 0;
}

/* Registered as what it also is, a plain probe; there is no hook. */
static int ret_of_plain(void)
{
	int err = register_kprobe(&rp.kp);

	unregister_kretprobe(&rp);
	return err;
}

/* Typed probes, and pairs */

static int typed_null(void)
{
	return register_jprobe(NULL);
}

static int typed_without_handler(void)
{
	jp.entry = NULL;
	return register_jprobe(&jp);
}

static int typed_mid_function(void)
{
	jp.kp.offset = 13;
	return register_jprobe(&jp);
}

static int pair_null(void)
{
	return register_erprobe(NULL, &rp);
}

static int pair_null_return(void)
{
	return register_erprobe(&kp, NULL);
}

static int pair_null_typed(void)
{
	return register_jrprobe(NULL, &rp);
}

static int pair_elsewhere(void)
{
	return register_erprobe(&kp, &rp2);
}

static int pair_nowhere(void)
{
	rp2.kp.addr = NULL;
	kp.addr = NULL;
	return register_erprobe(&kp, &rp2);
}

static int pair_unregister_null(void)
{
	unregister_erprobe(NULL, NULL);
	unregister_jrprobe(NULL, NULL);
	return 0;
}

static int pair_unregister_never(void)
{
	unregister_erprobe(&kp, &rp);
	return 0;
}

/* Half of it: the other stays, and can be unregistered. */
static int pair_unregister_half(void)
{
	int err = register_erprobe(&kp, &rp);

	unregister_erprobe(&kp, NULL);
	unregister_erprobe(NULL, &rp);
	return err;
}

/**
 * struct bad_call - a mistake
 * @name:	what it is
 * @call:	makes it, and clears up what it had to make for it
 * @errno:	what the caller is given
 * @lines:	what the log is to have of it
 */
struct bad_call {
	const char	*name;
	int		(*call)(void);
	int		errno;
	unsigned int	lines;
};

static const struct bad_call bad_calls[] = {
	{ "neither address nor symbol",	at_neither,		-EINVAL, 1 },
	{ "address and symbol",		at_both,		-EINVAL, 1 },
	{ "first page",			at_first_page,		-EINVAL, 1 },
	{ "user address",		at_user,		-EINVAL, 1 },
	{ "non-canonical",		at_no_address,		-EINVAL, 1 },
	{ "last byte",			at_last,		-EINVAL, 1 },
	{ "data",			at_data,		-EINVAL, 1 },
	{ "stack",			at_stack,		-EINVAL, 1 },
	{ "read-only data",		at_rodata,		-EINVAL, 1 },
	{ "hole in vmalloc's area",	at_vmalloc_hole,	-EINVAL, 1 },
	{ "hole in the modules' area",	at_module_hole,		-EINVAL, 1 },
	{ "blacklisted",		at_black,		-EINVAL, 1 },
	{ "entry text",			at_entry_text,		-EINVAL, 1 },
	{ "no such symbol",		at_nothing,		-ENOENT, 1 },
	{ "empty symbol",		at_empty_name,		-ENOENT, 1 },
	{ "no such module",		at_no_module,		-ENOENT, 1 },
	{ "symbol of data",		at_data_symbol,		-EINVAL, 1 },
	{ "symbol of per-CPU data",	at_percpu_symbol,	-EINVAL, 1 },
	{ "between functions",		at_filling,		-EINVAL, 1 },
	{ "inside an fentry nop",	at_mid_fentry,		-EILSEQ, 1 },
	{ "inside an instruction",	at_mid_insn,		-EILSEQ, 1 },
	{ "offset into another function", far_from_symbol,	0, 0 },
	{ "offset beyond all text",	far_beyond_symbol,	-EINVAL, 1 },
	{ "no set",			set_null,		-EINVAL, 1 },
	{ "set of none",		set_of_none,		-EINVAL, 1 },
	{ "set of less than none",	set_negative,		-EINVAL, 1 },
	{ "set of INT_MAX",		set_enormous,		-E2BIG, 1 },
	{ "NULL in a set",		set_with_null,		-EINVAL, 1 },
	{ "twice in a set",		set_with_one_twice,	-EINVAL, 1 },
	{ "NULL",			register_null,		-EINVAL, 1 },
	{ "registered twice",		register_twice,		-EINVAL, 1 },
	{ "unknown flags",		unknown_flags,		0, 0 },
	{ "unregister NULL",		unregister_null,	0, 0 },
	{ "unregister no set",		unregister_null_set,	0, 1 },
	{ "unregister INT_MAX",		unregister_enormous,	0, 1 },
	{ "unregister, never registered", unregister_never,	0, 1 },
	{ "unregister twice",		unregister_again,	0, 1 },
	{ "unregister, twice in a set",	unregister_one_twice,	0, 1 },
	{ "unregister, bad ones in a set", unregister_some_bad,	0, 1 },
	{ "enable NULL",		enable_null,		-EINVAL, 1 },
	{ "enable no set",		enable_null_set,	-EINVAL, 1 },
	{ "enable, never registered",	enable_never,		-EINVAL, 1 },
	{ "disable NULL",		disable_null,		-EINVAL, 1 },
	{ "disable, never registered",	disable_never,		-EINVAL, 1 },
	{ "disable INT_MAX",		disable_enormous,	-E2BIG, 1 },
	{ "disable, bad ones in a set",	enable_some_bad,	-EINVAL, 1 },
#ifdef CONFIG_KRETPROBES
	{ "return: NULL",		ret_null,		-EINVAL, 1 },
	{ "return: no set",		ret_null_set,		-EINVAL, 1 },
	{ "return: INT_MAX",		ret_enormous,		-E2BIG, 1 },
	{ "return: not at an entry",	ret_mid_function,	-EINVAL, 1 },
	{ "return: data over the limit", ret_too_much_data,	-E2BIG, 1 },
	{ "return: SIZE_MAX of data",	ret_no_size_at_all,	-E2BIG, 1 },
	{ "return: maxactive INT_MAX",	ret_any_maxactive,	0, 0 },
	{ "return: maxactive INT_MIN",	ret_negative_maxactive,	0, 0 },
	{ "return: of __switch_to()",	ret_of_switch,		-EINVAL, 1 },
	{ "return: of its fentry nop",	ret_of_switch_nop,	-EINVAL, 1 },
	{ "return: twice in a set",	ret_with_one_twice,	-EINVAL, 1 },
	{ "return: registered twice",	ret_registered_twice,	-EINVAL, 1 },
	{ "return: never registered",	ret_unregister_never,	0, 1 },
	{ "return: unregister twice",	ret_unregister_again,	0, 1 },
	{ "return: unregister, twice in a set", ret_unregister_one_twice, 0, 1 },
	{ "return: of a plain probe",	ret_of_plain,		0, 0 },
	{ "typed: NULL",		typed_null,		-EINVAL, 1 },
	{ "typed: no handler",		typed_without_handler,	-EINVAL, 1 },
	{ "typed: not at an entry",	typed_mid_function,	-EINVAL, 1 },
	{ "pair: NULL entry",		pair_null,		-EINVAL, 1 },
	{ "pair: NULL return",		pair_null_return,	-EINVAL, 1 },
	{ "pair: NULL typed entry",	pair_null_typed,	-EINVAL, 1 },
	{ "pair: of two functions",	pair_elsewhere,		-EINVAL, 1 },
	{ "pair: nowhere",		pair_nowhere,		-EINVAL, 1 },
	{ "pair: unregister NULL",	pair_unregister_null,	0, 0 },
	{ "pair: unregister, never registered", pair_unregister_never, 0, 2 },
	{ "pair: unregister by halves",	pair_unregister_half,	0, 0 },
#endif
};

static void describe(const struct bad_call *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad_call, bad_calls, describe);

/* Lines of the log that are the engine's, from this task. */
static struct task_struct *talker;
static unsigned int lines;

static void see_line(void *unused, const char *text, size_t len)
{
	static const char ours[] = "kprobes: ";

	if (current == talker && len > strlen(ours) && !memcmp(text, ours, strlen(ours)))
		lines++;
}

static int interval;

static int callers_init(struct kunit_suite *suite)
{
	interval = kprobe_complaints.interval;
	return register_trace_console(see_line, NULL);
}

static void callers_exit(struct kunit_suite *suite)
{
	unregister_trace_console(see_line, NULL);
	tracepoint_synchronize_unregister();
}

/* As if nobody had complained for long; all are heard if there is no @limit. */
static void listen(bool limit)
{
	ratelimit_state_init(&kprobe_complaints, limit ? interval : 0,
			     DEFAULT_RATELIMIT_BURST);
	lines = 0;
	talker = current;
}

static void unlisten(void)
{
	talker = NULL;
	ratelimit_state_init(&kprobe_complaints, interval, DEFAULT_RATELIMIT_BURST);
}

static void expect_service(struct kunit *test)
{
	struct counted c;

	KUNIT_EXPECT_NULL(test, get_kprobe((void *)ftrace_location((long)good_target)));
	KUNIT_EXPECT_NULL(test, get_kprobe((void *)ftrace_location((long)other_target)));
	set_up_counted(&c, good_target);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(call_good)(3), 21);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
}

static void test_bad_call(struct kunit *test)
{
	const struct bad_call *c = test->param_value;

	make_good();
	listen(false);
	KUNIT_EXPECT_EQ(test, c->call(), c->errno);
	talker = NULL;
	KUNIT_EXPECT_EQ(test, lines, c->lines);
	unlisten();
	expect_service(test);
}

/* Who makes the mistake over and over is not heard over and over. */
static void test_in_a_loop(struct kunit *test)
{
	int i;

	make_good();
	listen(true);
	for (i = 0; i < LOOP; i++) {
		KUNIT_EXPECT_EQ(test, register_kprobe(NULL), -EINVAL);
		unregister_kprobe(&kp);
	}
	talker = NULL;
	KUNIT_EXPECT_GE(test, lines, 1);
	KUNIT_EXPECT_LE(test, lines, 2 * DEFAULT_RATELIMIT_BURST);
	unlisten();
	expect_service(test);
}

/* Anywhere in the kernel's image, and anywhere at all: what is probed is text. */
static void test_anywhere(struct kunit *test)
{
	unsigned long size = _end - _text;
	struct rnd_state rnd;
	int i, in_text = 0;

	prandom_seed_state(&rnd, 0x5eed);
	make_good();
	for (i = 0; i < PLACES; i++) {
		unsigned long addr = prandom_u32_state(&rnd);

		addr = i % 4 ? (unsigned long)_text + addr % size :
		       (addr << 32) ^ prandom_u32_state(&rnd);
		if (probe_at(addr))
			continue;
		KUNIT_EXPECT_TRUE(test, core_kernel_text(addr));
		unregister_kprobe(&kp);
		in_text++;
	}
	KUNIT_EXPECT_GT(test, in_text, 3);
	KUNIT_EXPECT_LT(test, in_text, PLACES);
	unlisten();
	expect_service(test);
}

static struct kunit_case callers_cases[] = {
	KUNIT_CASE_PARAM(test_bad_call, bad_call_gen_params),
	KUNIT_CASE(test_in_a_loop),
	KUNIT_CASE(test_anywhere),
	{}
};

static struct kunit_suite callers_suite = {
	.name = "kprobes_callers",
	.suite_init = callers_init,
	.suite_exit = callers_exit,
	.test_cases = callers_cases,
};

kunit_test_suites(&callers_suite);
