// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: a breakpoint becomes a jump, and a breakpoint again.
 *
 * The idea: functions of a few additions, one of them long enough for a jump, are
 * probed here and there.  Whatever is between their probes and their text at the
 * moment, a call returns the same sum, each probe is hit once, and the text is in
 * the end what it was.  That is so one call at a time, and also for a thread that
 * calls on while the text changes below it.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <asm/processor-flags.h>
#include <asm/text-patching.h>

#include "../debug/debug_core.h"
#include "index.h"
#include "jump.h"
#include "slots.h"
#include "test_common.h"
#include "test_x86.h"

#define CALLS	3

/* Where the additions are, from the first: three bytes each, but the last one. */
#define SECOND	3
#define THIRD	6
#define LONG	12

static u32 (*const adders[])(u32) = {
	kprobes_test_add_a, kprobes_test_add_b, kprobes_test_add_c,
};

#define NR_ADDERS	ARRAY_SIZE(adders)

static u32 (*add_ones)(u32) = kprobes_test_add_ones;

static u32 call_adder(int adder, u32 x)
{
	u32 (*fn)(u32 x) = READ_ONCE(adders[adder]);

	return fn(x);
}

static void *first_of(int adder)
{
	/* Not known to the compiler, which would refer to the middle of a function. */
	return (void *)READ_ONCE(adders[adder]) + kprobes_test_add_at;
}

/* What the text was before the test. */
static u8 pristine[NR_ADDERS][KPROBES_TEST_ADD_TEXT];

static int jump_test_init(struct kunit *test)
{
	int i;

	jumps_allow(true);
	for (i = 0; i < NR_ADDERS; i++)
		memcpy(pristine[i], first_of(i), sizeof(pristine[i]));
	return 0;
}

static void expect_pristine(struct kunit *test)
{
	int i;

	for (i = 0; i < NR_ADDERS; i++)
		KUNIT_EXPECT_MEMEQ(test, first_of(i), pristine[i], sizeof(pristine[i]));
}

static void jump_test_exit(struct kunit *test)
{
	jumps_allow(true);
	expect_pristine(test);
}

/* Call all of them; each probe of the set that is enabled is hit each time. */
static void expect_hits(struct kunit *test, struct counted *set, int num)
{
	u32 i;
	int n;

	for (n = 0; n < num; n++) {
		set[n].pre = 0;
		set[n].post = 0;
	}
	for (i = 0; i < CALLS; i++)
		for (n = 0; n < NR_ADDERS; n++)
			KUNIT_EXPECT_EQ(test, call_adder(n, i), i + KPROBES_TEST_ADD_SUM);
	for (n = 0; n < num; n++) {
		int want = kprobe_disabled(&set[n].kp) ? 0 : CALLS;

		KUNIT_EXPECT_EQ_MSG(test, set[n].pre, want, "probe %d\n", n);
		KUNIT_EXPECT_EQ_MSG(test, set[n].post,
				    set[n].kp.post_handler ? want : 0,
				    "probe %d\n", n);
		KUNIT_EXPECT_EQ(test, set[n].kp.nmissed, 0);
	}
}

static void expect_jump(struct kunit *test, struct counted *c, bool jumped)
{
	u8 opcode = jumped ? JMP32_INSN_OPCODE : INT3_INSN_OPCODE;

	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, kprobe_optimized(&c->kp), jumped);
	KUNIT_EXPECT_EQ(test, *(u8 *)c->kp.addr, opcode);
}

static struct counted set[NR_ADDERS * 2];
static struct kprobe *kps[NR_ADDERS * 2];

/* One jump of either kind in each function. */
static void set_up_set(void)
{
	int i;

	for (i = 0; i < NR_ADDERS; i++) {
		set_up_counted(&set[2 * i], first_of(i));
		set_up_counted(&set[2 * i + 1], first_of(i) + LONG);
	}
	for (i = 0; i < ARRAY_SIZE(set); i++)
		kps[i] = &set[i].kp;
}

