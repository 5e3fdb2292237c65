// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel probes: the calls that change them.
 *
 * Each takes a set of probes and is a transaction under kprobe_mutex: first all
 * that can fail (addresses, sites, arming), undone together if anything does;
 * then what cannot.  A probe joins its site's list only when the site is armed,
 * so a handler is never run for a registration that then fails.
 *
 * kernel/kprobes/internal.h has the types and the lock order.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/export.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <asm/sections.h>

#include "kprobes/index.h"
#include "kprobes/internal.h"

/* Serialises every change to probes, sites and the blacklist. */
DEFINE_MUTEX(kprobe_mutex);

/* See complain(). */
DEFINE_RATELIMIT_STATE(kprobe_complaints, DEFAULT_RATELIMIT_INTERVAL,
		       DEFAULT_RATELIMIT_BURST);

/*
 * More probes than one call takes: who passes such a number does not mean it, and
 * what is behind the end of the array is no probe.
 */
#define KPROBE_SET_MAX	(16 * 1024 * 1024)

/* Flags that a caller may pass to a registration. */
#define KPROBE_FLAGS_FROM_CALLER (KPROBE_FLAG_DISABLED | KPROBE_FLAG_OBSERVER)

/**
 * kprobe_is_registered() - is this structure a registered probe?
 * @p: a probe, or memory that never was one, or NULL
 *
 * Context: may sleep; kprobe_mutex not held.
 * Return: true when it is.
 */
bool kprobe_is_registered(const struct kprobe *p)
{
	bool registered;

	mutex_lock(&kprobe_mutex);
	registered = p && probe_site_of(p);
	mutex_unlock(&kprobe_mutex);
	return registered;
}

/**
 * kprobes_check_set() - is this a set of probes at all?
 * @call: what was called with it
 * @set:  the array
 * @num:  how many
 *
 * Context: any but NMI.
 * Return: 0; -EINVAL: there is none; -E2BIG.
 */
int kprobes_check_set(const char *call, const void *set, int num)
{
	if (num <= 0 || !set) {
		complain("%s(): not a set of probes: %s, %d of them\n", call,
			 set ? "an array" : "NULL", num);
		return -EINVAL;
	}
	if (num > KPROBE_SET_MAX) {
		complain("%s(): %d probes are too many for one call\n", call, num);
		return -E2BIG;
	}
	return 0;
}

static void unlink_set(struct list_head *set)
{
	struct kprobe *p, *next;

	list_for_each_entry_safe(p, next, set, list)
		list_del_init(&p->list);
}

/*
 * Link @kps into @set.  Refuses what is registered already and what stands in
 * the array twice; the memory of what is registered is left alone.
 */
static int link_new(struct kprobe **kps, int num, struct list_head *set)
{
	int i;

	for (i = 0; i < num; i++) {
		if (!kps[i]) {
			complain("probe %d of the %d to register is NULL\n", i, num);
			return -EINVAL;
		}
		if (probe_site_of(kps[i])) {
			complain("the probe at %pS is registered already\n", kps[i]->addr);
			return -EINVAL;
		}
	}
	for (i = 0; i < num; i++)
		INIT_LIST_HEAD(&kps[i]->list);
	for (i = 0; i < num; i++) {
		if (!list_empty(&kps[i]->list)) {
			complain("a probe stands twice in the set to register\n");
			unlink_set(set);
			return -EINVAL;
		}
		list_add_tail(&kps[i]->list, set);
	}
	return 0;
}

/**
 * kprobes_check_new() - may this set be registered, as far as memory goes?
 * @kps: the probes
 * @num: how many
 *
 * Context: may sleep; kprobe_mutex not held.
 * Return: 0; -EINVAL when one is NULL, registered, or in the set twice.
 */
int kprobes_check_new(struct kprobe **kps, int num)
{
	LIST_HEAD(set);
	int err;

	mutex_lock(&kprobe_mutex);
	err = link_new(kps, num, &set);
	unlink_set(&set);
	mutex_unlock(&kprobe_mutex);
	return err;
}

static const char *why_no_site(int err)
{
	switch (err) {
	case -EILSEQ:
		return "no instruction starts there";
	case -EAGAIN:
		return "too early in the boot";
	default:
		return "the instruction cannot be displaced";
	}
}

/* Find out where @p stands, and make its site. */
static int place(struct kprobe *p, struct llist_head *txn)
{
	struct probe_target to;
	struct probe_site *site;
	int err;

	err = probe_resolve(p, &to);
	if (err)
		return complain_of(p, err, to.why_not);
	site = site_get(&to);
	if (IS_ERR(site))
		return complain_of(p, PTR_ERR(site), why_no_site(PTR_ERR(site)));

	p->addr = (kprobe_opcode_t *)to.addr;
	p->nmissed = 0;
	p->flags &= KPROBE_FLAGS_FROM_CALLER;
	p->flags |= site_method(site)->flag;
	if (to.on_entry)
		p->flags |= KPROBE_FLAG_ON_FUNC_ENTRY;
	arch_describe_insn(site, p);

	if (!kprobe_disabled(p) && !kprobes_all_disarmed)
		txn_change(txn, site, BIT(probe_lane(p)) & ~site->armed);
	return 0;
}

