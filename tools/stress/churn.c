// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: threads that change probes at random.
 *
 * Each thread has probes of its own, of every kind, but all threads choose from
 * the same places.  What a thread does follows from the seed.  It remembers what
 * it asked for: a handler that runs when its probe is off is a failure, and so is
 * a refusal without a reason, or none where there is one.
 *
 * A probe must have seen what was called while it was on.  Calls are counted
 * first and made then, so when it comes and when it goes there are some under way
 * of which that cannot be known: no more than there are callers.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "stress.h"

#define NR_PROBES	2000
#define MAX_SET		1000

/**
 * struct churn_probe - one probe of a thread; only that thread changes it
 * @p:		the probe
 * @may_fail:	its registration and enabling may be refused
 * @at_least:	calls while it was on
 * @at_most:	and those while it came and went
 * @times:	it came and went
 * @still:	what it had seen when it was off for sure, or -1
 */
struct churn_probe {
	struct stress_probe	p;
	bool			may_fail;
	unsigned long		at_least, at_most, times;
	long			still;
};

struct stress_churn {
	unsigned int		id;
	struct task_struct	*task;
	struct rnd_state	rnd;
	unsigned long		transactions;
	struct churn_probe	*set[MAX_SET];
	int			nr_set;
	struct kprobe		*kps[2 * MAX_SET];	/* the set, as the API wants it */
	struct churn_probe	probes[NR_PROBES];
};

static atomic_long_t registered, unregistered, enabled, disabled;
static atomic_long_t transactions, refused, checked;

/* Called by the kernel on its own behalf, all the time. */
static const char * const kernel_functions[] = {
	"vfs_read", "vfs_write", "do_sys_openat2", "kfree", "schedule_timeout",
	"wake_up_process", "__fput", "dput", "copy_process", "do_exit",
	"handle_mm_fault", "hrtimer_start_range_ns", "seq_read_iter",
};

/* Of a module that comes and goes: visitor.c. */
static const char * const visitor_functions[] = {
	"kprobe_stress_visitor:stress_visitor_0", "kprobe_stress_visitor:stress_visitor_1",
	"kprobe_stress_visitor:stress_visitor_2",
};

static u32 draw(struct stress_churn *c, u32 below)
{
	return stress_draw(&c->rnd, below);
}

static void make_foreign(struct churn_probe *cp, enum probe_kind kind, unsigned int data,
			 const char *name)
{
	stress_probe_init(&cp->p, kind, -1, NULL, data);
	stress_kp(&cp->p)->symbol_name = name;
}

static void make_pool(struct churn_probe *cp, enum probe_kind kind, unsigned int data,
		      unsigned int function, unsigned int place)
{
	bool at_entry = kind_is_return(kind) || kind == KIND_TYPED || kind == KIND_PAIR ||
			place == NR_ASM_PLACES;
	bool redirects = kind == KIND_POST || kind == KIND_BOTH;

	/* Seldom, or a direct caller would never find it free. */
	if (redirects && function - DIRECT_FIRST < NR_DIRECT && data % 64) {
		kind = KIND_OBSERVER;
		redirects = false;
	}
	stress_probe_init(&cp->p, kind, function, at_entry ? stress_entry(function) :
			  stress_place(function, place), data);
	cp->may_fail = function - DIRECT_FIRST < NR_DIRECT && redirects;
}

static void make_probe(struct stress_churn *c, struct churn_probe *cp, enum probe_kind kind)
{
	unsigned int data = draw(c, 8) ? draw(c, 200) : draw(c, 4000);
	unsigned int function = draw(c, stress_quiet ? NR_C_FUNCTIONS : NR_FUNCTIONS);
	unsigned int place = draw(c, NR_ASM_PLACES + 1), where = draw(c, 1024);
	bool off = draw(c, 4) == 0, may_be_foreign = kind < KIND_TYPED && !stress_quiet;

	*cp = (struct churn_probe){ .still = -1 };
	if (may_be_foreign && where < 64) {
		make_foreign(cp, kind, data,
			     kernel_functions[function % ARRAY_SIZE(kernel_functions)]);
	} else if (may_be_foreign && where == 64) {
		make_foreign(cp, kind, data,
			     visitor_functions[place % ARRAY_SIZE(visitor_functions)]);
		cp->may_fail = true;
	} else {
		make_pool(cp, kind, data, function, place);
	}
	if (off && kind < KIND_TYPED)
		stress_kp(&cp->p)->flags |= KPROBE_FLAG_DISABLED;
}

