// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a site: made for the first probe at an address, given back with
 * the last, killed when its text goes away before its probes do.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "count.h"
#include "index.h"
#include "internal.h"
#include "jump.h"

static struct kmem_cache *site_cache[NR_METHODS] __ro_after_init;

/* Sites whose text is gone, waiting for their probes to leave; kprobe_mutex. */
LLIST_HEAD(gone_sites);

/* Sites that a hit may still be looking at. */
static LLIST_HEAD(left_sites);

static enum arm_method_id choose_method(const struct probe_target *at)
{
#ifdef CONFIG_KPROBES_ON_FTRACE
	if (at->fentry)
		return METHOD_FTRACE;
#endif
	return METHOD_BREAKPOINT;
}

/**
 * site_free() - free a site that no hit can be looking at
 * @site: the site, out of the index, with nothing of its method's left
 *
 * Context: any but NMI.
 */
void site_free(struct probe_site *site)
{
	kmem_cache_free(site_cache[site->method], site);
}

/**
 * site_leave_to_hits() - a site is to be freed, by the next sites_free_left()
 * @site: the site, out of the index and in no list, with nothing of its method's
 *	  left
 *
 * Context: any but NMI.
 */
void site_leave_to_hits(struct probe_site *site)
{
	llist_add(&site->batch, &left_sites);
}

/**
 * sites_free_left() - wait for hits under way, and free the sites left to them
 *
 * Context: may sleep; waits for one RCU grace period.
 */
void sites_free_left(void)
{
	struct llist_node *left = llist_del_all(&left_sites);
	struct probe_site *site, *next;

	synchronize_rcu();
	llist_for_each_entry_safe(site, next, left, batch)
		site_free(site);
}

static void free_left(struct work_struct *work)
{
	sites_free_left();
}

static DECLARE_WORK(left_work, free_left);

/**
 * sites_free_left_soon() - sites_free_left(), without waiting
 *
 * Context: any but NMI.
 */
void sites_free_left_soon(void)
{
	if (!llist_empty(&left_sites))
		schedule_work(&left_work);
}

/**
 * site_get() - the site at an address, made if there is none
 * @at: what probe_resolve() has found
 *
 * There is room in the index.  A new site is in it and not armed; when no probe
 * joins it, it must be given back with site_put().
 *
 * Context: may sleep; kprobe_mutex held.
 * Return: the site; or an ERR_PTR of -EILSEQ, -EINVAL (see arm_method.prepare),
 * -EAGAIN: before sites_init(), or -ENOMEM.
 */
struct probe_site *site_get(const struct probe_target *at)
{
	struct probe_site *site = site_find(at->addr);
	enum arm_method_id method = choose_method(at);
	int err;

	if (site)
		return site;
	if (!site_cache[method])
		return ERR_PTR(-EAGAIN);

	site = kmem_cache_zalloc(site_cache[method], GFP_KERNEL);
	if (!site)
		return ERR_PTR(-ENOMEM);
	site->addr = at->addr;
	site->method = method;

	err = site_method(site)->prepare(site);
	if (err) {
		site_free(site);
		return ERR_PTR(err);
	}
	addr_index_add(&kprobe_site_index, &site->addr);
	count_site(site);
	return site;
}

/**
 * site_put() - give back a site that has no probe left and is not armed
 * @site: the site, in no list
 *
 * Context: may sleep; kprobe_mutex held.  Does not wait for hits under way.
 */
void site_put(struct probe_site *site)
{
	if (!site->gone) {
		uncount_site(site);
		addr_index_del(&kprobe_site_index, &site->addr);
	}
	site_method(site)->release(site);
}

/**
 * site_kill() - the text of a site goes away
 * @site: the site, not armed, in no list
 *
 * Context: kprobe_mutex held.
 */
void site_kill(struct probe_site *site)
{
	struct kprobe *p;
	int lane;

	site->gone = true;
	uncount_site(site);
	addr_index_del(&kprobe_site_index, &site->addr);
	__llist_add(&site->batch, &gone_sites);

	for_each_lane(lane)
		hlist_for_each_entry(p, &site->probes[lane], hlist)
			probe_set_flag(p, KPROBE_FLAG_GONE, true);
}

/**
 * sites_put_gone() - give back the sites without text that have no probe left
 *
 * Context: may sleep; kprobe_mutex held.
 */
