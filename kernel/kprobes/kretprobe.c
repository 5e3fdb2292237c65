// SPDX-License-Identifier: GPL-2.0
/*
 * Return probes: a probe at a function's entry that asks the return hook for an
 * instance, and a handler that the hook calls when the function has returned.
 *
 * A set of return probes is a set of entry probes: registering one is registering
 * the other, in the same transaction.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/rethook.h>

#include "internal.h"

/* So that an array of return probes is an array of entry probes. */
static_assert(offsetof(struct kretprobe, kp) == 0);

/* What the field says when any number of calls may be in flight. */
#define DEFAULT_MAXACTIVE max_t(int, 10, 2 * num_possible_cpus())

static __always_inline struct kretprobe *to_kretprobe(struct kprobe *p)
{
	return container_of(p, struct kretprobe, kp);
}

/* The entry of a return probe, whatever it asks for. */
static int entry_general(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = to_kretprobe(p);
	struct rethook_node *node = rethook_try_get(rp->rh);
	struct kretprobe_instance *ri;

	if (!node) {
		raw_atomic_inc((atomic_t *)&rp->nmissed);
		return 0;
	}

	ri = container_of(node, struct kretprobe_instance, node);
	if (rp->entry_handler && rp->entry_handler(ri, regs))
		rethook_recycle(node);
	else
		rethook_hook(node, regs, kprobe_ftrace(p));
	return 0;
}
NOKPROBE_SYMBOL(entry_general);

/* Any number of calls may be in flight, and nobody looks at the entry. */
static int entry_plain(struct kprobe *p, struct pt_regs *regs)
{
	struct rethook *rh = to_kretprobe(p)->rh;
	struct rethook_pool *pool = raw_cpu_ptr(rh->pool);

	if (unlikely(rethook_pool_is_low(pool)))
		return entry_general(p, regs);
	rethook_hook(rethook_get_plain(rh, pool), regs, kprobe_ftrace(p));
	return 0;
}
NOKPROBE_SYMBOL(entry_plain);

/* Any number of calls, and an entry_handler that may decline this one. */
static int entry_asking(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = to_kretprobe(p);
	struct rethook_pool *pool = raw_cpu_ptr(rp->rh->pool);
	struct rethook_node *node;

	if (unlikely(rethook_pool_is_low(pool)))
		return entry_general(p, regs);
	node = rethook_get_plain(rp->rh, pool);
	if (rp->entry_handler(container_of(node, struct kretprobe_instance, node), regs))
		rethook_recycle(node);
	else
		rethook_hook(node, regs, kprobe_ftrace(p));
	return 0;
}
NOKPROBE_SYMBOL(entry_asking);

/* The cheapest that does what a return probe wants. */
static kprobe_pre_handler_t choose_entry(const struct kretprobe *rp)
{
	if (rp->rh->limited)
		return entry_general;
	return rp->entry_handler ? entry_asking : entry_plain;
}

/**
 * probe_is_kretprobe() - is a probe the entry of a return probe?
 * @p: a registered probe
 *
 * Return: true when it is.
 */
bool probe_is_kretprobe(const struct kprobe *p)
{
	return p->pre_handler == entry_plain || p->pre_handler == entry_asking ||
	       p->pre_handler == entry_general;
}

/* A function may be named by its symbol, by its address, or by its fentry nop's. */
static unsigned long entry_of(const char *name)
{
	unsigned long addr = (unsigned long)kprobe_lookup_name(name, 0);

	return addr ? arch_skip_entry_prologue(addr) : 0;
}

static bool return_is_sacred(const struct kretprobe *rp)
{
	const struct kretprobe_blackpoint *black = kretprobe_blacklist;
	unsigned long entry;

	if (rp->kp.symbol_name)
		entry = entry_of(rp->kp.symbol_name);
	else
		entry = arch_skip_entry_prologue((unsigned long)rp->kp.addr);
	for (; black->name; black++)
		if (entry && entry == entry_of(black->name))
			return true;
	return false;
}

static int kretprobe_check(const struct kretprobe *rp)
{
	int err;

	if (!rp) {
		complain("a return probe to register is NULL\n");
		return -EINVAL;
	}
	if (rp->data_size > KRETPROBE_MAX_DATA_SIZE)
		return complain_of(&rp->kp, -E2BIG, "data_size is over the limit");
	err = probe_check_entry(&rp->kp);
	if (err)
		return err;
	if (return_is_sacred(rp))
		return complain_of(&rp->kp, -EINVAL, "its return must not be touched");
	return 0;
}

static int kretprobe_prepare(struct kretprobe *rp)
{
	struct rethook *rh;

	/* A number that was asked for is a limit; the default is one no more. */
	rh = rethook_alloc_kretprobe(rp, rp->handler,
				     sizeof(struct kretprobe_instance) + rp->data_size,
				     rp->maxactive);
	if (IS_ERR(rh))
		return complain_of(&rp->kp, PTR_ERR(rh), "no return hook");

	if (rp->maxactive <= 0)
		rp->maxactive = DEFAULT_MAXACTIVE;
	rp->rh = rh;
	rp->nmissed = 0;
	rp->kp.pre_handler = choose_entry(rp);
	rp->kp.post_handler = NULL;
	return 0;
}

