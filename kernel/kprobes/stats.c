// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs kprobes/stats, a line for each site, and kprobes/count, which switches
 * the counting of hits on and off.
 *
 * What is missed is always known, since the probes count it themselves; hits are
 * counted only on demand, as that costs each of them.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>

#include "count.h"
#include "internal.h"

/**
 * struct site_stats - one line
 * @probes:	probes at the site, disabled ones included
 * @nested:	hits of a probe that came from within a handler
 * @unhooked:	calls of a probed function for which no instance was free
 */
struct site_stats {
	unsigned int	probes;
	unsigned long	nested;
	unsigned long	unhooked;
};

static void sum_probe(struct site_stats *sum, struct kprobe *p)
{
	sum->probes++;
	sum->nested += p->nmissed;
#ifdef CONFIG_KRETPROBES
	if (probe_is_kretprobe(p))
		sum->unhooked += container_of(p, struct kretprobe, kp)->nmissed;
#endif
}

static const char *method_name(const struct probe_site *site)
{
	if (!site->armed)
		return "off";
	if (site_is_displaced(site) && displaced(site)->jump == JUMP_ARMED)
		return "jump";
	return site_method(site)->name;
}

static void show_site(struct seq_file *m, const struct probe_site *site)
{
	struct site_stats sum = { };
	unsigned long hits;
	struct kprobe *p;
	int lane;

	for_each_lane(lane)
		hlist_for_each_entry(p, &site->probes[lane], hlist)
			sum_probe(&sum, p);

	seq_printf(m, "%-11s %6u ", method_name(site), sum.probes);
	if (site_hits(site, &hits))
		seq_printf(m, "%12lu ", hits);
	else
		seq_printf(m, "%12s ", "-");
	seq_printf(m, "%10lu %10lu  %pS\n", sum.nested, sum.unhooked, (void *)site->addr);
}

static int stats_seq_show(struct seq_file *m, void *v)
{
	if (v == SEQ_START_TOKEN)
		seq_printf(m, "%-11s %6s %12s %10s %10s  %s\n", "method", "probes",
			   "hits", "nested", "unhooked", "site");
	else if (!((struct probe_site *)v)->gone)
		show_site(m, v);
	return 0;
}

static const struct seq_operations stats_sops = {
	.start	= site_seq_start,
	.next	= site_seq_next,
	.stop	= site_seq_stop,
	.show	= stats_seq_show,
};

DEFINE_SEQ_ATTRIBUTE(stats);

static ssize_t count_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	const char *text = static_key_enabled(&kprobe_counting) ? "1\n" : "0\n";

	return simple_read_from_buffer(buf, len, pos, text, 2);
}

static ssize_t count_write(struct file *file, const char __user *buf, size_t len,
			   loff_t *pos)
{
	bool on;
	int err;

	err = kstrtobool_from_user(buf, len, &on);
	if (err)
		return err;
	mutex_lock(&kprobe_mutex);
	err = counting_set(on);
	mutex_unlock(&kprobe_mutex);
	return err ?: len;
}

static const struct file_operations count_fops = {
	.read	= count_read,
	.write	= count_write,
	.llseek	= default_llseek,
};

/**
 * stats_init() - make the two files
 * @dir: debugfs kprobes/
 *
 * Context: boot.
 */
void __init stats_init(struct dentry *dir)
{
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_file("count", 0600, dir, NULL, &count_fops);
}
