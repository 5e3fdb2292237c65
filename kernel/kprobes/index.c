// SPDX-License-Identifier: GPL-2.0
/*
 * The index: from an address to its probe site, for the hit path.
 *
 * An open-addressing table of site pointers, at most half full, so that a
 * lookup costs the same with one site and with thirty thousand.  An entry never
 * moves inside a table: entries are filled, emptied or marked as deleted, and
 * when the table has become too full a larger copy is published and the old one
 * freed after a grace period.  A lookup therefore needs no lock and no retry in
 * any context, NMI included.
 *
 * A site has a second key when its displaced instruction ends in a trap: the
 * address of that trap, which outlives the first key until no task can be in
 * the slot.  Such entries are tagged in bit 0 of the pointer.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "internal.h"

#define ENTRY_EMPTY	0UL
#define ENTRY_RESUME	1UL		/* tag: keyed by the trap in the slot */
#define ENTRY_DELETED	ENTRY_RESUME	/* the tag and no pointer */

#define INDEX_MIN_SIZE	64U

/**
 * struct site_index - one generation of the table
 * @bits:	log2 of the number of entries
 * @live:	entries that hold a site; kprobe_mutex
 * @used:	entries that are not empty, deleted ones included; kprobe_mutex
 * @rcu:	for the old generation
 * @entry:	the table
 */
struct site_index {
	unsigned int	bits;
	unsigned int	live;
	unsigned int	used;
	struct rcu_head	rcu;
	unsigned long	entry[];
};

/* Before the first site: one entry, for ever empty. */
static struct site_index no_sites = {
	.bits	= 0,
	.used	= 1,
	.entry	= { ENTRY_EMPTY },
};

/* Read by hits, replaced under kprobe_mutex. */
static struct site_index __rcu *site_index __read_mostly =
	RCU_INITIALIZER(&no_sites);

static __always_inline unsigned int index_size(const struct site_index *t)
{
	return 1U << t->bits;
}

static __always_inline unsigned int index_start(const struct site_index *t,
						unsigned long key)
{
	/* hash_64() of zero bits would shift by the width of the word. */
	return t->bits ? hash_64(key, t->bits) : 0;
}

static __always_inline struct probe_site *entry_site(unsigned long entry)
{
	return (struct probe_site *)(entry & ~ENTRY_RESUME);
}

static __always_inline unsigned long entry_key(unsigned long entry)
{
	if (entry & ENTRY_RESUME)
		return arch_site_resume_key(entry_site(entry));
	return entry_site(entry)->addr;
}

/*
 * The address dependency from the entry to the site orders a lookup after the
 * smp_store_release() in index_set().
 */
static __always_inline struct probe_site *index_find(unsigned long key,
						     unsigned long tag)
{
	const struct site_index *t = rcu_dereference_raw(site_index);
	unsigned int mask = index_size(t) - 1;
	unsigned int i = index_start(t, key);
	unsigned long entry;

	for (; (entry = READ_ONCE(t->entry[i])) != ENTRY_EMPTY; i = (i + 1) & mask) {
		if ((entry & ENTRY_RESUME) != tag || entry == ENTRY_DELETED)
			continue;
		if (entry_key(entry) == key)
			return entry_site(entry);
	}
	return NULL;
}

/**
 * site_find() - the site at an address
 * @addr: where
 *
 * Context: any, preemption off or kprobe_mutex held.
 * Return: the site, or NULL.
 */
struct probe_site *site_find(unsigned long addr)
{
	return index_find(addr, 0);
}
NOKPROBE_SYMBOL(site_find);

/**
 * site_find_resume() - the site whose slot holds the trap at an address
 * @addr: where a breakpoint was hit
 *
 * Context: any, preemption off or kprobe_mutex held.
 * Return: the site, or NULL.
 */
struct probe_site *site_find_resume(unsigned long addr)
{
	return index_find(addr, ENTRY_RESUME);
}
NOKPROBE_SYMBOL(site_find_resume);

static struct site_index *index_locked(void)
{
	return rcu_dereference_protected(site_index, lockdep_is_held(&kprobe_mutex));
}

/* Put @entry into the first place that is free on its way. */
static void index_set(struct site_index *t, unsigned long entry)
{
	unsigned int mask = index_size(t) - 1;
	unsigned int i = index_start(t, entry_key(entry));

	while (t->entry[i] != ENTRY_EMPTY && t->entry[i] != ENTRY_DELETED)
		i = (i + 1) & mask;

	if (t->entry[i] == ENTRY_EMPTY)
		t->used++;
	t->live++;
	/* The site is complete before a hit can find it. */
	smp_store_release(&t->entry[i], entry);
}

/* Publish a table with room for one more entry, without the deleted ones. */
static int index_grow(struct site_index *old)
{
	unsigned int size = roundup_pow_of_two(max(4 * (old->live + 1), INDEX_MIN_SIZE));
	struct site_index *t;
	unsigned int i;

	t = kvzalloc(struct_size(t, entry, size), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	t->bits = ilog2(size);

	for (i = 0; i < index_size(old); i++)
		if (entry_site(old->entry[i]))
			index_set(t, old->entry[i]);

	rcu_assign_pointer(site_index, t);
	if (old != &no_sites)
		kvfree_rcu(old, rcu);
	return 0;
}

static int index_add(unsigned long entry)
{
	struct site_index *t = index_locked();
	int err;

	if (2 * (t->used + 1) > index_size(t)) {
		err = index_grow(t);
		if (err)
			return err;
	}
	index_set(index_locked(), entry);
	return 0;
}

static void index_del(unsigned long entry)
{
	struct site_index *t = index_locked();
	unsigned int mask = index_size(t) - 1;
	unsigned int i = index_start(t, entry_key(entry));

	while (t->entry[i] != entry) {
		if (WARN_ON_ONCE(t->entry[i] == ENTRY_EMPTY))
			return;
		i = (i + 1) & mask;
	}
	t->live--;
	WRITE_ONCE(t->entry[i], ENTRY_DELETED);

	/* In front of an empty entry a deleted one tells a lookup nothing. */
	if (t->entry[(i + 1) & mask] != ENTRY_EMPTY)
		return;
	for (; t->entry[i] == ENTRY_DELETED; i = (i - 1) & mask) {
		WRITE_ONCE(t->entry[i], ENTRY_EMPTY);
		t->used--;
	}
}

/**
 * site_index_add() - let hits on a site's address find it
 * @site: the site
 *
 * Context: kprobe_mutex held.
 * Return: 0, or -ENOMEM.
 */
int site_index_add(struct probe_site *site)
{
	return index_add((unsigned long)site);
}

/**
 * site_index_del() - hide a site from hits; it is freed a grace period later
 * @site: the site
 *
 * Context: kprobe_mutex held.
 */
void site_index_del(struct probe_site *site)
{
	index_del((unsigned long)site);
}

/**
 * site_index_add_resume() - let the trap in a site's slot find it
 * @site: the site
 *
 * Context: kprobe_mutex held.
 * Return: 0, or -ENOMEM.
 */
int site_index_add_resume(struct probe_site *site)
{
	return index_add((unsigned long)site | ENTRY_RESUME);
}

/**
 * site_index_del_resume() - undo site_index_add_resume()
 * @site: the site, in whose slot no task can be any more
 *
 * Context: kprobe_mutex held.
 */
void site_index_del_resume(struct probe_site *site)
{
	index_del((unsigned long)site | ENTRY_RESUME);
}
