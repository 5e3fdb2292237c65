// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: what hits in every context come to.
 *
 * A table of places, one for each method, and a table of contexts; in all of them
 * every kind of handler.  Each call is handled once or missed once, never both and
 * never neither, and a handler finds the context that the section "Contexts" of
 * Documentation/trace/kprobes.rst promises.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "count.h"
#include "index.h"
#include "jump.h"
#include "test_common.h"
#include "test_x86.h"

#define CALLS	4

/* Places: a function, an instruction of it, and how that is reached. */

static noinline u32 entry_target(u32 x)
{
	barrier();
	return x + KPROBES_TEST_ADD_SUM;
}

static noinline u32 inner_target(u32 x)
{
	barrier();
	return x + KPROBES_TEST_ADD_SUM;
}

/**
 * struct place - where a probe stands
 * @name:	for the report
 * @fn:		the function; adds KPROBES_TEST_ADD_SUM
 * @at:		bytes to the instruction; NULL: its entry
 * @jumps:	jumps are allowed
 */
struct place {
	const char	*name;
	u32		(*fn)(u32 x);
	const u32	*at;
	bool		jumps;
};

static const struct place places[] = {
	{ "ftrace", entry_target },
	{ "breakpoint", kprobes_test_add_a, &kprobes_test_add_at },
	{ "jump", kprobes_test_add_a, &kprobes_test_add_at, .jumps = true },
};

/* The same, for a second probe. */
static const struct place inner_places[] = {
	{ "ftrace", inner_target },
	{ "breakpoint", kprobes_test_add_b, &kprobes_test_add_at },
	{ "jump", kprobes_test_add_b, &kprobes_test_add_at, .jumps = true },
};

static void describe(const struct place *p, char *desc)
{
	strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(place, places, describe);

static void *address_of(const struct place *p)
{
	return (void *)p->fn + (p->at ? *p->at : 0);
}

/* Contexts */

/* What runs in one: calls of a place's function. */
static const struct place *called;
static unsigned int wrong_results;
static struct completion context_over;

static void make_calls(void)
{
	u32 i;

	for (i = 0; i < CALLS; i++)
		if (called->fn(i) != i + KPROBES_TEST_ADD_SUM)
			wrong_results++;
}

static void in_task_context(void)
{
	make_calls();
}

static void with_interrupts_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	make_calls();
	local_irq_restore(flags);
}

static void tasklet_fn(struct tasklet_struct *unused)
{
	make_calls();
	complete(&context_over);
}

static void in_softirq_context(void)
{
	static DECLARE_TASKLET(tasklet, tasklet_fn);

	reinit_completion(&context_over);
	tasklet_schedule(&tasklet);
	wait_for_completion(&context_over);
	tasklet_kill(&tasklet);
}

static void irq_work_fn(struct irq_work *unused)
{
	make_calls();
}

static struct irq_work hard_work = IRQ_WORK_INIT_HARD(irq_work_fn);

static void in_hardirq_context(void)
{
	irq_work_queue(&hard_work);
	irq_work_sync(&hard_work);
}

static int nmi_cpu = -1;

static int nmi_fn(unsigned int type, struct pt_regs *regs)
{
	if (READ_ONCE(nmi_cpu) != raw_smp_processor_id())
		return NMI_DONE;
	make_calls();
	WRITE_ONCE(nmi_cpu, -1);
	return NMI_HANDLED;
}

