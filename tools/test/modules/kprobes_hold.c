// SPDX-License-Identifier: GPL-2.0
/*
 * Holds whoever calls a function: "symbol=FUNCTION" names it.
 *
 * In its place a function of ours is run, which sleeps until "echo 1 >
 * parameters/go" and then says 1.  parameters/held tells how many sleep there.  So
 * a case can do something in the midst of what the kernel does.
 */
#include <linux/completion.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static char *symbol;
module_param(symbol, charp, 0444);

static DECLARE_COMPLETION(go);
static atomic_t holding;

static unsigned long hold(void)
{
	atomic_inc(&holding);
	wait_for_completion(&go);
	atomic_dec(&holding);
	return 1;
}

static int redirect(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)hold;
	return 1;
}

/* Who may redirect has one. */
static void never(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = { .pre_handler = redirect, .post_handler = never };

static int go_set(const char *arg, const struct kernel_param *kp)
{
	complete_all(&go);
	return 0;
}

static const struct kernel_param_ops go_ops = { .set = go_set };
module_param_cb(go, &go_ops, NULL, 0200);

static int held_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&holding));
}

static const struct kernel_param_ops held_ops = { .get = held_get };
module_param_cb(held, &held_ops, NULL, 0444);

static int __init kprobes_hold_init(void)
{
	probe.symbol_name = symbol;
	return register_kprobe(&probe);
}

/* Our text stays until nobody is in it. */
static void __exit kprobes_hold_exit(void)
{
	unregister_kprobe(&probe);
	complete_all(&go);
	while (atomic_read(&holding))
		schedule_timeout_uninterruptible(1);
	synchronize_rcu_tasks();
}

module_init(kprobes_hold_init);
module_exit(kprobes_hold_exit);
MODULE_DESCRIPTION("holds the callers of a function");
MODULE_LICENSE("GPL");
