// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: what becomes of them when a module comes or goes.
 *
 * The one idea: an event in a module stays as it was defined, be the module there or
 * not.  Only what the engine knows of it changes.
 */
#define pr_fmt(fmt) "trace_kprobe: " fmt

#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "trace_kprobe.h"

/* Behind the engine's, which is to know a module's text before we probe it. */
#define TRACE_KPROBE_NOTIFIER_PRIORITY 2

/**
 * trace_kprobe_may_load() - is a module not loaded, and may it be?
 * @name:	its name
 *
 * Context: may sleep.
 * Return: true when it is so.
 */
bool trace_kprobe_may_load(const char *name)
{
	bool loaded;

	rcu_read_lock_sched();
	loaded = find_module(name);
	rcu_read_unlock_sched();
	return !loaded;
}

static bool is_in_module(const struct trace_kprobe *tk, const struct module *mod)
{
	size_t len = strlen(mod->name);

	return tk->symbol && !strncmp(tk->symbol, mod->name, len) && tk->symbol[len] == ':';
}

static void module_came(struct trace_kprobe *tk)
{
	int err;

	if (trace_kprobe_members(tk)->at[0].registered)
		return;
	err = trace_kprobe_renew_members(tk);
	if (err)
		pr_warn("%s/%s: could not probe %s: error %d\n", trace_probe_group_name(&tk->tp),
			trace_probe_name(&tk->tp), tk->symbol, err);
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct dyn_event *ev;

	if (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING)
		return NOTIFY_DONE;

	guard(mutex)(&event_mutex);
	for_each_dyn_event(ev) {
		if (!is_trace_kprobe(ev) || !is_in_module(to_trace_kprobe(ev), data))
			continue;
		if (state == MODULE_STATE_COMING)
			module_came(to_trace_kprobe(ev));
		else
			trace_kprobe_unregister_members(to_trace_kprobe(ev));
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
	.priority	= TRACE_KPROBE_NOTIFIER_PRIORITY,
};

/**
 * trace_kprobe_module_init() - from now on follow what modules come and go
 *
 * Context: boot.
 * Return: 0 or a negative errno.
 */
int __init trace_kprobe_module_init(void)
{
	return register_module_notifier(&module_nb);
}
