// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's beginning, and the end of the text that only a beginning needs.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/init.h>
#include <asm/sections.h>

#include "internal.h"

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

	return err ?: kprobes_follow_modules();
}
early_initcall(kprobes_init);
