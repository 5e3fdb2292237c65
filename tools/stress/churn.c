// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: threads that change probes at random.
 *
 * Each thread has probes of its own, of every kind, but all threads choose from
 * the same places.  A thread remembers what it asked for; a handler that runs
 * when its probe is off is a failure, and so is any refusal.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "stress.h"

#define NR_PROBES	24
#define MAX_SET		8

enum state { FREE, OFF, ON };

/* One kprobe or kretprobe of a thread; only that thread changes it. */
struct probe {
	struct kretprobe	rp;	/* or only its kprobe */
	bool			is_ret;
	enum state		state;
};

struct stress_churn {
	struct task_struct	*task;
	struct rnd_state	rnd;
	struct probe		probes[NR_PROBES];
	struct probe		*set[MAX_SET];
	int			nr_set;
};

/* Called by the kernel on its own behalf, all the time. */
static const char * const kernel_functions[] = {
	"vfs_read", "vfs_write", "do_sys_openat2", "kfree", "schedule_timeout",
	"wake_up_process", "__fput", "dput", "copy_process", "do_exit",
	"handle_mm_fault", "hrtimer_start_range_ns", "seq_read_iter",
};

static u32 draw(struct stress_churn *c, u32 below)
{
	return prandom_u32_state(&c->rnd) % below;
}

static void seen(struct probe *p)
{
	atomic_long_inc(&stress_hits);
	if (READ_ONCE(p->state) == FREE)
		stress_fail("%ps: a handler of a removed probe ran",
			    p->rp.kp.addr);
}

static struct probe *of_kprobe(struct kprobe *kp)
{
	return container_of(kp, struct probe, rp.kp);
}

static int churn_pre(struct kprobe *kp, struct pt_regs *regs)
{
	seen(of_kprobe(kp));
	if (instruction_pointer(regs) != (unsigned long)kp->addr + 1)
		stress_fail("%ps: ip %pS", kp->addr,
			    (void *)instruction_pointer(regs));
	return 0;
}

static void churn_post(struct kprobe *kp, struct pt_regs *regs,
		       unsigned long flags)
{
	seen(of_kprobe(kp));
}

static int churn_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	*(unsigned long *)ri->data = (unsigned long)rp;
	return regs->sp >> 4 & 1;
}

static int churn_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (!rp)
		return 0;
	seen(of_kprobe(&rp->kp));
	if (rp->entry_handler && *(unsigned long *)ri->data != (long)rp)
		stress_fail("%ps: another call's data", rp->kp.addr);
	return 0;
}

static void choose_place(struct stress_churn *c, struct probe *p)
{
	u32 nr = draw(c, 8 * ARRAY_SIZE(kernel_functions));

	if (nr < ARRAY_SIZE(kernel_functions))
		p->rp.kp.symbol_name = kernel_functions[nr];
	else if (p->is_ret)
		p->rp.kp.addr = stress_entry(draw(c, NR_FUNCTIONS));
	else
		p->rp.kp.addr = stress_place(prandom_u32_state(&c->rnd));
}

static void make_probe(struct stress_churn *c, struct probe *p, bool is_ret)
{
	memset(p, 0, sizeof(*p));
	p->is_ret = is_ret;
	choose_place(c, p);
	if (is_ret) {
		p->rp.handler = churn_return;
		if (draw(c, 2)) {
			p->rp.entry_handler = churn_entry;
			p->rp.data_size = sizeof(unsigned long) +
					  draw(c, 100);
		}
	} else {
		p->rp.kp.pre_handler = churn_pre;
		if (draw(c, 3) == 0)
			p->rp.kp.post_handler = churn_post;
	}
	if (draw(c, 4) == 0)
		p->rp.kp.flags = KPROBE_FLAG_DISABLED;
}

/* Some of the thread's probes in @state, all of the kind @is_ret. */
static void choose_set(struct stress_churn *c, enum state state, bool is_ret)
{
	unsigned int first = draw(c, NR_PROBES), i, max = 1 + draw(c, MAX_SET);
	struct probe *p;

	c->nr_set = 0;
	for (i = 0; i < NR_PROBES && c->nr_set < max; i++) {
		p = &c->probes[(first + i) % NR_PROBES];
		if (p->state == state &&
		    (state == FREE || p->is_ret == is_ret))
			c->set[c->nr_set++] = p;
	}
}

