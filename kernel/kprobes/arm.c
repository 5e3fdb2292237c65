// SPDX-License-Identifier: GPL-2.0
/*
 * Transactions: bring a set of sites to another state of arming, all or none.
 *
 * A caller collects sites and what is to change at each of them in a list, and
 * calls txn_arm() or txn_disarm() once: one update of ftrace and one round of
 * text pokes, however many sites there are.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/bits.h>

#include "index.h"
#include "internal.h"

bool kprobes_all_disarmed;

/* In this order: the method that may fail comes before the one that may not. */
const struct arm_method *const arm_methods[NR_METHODS] = {
#ifdef CONFIG_KPROBES_ON_FTRACE
	[METHOD_FTRACE]		= &arm_ftrace,
#endif
	[METHOD_BREAKPOINT]	= &arm_breakpoint,
};

/**
 * site_wanted() - the lanes of a site that ought to be armed
 * @site: the site
 *
 * Context: kprobe_mutex held.
 * Return: a bit mask of lanes.
 */
unsigned int site_wanted(const struct probe_site *site)
{
	unsigned int wanted = 0;
	struct kprobe *p;
	int lane;

	if (kprobes_all_disarmed || site->gone)
		return 0;

	for_each_lane(lane)
		hlist_for_each_entry(p, &site->probes[lane], hlist)
			if (!kprobe_disabled(p))
				wanted |= BIT(lane);
	return wanted;
}

/**
 * txn_change() - note a change of arming
 * @txn:   the transaction: a list of sites
 * @site:  the site, in the list already or not
 * @lanes: bit mask of lanes to arm or to disarm; may be zero
 *
 * Context: kprobe_mutex held.
 */
void txn_change(struct llist_head *txn, struct probe_site *site, unsigned int lanes)
{
	if (!site->listed)
		__llist_add(&site->batch, txn);
	site->listed = true;
	site->change |= lanes;
}

/**
 * txn_end() - let go of the sites of a transaction
 * @txn: the transaction; emptied
 *
 * Context: kprobe_mutex held.
 */
void txn_end(struct llist_head *txn)
{
	struct probe_site *site;

	for_each_site(site, txn) {
		site->change = 0;
		site->listed = false;
	}
	init_llist_head(txn);
}

/**
 * txn_put() - txn_end(), and give back the sites that have no probe left
 * @txn: the transaction; emptied
 *
 * Context: may sleep; kprobe_mutex held.
 */
void txn_put(struct llist_head *txn)
{
	struct llist_head sites = *txn;
	struct probe_site *site, *next;

	txn_end(txn);
	for_each_site_safe(site, next, &sites)
		if (site_empty(site))
			site_put(site);
}

/* The sites of @txn that @method has something to do for. */
static void txn_take(struct llist_head *txn, enum arm_method_id method,
		     struct llist_head *mine)
{
	struct llist_head sites = *txn;
	struct probe_site *site, *next;

	init_llist_head(txn);
	for_each_site_safe(site, next, &sites) {
		bool take = site->method == method && site->change;

		__llist_add(&site->batch, take ? mine : txn);
	}
}

static void sites_move(struct llist_head *from, struct llist_head *to)
{
	struct probe_site *site, *next;

	for_each_site_safe(site, next, from)
		__llist_add(&site->batch, to);
	init_llist_head(from);
}

static void txn_done(struct llist_head *sites, bool armed, struct llist_head *done)
{
	struct probe_site *site;

	for_each_site(site, sites) {
		if (armed)
			site->armed |= site->change;
		else
			site->armed &= ~site->change;
	}
	sites_move(sites, done);
}

/**
 * txn_disarm() - disarm what the transaction names
 * @txn: the transaction; its sites stay in the list
 *
 * Hits that are under way when this returns may still run handlers: wait an
 * RCU grace period before the probes are let go.
 *
 * Context: may sleep; kprobe_mutex held, text_mutex not.
 */
void txn_disarm(struct llist_head *txn)
{
	struct probe_site *site;
	LLIST_HEAD(done);
	int i;

	for (i = 0; i < NR_METHODS; i++) {
		LLIST_HEAD(mine);

		txn_take(txn, i, &mine);
		if (llist_empty(&mine))
			continue;
		arm_methods[i]->disarm(&mine);
		txn_done(&mine, false, &done);
	}

	sites_move(&done, txn);
	for_each_site(site, txn)
		site->change = 0;
}

/**
 * txn_disarm_unwanted() - disarm what no probe wants any more
 * @txn: the transaction, whose sites have lost probes; they stay in the list
 *
 * Context: as txn_disarm().
 */
void txn_disarm_unwanted(struct llist_head *txn)
{
	struct probe_site *site;

	for_each_site(site, txn)
		site->change = site->armed & ~site_wanted(site);
	txn_disarm(txn);
}

/**
 * txn_arm() - arm what the transaction names, or nothing of it
 * @txn: the transaction; emptied
 *
 * Context: may sleep; kprobe_mutex held, text_mutex not.
 * Return: 0, -EBUSY when another user holds one of the places, -ENODEV when
 * ftrace is switched off, or -ENOMEM.
 */
int txn_arm(struct llist_head *txn)
{
	LLIST_HEAD(done);
	int err = 0;
	int i;

	for (i = 0; i < NR_METHODS && !err; i++) {
		LLIST_HEAD(mine);

		txn_take(txn, i, &mine);
		if (llist_empty(&mine))
			continue;
		err = arm_methods[i]->arm(&mine);
		if (err)
			sites_move(&mine, txn);
		else
			txn_done(&mine, true, &done);
	}
	if (err)
		txn_disarm(&done);

	sites_move(&done, txn);
	txn_end(txn);
	return err;
}

/**
 * sites_set_armed() - the "enabled" knob: arm or disarm everything
 * @armed: which
 *
 * Context: may sleep.
 * Return: 0, or what txn_arm() returns; nothing has changed then.
 */
int sites_set_armed(bool armed)
{
	struct probe_site *site;
	unsigned int pos = 0;
	LLIST_HEAD(txn);
	int err = 0;

	mutex_lock(&kprobe_mutex);
	if (kprobes_all_disarmed == !armed)
		goto out;

	kprobes_all_disarmed = !armed;
	while ((site = site_next(&pos)))
		txn_change(&txn, site, site->armed ^ site_wanted(site));

	if (armed) {
		err = txn_arm(&txn);
		if (err)
			kprobes_all_disarmed = true;
	} else {
		txn_disarm(&txn);
		txn_end(&txn);
	}
	if (err)
		pr_warn("cannot arm all probes again: %d\n", err);
	else
		pr_info("all probes %s\n", armed ? "armed" : "disarmed");
out:
	mutex_unlock(&kprobe_mutex);
	return err;
}

/**
 * sites_kill_range() - text is about to be freed: disarm the sites in it
 * @start: first address
 * @size:  bytes
 *
 * Their probes become KPROBE_FLAG_GONE and wait for their owners.
 *
 * Context: may sleep; the text is still mapped.
 */
void sites_kill_range(unsigned long start, unsigned long size)
{
	struct probe_site *site, *next;
	struct llist_head sites;
	unsigned int pos = 0;
	LLIST_HEAD(txn);

	mutex_lock(&kprobe_mutex);
	while ((site = site_next(&pos)))
		if (site->addr - start < size)
			txn_change(&txn, site, site->armed);

	txn_disarm(&txn);
	sites = txn;
	txn_end(&txn);
	for_each_site_safe(site, next, &sites)
		site_kill(site);
	mutex_unlock(&kprobe_mutex);
}
