// SPDX-License-Identifier: GPL-2.0
/*
 * Functions to probe, which nobody calls unless told to: so a count can be
 * exact.
 *
 * "echo N > parameters/call" calls kprobes_target_add() N times, and each time
 * kprobes_target_other() once.  parameters/wrong counts the calls of the first
 * that did not return the sum, as they do when it is livepatched.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "kprobes_target.h"

static int wrong;
module_param(wrong, int, 0444);

noinline __noclone int kprobes_target_add(int a, int b)
{
	barrier();
	return a + b;
}
EXPORT_SYMBOL_GPL(kprobes_target_add);

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

static int call_set(const char *arg, const struct kernel_param *kp)
{
	unsigned int i, n;
	int err = kstrtouint(arg, 0, &n);

	for (i = 0; !err && i < n; i++) {
		if (kprobes_target_add(i, 2) != i + 2)
			wrong++;
		kprobes_target_other(i);
		kprobes_target_refused(i);
	}
	return err;
}

static const struct kernel_param_ops call_ops = { .set = call_set };
module_param_cb(call, &call_ops, NULL, 0200);

static int __init kprobes_target_init(void)
{
	return kprobes_target_init_text(1) == 4 ? 0 : -EINVAL;
}

static void __exit kprobes_target_exit(void)
{
}

module_init(kprobes_target_init);
module_exit(kprobes_target_exit);
MODULE_DESCRIPTION("functions to probe");
MODULE_LICENSE("GPL");