/* As the API wants them: a probe is where its kretprobe, its kprobe is. */
static void set_to_kps(struct stress_churn *c, struct kprobe **kps)
{
	int i;

	for (i = 0; i < c->nr_set; i++)
		kps[i] = &c->set[i]->rp.kp;
}

static void set_is(struct stress_churn *c, enum state state)
{
	int i;

	for (i = 0; i < c->nr_set; i++)
		WRITE_ONCE(c->set[i]->state, state);
}

static void check(struct stress_churn *c, const char *what, int err)
{
	if (err)
		stress_fail("%s of %d, first %pS: error %d", what, c->nr_set,
			    c->set[0]->rp.kp.addr, err);
}

static void do_register(struct stress_churn *c)
{
	bool is_ret = draw(c, 3) == 0;
	struct kprobe *kps[MAX_SET];
	int i, err;

	choose_set(c, FREE, is_ret);
	if (!c->nr_set)
		return;
	for (i = 0; i < c->nr_set; i++)
		make_probe(c, c->set[i], is_ret);
	set_to_kps(c, kps);
	/* A handler may run before the call is back. */
	set_is(c, ON);
	if (is_ret)
		err = register_kretprobes((struct kretprobe **)kps, c->nr_set);
	else
		err = register_kprobes(kps, c->nr_set);
	check(c, "register", err);
	for (i = 0; i < c->nr_set; i++) {
		if (err)
			WRITE_ONCE(c->set[i]->state, FREE);
		else if (kprobe_disabled(kps[i]))
			WRITE_ONCE(c->set[i]->state, OFF);
	}
}

static void do_unregister(struct stress_churn *c)
{
	bool is_ret = draw(c, 3) == 0;
	struct kprobe *kps[MAX_SET];

	choose_set(c, draw(c, 4) ? ON : OFF, is_ret);
	if (!c->nr_set)
		return;
	set_to_kps(c, kps);
	if (is_ret)
		unregister_kretprobes((struct kretprobe **)kps, c->nr_set);
	else
		unregister_kprobes(kps, c->nr_set);
	set_is(c, FREE);
}

static void do_switch(struct stress_churn *c, bool on)
{
	struct kprobe *kps[MAX_SET];

	choose_set(c, on ? OFF : ON, draw(c, 3) == 0);
	if (!c->nr_set)
		return;
	set_to_kps(c, kps);
	if (on)
		check(c, "enable", enable_kprobes(kps, c->nr_set));
	else
		check(c, "disable", disable_kprobes(kps, c->nr_set));
	set_is(c, on ? ON : OFF);
}

static int churn(void *arg)
{
	struct stress_churn *c = arg;

	while (!kthread_should_stop()) {
		switch (draw(c, 8)) {
		case 0 ... 2:
			do_register(c);
			break;
		case 3 ... 5:
			do_unregister(c);
			break;
		case 6:
			do_switch(c, true);
			break;
		default:
			do_switch(c, false);
		}
		atomic_long_inc(&stress_ops);
		cond_resched();
	}
	return 0;
}

struct stress_churn *stress_churn_start(unsigned int id, u64 seed)
{
	struct stress_churn *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return ERR_PTR(-ENOMEM);
	prandom_seed_state(&c->rnd, seed * 1000003 + id);
	c->task = kthread_run(churn, c, "kprobe-churn/%u", id);
	if (IS_ERR(c->task)) {
		struct task_struct *task = c->task;

		kfree(c);
		return ERR_CAST(task);
	}
	return c;
}

void stress_churn_stop(struct stress_churn *c)
{
	int i;

	kthread_stop(c->task);
	for (i = 0; i < NR_PROBES; i++) {
		struct probe *p = &c->probes[i];

		if (p->state == FREE)
			continue;
		if (p->is_ret)
			unregister_kretprobe(&p->rp);
		else
			unregister_kprobe(&p->rp.kp);
	}
	kfree(c);
}
