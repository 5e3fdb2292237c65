// SPDX-License-Identifier: GPL-2.0
/*
 * A livepatch of kprobes_target_add(): in its place a function that adds 1000
 * more.  Counts the calls.  "echo 0 > /sys/kernel/livepatch/kprobes_livepatch/
 * enabled" takes it off.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static int calls;
module_param(calls, int, 0444);

static int patched_add(int a, int b)
{
	calls++;
	return a + b + 1000;
}

static struct klp_func functions[] = {
	{ .old_name = "kprobes_target_add", .new_func = patched_add },
	{ }
};

static struct klp_object objects[] = {
	{ .name = "kprobes_target", .funcs = functions },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init kprobes_livepatch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit kprobes_livepatch_exit(void)
{
}

module_init(kprobes_livepatch_init);
module_exit(kprobes_livepatch_exit);
MODULE_DESCRIPTION("a livepatch of a probed function");
MODULE_INFO(livepatch, "Y");
MODULE_LICENSE("GPL");