/* Of this CPU, and it has been there when this returns; in any context but NMI. */
static notrace void have_nmi(void)
{
	unsigned int patience = 100000000;

	preempt_disable_notrace();
	WRITE_ONCE(nmi_cpu, raw_smp_processor_id());
	apic->send_IPI(raw_smp_processor_id(), NMI_VECTOR);
	while (READ_ONCE(nmi_cpu) >= 0 && --patience)
		cpu_relax();
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(have_nmi);

static void in_nmi_context(void)
{
	have_nmi();
}

/**
 * struct context - where calls come from
 * @name:	for the report
 * @run:	makes the calls there, and has them made when it returns
 * @nmi:	in_nmi() there
 * @hardirq:	in_hardirq() there
 * @softirq:	in_serving_softirq() there
 * @irqs_off:	irqs_disabled() there
 */
struct context {
	const char	*name;
	void		(*run)(void);
	bool		nmi;
	bool		hardirq;
	bool		softirq;
	bool		irqs_off;
};

static const struct context contexts[] = {
	{ "task",		in_task_context },
	{ "interrupts off",	with_interrupts_off, .irqs_off = true },
	{ "softirq",		in_softirq_context, .softirq = true },
	{ "hardirq",		in_hardirq_context, .hardirq = true, .irqs_off = true },
	{ "NMI",		in_nmi_context, .nmi = true, .irqs_off = true },
};

/* Handlers */

/**
 * struct watch - a probe, and what its handlers saw
 * @rp:		the probe; a plain one is its kp
 * @ctx:	where its hits are to be in
 * @pre:	calls of the first handler: pre_handler, entry_handler or typed
 * @post:	calls of the second: post_handler, or at the return
 * @strange:	of those, how many found another context than promised
 * @in_pre:	what the first handler calls, if anything
 * @in_post:	what the second calls
 */
struct watch {
	struct kretprobe	rp;
	const struct context	*ctx;
	int			pre, post, strange;
	void			(*in_pre)(void);
	void			(*in_post)(void);
};

/* Under a breakpoint, and not behind a displaced instruction. */
static bool is_as_promised(const struct watch *w, bool trapped)
{
	const struct context *ctx = w->ctx;

	if (!ctx)
		return true;
	if (trapped) {
		if (!in_nmi() || !irqs_disabled())
			return false;
	} else if (!!in_nmi() != ctx->nmi || irqs_disabled() != ctx->irqs_off) {
		return false;
	}
	if (ctx->hardirq && !in_hardirq())
		return false;
	if (ctx->softirq && !in_serving_softirq())
		return false;
	return preempt_count() && kprobe_running();
}

static bool is_trapped(struct kprobe *p)
{
	return !kprobe_ftrace(p) && !kprobe_optimized(p);
}

static void first(struct watch *w, struct kprobe *p)
{
	w->pre++;
	w->strange += !is_as_promised(w, is_trapped(p));
	if (w->in_pre)
		w->in_pre();
}

static void second(struct watch *w, bool trapped)
{
	w->post++;
	w->strange += !is_as_promised(w, trapped);
	if (w->in_post)
		w->in_post();
}

static int watch_pre(struct kprobe *p, struct pt_regs *regs)
{
	first(container_of(p, struct watch, rp.kp), p);
	return 0;
}

/* The instruction ran in a slot, or is a nop that has run: nothing is trapped. */
static void watch_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	second(container_of(p, struct watch, rp.kp), false);
}

static int watch_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct watch *w = container_of(get_kretprobe(ri), struct watch, rp);

	first(w, &w->rp.kp);
	return 0;
}

static int watch_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	second(container_of(get_kretprobe(ri), struct watch, rp), false);
	return 0;
}

/* The one typed probe there is at a time. */
static struct jprobe typed;
static struct watch *typed_watch;

static u32 watch_typed(u32 x)
{
	first(typed_watch, &typed.kp);
	return 0;
}

enum kind { PRE, POST, OBSERVER, RETURN, TYPED, NR_KINDS };

static const char * const kind_names[] = { "pre", "post", "observer", "return", "typed" };

static bool only_at_entry(enum kind kind)
{
	return kind == RETURN || kind == TYPED;
}

static int watch_start(struct watch *w, const struct place *place, enum kind kind)
{
	int err;

	jumps_allow(place->jumps);
	memset(w, 0, sizeof(*w));
	w->rp.kp.addr = address_of(place);
	switch (kind) {
	case RETURN:
		w->rp.entry_handler = watch_entry;
		w->rp.handler = watch_return;
		return register_kretprobe(&w->rp);
	case TYPED:
		memset(&typed, 0, sizeof(typed));
		typed.kp.addr = w->rp.kp.addr;
		typed.entry = JPROBE_ENTRY(watch_typed);
		typed_watch = w;
		return register_jprobe(&typed);
	case OBSERVER:
		w->rp.kp.flags = KPROBE_FLAG_OBSERVER;
		fallthrough;
	case POST:
		w->rp.kp.post_handler = watch_post;
		fallthrough;
	default:
		w->rp.kp.pre_handler = watch_pre;
	}
	err = register_kprobe(&w->rp.kp);
	if (!err && place->jumps)
		wait_for_kprobe_optimizer();
	return err;
}