/* Probes one behind the other; each must have room for its own jump. */
static void test_neighbour(struct kunit *test)
{
	static struct counted c[3];
	int i;

	for (i = 0; i < 3; i++)
		set_up_counted(&c[i], first_of(0) + i * SECOND);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c[0].kp), 0);
	expect_jump(test, &c[0], true);
	expect_hits(test, c, 1);

	/* Right behind its region. */
	KUNIT_EXPECT_EQ(test, register_kprobe(&c[2].kp), 0);
	expect_jump(test, &c[0], true);
	expect_jump(test, &c[2], true);
	unregister_kprobe(&c[2].kp);
	expect_jump(test, &c[0], true);

	/* Inside. */
	KUNIT_EXPECT_EQ(test, register_kprobe(&c[1].kp), 0);
	KUNIT_EXPECT_FALSE(test, kprobe_optimized(&c[0].kp));
	expect_hits(test, c, 2);
	expect_jump(test, &c[0], false);
	expect_jump(test, &c[1], true);
	expect_hits(test, c, 2);
	/* Inside of that one's, in turn: only the last has room. */
	KUNIT_EXPECT_EQ(test, register_kprobe(&c[2].kp), 0);
	expect_jump(test, &c[0], false);
	expect_jump(test, &c[1], false);
	expect_jump(test, &c[2], true);
	expect_hits(test, c, 3);

	unregister_kprobe(&c[1].kp);
	expect_jump(test, &c[0], true);
	expect_jump(test, &c[2], true);
	expect_hits(test, c, 1);
	unregister_kprobe(&c[0].kp);
	expect_jump(test, &c[2], true);
	unregister_kprobe(&c[2].kp);
	expect_pristine(test);
}

/* A probe comes to an address that a jump has overwritten: no boundary of old. */
static void test_inside_instruction(struct kunit *test)
{
	static struct counted c, bad;
	int i;

	set_up_counted(&c, first_of(0));
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	expect_jump(test, &c, true);
	for (i = 1; i < THIRD; i++) {
		if (i == SECOND)
			continue;
		set_up_counted(&bad, first_of(0) + i);
		KUNIT_EXPECT_EQ_MSG(test, register_kprobe(&bad.kp), -EILSEQ,
				    "at %d\n", i);
		expect_hits(test, &c, 1);
	}
	/* It was in the way, but is not there: the jump comes back. */
	expect_jump(test, &c, true);
	unregister_kprobe(&c.kp);
	expect_pristine(test);
}

/* A post_handler means that its probe may redirect: no jump serves that. */
static void test_post_handler_joins(struct kunit *test)
{
	static struct counted c[2];
	int at;

	for (at = 0; at <= LONG; at += LONG) {
		set_up_counted(&c[0], first_of(0) + at);
		set_up_counted(&c[1], first_of(0) + at);
		c[1].kp.post_handler = count_post;
		KUNIT_ASSERT_EQ(test, register_kprobe(&c[0].kp), 0);
		expect_jump(test, &c[0], true);
		KUNIT_EXPECT_EQ(test, register_kprobe(&c[1].kp), 0);
		expect_jump(test, &c[0], false);
		expect_hits(test, c, 2);
		/* Switched off it is in nobody's way. */
		KUNIT_EXPECT_EQ(test, disable_kprobe(&c[1].kp), 0);
		expect_jump(test, &c[0], true);
		expect_hits(test, c, 2);
		KUNIT_EXPECT_EQ(test, enable_kprobe(&c[1].kp), 0);
		expect_jump(test, &c[0], false);
		unregister_kprobe(&c[1].kp);
		expect_jump(test, &c[0], true);
		expect_hits(test, c, 1);
		unregister_kprobe(&c[0].kp);
		expect_pristine(test);
	}
}

static void test_disable_enable(struct kunit *test)
{
	int i, round;

	set_up_set();
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, ARRAY_SIZE(set)), 0);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_SIZE(set); i++)
			expect_jump(test, &set[i], true);
		expect_hits(test, set, ARRAY_SIZE(set));
		KUNIT_EXPECT_EQ(test, disable_kprobes(kps, ARRAY_SIZE(set)), 0);
		expect_pristine(test);
		expect_hits(test, set, ARRAY_SIZE(set));
		KUNIT_EXPECT_EQ(test, enable_kprobes(kps, ARRAY_SIZE(set)), 0);
		/* Before the jumps over several have landed, and as they do. */
		expect_hits(test, set, ARRAY_SIZE(set));
	}
	unregister_kprobes(kps, ARRAY_SIZE(set));
	expect_pristine(test);
}

