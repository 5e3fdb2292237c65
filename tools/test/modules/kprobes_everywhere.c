// SPDX-License-Identifier: GPL-2.0
/*
 * Probes everywhere: the entry of each function that can be traced, all at once.
 *
 * The addresses come from outside, as text:
 *	cut -d' ' -f1 available_filter_functions_addrs >kprobes_everywhere/addrs
 * (in debugfs) makes a probe of each that register_kprobe() accepts, disabled.
 * "echo 1 > parameters/armed" enables all of them in one call, and 0 removes them
 * in one.  parameters/probes says how many there are, parameters/hits what the
 * CPUs have counted: each for itself, so that counting is not what is measured.
 */
#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define MAX_PROBES	200000
#define MAX_LINE	32

static DEFINE_MUTEX(lock);
static struct kprobe **kps;
static unsigned int probes;
module_param(probes, uint, 0444);
static unsigned int refused;
module_param(refused, uint, 0444);
static bool armed;

static DEFINE_PER_CPU(unsigned long, hit_count);

static int everywhere_hit(struct kprobe *p, struct pt_regs *regs)
{
	this_cpu_inc(hit_count);
	return 0;
}

NOKPROBE_SYMBOL(everywhere_hit);

static int add_probe(unsigned long addr)
{
	struct kprobe *p;

	if (probes == MAX_PROBES || armed)
		return -ENOSPC;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->addr = (void *)addr;
	p->pre_handler = everywhere_hit;
	p->flags = KPROBE_FLAG_DISABLED;
	if (register_kprobe(p)) {
		refused++;
		kfree(p);
		return 0;
	}
	kps[probes++] = p;
	return 0;
}

/* The start of a line whose end is for the next write to bring. */
static char begun[MAX_LINE];

static int add_lines(char *text)
{
	char *line = text, *end;
	unsigned long addr;
	int err;

	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		err = kstrtoul(line, 16, &addr) ?: add_probe(addr);
		if (err)
			return err;
		line = end + 1;
		cond_resched();
	}
	return strscpy(begun, line) < 0 ? -EINVAL : 0;
}

static int add_text(const char __user *from, size_t size)
{
	size_t len = strlen(begun);
	char *text = kmalloc(len + size + 1, GFP_KERNEL);
	int err = -EFAULT;

	if (!text)
		return -ENOMEM;
	memcpy(text, begun, len);
	begun[0] = '\0';
	if (!copy_from_user(text + len, from, size)) {
		text[len + size] = '\0';
		err = add_lines(text);
	}
	kfree(text);
	return err;
}

static ssize_t addrs_write(struct file *file, const char __user *from, size_t size,
			   loff_t *pos)
{
	int err;

	size = min_t(size_t, size, PAGE_SIZE);
	mutex_lock(&lock);
	err = add_text(from, size);
	mutex_unlock(&lock);
	return err ?: size;
}

static const struct file_operations addrs_ops = {
	.owner = THIS_MODULE,
	.write = addrs_write,
};

static void remove_all(void)
{
	unsigned int i;

	if (probes)
		unregister_kprobes(kps, probes);
	for (i = 0; i < probes; i++)
		kfree(kps[i]);
	probes = 0;
	armed = false;
}

static int armed_set(const char *arg, const struct kernel_param *param)
{
	bool arm;
	int err = kstrtobool(arg, &arm);

	if (err)
		return err;
	mutex_lock(&lock);
	if (!arm) {
		remove_all();
	} else {
		err = enable_kprobes(kps, probes);
		armed = !err;
	}
	mutex_unlock(&lock);
	return err;
}

static const struct kernel_param_ops armed_ops = {
	.set = armed_set,
	.get = param_get_bool,
};
module_param_cb(armed, &armed_ops, &armed, 0644);

static int hits_get(char *buffer, const struct kernel_param *param)
{
	unsigned long hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += per_cpu(hit_count, cpu);
	return sysfs_emit(buffer, "%lu\n", hits);
}

static const struct kernel_param_ops hits_ops = { .get = hits_get };
module_param_cb(hits, &hits_ops, NULL, 0444);

static struct dentry *dir;

static int __init kprobes_everywhere_init(void)
{
	kps = kvcalloc(MAX_PROBES, sizeof(*kps), GFP_KERNEL);
	if (!kps)
		return -ENOMEM;
	dir = debugfs_create_dir("kprobes_everywhere", NULL);
	debugfs_create_file("addrs", 0200, dir, NULL, &addrs_ops);
	return 0;
}

static void __exit kprobes_everywhere_exit(void)
{
	debugfs_remove(dir);
	remove_all();
	kvfree(kps);
}

module_init(kprobes_everywhere_init);
module_exit(kprobes_everywhere_exit);
MODULE_DESCRIPTION("probes on everything");
MODULE_LICENSE("GPL");
