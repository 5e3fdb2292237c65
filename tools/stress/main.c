// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: a storm of changes to probes that are being hit, see stress.h.
 *
 * Writing "SECONDS SEED" to debugfs/kprobe_stress runs a storm and returns when
 * it is over; reading tells how it went.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "stress.h"

#define NR_CALLERS	3
#define NR_CHURNERS	3

/* Failures that are told in full. */
#define MAX_TOLD	20

/* Calls of a caller between two pauses. */
#define BURST		64

atomic_long_t stress_hits, stress_ops, stress_failures;

/* One storm at a time. */
static DEFINE_MUTEX(storm_mutex);
static struct dentry *file;

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

/* Calls all functions in turn, with arguments that sometimes make them sleep. */
static int call_all(void *arg)
{
	unsigned long x = (unsigned long)arg;
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < BURST; i++) {
			stress_check_call(x % NR_FUNCTIONS, x);
			x++;
		}
		usleep_range(200, 1000);
	}
	return 0;
}

static void storm(unsigned int seconds, u64 seed)
{
	struct stress_churn *churn[NR_CHURNERS];
	struct task_struct *caller[NR_CALLERS];
	unsigned int i;

	for (i = 0; i < NR_CALLERS; i++) {
		caller[i] = kthread_run(call_all, (void *)(i * 7919UL),
					"kprobe-caller/%u", i);
		if (IS_ERR(caller[i]))
			stress_fail("caller %u: %pe", i, caller[i]);
	}
	for (i = 0; i < NR_CHURNERS; i++) {
		churn[i] = stress_churn_start(i, seed);
		if (IS_ERR(churn[i]))
			stress_fail("churner %u: %pe", i, churn[i]);
	}
	while (seconds-- && !fatal_signal_pending(current))
		msleep(1000);
	for (i = 0; i < NR_CHURNERS; i++)
		if (!IS_ERR(churn[i]))
			stress_churn_stop(churn[i]);
	for (i = 0; i < NR_CALLERS; i++)
		if (!IS_ERR(caller[i]))
			kthread_stop(caller[i]);
}

static int run_storm(unsigned int seconds, u64 seed)
{
	int err;

	atomic_long_set(&stress_hits, 0);
	atomic_long_set(&stress_ops, 0);
	atomic_long_set(&stress_failures, 0);
	err = stress_pool_init();
	if (err)
		return err;
	err = stress_anchors_start();
	if (!err) {
		storm(seconds, seed);
		stress_anchors_stop();
	}
	stress_pool_check();
	stress_pool_exit();
	return err;
}

static ssize_t storm_write(struct file *file, const char __user *ubuf,
			   size_t len, loff_t *pos)
{
	unsigned int seconds;
	char buf[64] = "";
	u64 seed;
	int err;

	if (len >= sizeof(buf) || copy_from_user(buf, ubuf, len))
		return -EINVAL;
	if (sscanf(buf, "%u %llu", &seconds, &seed) != 2)
		return -EINVAL;
	mutex_lock(&storm_mutex);
	err = run_storm(seconds, seed);
	mutex_unlock(&storm_mutex);
	return err ?: len;
}

static ssize_t storm_read(struct file *file, char __user *ubuf, size_t len,
			  loff_t *pos)
{
	char buf[128];
	int n;

	n = scnprintf(buf, sizeof(buf),
		      "%ld operations, %ld hits, %ld failures\n",
		      atomic_long_read(&stress_ops),
		      atomic_long_read(&stress_hits),
		      atomic_long_read(&stress_failures));
	return simple_read_from_buffer(ubuf, len, pos, buf, n);
}

static const struct file_operations storm_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= storm_read,
	.write	= storm_write,
};

static int __init stress_init(void)
{
	file = debugfs_create_file("kprobe_stress", 0600, NULL, NULL,
				   &storm_fops);
	return 0;
}

static void __exit stress_exit(void)
{
	debugfs_remove(file);
}

module_init(stress_init);
module_exit(stress_exit);
MODULE_DESCRIPTION("A storm of changes to kernel probes that are being hit");
MODULE_LICENSE("GPL");
