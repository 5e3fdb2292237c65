// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_bench: measure what probes cost, see bench.h.
 *
 * Two files in debugfs/kprobe_bench.  Addresses of traceable functions, one
 * hexadecimal number a line, are written to "sites"; a verb is written to
 * "run", which then reads back as the answer to that verb.
 */
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hex.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "bench.h"

#define ANSWER_SIZE	4096

/* One verb at a time; also guards the answer. */
static DEFINE_MUTEX(bench_mutex);
static char answer[ANSWER_SIZE];
static size_t answer_len;
static struct dentry *dir;

/* The address being read: a write may end in the middle of a line. */
static unsigned long partial_addr;

void bench_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	answer_len += vscnprintf(answer + answer_len, ANSWER_SIZE - answer_len,
				 fmt, args);
	va_end(args);
}

static int take_char(char c)
{
	int digit = hex_to_bin(c);
	int err;

	if (digit >= 0) {
		partial_addr = partial_addr << 4 | digit;
		return 0;
	}
	if (c != '\n' || !partial_addr)
		return -EINVAL;
	err = bench_sites_add(partial_addr);
	partial_addr = 0;
	return err;
}

static ssize_t sites_write(struct file *file, const char __user *ubuf,
			   size_t len, loff_t *pos)
{
	char *buf = memdup_user(ubuf, len);
	int err = 0;
	size_t i;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	mutex_lock(&bench_mutex);
	for (i = 0; i < len && !err; i++)
		err = take_char(buf[i]);
	mutex_unlock(&bench_mutex);
	kfree(buf);
	return err ?: len;
}

static const struct file_operations sites_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= sites_write,
};

static int do_verb(char *verb)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} verbs[] = {
		{ "hits",	bench_hits },
		{ "breakpoint",	bench_hits_breakpoint },
		{ "jump",	bench_hits_jump },
		{ "sites",	bench_sites_ready },
		{ "old",	bench_old },
		{ "idle",	bench_old_idle },
		{ "first",	bench_first },
		{ "one",	bench_attach_one },
		{ "detach",	bench_detach },
		{ "start",	bench_watch_start },
		{ "sleepers",	bench_sleepers },
		{ "crowd",	bench_crowd },
		{ "in",		bench_crowd_in },
		{ "out",	bench_crowd_out },
		{ "burst",	bench_burst },
	};
	static const struct {
		const char *name;
		int (*run)(const char *what, const char *rest);
	} verbs_with[] = {
		{ "attach",	bench_attach },
		{ "stop",	bench_watch_stop },
	};
	char *rest = verb, *what;
	int i;

	verb = strsep(&rest, " ");
	if (!strcmp(verb, "event"))
		return rest ? bench_hits_event(rest) : -EINVAL;
	for (i = 0; i < ARRAY_SIZE(verbs_with); i++) {
		if (strcmp(verb, verbs_with[i].name))
			continue;
		what = strsep(&rest, " ");
		return what && rest ? verbs_with[i].run(what, rest) : -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verb, verbs[i].name))
			return verbs[i].run();
	return -EINVAL;
}

static ssize_t run_write(struct file *file, const char __user *ubuf,
			 size_t len, loff_t *pos)
{
	char *verb = memdup_user_nul(ubuf, min_t(size_t, len, 64));
	int err;

	if (IS_ERR(verb))
		return PTR_ERR(verb);
	mutex_lock(&bench_mutex);
	answer_len = 0;
	err = do_verb(strim(verb));
	mutex_unlock(&bench_mutex);
	kfree(verb);
	return err ?: len;
}

static ssize_t run_read(struct file *file, char __user *ubuf, size_t len,
			loff_t *pos)
{
	ssize_t n;

	mutex_lock(&bench_mutex);
	n = simple_read_from_buffer(ubuf, len, pos, answer, answer_len);
	mutex_unlock(&bench_mutex);
	return n;
}

static const struct file_operations run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= run_read,
	.write	= run_write,
};

static int __init bench_init(void)
{
	bench_hits_bare();
	dir = debugfs_create_dir("kprobe_bench", NULL);
	debugfs_create_file("sites", 0200, dir, NULL, &sites_fops);
	debugfs_create_file("run", 0600, dir, NULL, &run_fops);
	return 0;
}

static void __exit bench_exit(void)
{
	debugfs_remove(dir);
	bench_attach_exit();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Cost of kernel probes, through the public API");
MODULE_LICENSE("GPL");
