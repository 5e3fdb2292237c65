/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return hook: the pools that instances come from.
 *
 * The idea: a pool is an array of pointers for each CPU, used as a stack and
 * only ever touched by the CPU itself, in one of two ways.  The array is no
 * per-CPU memory, of which so much at once costs several times its size.
 *
 * Nested: a hit takes an instance and its return gives it back, in any context
 * and with preemption off around each.  Interrupts and NMIs may come between
 * any two instructions of these, but whatever they take they have given back
 * when they end: a context leaves @top where it found it, and has written no
 * slot at or above it.  So @top, once read, stays true, and
 *
 *  - taking lowers @top and then reads the slot at it: before, whoever comes in
 *    between takes what is in the slot and puts something back there; after,
 *    nobody looks at the slot nor writes it;
 *  - giving back writes the slot at @top and then raises @top: whoever comes
 *    in between takes and refills slots below it.
 *
 * Neither needs an atomic instruction, and as no pointer is compared there is no
 * ABA.  Within a nest the instances in the slots may change places, never their
 * number.
 *
 * Unbalanced: a refill raises @top for good, and an instance may be given back
 * on another CPU than it was taken from, or never.  That is for tasks only: a
 * task cannot come between two instructions of a hit, since preemption is off.
 * What an interrupt gives back without having taken it (the remains of a task
 * that has exited) goes to @surplus, and so does what finds the array full.
 *
 * Only these differ: a CPU that is not online, and a class that no hook uses,
 * have no hits; their pools are written from elsewhere under rethook_mutex, and
 * may have no array.
 */
#ifndef _LINUX_RETHOOK_POOL_H
#define _LINUX_RETHOOK_POOL_H

#include <linux/compiler.h>
#include <linux/llist.h>
#include <linux/percpu.h>

struct rethook_node;
struct rethook_refill;

/**
 * struct rethook_pool - the free instances of one size class on one CPU
 * @top:	the next to be filled of @slot
 * @low:	with @top no higher than this the worker is asked for more
 * @end:	of @slot
 * @slot:	the stack
 * @asked:	the worker was asked and has not been yet
 * @surplus:	free instances that may not or cannot go to @slot
 * @refill:	the worker
 */
struct rethook_pool {
	struct rethook_node	**top;
	struct rethook_node	**low;
	struct rethook_node	**end;
	struct rethook_node	**slot;
	bool			asked;
	struct llist_head	surplus;
	struct rethook_refill	*refill;
};

struct rethook_node *rethook_pool_take_low(struct rethook_pool *pool);
void rethook_pool_give_surplus(struct rethook_pool *pool, struct rethook_node *node);

/**
 * rethook_pool_is_low() - is it time for rethook_pool_take_low()?
 * @pool: this CPU's pool
 *
 * Context: any, preemption off since before the pool was looked up.
 * Return: true when rethook_pool_take() may not be used.
 */
static __always_inline bool rethook_pool_is_low(struct rethook_pool *pool)
{
	/* Plain: what was read stays true as long as preemption is off. */
	return pool->top <= pool->low;
}

/**
 * rethook_pool_take() - take a free instance
 * @pool: this CPU's pool, not low
 *
 * Context: any, preemption off since before the pool was looked up.
 * Return: an instance.
 */
static __always_inline struct rethook_node *rethook_pool_take(struct rethook_pool *pool)
{
	struct rethook_node **top = pool->top - 1, *node;

	WRITE_ONCE(pool->top, top);
	/* Volatile, as the line above: the compiler keeps their order. */
	node = READ_ONCE(*top);
	/* Whoever asks whether there is one need not, here. */
	if (!node)
		__builtin_unreachable();
	return node;
}

/**
 * rethook_pool_is_full() - is there no room for rethook_pool_give()?
 * @pool: this CPU's pool
 *
 * Context: any, preemption off since before the pool was looked up.
 * Return: true when rethook_pool_give() may not be used.
 */
static __always_inline bool rethook_pool_is_full(struct rethook_pool *pool)
{
	return pool->top >= pool->end;
}

/**
 * rethook_pool_give() - give an instance back
 * @pool: this CPU's pool, not full
 * @node: the instance; not the giver's any more
 *
 * Context: a task, or the context that took it from this pool; preemption off
 * since before the pool was looked up.
 */
static __always_inline void rethook_pool_give(struct rethook_pool *pool,
					      struct rethook_node *node)
{
	struct rethook_node **top = pool->top;

	WRITE_ONCE(*top, node);
	WRITE_ONCE(pool->top, top + 1);
}

#endif /* _LINUX_RETHOOK_POOL_H */