/* What the sysctl does: all of them at once. */
static void test_allowed(struct kunit *test)
{
	int i, round;

	set_up_set();
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, ARRAY_SIZE(set)), 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(set); i++)
			expect_jump(test, &set[i], true);
		jumps_allow(false);
		for (i = 0; i < ARRAY_SIZE(set); i++)
			expect_jump(test, &set[i], false);
		expect_hits(test, set, ARRAY_SIZE(set));
		jumps_allow(true);
		expect_hits(test, set, ARRAY_SIZE(set));
	}
	jumps_allow(false);
	unregister_kprobes(kps, ARRAY_SIZE(set));
	expect_pristine(test);

	KUNIT_ASSERT_EQ(test, register_kprobes(kps, ARRAY_SIZE(set)), 0);
	for (i = 0; i < ARRAY_SIZE(set); i++)
		expect_jump(test, &set[i], false);
	jumps_allow(true);
	/* At once, where one instruction is all that it takes. */
	for (i = 1; i < ARRAY_SIZE(set); i += 2)
		KUNIT_EXPECT_TRUE(test, kprobe_optimized(kps[i]));
	/* And gone before the others can land. */
	unregister_kprobes(kps, ARRAY_SIZE(set));
	for (i = 0; i < ARRAY_SIZE(set); i++)
		KUNIT_EXPECT_FALSE(test, kprobe_optimized(kps[i]));
	expect_pristine(test);
	wait_for_kprobe_optimizer();
	expect_pristine(test);
}

/* insn_slot_alloc() finds no memory, whoever calls it. */
static void no_slot(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (!regs)
		return;
	regs_set_return_value(regs, 0);
	override_function_with_return(regs);
}

static struct ftrace_ops no_slot_ops = {
	.func = no_slot,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

/* Without a detour it stays a breakpoint, until it is asked again. */
static void test_no_detour(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)insn_slot_alloc);
	static struct counted c;
	int err;

	if (!IS_ENABLED(CONFIG_FUNCTION_ERROR_INJECTION))
		kunit_skip(test, "no CONFIG_FUNCTION_ERROR_INJECTION");

	jumps_allow(false);
	set_up_counted(&c, first_of(0));
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	err = ftrace_set_filter_ip(&no_slot_ops, ip, 0, 0) ?:
	      register_ftrace_function(&no_slot_ops);
	KUNIT_EXPECT_EQ(test, err, 0);
	jumps_allow(true);
	expect_jump(test, &c, false);
	expect_hits(test, &c, 1);
	if (!err)
		unregister_ftrace_function(&no_slot_ops);

	jumps_allow(false);
	jumps_allow(true);
	expect_jump(test, &c, true);
	expect_hits(test, &c, 1);
	unregister_kprobe(&c.kp);
}

struct refused {
	const char	*name;
	const char	*insn;		/* a case of the instructions' suite */
	u32		(*fn)(u32 x);	/* or else a function and a place in it */
	const u32	*at;
	bool		jumped;		/* the counterexample */
};

static const struct refused refused[] = {
	{ "call", .insn = "call_rel32" },
	{ "jmp", .insn = "jmp_rel32" },
	{ "jcc", .insn = "je_rel32" },
	{ "return behind", .fn = kprobes_test_at_return,
	  .at = &kprobes_test_at_return_at },
	{ "may fault, long", .insn = "fault_long" },
	{ "may fault, short", .insn = "fault_page" },
	{ "jumped into", .fn = kprobes_test_into, .at = &kprobes_test_into_at },
	{ "jumped to", .fn = kprobes_test_onto, .at = &kprobes_test_onto_at,
	  .jumped = true },
	{ "padded", .fn = kprobes_test_padded, .at = &kprobes_test_padded_at,
	  .jumped = true },
	{ "at the end", .fn = kprobes_test_at_end, .at = &kprobes_test_at_end_at },
	{ "by a jump label's", .fn = kprobes_test_label, .at = &kprobes_test_label_at },
	{ "landing pad behind", .fn = kprobes_test_pad, .at = &kprobes_test_pad_at },
	{ "indirect jump", .fn = kprobes_test_indirect, .at = &kprobes_test_indirect_at },
	{ "has a cold part", .fn = kprobes_test_parted, .at = &kprobes_test_parted_at },
	{ "is a cold part", .fn = kprobes_test_cold, .at = &kprobes_test_cold_at },
	{ "next to a fault", .insn = "near_fault", .jumped = true },
};

