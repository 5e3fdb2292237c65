// SPDX-License-Identifier: GPL-2.0
/*
 * A typed entry probe paired with a return probe: who creates a task, with what
 * flags, and the number of the new one.
 *
 * The entry handler has kernel_clone()'s own prototype.  The two handlers share
 * nothing here; a kretprobe's data_size gives a pair room to.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

static pid_t on_clone(struct kernel_clone_args *args)
{
	pr_info("%s[%d] creates a task, flags %llx\n", current->comm, current->pid,
		(unsigned long long)args->flags);
	return 0;	/* of no account */
}

static int on_cloned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	pr_info("%s[%d] has created %d\n", current->comm, current->pid,
		(int)regs_return_value(regs));
	return 0;
}

static struct jprobe entry = {
	.kp.symbol_name	= "kernel_clone",
	.entry		= JPROBE_ENTRY(on_clone),
};

static struct kretprobe back = {
	.handler	= on_cloned,
};

static int __init jrprobe_example_init(void)
{
	int err = register_jrprobe(&entry, &back);

	if (err)
		pr_err("cannot probe %s: %d\n", entry.kp.symbol_name, err);
	return err;
}

static void __exit jrprobe_example_exit(void)
{
	unregister_jrprobe(&entry, &back);
	pr_info("%d calls were not seen to return\n", back.nmissed);
}

module_init(jrprobe_example_init);
module_exit(jrprobe_example_exit);
MODULE_DESCRIPTION("A typed entry probe and a return probe on kernel_clone()");
MODULE_LICENSE("GPL");
