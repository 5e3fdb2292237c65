// SPDX-License-Identifier: GPL-2.0
/*
 * Trouble to order, for the test of what tools/vm/run makes of it:
 *   insmod kprobes_trouble.ko what=warn|oops|panic|race
 * and of what the kernel makes of a probe's handler that may not do what it does:
 *   insmod kprobes_trouble.ko what=handler_oops|handler_sleep
 */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/sched.h>
#include <linux/string.h>

static char *what = "";
module_param(what, charp, 0);

static unsigned long raced;

/* Two tasks that change a variable, and no order between them. */
static noinline void trouble_race(void)
{
	unsigned long end = jiffies + 2 * HZ;

	while (time_before(jiffies, end)) {
		raced++;
		cond_resched();
	}
}

static int racer(void *unused)
{
	trouble_race();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int race(void)
{
	struct task_struct *other = kthread_run(racer, NULL, "trouble");

	if (IS_ERR(other))
		return PTR_ERR(other);
	trouble_race();
	return kthread_stop(other);
}

static noinline __noclone void trouble_target(void)
{
	barrier();
}

static int bad_handler(struct kprobe *p, struct pt_regs *regs)
{
	if (!strcmp(what, "handler_oops"))
		WRITE_ONCE(*(int *)8, 1);
	else
		msleep(20);
	return 0;
}

/* Twice: the second hit comes after what the handler did in the first. */
static int in_a_handler(void)
{
	struct kprobe p = {
		.addr = (void *)trouble_target, .pre_handler = bad_handler,
	};
	int err = register_kprobe(&p);

	if (err)
		return err;
	trouble_target();
	trouble_target();
	unregister_kprobe(&p);
	return 0;
}

static int __init trouble_init(void)
{
	if (!strncmp(what, "handler_", strlen("handler_")))
		return in_a_handler();
	if (!strcmp(what, "oops"))
		WRITE_ONCE(*(int *)8, 1);
	if (!strcmp(what, "panic"))
		panic("the panic that was ordered");
	if (!strcmp(what, "warn"))
		WARN(1, "the warning that was ordered\n");
	if (!strcmp(what, "race"))
		return race();
	return 0;
}

static void __exit trouble_exit(void)
{
}

module_init(trouble_init);
module_exit(trouble_exit);

MODULE_DESCRIPTION("Trouble to order");
MODULE_LICENSE("GPL");