static void describe(const struct refused *r, char *desc)
{
	strscpy(desc, r->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused, refused, describe);

/* Which instructions may be displaced by a jump, and which must not. */
static void test_refused(struct kunit *test)
{
	const struct refused *r = test->param_value;
	static struct counted c;
	u32 (*fn)(u32 x) = READ_ONCE(r->fn);
	u32 before = 0;

	set_up_counted(&c, r->insn ? test_insn_named(r->insn) : (void *)fn + *r->at);
	KUNIT_ASSERT_NOT_NULL(test, c.kp.addr);
	if (fn)
		before = fn(1);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	expect_jump(test, &c, r->jumped);
	if (fn) {
		KUNIT_EXPECT_EQ(test, fn(1), before);
		KUNIT_EXPECT_GE(test, c.pre, 1);
	}
	unregister_kprobe(&c.kp);
}

#ifdef CONFIG_KGDB

/*
 * A debugger's breakpoint, in the region or only in the function, which then cannot
 * be read to its end.  Nobody may run into it: there is no debugger.
 */
static void test_debugger(struct kunit *test)
{
	static const unsigned int at[] = { SECOND, LONG };
	static struct counted c, same;
	unsigned long addr;
	int i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		addr = (unsigned long)first_of(0) + at[i];
		KUNIT_ASSERT_EQ(test, dbg_set_sw_break(addr), 0);
		KUNIT_EXPECT_EQ(test, dbg_activate_sw_breakpoints(), 0);
		KUNIT_EXPECT_EQ(test, *(u8 *)addr, INT3_INSN_OPCODE);

		set_up_counted(&c, first_of(0));
		KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), 0);
		expect_jump(test, &c, false);
		/* One of the two it is, and not to be displaced by the other. */
		set_up_counted(&same, (void *)addr);
		KUNIT_EXPECT_EQ(test, register_kprobe(&same.kp), -EILSEQ);

		KUNIT_EXPECT_EQ(test, dbg_deactivate_sw_breakpoints(), 0);
		KUNIT_EXPECT_EQ(test, dbg_remove_sw_break(addr), 0);
		expect_hits(test, &c, 1);
		jumps_allow(false);
		jumps_allow(true);
		expect_jump(test, &c, true);
		expect_hits(test, &c, 1);
		unregister_kprobe(&c.kp);
		expect_pristine(test);
	}
}

#endif

/* An access that faults, and is fixed up: from its slot, and next to a jump. */
static void test_fault(struct kunit *test)
{
	static const char *const names[] = {
		"fault_page", "fault_gp", "fault_long", "near_fault",
	};
	const struct insn_case *c;
	static struct counted p;
	struct test_regs r;
	int i, allow;

	for (i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		set_up_counted(&p, test_insn_named(names[i / 2]));
		for (c = kprobes_test_insns; strcmp(c->name, names[i / 2]); c++)
			;
		allow = i & 1;
		jumps_allow(allow);
		KUNIT_ASSERT_EQ(test, register_kprobe(&p.kp), 0);
		expect_jump(test, &p, allow && !strcmp(c->name, "near_fault"));
		test_regs_fill(&r, 0x11, X86_EFLAGS_FIXED | X86_EFLAGS_IF);
		kprobes_test_call(c->fn, &r);
		unregister_kprobe(&p.kp);
		KUNIT_EXPECT_EQ(test, (int)r.ax, -EFAULT);
		KUNIT_EXPECT_EQ(test, p.pre, 1);
	}
}

/* A thread that is on a CPU, or preempted, all the time. */
static DECLARE_COMPLETION(is_spinning);
static bool spin_on;

