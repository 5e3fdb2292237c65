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
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "index.h"
#include "internal.h"

#define INDEX_MIN_SIZE	64U

/* Stands where a site was, so that a lookup goes on behind it. */
static struct probe_site deleted = {
	.addr	= ~0UL,
};

/* Before the first site: for ever empty. */
static struct site_index no_sites = {
	.shift	= 63,
	.mask	= 1,
	.used	= 2,
	.entry	= { NULL, NULL },
};

/* Read by hits, replaced under kprobe_mutex. */
struct site_index __rcu *kprobe_site_index __read_mostly =
	RCU_INITIALIZER(&no_sites);

/* entry_64.S finds a site in the same way. */
static_assert(INDEX_HASH == GOLDEN_RATIO_64);
static_assert(offsetof(struct site_index, shift) == INDEX_SHIFT);
static_assert(offsetof(struct site_index, mask) == INDEX_MASK);
static_assert(offsetof(struct site_index, entry) == INDEX_ENTRY);

static struct site_index *index_locked(void)
{
	return rcu_dereference_protected(kprobe_site_index, lockdep_is_held(&kprobe_mutex));
}

/* Put @site into the first place that is free on its way. */
static void index_set(struct site_index *t, struct probe_site *site)
{
	unsigned int i = index_start(t, site->addr);

	while (t->entry[i] && t->entry[i] != &deleted)
		i = (i + 1) & t->mask;

	if (!t->entry[i])
		t->used++;
	t->live++;
	/* The site is complete before a hit can find it. */
	smp_store_release(&t->entry[i], site);
}

static void index_free(struct rcu_head *rcu)
{
	kvfree(container_of(rcu, struct site_index, rcu));
}

/**
 * site_index_reserve() - make room in the index
 * @n: for how many sites more than there are
 *
 * A new table is published when the old one is too full; it has no deleted
 * entries.
 *
 * Context: may sleep; kprobe_mutex held.
 * Return: 0, or -ENOMEM.
 */
int site_index_reserve(unsigned int n)
{
	struct site_index *old = index_locked();
	struct site_index *t;
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

	rcu_assign_pointer(kprobe_site_index, t);
	if (old != &no_sites)
		call_rcu(&old->rcu, index_free);
	return 0;
}

/**
 * site_index_add() - let hits on a site's address find it
 * @site: the site, for which there is room: site_index_reserve()
 *
 * Context: kprobe_mutex held.
 */
void site_index_add(struct probe_site *site)
{
	index_set(index_locked(), site);
}

/**
 * site_index_del() - hide a site from hits; it is freed a grace period later
 * @site: the site
 *
 * Context: kprobe_mutex held.
 */
void site_index_del(struct probe_site *site)
{
	struct site_index *t = index_locked();
	unsigned int i = index_start(t, site->addr);

	while (t->entry[i] != site) {
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
 * site_index_next() - walk all sites, in no particular order
 * @pos: where to look; moved behind what is returned
 *
 * No site may be added during the walk; the one just returned may be deleted.
 *
 * Context: kprobe_mutex held.
 * Return: a site, or NULL at the end.
 */
struct probe_site *site_index_next(unsigned int *pos)
{
	struct site_index *t = index_locked();
	struct probe_site *site;

	while (*pos <= t->mask) {
		site = t->entry[(*pos)++];
		if (site && site != &deleted)
			return site;
	}
	return NULL;
}
