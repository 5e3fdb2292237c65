// SPDX-License-Identifier: GPL-2.0
/*
 * A module that registers probes of every kind on the functions of kprobes_target,
 * and unregisters none of them: neither when it is removed nor, with fail=1, when
 * it refuses to be loaded.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

static bool fail;
module_param(fail, bool, 0);

static unsigned int hits;
module_param(hits, uint, 0444);

static int hit(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static int typed(int a, int b)
{
	hits++;
	return 0;
}

static struct kprobe plain = {
	.symbol_name = "kprobes_target_add", .pre_handler = hit,
};

static struct kretprobe at_return = {
	.kp.symbol_name = "kprobes_target_sleep", .handler = returned,
};

static struct jprobe at_entry = {
	.kp.symbol_name = "kprobes_target_add", .entry = JPROBE_ENTRY(typed),
};

/* Of the allocator's memory, but with a handler of ours. */
static struct kprobe *elsewhere;

static int __init leaver_init(void)
{
	int err;

	elsewhere = kzalloc(sizeof(*elsewhere), GFP_KERNEL);
	if (!elsewhere)
		return -ENOMEM;
	elsewhere->symbol_name = "kprobes_target_other";
	elsewhere->pre_handler = hit;

	err = register_kprobe(&plain);
	err = err ?: register_kretprobe(&at_return);
	err = err ?: register_jprobe(&at_entry);
	err = err ?: register_kprobe(elsewhere);
	return err ?: fail ? -EIO : 0;
}

static void __exit leaver_exit(void)
{
}

module_init(leaver_init);
module_exit(leaver_exit);
MODULE_DESCRIPTION("leaves its probes behind");
MODULE_LICENSE("GPL");
