// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a site: made for the first probe at an address, given back with
 * the last, killed when its text goes away before its probes do.
 */
#include <linux/init.h>
#include <linux/slab.h>

#include "internal.h"

/* Sites in the index, for those who walk all of them; kprobe_mutex. */
LIST_HEAD(all_sites);

/* Sites whose text is gone, waiting for their probes to leave; kprobe_mutex. */
LIST_HEAD(gone_sites);

static const struct arm_method *site_method(const struct probe_target *at)
{
#ifdef CONFIG_KPROBES_ON_FTRACE
	if (at->fentry)
		return &arm_ftrace;
#endif
	return &arm_breakpoint;
}

/**
 * site_get() - the site at an address, made if there is none
 * @at: what probe_resolve() has found
 *
 * A new site is in the index and not armed.  When no probe joins it, it must be
 * given back with site_put().
 *
 * Context: may sleep; kprobe_mutex held.
 * Return: the site; or an ERR_PTR of -EILSEQ, -EINVAL (see arm_method.prepare)
 * or -ENOMEM.
 */
struct probe_site *site_get(const struct probe_target *at)
{
	struct probe_site *site = site_find(at->addr);
	int err;

	if (site)
		return site;

	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return ERR_PTR(-ENOMEM);
	site->addr = at->addr;
	site->method = site_method(at);
	INIT_LIST_HEAD(&site->batch);

	err = site->method->prepare(site);
	if (err)
		goto free;
	err = site_index_add(site);
	if (err)
		goto release;
	list_add_tail(&site->node, &all_sites);
	return site;

release:
	site->method->release(site);
	return ERR_PTR(err);
free:
	kfree(site);
	return ERR_PTR(err);
}

/**
 * site_put() - give back a site that has no probe left and is not armed
 * @site: the site
 *
 * Context: may sleep; kprobe_mutex held.  Does not wait for hits under way.
 */
void site_put(struct probe_site *site)
{
	if (!site->gone)
		site_index_del(site);
	list_del(&site->node);
	site->method->release(site);
}

/**
 * site_kill() - the text of a site goes away
 * @site: the site, not armed
 *
 * Context: kprobe_mutex held.
 */
void site_kill(struct probe_site *site)
{
	struct kprobe *p;
	int lane;

	site->gone = true;
	site_index_del(site);
	list_move_tail(&site->node, &gone_sites);

	for_each_lane(lane)
		hlist_for_each_entry(p, &site->probes[lane], hlist)
			p->flags |= KPROBE_FLAG_GONE;
}

static bool site_has(const struct probe_site *site, const struct kprobe *p)
{
	const struct kprobe *q;
	int lane;

	for_each_lane(lane)
		hlist_for_each_entry(q, &site->probes[lane], hlist)
			if (q == p)
				return true;
	return false;
}

/**
 * probe_site_of() - the site that a probe is registered at
 * @p: a probe, or memory that never was one: only its address is trusted
 *
 * Context: kprobe_mutex held.
 * Return: the site, or NULL when @p is not registered.
 */
struct probe_site *probe_site_of(const struct kprobe *p)
{
	struct probe_site *site = site_find((unsigned long)p->addr);

	if (site && site_has(site, p))
		return site;
	list_for_each_entry(site, &gone_sites, node)
		if (site_has(site, p))
			return site;
	return NULL;
}
