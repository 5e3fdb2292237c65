/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counting hits, while somebody wants to know: count.c.
 */
#ifndef _KERNEL_KPROBES_COUNT_H
#define _KERNEL_KPROBES_COUNT_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct probe_site;

/* On while hits are counted; a hit that is not pays a nop. */
DECLARE_STATIC_KEY_FALSE(kprobe_counting);

void kprobe_count_hit(const struct probe_site *site);

static __always_inline void site_count_hit(const struct probe_site *site)
{
	if (static_branch_unlikely(&kprobe_counting))
		kprobe_count_hit(site);
}

/* For stats.c; kprobe_mutex held. */
int counting_set(bool on);
bool site_hits(const struct probe_site *site, unsigned long *hits);
void count_site(const struct probe_site *site);
void uncount_site(const struct probe_site *site);

#endif /* _KERNEL_KPROBES_COUNT_H */
