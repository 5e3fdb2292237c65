/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return hook: what keeps fprobe's handlers from being entered by what they call
 * themselves, at less cost.
 *
 * The idea: to find the bit of current->trace_recursion that is that of any
 * context, and to keep it for the end, takes three times as many instructions as
 * to set and clear one that is known.  In a task it is.  The bits are those of
 * ftrace_test_recursion_trylock(), so that the two exclude each other; what is
 * not so simple is left to it.
 *
 * For fprobe.c, which gets this in place of the two functions.
 */
#ifndef _KERNEL_TRACE_RETHOOK_GUARD_H
#define _KERNEL_TRACE_RETHOOK_GUARD_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/trace_recursion.h>

enum {
	GUARD_TASK = TRACE_FTRACE_START + TRACE_CTX_NORMAL,
	/* The same where preemption is off already, not to be turned on again. */
	GUARD_TASK_AT_RETURN = TRACE_FTRACE_START + TRACE_CTX_TRANSITION + 1,
};

static __always_inline bool rethook_guard_task(void)
{
	/* There is more to be looked at, or it is no task. */
	if (IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING) ||
	    preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))
		return false;
	/* Only the task itself changes it, and what interrupts restores it. */
	return !arch___test_and_set_bit(GUARD_TASK, &current->trace_recursion);
}

/* Not inline, at the entry: the usual way is all the shorter. */
static noinline int rethook_guard_any(unsigned long ip, unsigned long parent_ip)
{
	return ftrace_test_recursion_trylock(ip, parent_ip);
}
NOKPROBE_SYMBOL(rethook_guard_any);

static noinline void rethook_unguard_any(int bit)
{
	ftrace_test_recursion_unlock(bit);
}
NOKPROBE_SYMBOL(rethook_unguard_any);

/**
 * rethook_guard() - ftrace_test_recursion_trylock() at the entry of a function
 * @ip:        the function
 * @parent_ip: its caller
 *
 * Context: any.
 * Return: what rethook_unguard() takes, with preemption off, or -1: recursion.
 */
static __always_inline int rethook_guard(unsigned long ip, unsigned long parent_ip)
{
	int bit;

	if (likely(rethook_guard_task())) {
		preempt_disable_notrace();
		return GUARD_TASK;
	}
	bit = rethook_guard_any(ip, parent_ip);
	/* So that rethook_unguard() need not ask. */
	if (bit == GUARD_TASK_AT_RETURN)
		__builtin_unreachable();
	return bit;
}

/**
 * rethook_guard_at_return() - rethook_guard() in a handler of the return hook
 * @ip:        the function
 * @parent_ip: its caller
 *
 * Context: a handler's, which has preemption off.
 * Return: as rethook_guard().
 */
static __always_inline int rethook_guard_at_return(unsigned long ip, unsigned long parent_ip)
{
	if (likely(rethook_guard_task()))
		return GUARD_TASK_AT_RETURN;
	/* Inline, here: without a call the usual way has no registers to save for it. */
	return ftrace_test_recursion_trylock(ip, parent_ip);
}

/**
 * rethook_unguard() - the end of what rethook_guard() began
 * @bit: what it returned, not negative
 *
 * Context: the same.
 */
static __always_inline void rethook_unguard(int bit)
{
	if (likely(bit == GUARD_TASK_AT_RETURN)) {
		barrier();
		arch___clear_bit(GUARD_TASK, &current->trace_recursion);
	} else if (likely(bit == GUARD_TASK)) {
		preempt_enable_notrace();
		barrier();
		arch___clear_bit(GUARD_TASK, &current->trace_recursion);
	} else {
		rethook_unguard_any(bit);
	}
}

/* By these names fprobe.c calls them, several times each. */
#define ftrace_test_recursion_trylock	rethook_guard
#define ftrace_test_recursion_unlock	rethook_unguard

#endif /* _KERNEL_TRACE_RETHOOK_GUARD_H */
