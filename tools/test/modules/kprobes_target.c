// SPDX-License-Identifier: GPL-2.0
/*
 * Functions to probe, which nobody calls unless told to: so a count can be
 * exact.
 *
 * "echo N > parameters/call" calls kprobes_target_add() N times, and each time
 * kprobes_target_other() and kprobes_target_long() once.  parameters/wrong counts
 * the calls of the first that did not return the sum, as they do when it is
 * livepatched, and parameters/failed those that returned an errno.
 *
 * "echo N > parameters/nest" has kprobes_target_outer() call itself until it is
 * there N times, and then kprobes_target_inner(), which shows the stack in the
 * kernel's log.
 *
 * "echo N > parameters/sleepers" has N threads in kprobes_target_sleep(), and
 * returns when they are there; 0 lets them return, and waits for it.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>

#include "kprobes_target.h"

#define MAX_SLEEPERS	256
#define MAX_ENTRIES	64

static int wrong;
module_param(wrong, int, 0444);
static int failed;
module_param(failed, int, 0444);

noinline __noclone int kprobes_target_add(int a, int b)
{
	barrier();
	return a + b;
}
EXPORT_SYMBOL_GPL(kprobes_target_add);
ALLOW_ERROR_INJECTION(kprobes_target_add, ERRNO);

noinline __noclone int kprobes_target_other(int a)
{
	barrier();
	return a ^ 1;
}

/* Nobody may probe this one, neither now nor while we are being loaded. */
static noinline __noclone int kprobes_target_refused(int a)
{
	barrier();
	return a + 2;
}

NOKPROBE_SYMBOL(kprobes_target_refused);

/* Its text is freed when the module has been loaded; global for an ENDBR. */
noinline __noclone int __init kprobes_target_init_text(int a)
{
	barrier();
	return a + 3;
}

/* One instruction of five bytes: a probe on it becomes a jump. */
noinline __noclone int kprobes_target_long(void)
{
	barrier();
	return 0x1234567;
}

static int call_set(const char *arg, const struct kernel_param *kp)
{
	unsigned int i, n;
	int sum, err = kstrtouint(arg, 0, &n);

	for (i = 0; !err && i < n; i++) {
		sum = kprobes_target_add(i, 2);
		wrong += sum != i + 2;
		failed += IS_ERR_VALUE((long)sum);
		kprobes_target_other(i);
		kprobes_target_long();
		kprobes_target_refused(i);
	}
	return err;
}

static const struct kernel_param_ops call_ops = { .set = call_set };
module_param_cb(call, &call_ops, NULL, 0200);

noinline __noclone int kprobes_target_inner(int a)
{
	unsigned long entries[MAX_ENTRIES];
	unsigned int i, n = stack_trace_save(entries, MAX_ENTRIES, 0);

	for (i = 0; i < n; i++)
		pr_info("saved: %ps\n", (void *)entries[i]);
	return a + 4;
}

noinline __noclone int kprobes_target_outer(int depth)
{
	int below = depth > 1 ? kprobes_target_outer(depth - 1) :
				kprobes_target_inner(depth);

	/* Keeps the recursion from being made a loop. */
	barrier();
	return below + 1;
}

static int nest_set(const char *arg, const struct kernel_param *kp)
{
	unsigned int n;
	int err = kstrtouint(arg, 0, &n);

	if (err || n < 1 || n > 8)
		return -EINVAL;
	return kprobes_target_outer(n) == n + 5 ? 0 : -EIO;
}

static const struct kernel_param_ops nest_ops = { .set = nest_set };
module_param_cb(nest, &nest_ops, NULL, 0200);

static DECLARE_COMPLETION(wake);
static atomic_t asleep;
static struct task_struct *sleepers[MAX_SLEEPERS];

noinline __noclone void kprobes_target_sleep(void)
{
	atomic_inc(&asleep);
	wait_for_completion(&wake);
	/* So that the call is none that leaves for good. */
	barrier();
}

static int sleeper(void *unused)
{
	kprobes_target_sleep();
	return 0;
}

static void wake_all(void)
{
	int i;

	complete_all(&wake);
	for (i = 0; i < MAX_SLEEPERS && sleepers[i]; i++) {
		kthread_stop_put(sleepers[i]);
		sleepers[i] = NULL;
	}
	atomic_set(&asleep, 0);
	reinit_completion(&wake);
}

static int sleepers_set(const char *arg, const struct kernel_param *kp)
{
	unsigned int i, n;
	int err = kstrtouint(arg, 0, &n);

	if (err || n > MAX_SLEEPERS)
		return -EINVAL;
	wake_all();
	for (i = 0; i < n; i++) {
		struct task_struct *t = kthread_create(sleeper, NULL, "sleeper");

		if (IS_ERR(t))
			return PTR_ERR(t);
		sleepers[i] = get_task_struct(t);
		wake_up_process(t);
	}
	while (atomic_read(&asleep) < n)
		schedule_timeout_uninterruptible(1);
	return 0;
}

static const struct kernel_param_ops sleepers_ops = { .set = sleepers_set };
module_param_cb(sleepers, &sleepers_ops, NULL, 0200);

static int __init kprobes_target_init(void)
{
	return kprobes_target_init_text(1) == 4 ? 0 : -EINVAL;
}

static void __exit kprobes_target_exit(void)
{
	wake_all();
}

module_init(kprobes_target_init);
module_exit(kprobes_target_exit);
MODULE_DESCRIPTION("functions to probe");
MODULE_LICENSE("GPL");
