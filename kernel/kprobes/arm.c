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
void txn_change(struct list_head *txn, struct probe_site *site, unsigned int lanes)
{
	if (list_empty(&site->batch))
		list_add_tail(&site->batch, txn);
	site->change |= lanes;
}

/**
 * txn_end() - let go of the sites of a transaction
 * @txn: the transaction; emptied
 *
 * Context: kprobe_mutex held.
 */
void txn_end(struct list_head *txn)
{
	struct probe_site *site, *next;

	list_for_each_entry_safe(site, next, txn, batch) {
		site->change = 0;
		list_del_init(&site->batch);
	}
}

/* The sites of @txn that @method has something to do for. */
static void txn_take(struct list_head *txn, enum arm_method_id method,
		     struct list_head *mine)
{
	struct probe_site *site, *next;

	list_for_each_entry_safe(site, next, txn, batch)
		if (site->method == method && site->change)
			list_move_tail(&site->batch, mine);
}

static void txn_done(struct list_head *sites, bool armed, struct list_head *done)
{
	struct probe_site *site;

	list_for_each_entry(site, sites, batch) {
		if (armed)
			site->armed |= site->change;
		else
			site->armed &= ~site->change;
	}
	list_splice_tail_init(sites, done);
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
void txn_disarm(struct list_head *txn)
{
	struct probe_site *site;
	LIST_HEAD(done);
	int i;

	for (i = 0; i < NR_METHODS; i++) {
		LIST_HEAD(mine);

		txn_take(txn, i, &mine);
		if (list_empty(&mine))
			continue;
		arm_methods[i]->disarm(&mine);
		txn_done(&mine, false, &done);
	}

	list_splice(&done, txn);
	list_for_each_entry(site, txn, batch)
		site->change = 0;
}

/**
 * txn_disarm_unwanted() - disarm what no probe wants any more
 * @txn: the transaction, whose sites have lost probes; they stay in the list
 *
 * Context: as txn_disarm().
 */
void txn_disarm_unwanted(struct list_head *txn)
{
	struct probe_site *site;

	list_for_each_entry(site, txn, batch)
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
int txn_arm(struct list_head *txn)
{
	LIST_HEAD(done);
	int err = 0;
	int i;

	for (i = 0; i < NR_METHODS && !err; i++) {
		LIST_HEAD(mine);

		txn_take(txn, i, &mine);
		if (list_empty(&mine))
			continue;
		err = arm_methods[i]->arm(&mine);
		if (err)
			list_splice(&mine, txn);
		else
			txn_done(&mine, true, &done);
	}
	if (err)
		txn_disarm(&done);

	list_splice(&done, txn);
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
	LIST_HEAD(txn);
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
	unsigned int pos = 0;
	LIST_HEAD(txn);

	mutex_lock(&kprobe_mutex);
	while ((site = site_next(&pos)))
		if (site->addr - start < size)
			txn_change(&txn, site, site->armed);

	txn_disarm(&txn);
	list_for_each_entry_safe(site, next, &txn, batch)
		site_kill(site);
	mutex_unlock(&kprobe_mutex);
}
