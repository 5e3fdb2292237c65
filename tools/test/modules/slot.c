// SPDX-License-Identifier: GPL-2.0
/*
 * Is a slot given away while a task is in it?
 *
 * A task enters the slot of a probe and stays there: preempted ("fill": a long
 * string instruction, and a real-time thread that takes its CPU; "idle": one that
 * has the least priority there is, preempted by the very thread that unregisters)
 * or asleep ("load": a page fault that must wait for the mm's lock).  Then the probe is
 * unregistered and other probes want slots.  When the task goes on, it must
 * find its own instruction, and come out with the right result.
 *
 * "echo fill > parameters/run" fails when it did not (or the kernel dies).
 * parameters/report tells what happened.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>

#include "slot.h"

#define FILL_BYTES	(32 << 20)	/* about a second, emulated */
#define EATERS		64
#define FREE_CPU	0
#define STUCK_CPU	1
#define LONG		(60 * HZ)

static char report[256] = "nothing was run\n";
static int inside;			/* the task is at the probed instruction */
static int finished;			/* it is past it */
static int release_cpu;			/* the real-time thread may end */

static struct kprobe eater[EATERS];
static struct kprobe *eaters[EATERS];
static int eaten;
static bool idle_was_inside;

static int inside_hit(struct kprobe *p, struct pt_regs *regs)
{
	WRITE_ONCE(inside, 1);
	return 0;
}

NOKPROBE_SYMBOL(inside_hit);

static int eater_hit(struct kprobe *p, struct pt_regs *regs)
{
	eaten++;
	return 0;
}

NOKPROBE_SYMBOL(eater_hit);

static struct kprobe probe;

/*
 * Unregistering may rightly wait for the task to leave the slot, and another
 * registration for that: each has a thread, so that we can let the task go.
 */
static DECLARE_COMPLETION(unregistered);
static DECLARE_COMPLETION(eaters_registered);
static int eaters_result;

/* Of the highest priority where the task has the lowest: it does not run any more. */
static int unregister_thread(void *unused)
{
	idle_was_inside = !READ_ONCE(finished);
	unregister_kprobe(&probe);
	complete_all(&unregistered);
	return 0;
}

/* Probes that want slots, just when one may have been freed too early. */
static int eaters_thread(void *unused)
{
	int i;

	for (i = 0; i < EATERS; i++) {
		memset(&eater[i], 0, sizeof(eater[i]));
		eater[i].symbol_name = "slot_eaters";
		eater[i].offset = slot_eaters_offset + 2 * i;
		eater[i].pre_handler = eater_hit;
		eaters[i] = &eater[i];
	}
	eaten = 0;
	eaters_result = register_kprobes(eaters, EATERS);
	complete_all(&eaters_registered);
	return 0;
}

static int start_on(int cpu, int (*fn)(void *), void *data, bool realtime)
{
	struct task_struct *t = kthread_create(fn, data, "slot_thread");

	if (IS_ERR(t))
		return PTR_ERR(t);
	kthread_bind(t, cpu);
	if (realtime)
		sched_set_fifo(t);
	wake_up_process(t);
	return 0;
}

static DECLARE_COMPLETION(grace_is_over);

static void grace_over(struct rcu_head *unused)
{
	complete(&grace_is_over);
}

/*
 * The task is in the slot, and is not let go yet.  When the slot is given away
 * after a grace period, be there after that: one for tasks does not end while a
 * preempted task is in the slot, but it does while a sleeping one is.
 */
static int pull_the_rug(void)
{
	static struct rcu_head grace;
	int err = start_on(FREE_CPU, unregister_thread, NULL, false);

	if (err) {
		unregister_thread(NULL);
		return err;
	}
	wait_for_completion_timeout(&unregistered, HZ);
	reinit_completion(&grace_is_over);
	call_rcu_tasks(&grace, grace_over);
	if (wait_for_completion_timeout(&grace_is_over, 3 * HZ))
		msleep(200);		/* for work that the grace period starts */
	err = start_on(FREE_CPU, eaters_thread, NULL, false);
	if (err)
		return err;
	wait_for_completion_timeout(&eaters_registered, HZ);
	return 0;
}

/* Each must have a slot of its own: all are hit, and the sum is right. */
static int eaters_finish(void)
{
	int one = 1, sum;

	wait_for_completion(&unregistered);
	wait_for_completion(&eaters_registered);
	rcu_barrier_tasks();
	if (eaters_result)
		return eaters_result;
	sum = slot_eaters(&one);
	unregister_kprobes(eaters, EATERS);
	if (sum == EATERS && eaten == EATERS)
		return 0;
	pr_err("%d probes were hit %d times, the sum is %d: the task strayed\n",
	       EATERS, eaten, sum);
	return -EILSEQ;
}

static int probe_start(const char *symbol, u32 offset)
{
	memset(&probe, 0, sizeof(probe));
	probe.symbol_name = symbol;
	probe.offset = offset;
	probe.pre_handler = inside_hit;
	inside = 0;
	finished = 0;
	release_cpu = 0;
	reinit_completion(&unregistered);
	reinit_completion(&eaters_registered);
	return register_kprobe(&probe);
}

static int wait_until_inside(void)
{
	unsigned long end = jiffies + LONG;

	while (!READ_ONCE(inside)) {
		if (READ_ONCE(finished) || time_after(jiffies, end))
			return -ENOENT;
		cond_resched();
	}
	return 0;
}

static DECLARE_COMPLETION(filled);

static int fill_thread(void *buffer)
{
	slot_fill(buffer, FILL_BYTES);
	WRITE_ONCE(finished, 1);
	complete(&filled);
	return 0;
}

static DECLARE_COMPLETION(hog_is_running);