void sites_put_gone(void)
{
	struct llist_head sites = gone_sites;
	struct probe_site *site, *next;

	init_llist_head(&gone_sites);
	for_each_site_safe(site, next, &sites) {
		if (site_empty(site))
			site_put(site);
		else
			__llist_add(&site->batch, &gone_sites);
	}
}

static bool lane_has_post(const struct probe_site *site)
{
	const struct kprobe *p;

	hlist_for_each_entry(p, &site->probes[LANE_OBSERVE], hlist)
		if (p->post_handler)
			return true;
	return false;
}

/**
 * site_join() - a probe becomes one of a site's
 * @site: the site, armed for it if it is enabled
 * @p:    the probe
 *
 * Context: may sleep; kprobe_mutex held.
 */
void site_join(struct probe_site *site, struct kprobe *p)
{
	if (probe_lane(p) == LANE_OBSERVE && p->post_handler) {
		/*
		 * First, so that a hit that has run its pre_handler knows; but for
		 * one that is on its way through a jump over several.
		 */
		WRITE_ONCE(site->watched, true);
		jump_reconsider(site);
	}
	hlist_add_tail_rcu(&p->hlist, &site->probes[probe_lane(p)]);
	/* From here on whoever lands or undoes the jump marks it. */
	if (probe_lane(p) == LANE_OBSERVE && site_is_displaced(site) &&
	    displaced(site)->jump == JUMP_ARMED)
		probe_set_flag(p, KPROBE_FLAG_OPTIMIZED, true);
}

/**
 * site_leave() - a probe no longer is one of a site's
 * @site: the site
 * @p:    the probe; hits under way may still be looking at it
 *
 * Context: may sleep; kprobe_mutex held.
 */
void site_leave(struct probe_site *site, struct kprobe *p)
{
	hlist_del_rcu(&p->hlist);
	probe_set_flag(p, KPROBE_FLAG_OPTIMIZED, false);
	if (site->watched && !lane_has_post(site)) {
		WRITE_ONCE(site->watched, false);
		jump_reconsider(site);
	}
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
	for_each_site(site, &gone_sites)
		if (site_has(site, p))
			return site;
	return NULL;
}

/* Does anything of @p go when @mod goes? */
static bool is_of_module(const struct kprobe *p, const struct module *mod)
{
	unsigned long parts[] = {
		(unsigned long)p, (unsigned long)p->pre_handler,
		(unsigned long)p->post_handler, 0, 0,
	};
	int i;

	if (IS_ENABLED(CONFIG_KRETPROBES) && probe_is_kretprobe(p)) {
		const struct kretprobe *rp = container_of(p, struct kretprobe, kp);

		parts[3] = (unsigned long)rp->handler;
		parts[4] = (unsigned long)rp->entry_handler;
	}
	if (IS_ENABLED(CONFIG_KRETPROBES) && probe_is_jprobe(p))
		parts[3] = (unsigned long)container_of(p, struct jprobe, kp)->entry;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (within_module(parts[i], mod))
			return true;
	return false;
}

static struct kprobe *site_probe_of_module(const struct probe_site *site,
					   const struct module *mod)
{
	struct kprobe *p;
	int lane;

	for_each_lane(lane)
		hlist_for_each_entry(p, &site->probes[lane], hlist)
			if (is_of_module(p, mod))
				return p;
	return NULL;
}

/**
 * probe_of_module() - a registered probe that a module's memory holds
 * @mod: the module
 *
 * Context: kprobe_mutex held.
 * Return: a probe whose structure, or a handler, is in @mod; NULL: there is none.
 */
struct kprobe *probe_of_module(const struct module *mod)
{
	struct probe_site *site;
	struct kprobe *p = NULL;
	unsigned int pos = 0;

	while (!p && (site = site_next(&pos)))
		p = site_probe_of_module(site, mod);
	if (p)
		return p;
	for_each_site(site, &gone_sites) {
		p = site_probe_of_module(site, mod);
		if (p)
			return p;
	}
	return NULL;
}

/**
 * sites_init() - before the first site
 *
 * Context: boot.
 */
void __init sites_init(void)
{
	int i;

	for (i = 0; i < NR_METHODS; i++)
		site_cache[i] = kmem_cache_create(arm_methods[i]->site_name,
						  arm_methods[i]->site_size, 0,
						  SLAB_PANIC, NULL);
}