/* Undo place() for @set: give back the sites that nobody has joined. */
static void unplace(struct list_head *set)
{
	struct probe_site *site;
	struct kprobe *p;

	list_for_each_entry(p, set, list) {
		site = site_find((unsigned long)p->addr);
		if (site && site_empty(site))
			site_put(site);
		if (p->symbol_name)
			p->addr = NULL;
	}
	sites_free_left_soon();
}

static int place_all(struct list_head *set, struct llist_head *txn)
{
	struct kprobe *p, *next;
	LIST_HEAD(placed);
	int err = 0;

	list_for_each_entry_safe(p, next, set, list) {
		err = place(p, txn);
		if (err)
			break;
		list_move_tail(&p->list, &placed);
	}
	if (err) {
		txn_end(txn);
		unplace(&placed);
	}
	list_splice(&placed, set);
	return err;
}

static void join(struct kprobe *p)
{
	struct probe_site *site = site_find((unsigned long)p->addr);

	INIT_HLIST_NODE(&p->hlist);
	site_join(site, p);
}

static int register_set(struct list_head *set, int num)
{
	struct kprobe *p;
	LLIST_HEAD(txn);
	int err;

	err = addr_index_reserve(&kprobe_site_index, num);
	if (err) {
		complain("no memory to find %d probes more by\n", num);
		return err;
	}
	err = place_all(set, &txn);
	if (err)
		return err;
	err = txn_arm(&txn);
	if (err) {
		unplace(set);
		return err;
	}
	list_for_each_entry(p, set, list)
		join(p);
	return 0;
}

/**
 * register_kprobes() - register a set of probes, all or none
 * @kps: the probes
 * @num: how many
 *
 * When this returns 0, every probe that is not KPROBE_FLAG_DISABLED is armed.
 * After an error nothing is registered, and no handler was called.
 *
 * Context: may sleep.
 * Return: 0 or, for the first probe that it is true of,
 * -EINVAL: NULL, an empty set, a probe registered already or twice in the set,
 * both or neither of addr and symbol_name, no kernel text, blacklisted, text
 * reserved for jump labels or static calls, an instruction that cannot be
 * displaced;
 * -ENOENT: no such symbol, or module text that is going away;
 * -EILSEQ: not an instruction boundary, or another debugger's breakpoint;
 * -EBUSY: the function's entry is held by another user who redirects it;
 * -E2BIG: more than 16 million probes;
 * -ENODEV: ftrace is off or dead; -EAGAIN: too early in the boot; -ENOMEM.
 */