/* Returns how many hits were missed. */
static unsigned long watch_stop(struct watch *w, enum kind kind)
{
	switch (kind) {
	case RETURN:
		unregister_kretprobe(&w->rp);
		return w->rp.kp.nmissed + w->rp.nmissed;
	case TYPED:
		unregister_jprobe(&typed);
		return typed.kp.nmissed;
	default:
		unregister_kprobe(&w->rp.kp);
		return w->rp.kp.nmissed;
	}
}

static bool has_second(enum kind kind)
{
	return kind != PRE && kind != TYPED;
}

static void try_contexts(struct kunit *test, const struct place *place, enum kind kind)
{
	const struct context *ctx;
	static struct watch w;
	int calls = 0;

	KUNIT_ASSERT_EQ(test, watch_start(&w, place, kind), 0);
	if (IS_ENABLED(CONFIG_OPTPROBES) && place->jumps && kind == PRE)
		KUNIT_EXPECT_TRUE(test, kprobe_optimized(&w.rp.kp));
	called = place;
	for (ctx = contexts; ctx < contexts + ARRAY_SIZE(contexts); ctx++) {
		w.ctx = ctx;
		ctx->run();
		calls += CALLS;
		KUNIT_EXPECT_EQ_MSG(test, w.pre, calls, "%s, %s\n", kind_names[kind], ctx->name);
		KUNIT_EXPECT_EQ_MSG(test, w.post, has_second(kind) ? calls : 0, "%s, %s\n",
				    kind_names[kind], ctx->name);
		KUNIT_EXPECT_EQ_MSG(test, w.strange, 0, "%s, %s\n", kind_names[kind], ctx->name);
	}
	KUNIT_EXPECT_EQ(test, watch_stop(&w, kind), 0);
	KUNIT_EXPECT_EQ(test, wrong_results, 0);
}

static void test_contexts(struct kunit *test)
{
	const struct place *place = test->param_value;
	enum kind kind;

	for (kind = PRE; kind < NR_KINDS; kind++)
		if (!only_at_entry(kind) || !place->at)
			try_contexts(test, place, kind);
}

/*
 * A handler calls a probed function, or is interrupted by who calls one: that is
 * missed, and counted once, and the function does its work.
 */
static void try_nested(struct kunit *test, const struct place *outer, enum kind kind,
		       const struct place *inner, enum kind inner_kind,
		       void (*how)(void))
{
	static struct watch w, v;
	int handlers = has_second(kind) ? 2 : 1;
	u32 i;

	KUNIT_ASSERT_EQ(test, watch_start(&w, outer, kind), 0);
	KUNIT_ASSERT_EQ(test, watch_start(&v, inner, inner_kind), 0);
	called = inner;
	w.in_pre = how;
	w.in_post = how;
	for (i = 0; i < CALLS; i++)
		KUNIT_EXPECT_EQ(test, outer->fn(i), i + KPROBES_TEST_ADD_SUM);
	KUNIT_EXPECT_EQ(test, w.pre, CALLS);
	KUNIT_EXPECT_EQ(test, w.post, has_second(kind) ? CALLS : 0);
	KUNIT_EXPECT_EQ(test, v.pre + v.post, 0);
	KUNIT_EXPECT_EQ_MSG(test, watch_stop(&v, inner_kind), handlers * CALLS * CALLS,
			    "%s of %s in %s of %s\n", kind_names[inner_kind], inner->name,
			    kind_names[kind], outer->name);
	KUNIT_EXPECT_EQ(test, watch_stop(&w, kind), 0);
	KUNIT_EXPECT_EQ(test, wrong_results, 0);
}

static void nest_all(struct kunit *test, void (*how)(void))
{
	const struct place *outer = test->param_value, *inner;
	enum kind kind;
	int i;

	for (i = 0; i < ARRAY_SIZE(inner_places); i++) {
		inner = &inner_places[i];
		/* jumps_allow() is for all. */
		if (inner->at && outer->at && inner->jumps != outer->jumps)
			continue;
		for (kind = PRE; kind <= RETURN; kind++) {
			if (only_at_entry(kind) && outer->at)
				continue;
			try_nested(test, outer, kind, inner, PRE, how);
		}
		try_nested(test, outer, PRE, inner, POST, how);
		if (!inner->at)
			try_nested(test, outer, PRE, inner, RETURN, how);
	}
}

