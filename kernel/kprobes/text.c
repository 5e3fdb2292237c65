// SPDX-License-Identifier: GPL-2.0
/*
 * Text that comes and goes: modules, and what is freed after initialisation.
 *
 * A module's blacklist is known before anybody may probe the module; its sites
 * are disarmed while its text is still there.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <asm/sections.h>

#include "internal.h"

/*
 * Ahead of those who probe a module as soon as it comes: probe events wait for
 * it at priority 2.
 */
#define KPROBE_NOTIFIER_PRIORITY 100

static int module_comes(struct module *mod)
{
	int err;

	mutex_lock(&kprobe_mutex);
	err = blacklist_add_module(mod);
	mutex_unlock(&kprobe_mutex);
	if (err)
		pr_warn("%s: not loaded, no memory for its blacklist\n", mod->name);
	return notifier_from_errno(err);
}

static void module_text_goes(struct module *mod, enum mod_mem_type type)
{
	sites_kill_range((unsigned long)mod->mem[type].base, mod->mem[type].size);
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
		mutex_lock(&kprobe_mutex);
		blacklist_remove_module(mod);
		mutex_unlock(&kprobe_mutex);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
	.priority	= KPROBE_NOTIFIER_PRIORITY,
};

/**
 * kprobe_free_init_mem() - the kernel's init text is about to be freed
 *
 * Context: end of boot; may sleep.
 */
void kprobe_free_init_mem(void)
{
	sites_kill_range((unsigned long)_sinittext, _einittext - _sinittext);
}

static int __init kprobes_init(void)
{
	int err;

	sites_init();
	mutex_lock(&kprobe_mutex);
	err = blacklist_init();
	mutex_unlock(&kprobe_mutex);
	if (err)
		pr_err("the blacklist is incomplete: %d\n", err);

	return err ?: register_module_notifier(&module_nb);
}
early_initcall(kprobes_init);
