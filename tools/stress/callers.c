// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: who calls the pool: threads, which may sleep and change the CPU
 * inside, and interrupts of every sort, which come between.
 *
 * Arguments follow from the seed; how the callers are interleaved does not.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/smp.h>
#include <linux/timer.h>

#include "stress.h"

#define NR_THREADS	4

/* Calls of a thread between two pauses, and of an interrupt. */
#define BURST		64
#define IRQ_BURST	4

/* How deep a function calls itself: enough for the pools to want more. */
#define DEEP		40

/* The shortest pauses. */
#define THREAD_NS	(15 * NSEC_PER_MSEC)
#define HRTIMER_NS	(5 * NSEC_PER_MSEC)
#define TIMER_NS	(10 * NSEC_PER_MSEC)

static struct task_struct *threads[NR_THREADS];
static struct rnd_state thread_rnd[NR_THREADS];
static bool stopping;

/* Each kind of interrupt is on one CPU at a time, or its numbers may repeat. */
static struct rnd_state irq_rnd;
static struct hrtimer hrtimer;
static struct timer_list timer;
static struct irq_work irq_work;
static atomic_long_t by_thread, by_hrtimer, by_timer, by_irq_work, by_ipi;

/* Calls that may have been counted and not have hit a probe yet. */
unsigned int stress_calls_under_way(void)
{
	/* Threads, the witness; on each CPU four sorts of interrupts and a handler. */
	return NR_THREADS + 1 + 6 * num_possible_cpus();
}

/*
 * Whoever changes probes is to have most of a CPU, also where calls are slow or
 * the machine has little time for this one: a pause is some times as long as what
 * came before it took.
 */
u64 stress_pause_ns(ktime_t began, u64 least)
{
	u64 took = ktime_to_ns(ktime_sub(ktime_get(), began));

	return clamp_t(u64, 4 * took, least, 200 * NSEC_PER_MSEC);
}

static void burst(struct rnd_state *rnd, unsigned int n, unsigned long how,
		  atomic_long_t *count)
{
	atomic_long_add(n, count);
	while (n--)
		stress_check_call(stress_choose_function(rnd),
				  prandom_u32_state(rnd) | how);
}

static enum hrtimer_restart hrtimer_calls(struct hrtimer *t)
{
	ktime_t began = ktime_get();

	burst(&irq_rnd, IRQ_BURST, 0, &by_hrtimer);
	irq_work_queue(&irq_work);
	hrtimer_forward_now(t, ns_to_ktime(stress_pause_ns(began, HRTIMER_NS)));
	return HRTIMER_RESTART;
}

static void timer_calls(struct timer_list *t)
{
	ktime_t began = ktime_get();

	burst(&irq_rnd, IRQ_BURST, 0, &by_timer);
	if (!READ_ONCE(stopping))
		mod_timer(t, jiffies + 1 +
			     nsecs_to_jiffies(stress_pause_ns(began, TIMER_NS)));
}

static void irq_work_calls(struct irq_work *work)
{
	burst(&irq_rnd, IRQ_BURST, 0, &by_irq_work);
}

static void ipi_calls(void *unused)
{
	burst(&irq_rnd, 1, 0, &by_ipi);
}

/* With interrupts off, as what is under way stays on this CPU. */
static void dive(struct rnd_state *rnd)
{
	unsigned int function = 14 + 16 * stress_draw(rnd, NR_C_FUNCTIONS / 16);
	unsigned long flags;

	local_irq_save(flags);
	stress_check_call(function, (unsigned long)DEEP << STRESS_DEPTH |
				    prandom_u32_state(rnd));
	local_irq_restore(flags);
}

static int call_all(void *arg)
{
	struct rnd_state *rnd = arg;
	ktime_t began;
	u64 us;

	while (!kthread_should_stop()) {
		began = ktime_get();
		burst(rnd, BURST, STRESS_MAY_SLEEP, &by_thread);
		if (stress_draw(rnd, 16) == 0)
			dive(rnd);
		if (stress_draw(rnd, 16) == 0)
			on_each_cpu(ipi_calls, NULL, true);
		us = div_u64(stress_pause_ns(began, THREAD_NS), NSEC_PER_USEC);
		usleep_range(us, us + us / 2);
	}
	return 0;
}

int stress_callers_start(u64 seed)
{
	unsigned int i;

	stopping = false;
	prandom_seed_state(&irq_rnd, seed);
	init_irq_work(&irq_work, irq_work_calls);
	hrtimer_init(&hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer.function = hrtimer_calls;
	timer_setup(&timer, timer_calls, 0);

	for (i = 0; i < NR_THREADS; i++) {
		prandom_seed_state(&thread_rnd[i], seed * 7919 + i);
		threads[i] = kthread_run(call_all, &thread_rnd[i], "kprobe-caller/%u", i);
		if (IS_ERR(threads[i])) {
			int err = PTR_ERR(threads[i]);

			while (i--)
				kthread_stop(threads[i]);
			return err;
		}
	}
	hrtimer_start(&hrtimer, ns_to_ktime(HRTIMER_NS), HRTIMER_MODE_REL_HARD);
	mod_timer(&timer, jiffies + 1);
	return 0;
}

void stress_callers_stop(void)
{
	unsigned int i;

	for (i = 0; i < NR_THREADS; i++)
		kthread_stop(threads[i]);
	WRITE_ONCE(stopping, true);
	hrtimer_cancel(&hrtimer);
	timer_delete_sync(&timer);
	irq_work_sync(&irq_work);
}

int stress_callers_show(char *buf, size_t size)
{
	return scnprintf(buf, size,
			 "calls: by threads %ld, hrtimer %ld, timer %ld, irq_work %ld, IPI %ld\n",
			 atomic_long_read(&by_thread), atomic_long_read(&by_hrtimer),
			 atomic_long_read(&by_timer), atomic_long_read(&by_irq_work),
			 atomic_long_read(&by_ipi));
}
