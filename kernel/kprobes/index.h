/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables from addresses to what the engine knows of them, and the look into one.
 * The entry stub does the same in assembly: a hit has no time for a call.
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
 * struct addr_index - one generation of a table
 * @shift:	64 less log2 of the number of entries: the hash of an address is
 *		the upper bits of its product with INDEX_HASH
 * @mask:	the number of entries, a power of two, less one
 * @live:	entries that are in use; kprobe_mutex
 * @used:	entries that are not empty, deleted ones included; kprobe_mutex
 * @rcu:	for the old generation
 * @entry:	the table: pointers to objects that begin with their address
 */
struct addr_index {
	unsigned int	shift;
	unsigned int	mask;
	unsigned int	live;
	unsigned int	used;
	struct rcu_head	rcu;
	unsigned long	*entry[];
};

/* The table of a variable that has none yet. */
extern struct addr_index addr_index_empty;

int addr_index_reserve(struct addr_index __rcu **index, unsigned int n);
void addr_index_add(struct addr_index __rcu **index, unsigned long *object);
void addr_index_del(struct addr_index __rcu **index, unsigned long *object);
unsigned long *addr_index_next(struct addr_index __rcu **index, unsigned int *pos);
void addr_index_clear(struct addr_index __rcu **index);

static __always_inline unsigned int index_start(const struct addr_index *t,
						unsigned long addr)
{
	return (addr * INDEX_HASH) >> t->shift;
}

/**
 * addr_index_find() - the object of an address
 * @index: the table
 * @addr:  the address
 *
 * The address dependency from the entry to the object orders this after the
 * smp_store_release() in index_set().
 *
 * Context: any, preemption off or kprobe_mutex held.
 * Return: the object, or NULL.
 */
static __always_inline unsigned long *
addr_index_find(struct addr_index __rcu *const *index, unsigned long addr)
{
	const struct addr_index *t = rcu_dereference_raw(*index);
	unsigned int i = index_start(t, addr);
	unsigned long *object;

	while ((object = READ_ONCE(t->entry[i]))) {
		if (*object == addr)
			return object;
		i = (i + 1) & t->mask;
	}
	return NULL;
}

/* All sites whose text is there. */
extern struct addr_index __rcu *kprobe_site_index;

/* As addr_index_find(). */
static __always_inline struct probe_site *site_find(unsigned long addr)
{
	return (struct probe_site *)addr_index_find(&kprobe_site_index, addr);
}

/* As addr_index_next(). */
static inline struct probe_site *site_next(unsigned int *pos)
{
	return (struct probe_site *)addr_index_next(&kprobe_site_index, pos);
}

#endif /* __ASSEMBLY__ */

#endif /* _KERNEL_KPROBES_INDEX_H */