int register_kprobes(struct kprobe **kps, int num)
{
	LIST_HEAD(set);
	int err;

	err = kprobes_check_set(__func__, kps, num);
	if (err)
		return err;

	mutex_lock(&kprobe_mutex);
	err = link_new(kps, num, &set);
	if (!err)
		err = register_set(&set, num);
	unlink_set(&set);
	mutex_unlock(&kprobe_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(register_kprobes);

/**
 * register_kprobe() - register_kprobes() for one
 * @p: the probe
 *
 * Context: may sleep.
 * Return: as register_kprobes().
 */
int register_kprobe(struct kprobe *p)
{
	return register_kprobes(&p, 1);
}
EXPORT_SYMBOL_GPL(register_kprobe);

static bool is_in(const struct kprobe *p, const struct list_head *set)
{
	const struct kprobe *q;

	list_for_each_entry(q, set, list)
		if (q == p)
			return true;
	return false;
}

/* Take registered probes out of their sites; collect both. */
static void leave_all(struct kprobe **kps, int num, struct list_head *set,
		      struct llist_head *txn)
{
	struct probe_site *site;
	int i;

	for (i = 0; i < num; i++) {
		if (!kps[i])
			continue;
		site = probe_site_of(kps[i]);
		if (!site && is_in(kps[i], set)) {
			complain("a probe stands twice in the set to unregister\n");
			continue;
		}
		if (!site) {
			complain("the probe at %pS, to unregister, is not registered\n",
				 kps[i]->addr);
			/* So says the documentation. */
			kps[i]->addr = NULL;
			continue;
		}
		site_leave(site, kps[i]);
		list_add_tail(&kps[i]->list, set);
		if (!site->gone)
			txn_change(txn, site, 0);
	}
}

/**
 * unregister_kprobes() - remove a set of probes
 * @kps: the probes
 * @num: how many
 *
 * When this returns no handler of theirs runs and none will.  A probe that is
 * not registered has its addr cleared; the others are removed all the same.  NULL
 * is passed over, and so is a set of none.
 *
 * Context: may sleep; waits for one RCU grace period, whatever @num is.
 */
void unregister_kprobes(struct kprobe **kps, int num)
{
	struct kprobe *p;
	LIST_HEAD(set);
	LLIST_HEAD(txn);

	if (!num || kprobes_check_set(__func__, kps, num))
		return;

	mutex_lock(&kprobe_mutex);
	leave_all(kps, num, &set, &txn);
	txn_disarm_unwanted(&txn);
	txn_put(&txn);
	sites_put_gone();
	mutex_unlock(&kprobe_mutex);

	if (list_empty(&set))
		return;
	sites_free_left();
	list_for_each_entry(p, &set, list)
		INIT_HLIST_NODE(&p->hlist);
	unlink_set(&set);
}
EXPORT_SYMBOL_GPL(unregister_kprobes);

/**
 * unregister_kprobe() - unregister_kprobes() for one
 * @p: the probe
 *
 * Context: may sleep.
 */
void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}
EXPORT_SYMBOL_GPL(unregister_kprobe);

/* Every one registered, and with text to be hit in? */
static int check_registered(struct kprobe **kps, int num, bool gone_ok)
{
	int i;

	for (i = 0; i < num; i++) {
		if (!kps[i]) {
			complain("probe %d of the %d to enable or disable is NULL\n", i, num);
			return -EINVAL;
		}
		if (!probe_site_of(kps[i])) {
			complain("the probe at %pS, to enable or disable, is not registered\n",
				 kps[i]->addr);
			return -EINVAL;
		}
		if (kprobe_gone(kps[i]) && !gone_ok) {
			complain("a probe to enable is gone with its text\n");
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * enable_kprobes() - run the handlers of disabled probes again, all or none
 * @kps: the probes
 * @num: how many
 *
 * Context: may sleep.
 * Return: 0; -EINVAL when one is not registered or gone; -E2BIG, -EBUSY, -ENODEV
 * and -ENOMEM as register_kprobes().  After an error none has changed.
 */
int enable_kprobes(struct kprobe **kps, int num)
{
	struct probe_site *site;
	LLIST_HEAD(txn);
	int i, err;

	err = kprobes_check_set(__func__, kps, num);
	if (err)
		return err;

	mutex_lock(&kprobe_mutex);
	err = check_registered(kps, num, false);
	if (err)
		goto out;
	for (i = 0; i < num && !kprobes_all_disarmed; i++) {
		site = site_find((unsigned long)kps[i]->addr);
		txn_change(&txn, site, BIT(probe_lane(kps[i])) & ~site->armed);
	}
	err = txn_arm(&txn);
	if (err)
		goto out;
	for (i = 0; i < num; i++)
		probe_set_flag(kps[i], KPROBE_FLAG_DISABLED, false);
out:
	mutex_unlock(&kprobe_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(enable_kprobes);

/**
 * enable_kprobe() - enable_kprobes() for one
 * @kp: the probe
 *
 * Context: may sleep.
 * Return: as enable_kprobes().
 */
int enable_kprobe(struct kprobe *kp)
{
	return enable_kprobes(&kp, 1);
}
EXPORT_SYMBOL_GPL(enable_kprobe);

/**
 * disable_kprobes() - stop running the handlers of a set of probes
 * @kps: the probes
 * @num: how many
 *
 * Handlers that run when this is called may still be running when it returns.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL when one is not registered, -E2BIG as register_kprobes():
 * then none has changed.
 */
int disable_kprobes(struct kprobe **kps, int num)
{
	struct probe_site *site;
	LLIST_HEAD(txn);
	int i, err;

	err = kprobes_check_set(__func__, kps, num);
	if (err)
		return err;

	mutex_lock(&kprobe_mutex);
	err = check_registered(kps, num, true);
	if (err)
		goto out;
	for (i = 0; i < num; i++) {
		site = probe_site_of(kps[i]);
		probe_set_flag(kps[i], KPROBE_FLAG_DISABLED, true);
		if (!site->gone)
			txn_change(&txn, site, 0);
	}
	txn_disarm_unwanted(&txn);
	txn_end(&txn);
out:
	mutex_unlock(&kprobe_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(disable_kprobes);

/**
 * disable_kprobe() - disable_kprobes() for one
 * @kp: the probe
 *
 * Context: may sleep.
 * Return: as disable_kprobes().
 */
int disable_kprobe(struct kprobe *kp)
{
	return disable_kprobes(&kp, 1);
}
EXPORT_SYMBOL_GPL(disable_kprobe);

/**
 * get_kprobe() - a probe at an address
 * @addr: where
 *
 * Context: preemption off.
 * Return: the first of the probes there, or NULL.
 */
struct kprobe *get_kprobe(void *addr)
{
	struct probe_site *site = site_find((unsigned long)addr);
	struct hlist_node *first;
	int lane;

	if (!site)
		return NULL;
	for_each_lane(lane) {
		first = READ_ONCE(site->probes[lane].first);
		if (first)
			return hlist_entry(first, struct kprobe, hlist);
	}
	return NULL;
}
NOKPROBE_SYMBOL(get_kprobe);

/**
 * dump_kprobe() - print what a probe is, before something goes wrong for good
 * @kp: the probe
 *
 * Context: any.
 */
void dump_kprobe(struct kprobe *kp)
{
	pr_err("probe at %pS (%s+%#x), flags %#x\n", kp->addr,
	       kp->symbol_name ?: "address", kp->offset, kp->flags);
}
NOKPROBE_SYMBOL(dump_kprobe);