/* Sets of one, of a few, of many. */
static unsigned int choose_size(struct stress_churn *c)
{
	static const unsigned int most[] = { 1, 8, MAX_SET, MAX_SET, MAX_SET, MAX_SET };

	return 1 + draw(c, most[draw(c, ARRAY_SIZE(most))]);
}

/* Some of the thread's probes in @state, of a kind that fits. */
static void choose_set(struct stress_churn *c, enum probe_state state, unsigned int max,
		       bool (*fits)(enum probe_kind kind))
{
	unsigned int first = draw(c, NR_PROBES), i;
	struct churn_probe *cp;

	c->nr_set = 0;
	for (i = 0; i < NR_PROBES && c->nr_set < max; i++) {
		cp = &c->probes[(first + i) % NR_PROBES];
		if (cp->p.state == state && (!fits || fits(cp->p.kind)))
			c->set[c->nr_set++] = cp;
	}
}

/* A return probe is where its kprobe is. */
static int set_to_kps(struct stress_churn *c)
{
	int i, n = 0;

	for (i = 0; i < c->nr_set; i++) {
		c->kps[n++] = stress_kp(&c->set[i]->p);
		if (c->set[i]->p.kind == KIND_PAIR)
			c->kps[n++] = &c->set[i]->p.rp.kp;
	}
	return n;
}

static void set_is(struct stress_churn *c, enum probe_state state)
{
	int i;

	for (i = 0; i < c->nr_set; i++)
		WRITE_ONCE(c->set[i]->p.state, state);
}

static void set_each(struct stress_churn *c, void (*fn)(struct churn_probe *cp))
{
	int i;

	for (i = 0; i < c->nr_set; i++)
		fn(c->set[i]);
}

static unsigned long calls_of(struct churn_probe *cp)
{
	return cp->p.function < 0 ? 0 : stress_calls(cp->p.function);
}

/* What was called before is subtracted, what was called until then added. */
static void coming(struct churn_probe *cp)
{
	cp->at_most -= calls_of(cp);
	cp->times++;
}

static void has_come(struct churn_probe *cp)
{
	cp->at_least -= calls_of(cp);
}

static void going(struct churn_probe *cp)
{
	cp->at_least += calls_of(cp);
}

static void has_gone(struct churn_probe *cp)
{
	cp->at_most += calls_of(cp);
}

static bool may_fail(struct stress_churn *c)
{
	int i;

	for (i = 0; i < c->nr_set; i++)
		if (c->set[i]->may_fail)
			return true;
	return false;
}

/* Counts what was done; what was refused must have a reason. */
static bool done(struct stress_churn *c, const char *what, int err, int n,
		 atomic_long_t *count)
{
	atomic_long_inc(&transactions);
	if (!err) {
		atomic_long_add(n, count);
		return true;
	}
	atomic_long_inc(&refused);
	if (!may_fail(c))
		stress_fail("thread %u, transaction %lu: %s of %d, first %pS: error %d",
			    c->id, c->transactions, what, n,
			    stress_kp(&c->set[0]->p)->addr, err);
	return false;
}

/* Calls that it saw against those that there were. */
static void check_calls(struct churn_probe *cp)
{
	unsigned long seen = stress_probe_seen(&cp->p) + stress_probe_missed(&cp->p);
	long slack = cp->times * stress_calls_under_way();

	if (cp->p.function < 0 || !cp->times || !stress_always_armed())
		return;
	if ((long)(seen - cp->at_most) > slack)
		stress_fail("%ps, kind %d: %lu seen of at most %lu calls",
			    stress_kp(&cp->p)->addr, cp->p.kind, seen, cp->at_most);
	/* Calls may return after it has gone. */
	if (cp->p.kind == KIND_RETURN)
		return;
	if ((long)(cp->at_least - seen) > slack)
		stress_fail("%ps, kind %d: %lu seen of at least %lu calls",
			    stress_kp(&cp->p)->addr, cp->p.kind, seen, cp->at_least);
	atomic_long_inc(&checked);
}

/* Off since a grace period: nothing may have moved. */
static void check_still(struct churn_probe *cp)
{
	long now = stress_probe_seen(&cp->p);

	if (cp->still >= 0 && cp->p.kind != KIND_RETURN && cp->still != now)
		stress_fail("%ps, kind %d: disabled, and %ld hits", stress_kp(&cp->p)->addr,
			    cp->p.kind, now - cp->still);
	cp->still = -1;
}