static void test_in_a_handler(struct kunit *test)
{
	nest_all(test, make_calls);
}

static void test_nmi_in_a_handler(struct kunit *test)
{
	nest_all(test, have_nmi);
}

/* Three deep: each probed function calls the next, and so do the handlers. */

static noinline u32 deep_c(u32 x)
{
	barrier();
	return x + 1;
}

static noinline u32 deep_b(u32 x)
{
	u32 below = deep_c(x);

	barrier();
	return below + 1;
}

static noinline u32 deep_a(u32 x)
{
	u32 below = deep_b(x);

	barrier();
	return below + 1;
}

static u32 (*call_a)(u32 x) = deep_a;

static void call_b(void)
{
	deep_b(0);
}

static void call_c(void)
{
	deep_c(0);
}

static void start_at(struct kunit *test, struct watch *w, u32 (*fn)(u32 x), enum kind kind)
{
	struct place place = { "deep", fn };

	KUNIT_ASSERT_EQ(test, watch_start(w, &place, kind), 0);
}

static void try_deep(struct kunit *test, enum kind kind)
{
	static struct watch a, b, c;
	int handlers = has_second(kind) ? 2 : 1;
	int i;

	start_at(test, &a, deep_a, kind);
	start_at(test, &b, deep_b, kind);
	start_at(test, &c, deep_c, kind);
	a.in_pre = call_b;
	a.in_post = call_b;
	b.in_pre = call_c;
	b.in_post = call_c;
	for (i = 0; i < CALLS; i++)
		KUNIT_EXPECT_EQ(test, READ_ONCE(call_a)(i), i + 3);
	/* Each is handled when the function before it calls it ... */
	KUNIT_EXPECT_EQ(test, a.pre, CALLS);
	KUNIT_EXPECT_EQ(test, b.pre, CALLS);
	KUNIT_EXPECT_EQ(test, c.pre, CALLS);
	KUNIT_EXPECT_EQ(test, a.post, (handlers - 1) * CALLS);
	KUNIT_EXPECT_EQ(test, b.post, (handlers - 1) * CALLS);
	KUNIT_EXPECT_EQ(test, c.post, (handlers - 1) * CALLS);
	/* ... and missed when a handler does: of a's by way of b, and of b's. */
	KUNIT_EXPECT_EQ(test, watch_stop(&c, kind), 2 * handlers * CALLS);
	KUNIT_EXPECT_EQ(test, watch_stop(&b, kind), handlers * CALLS);
	KUNIT_EXPECT_EQ(test, watch_stop(&a, kind), 0);
}

static void test_three_deep(struct kunit *test)
{
	try_deep(test, PRE);
	try_deep(test, POST);
	try_deep(test, RETURN);
}

/*
 * Probes on what arming and disarming run through themselves, at the entry and
 * behind it, while others are armed and disarmed.
 */
static const char * const patchers[] = {
	"__get_locked_pte", "__text_poke", "do_sync_core", "flush_tlb_mm_range",
	"ftrace_replace_code", "ftrace_update_ftrace_func", "kfree", "mutex_lock",
	"mutex_unlock", "on_each_cpu_cond_mask", "perf_event_text_poke",
	"poking_init", "ptep_clear_flush", "smp_call_function_many_cond",
	"switch_mm_irqs_off", "synchronize_rcu", "text_poke", "text_poke_bp_batch",
	"text_poke_finish", "text_poke_flush", "text_poke_loc_init",
	"text_poke_memcpy", "text_poke_queue", "text_poke_sync",
	"wait_for_completion", "__wait_rcu_gp",
};

static struct watch patching[2 * ARRAY_SIZE(patchers)];
static atomic_t patch_hits[2 * ARRAY_SIZE(patchers)];

static int patcher_hit(struct kprobe *p, struct pt_regs *regs)
{
	int i = container_of(p, struct watch, rp.kp) - patching;

	raw_atomic_inc(&patch_hits[i]);
	return 0;
}
NOKPROBE_SYMBOL(patcher_hit);

