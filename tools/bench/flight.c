// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_bench: return probes with many calls in flight at once.
 *
 * A call whose return is not seen is missed, whether or not it is counted; so
 * the handler's calls are counted here, and nmissed is told beside them.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "bench.h"

#define SLEEPERS	2000

/* As deep as a stack takes: a frame of bench_nest() is a return address. */
#define BURST		1024

static atomic_t handled, inside;

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&handled);
	return 0;
}

static DECLARE_COMPLETION(leave);

static noinline void bench_sleep(void)
{
	atomic_inc(&inside);
	wait_for_completion(&leave);
	barrier();
}

static DECLARE_COMPLETION(enter);

static int sleeper(void *unused)
{
	wait_for_completion(&enter);
	bench_sleep();
	return 0;
}

static void say_missed(const char *what, int calls, struct kretprobe *rp)
{
	bench_say("%s.calls %d\n", what, calls);
	bench_say("%s.missed %d\n", what, calls - atomic_read(&handled));
	bench_say("%s.nmissed %d\n", what, rp->nmissed);
}

static struct task_struct *tasks[SLEEPERS];
static int nr_tasks;

/* All there, and none in the function yet. */
static int tasks_start(void)
{
	atomic_set(&handled, 0);
	atomic_set(&inside, 0);
	reinit_completion(&enter);
	reinit_completion(&leave);
	for (nr_tasks = 0; nr_tasks < SLEEPERS; nr_tasks++) {
		struct task_struct *t = kthread_run(sleeper, NULL, "sleeper");

		if (IS_ERR(t))
			return PTR_ERR(t);
		/* For kthread_stop(), which is to find it after its end. */
		tasks[nr_tasks] = get_task_struct(t);
	}
	return 0;
}

static void tasks_go_in(void)
{
	complete_all(&enter);
	while (atomic_read(&inside) < nr_tasks)
		msleep(20);
}

static void tasks_end(void)
{
	complete_all(&enter);
	complete_all(&leave);
	while (nr_tasks) {
		kthread_stop(tasks[--nr_tasks]);
		put_task_struct(tasks[nr_tasks]);
	}
}

/* Tasks asleep in one function, its return probed with the default maxactive. */
int bench_sleepers(void)
{
	struct kretprobe rp = {
		.kp.addr = (void *)bench_sleep,
		.handler = count_return,
	};
	int err = register_kretprobe(&rp);

	if (err)
		return err;
	err = tasks_start();
	tasks_go_in();
	tasks_end();
	unregister_kretprobe(&rp);
	if (!err)
		say_missed("sleepers", SLEEPERS, &rp);
	return err;
}

/* The same in three steps, with as many instances as calls: what do these take? */
static struct kretprobe in_flight;

int bench_crowd(void)
{
	int err = tasks_start();

	if (err)
		tasks_end();
	return err;
}

int bench_crowd_in(void)
{
	int err;

	in_flight = (struct kretprobe) {
		.kp.addr = (void *)bench_sleep,
		.handler = count_return,
		.maxactive = SLEEPERS,
	};
	err = register_kretprobe(&in_flight);
	if (err)
		tasks_end();
	else
		tasks_go_in();
	return err;
}

int bench_crowd_out(void)
{
	tasks_end();
	unregister_kretprobe(&in_flight);
	return atomic_read(&handled) == SLEEPERS ? 0 : -EIO;
}

static noinline void bench_nest(int deeper)
{
	if (deeper)
		bench_nest(deeper - 1);
	/* No tail call: each return is to be one. */
	barrier();
}

/* Calls in flight that no worker can have prepared for: interrupts are off. */
int bench_burst(void)
{
	struct kretprobe rp = {
		.kp.addr = (void *)bench_nest,
		.handler = count_return,
	};
	unsigned long flags;
	int err = register_kretprobe(&rp);

	if (err)
		return err;
	/* A worker that fills pools has had its time. */
	msleep(100);
	atomic_set(&handled, 0);
	local_irq_save(flags);
	bench_nest(BURST - 1);
	local_irq_restore(flags);
	unregister_kretprobe(&rp);
	say_missed("burst", BURST, &rp);
	return 0;
}