static void came(struct churn_probe *cp)
{
	if (!kprobe_disabled(stress_kp(&cp->p))) {
		WRITE_ONCE(cp->p.state, ON);
		has_come(cp);
		return;
	}
	/* It never was on, or its module has gone already. */
	WRITE_ONCE(cp->p.state, OFF);
	cp->at_most = 0;
	cp->times = 0;
}

static void is_free(struct churn_probe *cp)
{
	WRITE_ONCE(cp->p.state, FREE);
	stress_probe_done(&cp->p);
}

static void came_not(struct churn_probe *cp)
{
	is_free(cp);
	if (stress_probe_seen(&cp->p))
		stress_fail("%ps: a handler ran, and the registration failed",
			    stress_kp(&cp->p)->addr);
}

static void register_set(struct stress_churn *c, bool is_ret)
{
	static const enum probe_kind kinds[2][4] = {
		{ KIND_PRE, KIND_POST, KIND_BOTH, KIND_OBSERVER },
		{ KIND_RETURN, KIND_RETURN_ENTRY, KIND_RETURN_ENTRY, KIND_RETURN_LIMITED },
	};
	int i, err;

	choose_set(c, FREE, choose_size(c), NULL);
	if (!c->nr_set)
		return;
	for (i = 0; i < c->nr_set; i++)
		make_probe(c, c->set[i], kinds[is_ret][draw(c, 4)]);
	set_to_kps(c);
	/* A handler may run before the call is back. */
	set_is(c, TRYING);
	set_each(c, coming);
	if (is_ret)
		err = register_kretprobes((struct kretprobe **)c->kps, c->nr_set);
	else
		err = register_kprobes(c->kps, c->nr_set);
	set_each(c, done(c, "register", err, c->nr_set, &registered) ? came : came_not);
}

static void register_one(struct stress_churn *c, enum probe_kind kind)
{
	int err, n;

	choose_set(c, FREE, 1, NULL);
	if (!c->nr_set)
		return;
	make_probe(c, c->set[0], kind);
	n = 1 + (c->set[0]->p.kind == KIND_PAIR);
	set_is(c, TRYING);
	set_each(c, coming);
	err = stress_probe_register(&c->set[0]->p);
	set_each(c, done(c, "register", err, n, &registered) ? came : came_not);
}

/* A set with something in it that cannot be: nothing of it may happen. */
static void register_wrong(struct stress_churn *c)
{
	struct kprobe wrong = { .symbol_name = "no_such_function" };
	unsigned int i, at, how = draw(c, 4);

	choose_set(c, FREE, choose_size(c), NULL);
	if (!c->nr_set)
		return;
	for (i = 0; i < c->nr_set; i++)
		make_probe(c, c->set[i], KIND_PRE);
	set_to_kps(c);
	at = draw(c, c->nr_set);
	c->kps[c->nr_set] = c->kps[at];
	c->kps[at] = how == 0 ? NULL : how == 1 ? c->kps[c->nr_set] : &wrong;
	if (how == 3) {
		wrong.symbol_name = NULL;
		wrong.addr = stress_entry(draw(c, NR_C_FUNCTIONS)) + 1;
	}
	set_is(c, TRYING);
	if (!register_kprobes(c->kps, c->nr_set + 1))
		stress_fail("thread %u, transaction %lu: a wrong set was registered",
			    c->id, c->transactions);
	atomic_long_inc(&transactions);
	atomic_long_inc(&refused);
	set_each(c, came_not);
}

static bool is_kprobe(enum probe_kind kind)
{
	return !kind_is_return(kind) && kind != KIND_PAIR;
}

static bool is_pair(enum probe_kind kind)
{
	return kind == KIND_PAIR;
}

static bool unregister_set(struct stress_churn *c, enum probe_state state,
			   bool (*fits)(enum probe_kind kind), unsigned int max)
{
	choose_set(c, state, fits == is_pair ? 1 : max, fits);
	if (!c->nr_set)
		return false;
	set_to_kps(c);
	set_each(c, state == ON ? going : check_still);
	if (fits == is_pair)
		stress_probe_unregister(&c->set[0]->p);
	else if (fits == kind_is_return)
		unregister_kretprobes((struct kretprobe **)c->kps, c->nr_set);
	else
		unregister_kprobes(c->kps, c->nr_set);
	set_each(c, is_free);
	if (state == ON)
		set_each(c, has_gone);
	set_each(c, check_calls);
	done(c, "unregister", 0, c->nr_set + (fits == is_pair), &unregistered);
	return true;
}