/* Behind the entry's nop, if an instruction is there that may be displaced. */
static unsigned int register_patchers(struct kprobe **set)
{
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(patching); i++) {
		struct kprobe *p = &patching[i].rp.kp;
		unsigned long func = (unsigned long)kprobe_lookup_name(patchers[i / 2], 0);
		unsigned long nop = func ? ftrace_location(func) : 0;

		memset(p, 0, sizeof(*p));
		atomic_set(&patch_hits[i], 0);
		p->addr = (void *)(nop ? nop + (i % 2) * MCOUNT_INSN_SIZE : func);
		p->pre_handler = patcher_hit;
		if (p->addr && (nop || !(i % 2)) && !register_kprobe(p))
			set[n++] = p;
	}
	return n;
}

/**
 * struct tally - what is known of hits, at one moment
 * @set:	the probes
 * @n:		how many
 * @hits:	of each one's site
 * @dealt:	of these, those that were handled or missed
 */
struct tally {
	struct kprobe	**set;
	unsigned int	n;
	unsigned long	hits[ARRAY_SIZE(patching)];
	unsigned long	dealt[ARRAY_SIZE(patching)];
};

/* All CPUs have stopped, between two hits. */
static int take_tally(void *arg)
{
	struct tally *t = arg;
	unsigned int i;

	for (i = 0; i < t->n; i++) {
		struct kprobe *p = t->set[i];

		site_hits(site_find((unsigned long)p->addr), &t->hits[i]);
		t->dealt[i] = p->nmissed +
			      atomic_read(&patch_hits[container_of(p, struct watch, rp.kp) -
						      patching]);
	}
	return 0;
}

static int count_hits(bool on)
{
	int err;

	mutex_lock(&kprobe_mutex);
	err = counting_set(on);
	mutex_unlock(&kprobe_mutex);
	return err;
}

static void arm_others(struct kunit *test)
{
	static struct watch w;
	enum kind kind;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		for (kind = PRE; kind <= OBSERVER; kind++) {
			KUNIT_ASSERT_EQ(test, watch_start(&w, &places[i], kind), 0);
			for (j = 0; j < CALLS; j++)
				KUNIT_EXPECT_EQ(test, places[i].fn(j),
						j + KPROBES_TEST_ADD_SUM);
			KUNIT_EXPECT_EQ(test, watch_stop(&w, kind), 0);
			KUNIT_EXPECT_EQ(test, w.pre, CALLS);
		}
	}
}

static void test_patching(struct kunit *test)
{
	static struct kprobe *set[ARRAY_SIZE(patching)];
	static struct tally before, after;
	unsigned int i, n, hit = 0;

	jumps_allow(true);
	KUNIT_ASSERT_EQ(test, count_hits(true), 0);
	n = register_patchers(set);
	kunit_info(test, "%u places in what patches text\n", n);
	KUNIT_EXPECT_GT(test, n, 10);
	before.set = set;
	before.n = n;
	after = before;
	stop_machine(take_tally, &before, NULL);
	arm_others(test);
	stop_machine(take_tally, &after, NULL);
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ_MSG(test, after.dealt[i] - before.dealt[i],
				    after.hits[i] - before.hits[i], "%pS\n", set[i]->addr);
		hit += after.hits[i] != before.hits[i];
	}
	KUNIT_EXPECT_GT(test, hit, 10);
	count_hits(false);
	unregister_kprobes(set, n);
}

static int contexts_init(struct kunit_suite *suite)
{
	init_completion(&context_over);
	wrong_results = 0;
	return register_nmi_handler(NMI_LOCAL, nmi_fn, 0, "kprobes_test");
}

static void contexts_exit(struct kunit_suite *suite)
{
	unregister_nmi_handler(NMI_LOCAL, "kprobes_test");
	jumps_allow(true);
}

static struct kunit_case contexts_cases[] = {
	KUNIT_CASE_PARAM(test_contexts, place_gen_params),
	KUNIT_CASE_PARAM(test_in_a_handler, place_gen_params),
	KUNIT_CASE_PARAM(test_nmi_in_a_handler, place_gen_params),
	KUNIT_CASE(test_three_deep),
	KUNIT_CASE(test_patching),
	{}
};

static struct kunit_suite contexts_suite = {
	.name = "kprobes_contexts",
	.suite_init = contexts_init,
	.suite_exit = contexts_exit,
	.test_cases = contexts_cases,
};

kunit_test_suites(&contexts_suite);
