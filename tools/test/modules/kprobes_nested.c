// SPDX-License-Identifier: GPL-2.0
/*
 * A probe on kprobes_target_long() whose handler calls a function that may be
 * probed, too: kprobes_nested_callee(), CALLS times.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#include "kprobes_nested.h"

#define CALLS	2

/* The instruction after fentry's is a long one, as in kprobes_target_long(). */
noinline __noclone int kprobes_nested_callee(void)
{
	barrier();
	return 0x1234567;
}

static int nested_hit(struct kprobe *p, struct pt_regs *regs)
{
	int i;

	for (i = 0; i < CALLS; i++)
		kprobes_nested_callee();
	return 0;
}

NOKPROBE_SYMBOL(nested_hit);

static struct kprobe nested = {
	.symbol_name	= "kprobes_target_long",
	.pre_handler	= nested_hit,
};

static int __init kprobes_nested_init(void)
{
	return register_kprobe(&nested);
}

static void __exit kprobes_nested_exit(void)
{
	unregister_kprobe(&nested);
}

module_init(kprobes_nested_init);
module_exit(kprobes_nested_exit);
MODULE_DESCRIPTION("a probe whose handler calls what is probed");
MODULE_LICENSE("GPL");
