// SPDX-License-Identifier: GPL-2.0
/*
 * Modules: text that comes and goes.
 *
 * A module's blacklist is known before anybody may probe the module; its sites
 * are disarmed while its text is still there.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/preempt.h>

#include "internal.h"

/*
 * Ahead of those who probe a module as soon as it comes: probe events wait for
 * it at priority 2.
 */
#define KPROBE_NOTIFIER_PRIORITY 100

/**
 * check_module_text() - is there a module's text, and will it stay?
 * @to: where; in @to->why_not, why not
 *
 * Context: kprobe_mutex held: the text stays as long as that.
 * Return: 0; -EINVAL: there is none; -ENOENT: it is about to go.
 */
int check_module_text(struct probe_target *to)
{
	struct module *mod;
	int err = 0;

	preempt_disable();
	mod = __module_text_address(to->addr);
	if (!mod)
		err = refuse(to, -EINVAL, "no kernel text");
	else if (mod->state == MODULE_STATE_GOING)
		err = refuse(to, -ENOENT, "its module is leaving");
	else if (within_module_init(to->addr, mod) && mod->state != MODULE_STATE_COMING)
		err = refuse(to, -ENOENT, "init text, which is freed");
	preempt_enable();
	return err;
}

static int module_comes(struct module *mod)
{
	const struct text_area areas[] = {
		{ mod->kprobes_text_start, mod->kprobes_text_size },
		{ mod->noinstr_text_start, mod->noinstr_text_size },
	};
	int err;

	mutex_lock(&kprobe_mutex);
	err = blacklist_add_text(mod->kprobe_blacklist, mod->num_kprobe_blacklist, areas);
	mutex_unlock(&kprobe_mutex);
	if (err)
		pr_warn("%s: not loaded, no memory for its blacklist\n", mod->name);
	return notifier_from_errno(err);
}

static void module_text_goes(struct module *mod, enum mod_mem_type type)
{
	unsigned long start = (unsigned long)mod->mem[type].base;
	unsigned long size = mod->mem[type].size;

	sites_kill_range(start, size);
	mutex_lock(&kprobe_mutex);
	blacklist_remove_text(start, size);
	mutex_unlock(&kprobe_mutex);
}

static void drop_probe(struct kprobe *p)
{
	if (IS_ENABLED(CONFIG_KRETPROBES) && probe_is_kretprobe(p))
		unregister_kretprobe(container_of(p, struct kretprobe, kp));
	else
		unregister_kprobe(p);
}

/*
 * A module that goes and leaves probes behind would have hits run into memory that
 * is somebody else's: do what it has forgotten.
 */
static void module_leaves_probes(struct module *mod)
{
	struct kprobe *p;

	for (;;) {
		mutex_lock(&kprobe_mutex);
		p = probe_of_module(mod);
		mutex_unlock(&kprobe_mutex);
		if (!p)
			return;
		complain("%s goes and leaves a probe at %pS: unregistered\n", mod->name,
			 p->addr);
		drop_probe(p);
	}
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	switch (state) {
	case MODULE_STATE_COMING:
		return module_comes(mod);
	case MODULE_STATE_LIVE:
		module_text_goes(mod, MOD_INIT_TEXT);
		break;
	case MODULE_STATE_GOING:
		module_leaves_probes(mod);
		module_text_goes(mod, MOD_INIT_TEXT);
		module_text_goes(mod, MOD_TEXT);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
	.priority	= KPROBE_NOTIFIER_PRIORITY,
};

/**
 * kprobes_follow_modules() - from now on know what modules come and go
 *
 * Context: early boot.
 * Return: 0, or an errno.
 */
int __init kprobes_follow_modules(void)
{
	return register_module_notifier(&module_nb);
}