static int spin(void *unused)
{
	complete(&is_spinning);
	while (READ_ONCE(spin_on))
		cpu_relax();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Longer than a jump over several takes when nobody spins. */
#define LONG_ENOUGH_MS	1000

static void test_spinner(struct kunit *test)
{
	static struct counted late, other[2];
	struct task_struct *spinner;
	int i;

	reinit_completion(&is_spinning);
	WRITE_ONCE(spin_on, true);
	spinner = kthread_run(spin, NULL, "kprobes_spin");
	KUNIT_ASSERT_FALSE(test, IS_ERR(spinner));
	wait_for_completion(&is_spinning);

	set_up_counted(&late, first_of(0));
	KUNIT_EXPECT_EQ(test, register_kprobe(&late.kp), 0);
	/* Others come and go, jumps included; and land, if they take one. */
	for (i = 0; i < 20; i++) {
		set_up_counted(&other[0], first_of(1));
		set_up_counted(&other[1], first_of(1) + LONG);
		KUNIT_EXPECT_EQ(test, register_kprobe(&other[0].kp), 0);
		KUNIT_EXPECT_EQ(test, register_kprobe(&other[1].kp), 0);
		KUNIT_EXPECT_TRUE(test, kprobe_optimized(&other[1].kp));
		expect_hits(test, other, 2);
		unregister_kprobe(&other[0].kp);
		expect_hits(test, &other[1], 1);
		unregister_kprobe(&other[1].kp);
	}
	msleep(LONG_ENOUGH_MS);
	KUNIT_EXPECT_FALSE(test, kprobe_optimized(&late.kp));
	KUNIT_EXPECT_EQ(test, *(u8 *)late.kp.addr, INT3_INSN_OPCODE);
	expect_hits(test, &late, 1);

	WRITE_ONCE(spin_on, false);
	expect_jump(test, &late, true);
	expect_hits(test, &late, 1);
	kthread_stop(spinner);
	unregister_kprobe(&late.kp);
}

/* Waits of the jumps' own, not of what frees the sites of the rounds before. */
static atomic_t waits;
static work_func_t frees_sites;

static int count_wait(struct kprobe *p, struct pt_regs *regs)
{
	struct work_struct *work = current_work();

	if (!work || work->func != frees_sites)
		atomic_inc(&waits);
	return 0;
}

static struct kprobe grace_periods[] = {
	{ .symbol_name = "call_rcu_tasks", .pre_handler = count_wait },
	{ .symbol_name = IS_ENABLED(CONFIG_TASKS_RUDE_RCU) ?
		"synchronize_rcu_tasks_rude" : "synchronize_rcu",
	  .pre_handler = count_wait },
};

/* As many jumps over several as there is room for, each over two additions. */
#define MOST_AT_ONCE	(KPROBES_TEST_ONES / 2)

/* The waits that so many jumps in one transaction take. */
static int waits_for(struct kunit *test, struct counted *c, struct kprobe **set,
		     int num)
{
	u32 (*fn)(u32 x) = READ_ONCE(add_ones);
	void *first = (void *)fn + kprobes_test_add_ones_at;
	int i;

	for (i = 0; i < num; i++) {
		set_up_counted(&c[i], first + i * 2 * KPROBES_TEST_ONE_SIZE);
		c[i].kp.flags = KPROBE_FLAG_DISABLED;
		set[i] = &c[i].kp;
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(set, num), 0);
	atomic_set(&waits, 0);
	KUNIT_EXPECT_EQ(test, enable_kprobes(set, num), 0);
	for (i = 0; i < num; i++)
		expect_jump(test, &c[i], true);
	i = atomic_read(&waits);
	KUNIT_EXPECT_EQ(test, fn(1), 1 + KPROBES_TEST_ONES);
	unregister_kprobes(set, num);
	while (num--)
		KUNIT_EXPECT_EQ(test, c[num].pre, 1);
	return i;
}

/* However many jumps come at once, they wait for the same grace period. */
static void test_one_grace_period(struct kunit *test)
{
	struct kprobe **set;
	struct counted *c;
	int i;

	c = kunit_kcalloc(test, MOST_AT_ONCE, sizeof(*c), GFP_KERNEL);
	set = kunit_kcalloc(test, MOST_AT_ONCE, sizeof(*set), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, set);
	frees_sites = (work_func_t)kallsyms_lookup_name("release_sites");
	KUNIT_ASSERT_NOT_NULL(test, frees_sites);
	for (i = 0; i < ARRAY_SIZE(grace_periods); i++)
		KUNIT_ASSERT_EQ(test, register_kprobe(&grace_periods[i]), 0);
	/* One for those who may be in the text, one for tasks that are idle. */
	KUNIT_EXPECT_EQ(test, waits_for(test, c, set, 1), 2);
	KUNIT_EXPECT_EQ(test, waits_for(test, c, set, MOST_AT_ONCE), 2);
	for (i = 0; i < ARRAY_SIZE(grace_periods); i++)
		unregister_kprobe(&grace_periods[i]);
}

/*
 * In a hit that came by a jump over several: until an observer is here, whose
 * post_handler the jump does not serve.
 */
static struct completion hit_is_on;
static bool hold;

static int hold_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct probe_site *site = site_find((unsigned long)p->addr);
	unsigned long tries;

	if (!READ_ONCE(hold))
		return count_pre(p, regs);
	complete(&hit_is_on);
	for (tries = 0; tries < 1UL << 28 && !READ_ONCE(site->watched); tries++)
		cpu_relax();
	WRITE_ONCE(hold, false);
	return count_pre(p, regs);
}

