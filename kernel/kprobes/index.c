// SPDX-License-Identifier: GPL-2.0
/*
 * Tables from addresses to objects, for the hit path.
 *
 * An open-addressing table of pointers, at most half full, so that a lookup costs
 * the same with one entry and with thirty thousand.  An entry never moves inside
 * a table: entries are filled, emptied or marked as deleted, and when the table
 * has become too full a larger copy is published and the old one freed after a
 * grace period.  A lookup therefore needs no lock and no retry in any context, NMI
 * included.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "index.h"

#define INDEX_MIN_SIZE	64U

/* Stands where an object was, so that a lookup goes on behind it. */
static unsigned long deleted = ~0UL;

/* Two entries, for ever empty and for ever taken to be full. */
struct addr_index addr_index_empty = {
	.shift	= 63,
	.mask	= 1,
	.used	= 2,
	.entry	= { NULL, NULL },
};

/* Read by hits, replaced under kprobe_mutex. */
struct addr_index __rcu *kprobe_site_index __read_mostly =
	RCU_INITIALIZER(&addr_index_empty);

/* entry_64.S finds a site in the same way. */
static_assert(INDEX_HASH == GOLDEN_RATIO_64);
static_assert(offsetof(struct addr_index, shift) == INDEX_SHIFT);
static_assert(offsetof(struct addr_index, mask) == INDEX_MASK);
static_assert(offsetof(struct addr_index, entry) == INDEX_ENTRY);
static_assert(offsetof(struct probe_site, addr) == 0);

static struct addr_index *index_locked(struct addr_index __rcu **index)
{
	return rcu_dereference_protected(*index, lockdep_is_held(&kprobe_mutex));
}

/* Put @object into the first place that is free on its way. */
static void index_set(struct addr_index *t, unsigned long *object)
{
	unsigned int i = index_start(t, *object);

	while (t->entry[i] && t->entry[i] != &deleted)
		i = (i + 1) & t->mask;

	if (!t->entry[i])
		t->used++;
	t->live++;
	/* The object is complete before a hit can find it. */
	smp_store_release(&t->entry[i], object);
}

static void index_free(struct rcu_head *rcu)
{
	kvfree(container_of(rcu, struct addr_index, rcu));
}

static void index_replace(struct addr_index __rcu **index, struct addr_index *t)
{
	struct addr_index *old = index_locked(index);

	rcu_assign_pointer(*index, t);
	if (old != &addr_index_empty)
		call_rcu(&old->rcu, index_free);
}

/**
 * addr_index_reserve() - make room in a table
 * @index: the table
 * @n:     for how many objects more than there are
 *
 * A new table is published when the old one is too full; it has no deleted
 * entries.
 *
 * Context: may sleep; kprobe_mutex held.
 * Return: 0, or -ENOMEM.
 */
int addr_index_reserve(struct addr_index __rcu **index, unsigned int n)
{
	struct addr_index *old = index_locked(index);
	struct addr_index *t;
	unsigned int size, i;

	if (2 * (old->used + n) <= old->mask + 1)
		return 0;

	size = roundup_pow_of_two(max(2 * (old->live + n), INDEX_MIN_SIZE));
	t = kvzalloc(struct_size(t, entry, size), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->shift = 64 - ilog2(size);
	t->mask = size - 1;

	for (i = 0; i <= old->mask; i++)
		if (old->entry[i] && old->entry[i] != &deleted)
			index_set(t, old->entry[i]);
	index_replace(index, t);
	return 0;
}

/**
 * addr_index_add() - let hits on an object's address find it
 * @index:  the table, with room: addr_index_reserve()
 * @object: begins with the address
 *
 * Context: kprobe_mutex held.
 */
void addr_index_add(struct addr_index __rcu **index, unsigned long *object)
{
	index_set(index_locked(index), object);
}

/**
 * addr_index_del() - hide an object from hits; it is freed a grace period later
 * @index:  the table
 * @object: the object
 *
 * Context: kprobe_mutex held.
 */
void addr_index_del(struct addr_index __rcu **index, unsigned long *object)
{
	struct addr_index *t = index_locked(index);
	unsigned int i = index_start(t, *object);

	while (t->entry[i] != object) {
		if (WARN_ON_ONCE(!t->entry[i]))
			return;
		i = (i + 1) & t->mask;
	}
	t->live--;
	WRITE_ONCE(t->entry[i], &deleted);

	/* In front of an empty entry a deleted one tells a lookup nothing. */
	if (t->entry[(i + 1) & t->mask])
		return;
	for (; t->entry[i] == &deleted; i = (i - 1) & t->mask) {
		WRITE_ONCE(t->entry[i], NULL);
		t->used--;
	}
}

/**
 * addr_index_next() - walk all objects, in no particular order
 * @index: the table
 * @pos:   where to look; moved behind what is returned
 *
 * Nothing may be added during the walk; the object just returned may be deleted.
 *
 * Context: kprobe_mutex held.
 * Return: an object, or NULL at the end.
 */
unsigned long *addr_index_next(struct addr_index __rcu **index, unsigned int *pos)
{
	struct addr_index *t = index_locked(index);
	unsigned long *object;

	while (*pos <= t->mask) {
		object = t->entry[(*pos)++];
		if (object && object != &deleted)
			return object;
	}
	return NULL;
}

/**
 * addr_index_clear() - forget all objects and the memory of the table
 * @index: the table
 *
 * Context: kprobe_mutex held.
 */
void addr_index_clear(struct addr_index __rcu **index)
{
	index_replace(index, &addr_index_empty);
}
