// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: kprobe_events and kprobe_profile in tracefs, and kprobe_event= at boot.
 *
 * The one idea: a file or the kernel's command line is a list of commands, and
 * whatever one write adds or deletes is one change.
 */
#define pr_fmt(fmt) "trace_kprobe: " fmt

#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <asm/setup.h>

#include "trace_kprobe.h"
#include "trace_probe_batch.h"

/* tracefs: kprobe_events */

/* What is no command for kprobe events is not to go unexplained. */
static int refuse_command(int argc, const char *argv[])
{
	trace_probe_log_init("trace_kprobe", argc, argv);
	trace_probe_log_err(0, NOT_KPROBE);
	trace_probe_log_clear();
	return -EINVAL;
}

/* Say why an event was not deleted, below its name. */
static void explain_release(const char *raw_command, int err)
{
	char **argv;
	int argc;

	argv = argv_split(GFP_KERNEL, raw_command, &argc);
	if (!argv)
		return;
	guard(mutex)(&dyn_event_ops_mutex);
	trace_probe_log_init("trace_kprobe", argc, (const char **)argv);
	if (err == -EINVAL)
		trace_probe_log_err(strspn(argv[0], "-:"), NO_EVENT_NAME);
	else if (err == -ENOENT)
		trace_probe_log_err(strlen("-:"), NO_EVENT);
	else if (err == -EBUSY)
		trace_probe_log_err(strlen("-:"), EVENT_BUSY);
	trace_probe_log_clear();
	argv_free(argv);
}

static int run_command(const char *raw_command)
{
	int err;

	if (raw_command[0] == '-') {
		err = dyn_event_release(raw_command, &trace_kprobe_ops);
		if (err)
			explain_release(raw_command, err);
		return err;
	}
	err = dyn_event_create(raw_command, &trace_kprobe_ops);
	if (err != -ECANCELED)
		return err;
	guard(mutex)(&dyn_event_ops_mutex);
	return trace_probe_create(raw_command, refuse_command);
}

static int show_definition(struct seq_file *m, void *v)
{
	return is_trace_kprobe(v) ? trace_kprobe_show(m, v) : 0;
}

static const struct seq_operations definitions_seq_ops = {
	.start	= dyn_event_seq_start,
	.next	= dyn_event_seq_next,
	.stop	= dyn_event_seq_stop,
	.show	= show_definition,
};

static int definitions_open(struct inode *inode, struct file *file)
{
	int err = tracing_check_open_get_tr(NULL);

	if (err)
		return err;
	/* What can fail comes before what cannot be undone. */
	err = seq_open(file, &definitions_seq_ops);
	if (err)
		return err;
	if (file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC) {
		guard(trace_kprobe_write)();
		err = dyn_events_release_all(&trace_kprobe_ops);
	}
	if (err)
		seq_release(inode, file);
	return err;
}

static ssize_t definitions_write(struct file *file, const char __user *buffer,
				 size_t count, loff_t *ppos)
{
	return trace_kprobe_run_commands(file, buffer, count, ppos, run_command);
}

static const struct file_operations definitions_fops = {
	.owner		= THIS_MODULE,
	.open		= definitions_open,
	.write		= definitions_write,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

/* tracefs: kprobe_profile */

static int show_profile(struct seq_file *m, void *v)
{
	struct trace_kprobe *tk = to_trace_kprobe(v);

	if (is_trace_kprobe(v))
		seq_printf(m, "  %-44s %15lu %15lu\n", trace_probe_name(&tk->tp),
			   trace_kprobe_hits(tk), trace_kprobe_misses(tk));
	return 0;
}

static const struct seq_operations profile_seq_ops = {
	.start	= dyn_event_seq_start,
	.next	= dyn_event_seq_next,
	.stop	= dyn_event_seq_stop,
	.show	= show_profile,
};

static int profile_open(struct inode *inode, struct file *file)
{
	return tracing_check_open_get_tr(NULL) ?: seq_open(file, &profile_seq_ops);
}

static const struct file_operations profile_fops = {
	.owner		= THIS_MODULE,
	.open		= profile_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

/* Boot */

/* kprobe_event=: definitions between semicolons, with commas for spaces. */
static char boot_definitions[COMMAND_LINE_SIZE] __initdata;

static int __init keep_boot_definitions(char *str)
{
	strscpy(boot_definitions, str);
	disable_tracing_selftest("running kprobe events");
	return 1;
}
__setup("kprobe_event=", keep_boot_definitions);

static void __init enable_boot_events(void)
{
	struct trace_array *tr = top_trace_array();
	struct trace_event_file *file;
	struct trace_kprobe *tk;
	struct dyn_event *ev;

	if (!tr)
		return;
	guard(mutex)(&event_mutex);
	trace_kprobe_batch_begin();
	for_each_dyn_event(ev) {
		if (!is_trace_kprobe(ev))
			continue;
		tk = to_trace_kprobe(ev);
		file = __find_event_file(tr, trace_probe_group_name(&tk->tp),
					 trace_probe_name(&tk->tp));
		if (file)
			trace_event_enable_disable(file, 1, 0);
	}
	trace_kprobe_batch_commit(0);
}

static void __init run_boot_definitions(void)
{
	char *rest = boot_definitions, *command;
	int err;

	if (!*rest)
		return;
	strreplace(rest, ',', ' ');
	while ((command = strsep(&rest, ";"))) {
		err = *command ? run_command(command) : 0;
		if (err)
			pr_warn("Failed to add event(%d): %s\n", err, command);
	}
	enable_boot_events();
}

static int __init trace_kprobe_init(void)
{
	int err = tracing_init_dentry();

	if (!err) {
		trace_create_file("kprobe_events", TRACE_MODE_WRITE, NULL, NULL,
				  &definitions_fops);
		trace_create_file("kprobe_profile", TRACE_MODE_READ, NULL, NULL,
				  &profile_fops);
	}
	run_boot_definitions();
	return 0;
}
fs_initcall(trace_kprobe_init);