static int call_once(void *sum)
{
	*(u32 *)sum = call_adder(0, 1);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void test_observer_during_hit(struct kunit *test)
{
	static struct counted c, observer;
	struct task_struct *thread;
	u32 sum = 0;

	set_up_counted(&c, first_of(0));
	c.kp.pre_handler = hold_pre;
	set_up_counted(&observer, first_of(0));
	observer.kp.post_handler = count_post;
	observer.kp.flags = KPROBE_FLAG_OBSERVER;
	WRITE_ONCE(hold, false);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	expect_jump(test, &c, true);

	init_completion(&hit_is_on);
	WRITE_ONCE(hold, true);
	thread = kthread_run(call_once, &sum, "kprobes_call");
	KUNIT_EXPECT_FALSE(test, IS_ERR(thread));
	if (!IS_ERR(thread)) {
		wait_for_completion(&hit_is_on);
		KUNIT_EXPECT_EQ(test, register_kprobe(&observer.kp), 0);
		kthread_stop(thread);
		KUNIT_EXPECT_EQ(test, sum, 1 + KPROBES_TEST_ADD_SUM);
		KUNIT_EXPECT_EQ(test, c.pre, 1);
		KUNIT_EXPECT_FALSE(test, READ_ONCE(hold));
		expect_jump(test, &c, false);
		expect_hits(test, &observer, 1);
		unregister_kprobe(&observer.kp);
	}
	unregister_kprobe(&c.kp);
}

/*
 * A thread calls the first function with 0, 1, 2, ...: so a probe can tell
 * whether it has lost a call, or was hit twice in one.
 */
struct caller {
	struct task_struct	*task;
	u32			calls;
	u32			wrong;
};

static int call_on(void *data)
{
	struct caller *c = data;

	while (!kthread_should_stop()) {
		if (call_adder(0, c->calls) != c->calls + KPROBES_TEST_ADD_SUM)
			c->wrong++;
		WRITE_ONCE(c->calls, c->calls + 1);
		/* Else no jump over several would ever land. */
		if (!(c->calls % 64))
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void start_caller(struct kunit *test, struct caller *c)
{
	memset(c, 0, sizeof(*c));
	c->task = kthread_run(call_on, c, "kprobes_call");
	KUNIT_ASSERT_FALSE(test, IS_ERR(c->task));
}

/* Let it come some way in the state that the text is in. */
static void let_call(struct caller *c)
{
	u32 from = READ_ONCE(c->calls);

	while (READ_ONCE(c->calls) - from < 3)
		cond_resched();
}

/* A probe that is hit by the caller alone, and looked at by the test. */
struct steady {
	struct kprobe	kp;
	u32		next;
	u32		hits;
	u32		lost;
	u32		again;
};

static int steady_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct steady *s = container_of(p, struct steady, kp);
	u32 call = regs->di;

	WRITE_ONCE(s->hits, s->hits + 1);
	if (call < s->next)
		s->again++;
	WRITE_ONCE(s->lost, s->lost + call - s->next);
	s->next = call + 1;
	return 0;
}

static void set_up_steady(struct steady *s, void *addr)
{
	memset(s, 0, sizeof(*s));
	s->kp.addr = addr;
	s->kp.pre_handler = steady_pre;
}

/* A jump of one is had at once, but one over several takes its time. */
static void settle(bool several)
{
	if (several)
		wait_for_kprobe_optimizer();
}

/* Always armed, by this method or by that: no call may be lost. */
static void stay_armed(struct kunit *test, unsigned int at, unsigned int rounds)
{
	static struct counted redirecting;
	static struct steady s;
	struct caller caller;
	unsigned int i, jumped = 0;

	set_up_steady(&s, first_of(0) + at);
	KUNIT_ASSERT_EQ(test, register_kprobe(&s.kp), 0);
	start_caller(test, &caller);
	for (i = 0; i < rounds; i++) {
		settle(at != LONG);
		jumped += kprobe_optimized(&s.kp);
		let_call(&caller);
		set_up_counted(&redirecting, first_of(0) + at);
		redirecting.kp.post_handler = count_post;
		KUNIT_EXPECT_EQ(test, register_kprobe(&redirecting.kp), 0);
		let_call(&caller);
		unregister_kprobe(&redirecting.kp);
		settle(at != LONG);
		let_call(&caller);
		jumps_allow(false);
		let_call(&caller);
		jumps_allow(true);
	}
	kthread_stop(caller.task);
	unregister_kprobe(&s.kp);
	kunit_info(test, "%u calls, %u rounds\n", caller.calls, rounds);
	KUNIT_EXPECT_EQ(test, jumped, rounds);
	KUNIT_EXPECT_EQ(test, caller.wrong, 0);
	KUNIT_EXPECT_EQ(test, s.hits, caller.calls);
	KUNIT_EXPECT_EQ(test, s.lost, 0);
	KUNIT_EXPECT_EQ(test, s.again, 0);
	KUNIT_EXPECT_EQ(test, s.kp.nmissed, 0);
}

static void test_stays_armed_one(struct kunit *test)
{
	stay_armed(test, LONG, 300);
}

static void test_stays_armed_several(struct kunit *test)
{
	stay_armed(test, 0, 8);
}

/* Breakpoint, jump, breakpoint, off, on: while it is on, it loses nothing. */
static void off_and_on(struct kunit *test, unsigned int at, unsigned int rounds)
{
	static struct steady s;
	struct caller caller;
	unsigned int i;
	u32 hits, lost;

	set_up_steady(&s, first_of(0) + at);
	KUNIT_ASSERT_EQ(test, register_kprobe(&s.kp), 0);
	start_caller(test, &caller);
	for (i = 0; i < rounds; i++) {
		settle(at != LONG);
		let_call(&caller);
		lost = READ_ONCE(s.lost);
		jumps_allow(false);
		let_call(&caller);
		/* Lost were those of the time when it was off. */
		KUNIT_EXPECT_EQ(test, READ_ONCE(s.lost), lost);
		KUNIT_EXPECT_EQ(test, disable_kprobe(&s.kp), 0);
		synchronize_rcu();
		hits = READ_ONCE(s.hits);
		let_call(&caller);
		KUNIT_EXPECT_EQ(test, READ_ONCE(s.hits), hits);
		jumps_allow(true);
		KUNIT_EXPECT_EQ(test, enable_kprobe(&s.kp), 0);
		let_call(&caller);
		KUNIT_EXPECT_GT(test, READ_ONCE(s.hits), hits);
	}
	kthread_stop(caller.task);
	unregister_kprobe(&s.kp);
	KUNIT_EXPECT_EQ(test, caller.wrong, 0);
	KUNIT_EXPECT_EQ(test, s.hits + s.lost, s.next);
	KUNIT_EXPECT_EQ(test, s.again, 0);
	KUNIT_EXPECT_EQ(test, s.kp.nmissed, 0);
}

static void test_off_and_on_one(struct kunit *test)
{
	off_and_on(test, LONG, 200);
}

static void test_off_and_on_several(struct kunit *test)
{
	off_and_on(test, 0, 8);
}

static struct kunit_case jump_cases[] = {
	KUNIT_CASE(test_neighbour),
	KUNIT_CASE(test_inside_instruction),
	KUNIT_CASE(test_post_handler_joins),
	KUNIT_CASE(test_disable_enable),
	KUNIT_CASE(test_allowed),
	KUNIT_CASE(test_no_detour),
	KUNIT_CASE_PARAM(test_refused, refused_gen_params),
#ifdef CONFIG_KGDB
	KUNIT_CASE(test_debugger),
#endif
	KUNIT_CASE(test_fault),
	KUNIT_CASE(test_spinner),
	KUNIT_CASE(test_one_grace_period),
	KUNIT_CASE(test_observer_during_hit),
	KUNIT_CASE(test_stays_armed_one),
	KUNIT_CASE(test_stays_armed_several),
	KUNIT_CASE(test_off_and_on_one),
	KUNIT_CASE(test_off_and_on_several),
	{}
};

static struct kunit_suite jump_suite = {
	.name = "kprobes_jump",
	.init = jump_test_init,
	.exit = jump_test_exit,
	.test_cases = jump_cases,
};

kunit_test_suites(&jump_suite);
