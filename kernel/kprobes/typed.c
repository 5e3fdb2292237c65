// SPDX-License-Identifier: GPL-2.0
/*
 * Typed entry probes: a handler with the probed function's own prototype, alone or
 * paired with a return probe.
 *
 * The handler is simply called, with the arguments that the function was called
 * with: registers and some of the stack.  It has its own frame, so that nothing
 * that it does to its arguments is seen by the function.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/err.h>
#include <linux/export.h>
#include <linux/uaccess.h>

#include "internal.h"

/* Arguments are above the return address; there may be less stack than we ask for. */
static __always_inline void copy_stack_args(unsigned long *to, const struct pt_regs *regs)
{
	const unsigned long *from = (unsigned long *)regs->sp + 1;
	int i;

	for (i = 0; i < JPROBE_STACK_WORDS; i++)
		__get_kernel_nofault(to + i, from + i, unsigned long, fault);
	return;
fault:
	for (; i < JPROBE_STACK_WORDS; i++)
		to[i] = 0;
}

static int jprobe_entry(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long stack[JPROBE_STACK_WORDS];

	copy_stack_args(stack, regs);
	arch_call_typed(regs, container_of(p, struct jprobe, kp)->entry, stack);
	return 0;
}
NOKPROBE_SYMBOL(jprobe_entry);

/**
 * probe_is_jprobe() - is a probe the entry of a typed probe?
 * @p: a registered probe
 *
 * Return: true when it is.
 */
bool probe_is_jprobe(const struct kprobe *p)
{
	return p->pre_handler == jprobe_entry;
}

static int jprobe_prepare(struct jprobe *jp)
{
	int err;

	if (!jp || !jp->entry) {
		complain("a typed probe to register %s\n", jp ? "has no handler" : "is NULL");
		return -EINVAL;
	}
	err = probe_check_entry(&jp->kp);
	if (err)
		return err;
	err = kprobes_check_new((struct kprobe *[]){ &jp->kp }, 1);
	if (err)
		return err;
	jp->kp.pre_handler = jprobe_entry;
	jp->kp.post_handler = NULL;
	return 0;
}

/**
 * register_jprobe() - have a function of the same prototype called at an entry
 * @jp: the probe; names the function in kp, whose handlers are not the caller's
 *
 * The handler is given the six arguments in registers and JPROBE_STACK_WORDS words
 * of those on the stack, by value.  Its return value is ignored.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: no handler, or not a function's entry; otherwise as
 * register_kprobes().
 */
int register_jprobe(struct jprobe *jp)
{
	return jprobe_prepare(jp) ?: register_kprobe(&jp->kp);
}
EXPORT_SYMBOL_GPL(register_jprobe);

/**
 * unregister_jprobe() - remove a typed entry probe
 * @jp: the probe
 *
 * When this returns its handler does not run and will not.
 *
 * Context: may sleep.
 */
void unregister_jprobe(struct jprobe *jp)
{
	if (jp)
		unregister_kprobe(&jp->kp);
}
EXPORT_SYMBOL_GPL(unregister_jprobe);

/* A return probe that names no function is one of the entry probe's function. */
static bool name_function(struct kretprobe *rp, const struct kprobe *kp)
{
	if (rp->kp.addr || rp->kp.symbol_name)
		return false;
	rp->kp.addr = kp->addr;
	rp->kp.symbol_name = kp->symbol_name;
	rp->kp.offset = kp->offset;
	return true;
}

static void unname_function(struct kretprobe *rp)
{
	rp->kp.addr = NULL;
	rp->kp.symbol_name = NULL;
	rp->kp.offset = 0;
}

static int resolve_or_tell(const struct kprobe *p, struct probe_target *at)
{
	int err = probe_resolve(p, at);

	return err ? complain_of(p, err, at->why_not) : 0;
}

static int check_same_function(const struct kprobe *kp, const struct kprobe *ret)
{
	struct probe_target at, ret_at;
	int err;

	mutex_lock(&kprobe_mutex);
	err = resolve_or_tell(kp, &at) ?: resolve_or_tell(ret, &ret_at);
	mutex_unlock(&kprobe_mutex);
	if (err)
		return err;
	if (at.addr != ret_at.addr)
		return complain_of(ret, -EINVAL, "not where the entry probe is");
	return 0;
}

static int register_pair(struct kprobe *kp, struct kretprobe *rp)
{
	struct kprobe *set[] = { kp, &rp->kp };
	int err;

	err = check_same_function(kp, &rp->kp) ?: kprobes_check_new(set, ARRAY_SIZE(set)) ?:
	      kretprobe_begin(rp);
	if (err)
		return err;
	err = register_kprobes(set, ARRAY_SIZE(set));
	if (err)
		kretprobe_end(rp);
	return err;
}

/**
 * register_erprobe() - probe a function's entry and its return, both or neither
 * @kp: the probe at the entry
 * @rp: the return probe; if it names no function, it is that of @kp
 *
 * At the entry, @kp's handlers run before @rp's entry_handler.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: one of the two is NULL, or they are not at the same
 * function's entry; otherwise as register_kretprobes().
 */
int register_erprobe(struct kprobe *kp, struct kretprobe *rp)
{
	bool named;
	int err;

	if (!kp || !rp) {
		complain("one of a pair of probes to register is NULL\n");
		return -EINVAL;
	}
	named = name_function(rp, kp);
	err = register_pair(kp, rp);
	if (err && named)
		unname_function(rp);
	return err;
}
EXPORT_SYMBOL_GPL(register_erprobe);

/**
 * unregister_erprobe() - undo register_erprobe()
 * @kp: the probe at the entry
 * @rp: the return probe
 *
 * When this returns no handler of either runs and none will; calls in flight
 * return untouched.
 *
 * Context: may sleep; waits for one RCU grace period.
 */
void unregister_erprobe(struct kprobe *kp, struct kretprobe *rp)
{
	struct kprobe *set[] = { kp, rp ? &rp->kp : NULL };

	unregister_mixed_kprobes(set, ARRAY_SIZE(set));
}
EXPORT_SYMBOL_GPL(unregister_erprobe);

/**
 * register_jrprobe() - register_erprobe() with a typed entry probe
 * @jp: the entry probe
 * @rp: the return probe; if it names no function, it is that of @jp
 *
 * Context: may sleep.
 * Return: as register_jprobe() and register_erprobe().
 */
int register_jrprobe(struct jprobe *jp, struct kretprobe *rp)
{
	return jprobe_prepare(jp) ?: register_erprobe(&jp->kp, rp);
}
EXPORT_SYMBOL_GPL(register_jrprobe);

/**
 * unregister_jrprobe() - undo register_jrprobe()
 * @jp: the entry probe
 * @rp: the return probe
 *
 * Context: may sleep; waits for one RCU grace period.
 */
void unregister_jrprobe(struct jprobe *jp, struct kretprobe *rp)
{
	unregister_erprobe(jp ? &jp->kp : NULL, rp);
}
EXPORT_SYMBOL_GPL(unregister_jrprobe);