static void do_unregister(struct stress_churn *c)
{
	bool (*const which[])(enum probe_kind kind) = { is_kprobe, kind_is_return, is_kprobe,
							kind_is_return, is_kprobe, is_pair };
	bool (*fits)(enum probe_kind kind) = which[draw(c, ARRAY_SIZE(which))];
	enum probe_state state = draw(c, 4) ? ON : OFF;

	unregister_set(c, state, fits, choose_size(c));
}

static void do_enable(struct stress_churn *c)
{
	int n, err;

	choose_set(c, OFF, choose_size(c), NULL);
	if (!c->nr_set)
		return;
	n = set_to_kps(c);
	set_each(c, check_still);
	set_each(c, coming);
	err = enable_kprobes(c->kps, n);
	if (done(c, "enable", err, n, &enabled)) {
		set_is(c, ON);
		set_each(c, has_come);
	} else {
		/* None of it happened, so nothing was seen. */
		set_each(c, has_gone);
	}
}

static void do_disable(struct stress_churn *c)
{
	int n, i, err;

	choose_set(c, ON, choose_size(c), NULL);
	if (!c->nr_set)
		return;
	n = set_to_kps(c);
	set_each(c, going);
	err = disable_kprobes(c->kps, n);
	if (!done(c, "disable", err, n, &disabled))
		return;
	set_is(c, OFF);
	set_each(c, has_gone);
	if (draw(c, 4))
		return;
	/* Handlers that were running are not any more. */
	synchronize_rcu();
	for (i = 0; i < c->nr_set; i++)
		c->set[i]->still = stress_probe_seen(&c->set[i]->p);
}

static void transaction(struct stress_churn *c)
{
	c->transactions++;
	switch (draw(c, 32)) {
	case 0 ... 5:
		register_set(c, false);
		break;
	case 6 ... 9:
		register_set(c, true);
		break;
	case 10:
		register_one(c, KIND_TYPED);
		break;
	case 11:
		register_one(c, KIND_PAIR);
		break;
	case 12:
		register_wrong(c);
		break;
	case 13 ... 23:
		do_unregister(c);
		break;
	case 24 ... 27:
		do_enable(c);
		break;
	default:
		do_disable(c);
	}
}

static int churn(void *arg)
{
	struct stress_churn *c = arg;

	while (!kthread_should_stop()) {
		transaction(c);
		cond_resched();
	}
	return 0;
}

unsigned long stress_churn_operations(void)
{
	return atomic_long_read(&registered) + atomic_long_read(&unregistered) +
	       atomic_long_read(&enabled) + atomic_long_read(&disabled);
}

struct stress_churn *stress_churn_start(unsigned int id, u64 seed)
{
	struct stress_churn *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	struct task_struct *task;

	if (!c)
		return ERR_PTR(-ENOMEM);
	c->id = id;
	prandom_seed_state(&c->rnd, seed * 1000003 + id);
	task = kthread_run(churn, c, "kprobe-churn/%u", id);
	if (IS_ERR(task)) {
		kvfree(c);
		return ERR_CAST(task);
	}
	c->task = task;
	return c;
}

/* What is left, in sets: pairs go one by one. */
static void unregister_rest(struct stress_churn *c)
{
	bool (*const which[])(enum probe_kind kind) = { is_kprobe, kind_is_return, is_pair };
	enum probe_state state;
	int i;

	for (state = OFF; state <= ON; state++)
		for (i = 0; i < ARRAY_SIZE(which); i++)
			while (unregister_set(c, state, which[i], MAX_SET))
				;
}

void stress_churn_stop(struct stress_churn *c)
{
	kthread_stop(c->task);
	unregister_rest(c);
	kvfree(c);
}

int stress_churn_show(char *buf, size_t size)
{
	return scnprintf(buf, size,
			 "operations: %lu, registered %ld, unregistered %ld, enabled %ld, disabled %ld\n"
			 "transactions: %ld, of these refused %ld\n"
			 "probes that came and went: %ld, hits as many as calls\n",
			 stress_churn_operations(), atomic_long_read(&registered),
			 atomic_long_read(&unregistered), atomic_long_read(&enabled),
			 atomic_long_read(&disabled), atomic_long_read(&transactions),
			 atomic_long_read(&refused), atomic_long_read(&checked));
}
