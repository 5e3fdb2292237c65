// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs kprobes/: list, enabled, blacklist.  Formats are those documented in
 * Documentation/trace/kprobes.rst.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/seq_file.h>

#include "index.h"
#include "internal.h"

static void show_probe(struct seq_file *m, struct kprobe *p, const char *sym,
		       unsigned long offset, const char *module)
{
	seq_printf(m, "%px  %c  %s+0x%lx  %s %s%s%s%s\n",
		   kallsyms_show_value(m->file->f_cred) ? p->addr : NULL,
		   probe_is_kretprobe(p) ? 'r' : 'k', sym, offset, module ?: " ",
		   kprobe_gone(p) ? "[GONE]" : "",
		   kprobe_disabled(p) && !kprobe_gone(p) ? "[DISABLED]" : "",
		   kprobe_optimized(p) ? "[OPTIMIZED]" : "",
		   kprobe_ftrace(p) ? "[FTRACE]" : "");
}

static void show_site(struct seq_file *m, struct probe_site *site)
{
	char namebuf[KSYM_NAME_LEN], *module = NULL;
	unsigned long offset = 0;
	const char *sym = NULL;
	struct kprobe *p;
	int lane;

	if (!site->gone)
		sym = kallsyms_lookup(site->addr, NULL, &offset, &module, namebuf);

	for_each_lane(lane)
		hlist_for_each_entry(p, &site->probes[lane], hlist)
			show_probe(m, p, sym ?: p->symbol_name ?: "?",
				   sym ? offset : p->offset, module);
}

/* File positions: 0, n + 1 for place n of the index, from here on in gone_sites. */
#define POS_GONE	BIT_ULL(32)

/* The first site at or behind a position, which is moved there. */
static void *site_at(loff_t *pos)
{
	struct probe_site *site;
	unsigned int place = *pos - 1;
	loff_t n;

	if (!*pos)
		return SEQ_START_TOKEN;
	if (*pos < POS_GONE) {
		site = site_next(&place);
		/* The place is the one behind the site's, which makes it the position. */
		*pos = site ? place : POS_GONE;
		if (site)
			return site;
	}
	n = *pos - POS_GONE;
	for_each_site(site, &gone_sites)
		if (!n--)
			return site;
	return NULL;
}

void *site_seq_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&kprobe_mutex);
	return site_at(pos);
}

void *site_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return site_at(pos);
}

void site_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kprobe_mutex);
}

static int list_seq_show(struct seq_file *m, void *v)
{
	if (v != SEQ_START_TOKEN)
		show_site(m, v);
	return 0;
}

static const struct seq_operations list_sops = {
	.start	= site_seq_start,
	.next	= site_seq_next,
	.stop	= site_seq_stop,
	.show	= list_seq_show,
};

DEFINE_SEQ_ATTRIBUTE(list);
DEFINE_SEQ_ATTRIBUTE(blacklist);

static ssize_t enabled_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	const char *text = READ_ONCE(kprobes_all_disarmed) ? "0\n" : "1\n";

	return simple_read_from_buffer(buf, len, pos, text, 2);
}

static ssize_t enabled_write(struct file *file, const char __user *buf, size_t len,
			     loff_t *pos)
{
	bool enable;
	int err;

	err = kstrtobool_from_user(buf, len, &enable);
	if (!err)
		err = sites_set_armed(enable);
	return err ?: len;
}

static const struct file_operations enabled_fops = {
	.read	= enabled_read,
	.write	= enabled_write,
	.llseek	= default_llseek,
};

static int __init kprobes_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("kprobes", NULL);

	debugfs_create_file("list", 0400, dir, NULL, &list_fops);
	debugfs_create_file("enabled", 0600, dir, NULL, &enabled_fops);
	debugfs_create_file("blacklist", 0400, dir, NULL, &blacklist_fops);
	stats_init(dir);
	return 0;
}
late_initcall(kprobes_debugfs_init);
