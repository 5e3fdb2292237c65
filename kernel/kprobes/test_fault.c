// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: an allocation fails, at each step of a call.
 *
 * The idea: an ftrace callback of ours in the allocators -- should_failslab() and
 * should_fail_alloc_page(), the kernel's own points of fault injection, and the
 * per-CPU allocator, which has none -- makes the n-th allocation of this task
 * fail, for n = 1, 2, ... until a call gets through without reaching its n-th.
 * After each failure everything is as it was before the call, and the same call,
 * made again, succeeds.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/error-injection.h>
#include <linux/fault-inject.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/rethook.h>
#include <linux/sched.h>

#include "index.h"
#include "internal.h"
#include "test_common.h"
#include "test_fault.h"
#include "test_x86.h"

/* More steps than any of the calls can have. */
#define MAX_STEPS	2000

/* From fail_at on, fail_run allocations in a row fail, of the victim's. */
static struct task_struct *victim;
static unsigned int allocations, fail_at, fail_run;

/**
 * struct injector - where allocations are made to fail
 * @ops:	at the function
 * @fn:		the function; it says "failed" by returning @failure
 * @gfp_arg:	which of its arguments are the flags
 * @failure:	see @fn
 */
struct injector {
	struct ftrace_ops	ops;
	void			*fn;
	unsigned int		gfp_arg;
	unsigned long		failure;
};

static void inject(unsigned long ip, unsigned long parent,
		   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct injector *in = container_of(ops, struct injector, ops);
	struct pt_regs *regs = ftrace_get_regs(fregs);
	gfp_t gfp;

	if (!regs || current != READ_ONCE(victim) || !in_task())
		return;
	gfp = (__force gfp_t)regs_get_kernel_argument(regs, in->gfp_arg);
	if (gfp & __GFP_NOFAIL)
		return;
	if (++allocations - fail_at >= fail_run)
		return;
	regs_set_return_value(regs, in->failure);
	override_function_with_return(regs);
}

#define INJECTOR(function, arg, value) {				\
	.ops.func = inject,						\
	.ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,	\
	.fn = function, .gfp_arg = arg,	.failure = value,		\
}

static struct injector injectors[] = {
	INJECTOR(should_failslab, 1, -ENOMEM),
	INJECTOR(should_fail_alloc_page, 0, true),
	INJECTOR(pcpu_alloc_noprof, 3, 0),
};

int faults_init(struct kunit_suite *suite)
{
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(injectors) && !err; i++) {
		unsigned long ip = ftrace_location((unsigned long)injectors[i].fn);

		if (!ip)
			return -ENOENT;
		err = ftrace_set_filter_ip(&injectors[i].ops, ip, 0, 0) ?:
		      register_ftrace_function(&injectors[i].ops);
	}
	return err;
}

void faults_exit(struct kunit_suite *suite)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(injectors); i++)
		unregister_ftrace_function(&injectors[i].ops);
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
		/* No jump over several, which would come by and by. */
		if (i == 1 || i == 2 || i == 4 || i == 6)
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

/* All that a call might have changed, and left so. */
struct state {
	struct kprobe	*probe[FAULT_SET];
	bool		disabled[FAULT_SET];
	u8		text[FAULT_SET][FAULT_TEXT];
	unsigned int	sites;
};

static void state_get(struct state *s, struct fault_set *set)
{
	unsigned int pos = 0;
	int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < FAULT_SET; i++) {
		s->probe[i] = get_kprobe(set->addr[i]);
		s->disabled[i] = s->probe[i] && kprobe_disabled(s->probe[i]);
		memcpy(s->text[i], set->addr[i], FAULT_TEXT);
	}
	mutex_lock(&kprobe_mutex);
	while (site_next(&pos))
		s->sites++;
	mutex_unlock(&kprobe_mutex);
}

static void state_expect(struct kunit *test, const struct state *s,
			 struct fault_set *set, unsigned int step)
{
	struct state now;

	state_get(&now, set);
	KUNIT_EXPECT_TRUE_MSG(test, !memcmp(&now, s, sizeof(now)),
			      "changed, %u sites and now %u, at step %u of %u in a row\n",
			      s->sites, now.sites, step, fail_run);
}

/* Hooks go when a worker has looked. */
static unsigned long hooks(void)
{
	struct rethook_usage usage = {};

#ifdef CONFIG_RETHOOK
	rethook_get_usage(&usage);
#endif
	return usage.hooks;
}

static bool hooks_return_to(unsigned long before)
{
	int ms;

	for (ms = 0; hooks() > before && ms < 5000; ms += 20)
		msleep(20);
	return hooks() == before;
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

/* Was there a step @n?  Counts in @failed when it made the call fail. */
static bool try_step(struct kunit *test, const struct entry_point *e,
		     struct fault_set *set, unsigned int n, unsigned int *failed)
{
	struct state before;
	bool injected;
	int err;

	if (e->before)
		e->before(set);
	state_get(&before, set);
	faults_start(n);
	err = e->call(set);
	injected = faults_stop();
	if (err) {
		++*failed;
		KUNIT_EXPECT_TRUE(test, injected);
		KUNIT_EXPECT_TRUE_MSG(test, err == -ENOMEM || err == e->also,
				      "%d, step %u\n", err, n);
		state_expect(test, &before, set, n);
		err = e->call(set);
		KUNIT_EXPECT_EQ_MSG(test, err, 0, "again, step %u\n", n);
	}
	if (e->after)
		e->after(set);
	return injected;
}

/* Returns how many steps did not make the call fail. */
static unsigned int try_steps(struct kunit *test, const struct entry_point *e,
			      struct fault_set *set, unsigned int in_a_row)
{
	unsigned int n = 0, failed = 0;
	struct state before;
	bool more = true;

	fail_run = in_a_row;
	state_get(&before, set);
	while (more && n < MAX_STEPS) {
		more = try_step(test, e, set, ++n, &failed);
		state_expect(test, &before, set, n);
	}
	KUNIT_EXPECT_FALSE(test, more);
	KUNIT_EXPECT_GE(test, failed, e->fails);
	if (!e->fails)
		KUNIT_EXPECT_EQ(test, failed, 0);
	/* The last one was beyond the call's allocations. */
	return n - 1 - failed;
}

void faults_try(struct kunit *test, const struct entry_point *e)
{
	struct fault_set *set = fault_set_make(test);
	unsigned long hooks_before = hooks();

	/* What is tried again with other means fails only with several in a row. */
	if (try_steps(test, e, set, 1) || e->undoes)
		try_steps(test, e, set, 3);
	fault_set_expect_nothing(test, set);
	KUNIT_EXPECT_TRUE(test, hooks_return_to(hooks_before));
}
