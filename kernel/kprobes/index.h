/* SPDX-License-Identifier: GPL-2.0 */
/*
 * site_find() and the table behind it.  The entry stub does the same in assembly:
 * a hit has no time for a call.
 */
#ifndef _KERNEL_KPROBES_INDEX_H
#define _KERNEL_KPROBES_INDEX_H

/* GOLDEN_RATIO_64 of linux/hash.h, where assembly cannot look. */
#define INDEX_HASH	0x61c8864680b583eb

#define INDEX_SHIFT	0
#define INDEX_MASK	4
#define INDEX_ENTRY	32

#ifndef __ASSEMBLY__

#include <linux/rcupdate.h>
#include <linux/types.h>

#include "internal.h"

/**
 * struct site_index - one generation of the table
 * @shift:	64 less log2 of the number of entries: the hash of an address is
 *		the upper bits of its product with INDEX_HASH
 * @mask:	the number of entries, a power of two, less one
 * @live:	entries that hold a site; kprobe_mutex
 * @used:	entries that are not empty, deleted ones included; kprobe_mutex
 * @rcu:	for the old generation
 * @entry:	the table
 */
struct site_index {
	unsigned int		shift;
	unsigned int		mask;
	unsigned int		live;
	unsigned int		used;
	struct rcu_head		rcu;
	struct probe_site	*entry[];
};

extern struct site_index __rcu *kprobe_site_index;

static __always_inline unsigned int index_start(const struct site_index *t,
						unsigned long addr)
{
	return (addr * INDEX_HASH) >> t->shift;
}

/**
 * site_find() - the site at an address
 * @addr: where
 *
 * The address dependency from the entry to the site orders this after the
 * smp_store_release() in index_set().
 *
 * Context: any, preemption off or kprobe_mutex held.
 * Return: the site, or NULL.
 */
static __always_inline struct probe_site *site_find(unsigned long addr)
{
	const struct site_index *t = rcu_dereference_raw(kprobe_site_index);
	unsigned int i = index_start(t, addr);
	struct probe_site *site;

	while ((site = READ_ONCE(t->entry[i]))) {
		if (site->addr == addr)
			return site;
		i = (i + 1) & t->mask;
	}
	return NULL;
}

#endif /* __ASSEMBLY__ */

#endif /* _KERNEL_KPROBES_INDEX_H */