/**
 * kretprobe_end() - undo kretprobe_begin()
 * @rp: the return probe, which is not hit any more
 *
 * The hook itself goes when the last call in flight is back.
 *
 * Context: may sleep.
 */
void kretprobe_end(struct kretprobe *rp)
{
	/* The default again, or it would be a limit the next time. */
	if (!rp->rh->limited)
		rp->maxactive = 0;
	rethook_free(rp->rh);
	rp->rh = NULL;
}

/**
 * kretprobe_begin() - all that registering a return probe takes but its entry probe
 * @rp: the return probe
 *
 * Context: may sleep.
 * Return: as register_kretprobes().
 */
int kretprobe_begin(struct kretprobe *rp)
{
	return kretprobe_check(rp) ?: kretprobe_prepare(rp);
}

static void kretprobes_release(struct kretprobe **rps, int num)
{
	int i;

	for (i = 0; i < num; i++)
		kretprobe_end(rps[i]);
}

/**
 * register_kretprobes() - probe the returns of a set of functions, all or none
 * @rps: the return probes; each names its function in kp and has a handler
 * @num: how many
 *
 * Context: may sleep.
 * Return: 0 or, for the set: -EINVAL: not a function's entry, a function whose
 * return address is not to be touched, or as register_kprobes(); -E2BIG: a
 * data_size over KRETPROBE_MAX_DATA_SIZE, or as register_kprobes(); otherwise as
 * register_kprobes().
 */
int register_kretprobes(struct kretprobe **rps, int num)
{
	int i, err;

	err = kprobes_check_set(__func__, rps, num);
	if (err)
		return err;

	/* Before anything is touched: an error leaves registered ones alone. */
	for (i = 0; i < num; i++) {
		err = kretprobe_check(rps[i]);
		if (err)
			return err;
	}
	err = kprobes_check_new((struct kprobe **)rps, num);
	if (err)
		return err;

	for (i = 0; i < num && !err; i++)
		err = kretprobe_prepare(rps[i]);
	if (err) {
		kretprobes_release(rps, i - 1);
		return err;
	}

	err = register_kprobes((struct kprobe **)rps, num);
	if (err)
		kretprobes_release(rps, num);
	return err;
}
EXPORT_SYMBOL_GPL(register_kretprobes);

/**
 * register_kretprobe() - register_kretprobes() for one
 * @rp: the return probe
 *
 * Context: may sleep.
 * Return: as register_kretprobes().
 */
int register_kretprobe(struct kretprobe *rp)
{
	return register_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(register_kretprobe);

/* Was this a return probe that was registered, and is there its hook? */
static bool is_to_end(struct kprobe *p)
{
	/* A cleared address: it never was registered; no hook: it stands here twice. */
	return p && p->addr && probe_is_kretprobe(p) && container_of(p, struct kretprobe, kp)->rh;
}

static void unregister_set(const char *call, struct kprobe **kps, int num)
{
	int i;

	if (!num || kprobes_check_set(call, kps, num))
		return;

	/* First the hooks, so that one grace period covers entries and returns. */
	for (i = 0; i < num; i++)
		if (kps[i] && probe_is_kretprobe(kps[i]) && kprobe_is_registered(kps[i]))
			rethook_stop(container_of(kps[i], struct kretprobe, kp)->rh);

	unregister_kprobes(kps, num);

	for (i = 0; i < num; i++)
		if (is_to_end(kps[i]))
			kretprobe_end(container_of(kps[i], struct kretprobe, kp));
}

/**
 * unregister_mixed_kprobes() - remove a set of plain probes and of return probes' entries
 * @kps: the probes; of a return probe its kp
 * @num: how many
 *
 * When this returns no handler of theirs runs and none will: calls in flight return
 * to their callers untouched.  As unregister_kprobes() else.
 *
 * Context: may sleep; waits for one RCU grace period, whatever @num is.
 */
void unregister_mixed_kprobes(struct kprobe **kps, int num)
{
	unregister_set(__func__, kps, num);
}

/**
 * unregister_kretprobes() - remove a set of return probes
 * @rps: the return probes
 * @num: how many
 *
 * When this returns no handler runs and none will: calls in flight return to
 * their callers untouched.
 *
 * Context: may sleep.
 */
void unregister_kretprobes(struct kretprobe **rps, int num)
{
	unregister_set(__func__, (struct kprobe **)rps, num);
}
EXPORT_SYMBOL_GPL(unregister_kretprobes);

/**
 * unregister_kretprobe() - unregister_kretprobes() for one
 * @rp: the return probe
 *
 * Context: may sleep.
 */
void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_GPL(unregister_kretprobe);
