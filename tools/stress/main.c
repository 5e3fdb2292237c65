// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: a storm of changes to probes that are being hit, see stress.h.
 *
 * What is written to debugfs/kprobe_stress/storm:
 *
 *   arm SEED [quiet]	keep the text, register anchors and witnesses; from here on
 *			the pool is called
 *   run SECONDS OPS	change probes until either is reached, and return then
 *   disarm		undo it all, and compare
 *
 * Reading tells how it went.  Writing 0, 1 or ? to "generation" says what debugfs
 * kprobes/enabled does: witness.c.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "stress.h"

#define NR_CHURNERS	4

/* Failures that are told in full. */
#define MAX_TOLD	30

atomic_long_t stress_hits, stress_failures;
bool stress_quiet;

/* One command at a time. */
static DEFINE_MUTEX(storm_mutex);
static bool armed;
static u64 storm_seed;
static unsigned int nr_runs;
static struct dentry *dir;

void stress_fail(const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	if (atomic_long_inc_return(&stress_failures) > MAX_TOLD)
		return;
	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	pr_err("kprobe_stress: %pV\n", &vaf);
	va_end(args);
}

static int arm(u64 seed, bool quiet)
{
	int err;

	if (armed)
		return -EBUSY;
	storm_seed = seed;
	stress_quiet = quiet;
	err = stress_text_keep();
	if (err)
		return err;
	err = stress_anchors_start();
	if (err)
		goto text;
	err = stress_witnesses_start();
	if (err)
		goto anchors;
	err = stress_callers_start(seed);
	if (err)
		goto witnesses;
	armed = true;
	return 0;
witnesses:
	stress_witnesses_stop();
anchors:
	stress_anchors_stop();
text:
	stress_text_drop();
	return err;
}

static int run(unsigned int seconds, unsigned long ops)
{
	unsigned long until = stress_churn_operations() + ops;
	time64_t end = ktime_get_seconds() + seconds;
	struct stress_churn *churn[NR_CHURNERS];
	unsigned int i;

	if (!armed)
		return -EINVAL;
	nr_runs++;
	for (i = 0; i < NR_CHURNERS; i++) {
		churn[i] = stress_churn_start(NR_CHURNERS * nr_runs + i, storm_seed);
		if (IS_ERR(churn[i]))
			stress_fail("thread %u: %pe", i, churn[i]);
	}
	while (ktime_get_seconds() < end && stress_churn_operations() < until &&
	       !fatal_signal_pending(current))
		msleep(100);
	for (i = 0; i < NR_CHURNERS; i++)
		if (!IS_ERR(churn[i]))
			stress_churn_stop(churn[i]);
	return 0;
}

static int disarm(void)
{
	if (!armed)
		return -EINVAL;
	armed = false;
	stress_callers_stop();
	stress_witnesses_stop();
	stress_anchors_stop();
	stress_text_compare();
	stress_text_drop();
	return 0;
}

static int command(const char *buf)
{
	unsigned int seconds;
	char word[8] = "";
	unsigned long ops;
	u64 seed;

	if (sscanf(buf, "arm %llu %7s", &seed, word) >= 1)
		return arm(seed, !strcmp(word, "quiet"));
	if (sscanf(buf, "run %u %lu", &seconds, &ops) == 2)
		return run(seconds, ops);
	if (sysfs_streq(buf, "disarm"))
		return disarm();
	return -EINVAL;
}

static ssize_t storm_write(struct file *file, const char __user *ubuf, size_t len,
			   loff_t *pos)
{
	char buf[64] = "";
	int err;

	if (len >= sizeof(buf) || copy_from_user(buf, ubuf, len))
		return -EINVAL;
	mutex_lock(&storm_mutex);
	err = command(buf);
	mutex_unlock(&storm_mutex);
	return err ?: len;
}

static ssize_t storm_read(struct file *file, char __user *ubuf, size_t len, loff_t *pos)
{
	char buf[1024];
	int n;

	n = stress_churn_show(buf, sizeof(buf));
	n += stress_callers_show(buf + n, sizeof(buf) - n);
	n += stress_probes_show(buf + n, sizeof(buf) - n);
	n += stress_anchors_show(buf + n, sizeof(buf) - n);
	n += stress_witnesses_show(buf + n, sizeof(buf) - n);
	n += scnprintf(buf + n, sizeof(buf) - n, "hits: %ld\nfailures: %ld\n",
		       atomic_long_read(&stress_hits), atomic_long_read(&stress_failures));
	return simple_read_from_buffer(ubuf, len, pos, buf, n);
}

static const struct file_operations storm_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= storm_read,
	.write	= storm_write,
};

static ssize_t generation_write(struct file *file, const char __user *ubuf, size_t len,
				loff_t *pos)
{
	char c;

	if (!len || get_user(c, ubuf))
		return -EINVAL;
	stress_generation(c == '0' ? PROBES_DISARMED :
			  c == '1' ? PROBES_ARMED : PROBES_CHANGING);
	return len;
}

static const struct file_operations generation_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= generation_write,
};

static int __init stress_init(void)
{
	dir = debugfs_create_dir("kprobe_stress", NULL);
	debugfs_create_file("storm", 0600, dir, NULL, &storm_fops);
	debugfs_create_file("generation", 0200, dir, NULL, &generation_fops);
	return 0;
}

static void __exit stress_exit(void)
{
	debugfs_remove(dir);
}

module_init(stress_init);
module_exit(stress_exit);
MODULE_DESCRIPTION("A storm of changes to kernel probes that are being hit");
MODULE_LICENSE("GPL");