static int hog_thread(void *unused)
{
	complete(&hog_is_running);
	while (!READ_ONCE(release_cpu))
		cpu_relax();
	return 0;
}

/* With the buffer at hand: the task goes in, and its CPU is taken away. */
static int fill_with(char *buffer)
{
	bool was_inside;
	int err;

	reinit_completion(&filled);
	reinit_completion(&hog_is_running);
	err = start_on(STUCK_CPU, fill_thread, buffer, false);
	if (err) {
		unregister_kprobe(&probe);
		return err;
	}
	err = wait_until_inside() ?:
	      start_on(STUCK_CPU, hog_thread, NULL, true);
	if (!err)
		wait_for_completion(&hog_is_running);
	was_inside = !READ_ONCE(finished);
	err = pull_the_rug() ?: err;
	WRITE_ONCE(release_cpu, 1);
	wait_for_completion(&filled);
	err = err ?: eaters_finish();
	if (!err && memchr_inv(buffer, 0x5a, FILL_BYTES))
		err = -EILSEQ;
	scnprintf(report, sizeof(report), "fill: preempted inside: %s; %d\n",
		  was_inside ? "yes" : "no", err);
	return err;
}

static int run_fill(void)
{
	char *buffer = vzalloc(FILL_BYTES);
	int err;

	if (!buffer)
		return -ENOMEM;
	err = probe_start("slot_fill", slot_fill_offset) ?: fill_with(buffer);
	vfree(buffer);
	return err;
}

static int idle_fill_thread(void *buffer)
{
	struct sched_attr least = { .size = sizeof(least), .sched_policy = SCHED_IDLE };

	sched_setattr_nocheck(current, &least);
	return fill_thread(buffer);
}

/* It must not wait for a task that can run only when it does not. */
static int idle_with(char *buffer)
{
	int err;

	reinit_completion(&filled);
	err = start_on(STUCK_CPU, idle_fill_thread, buffer, false);
	if (err) {
		unregister_kprobe(&probe);
		return err;
	}
	err = wait_until_inside();
	if (start_on(STUCK_CPU, unregister_thread, NULL, true))
		unregister_thread(NULL);
	if (!wait_for_completion_timeout(&unregistered, LONG))
		err = -ETIMEDOUT;
	err = start_on(FREE_CPU, eaters_thread, NULL, false) ?: err;
	wait_for_completion(&filled);
	err = err ?: eaters_finish();
	if (!err && memchr_inv(buffer, 0x5a, FILL_BYTES))
		err = -EILSEQ;
	scnprintf(report, sizeof(report), "idle: preempted inside: %s; %d\n",
		  idle_was_inside ? "yes" : "no", err);
	return err;
}

static int run_idle(void)
{
	char *buffer = vzalloc(FILL_BYTES);
	int err;

	if (!buffer)
		return -ENOMEM;
	err = probe_start("slot_fill", slot_fill_offset) ?: idle_with(buffer);
	vfree(buffer);
	return err;
}

static DECLARE_COMPLETION(mm_is_locked);
static DECLARE_COMPLETION(load_is_over);
static int rug_result;

/* Holds the lock that the task's page fault will wait for. */
static int lock_thread(void *mm)
{
	mmap_write_lock(mm);
	complete(&mm_is_locked);
	rug_result = wait_until_inside();
	msleep(100);			/* from the handler to the fault */
	rug_result = pull_the_rug() ?: rug_result;
	mmap_write_unlock(mm);
	complete(&load_is_over);
	return 0;
}

/* In a task with an mm: load from a page that is not there yet. */
static int run_load(void)
{
	unsigned long page = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ,
				     MAP_PRIVATE | MAP_ANONYMOUS, 0);
	int err, got;

	if (IS_ERR_VALUE(page))
		return page;
	err = probe_start("slot_load", slot_load_offset);
	if (err)
		return err;
	reinit_completion(&mm_is_locked);
	reinit_completion(&load_is_over);
	err = start_on(FREE_CPU, lock_thread, current->mm, false);
	if (err) {
		unregister_kprobe(&probe);
		return err;
	}
	wait_for_completion(&mm_is_locked);
	got = slot_load((const int __user *)page);
	WRITE_ONCE(finished, 1);
	wait_for_completion(&load_is_over);
	err = rug_result ?: eaters_finish();
	/* A probe must not turn a page that is merely absent into a fault. */
	if (!err && got != 1)
		err = -EFAULT;
	scnprintf(report, sizeof(report), "load: got %d; %d\n", got, err);
	return err;
}

/* A page that will never be there: the fix-up must be found for the slot. */
static int run_fault(void)
{
	int err = probe_start("slot_load", slot_load_offset), got;

	if (err)
		return err;
	got = slot_load((const int __user *)8);
	unregister_kprobe(&probe);
	if (got != -EFAULT || !inside)
		err = -EILSEQ;
	scnprintf(report, sizeof(report), "fault: got %d; %d\n", got, err);
	return err;
}

static DEFINE_MUTEX(one_run);

static int run_set(const char *arg, const struct kernel_param *kp)
{
	guard(mutex)(&one_run);
	if (sysfs_streq(arg, "fill"))
		return run_fill();
	if (sysfs_streq(arg, "idle"))
		return run_idle();
	if (sysfs_streq(arg, "load"))
		return run_load();
	if (sysfs_streq(arg, "fault"))
		return run_fault();
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
module_param_string(report, report, sizeof(report), 0444);

static int __init slot_init(void)
{
	return num_online_cpus() > STUCK_CPU ? 0 : -ENODEV;
}

static void __exit slot_exit(void)
{
}

module_init(slot_init);
module_exit(slot_exit);
MODULE_DESCRIPTION("is a slot given away while a task is in it?");
MODULE_LICENSE("GPL");
