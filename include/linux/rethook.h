/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return hook: have a handler called when a function returns.
 *
 * The idea: at the entry of a function its return address is replaced by that of
 * a trampoline, and kept in an instance (struct rethook_node).  Instances come
 * from pools that all hooks share, so that a hook is small and a call finds an
 * instance however many are in flight.  The instances of a task form a list, the
 * innermost call first, that the trampoline and unwinders find the true address
 * in; only the task itself changes it, and contexts that interrupt the task leave
 * it as they found it.
 */
#ifndef _LINUX_RETHOOK_H
#define _LINUX_RETHOOK_H

#include <linux/llist.h>
#include <linux/types.h>

struct kretprobe;
struct kretprobe_instance;
struct pt_regs;
struct rethook_node;
struct task_struct;

typedef void (*rethook_handler_t)(struct rethook_node *node, void *data,
				  unsigned long ret_addr, struct pt_regs *regs);

/* A return probe's handler; kprobes.h has the same by another name. */
typedef int (*rethook_kretprobe_t)(struct kretprobe_instance *ri, struct pt_regs *regs);

/**
 * struct rethook_node - an instance: one hooked call
 * @llist:	in the list of the task, or of free instances
 * @rethook:	the hook, NULL when the instance is free
 * @ret_addr:	where the call returns to; the trampoline, as long as another
 *		instance that was hooked before on the same call knows better
 * @frame:	address of the stack slot that holds the return address
 *
 * First member of what the owner of the hook keeps for a call.
 */
struct rethook_node {
	struct llist_node	llist;
	struct rethook		*rethook;
	unsigned long		ret_addr;
	unsigned long		frame;
};

#ifdef CONFIG_RETHOOK

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/rethook_pool.h>
#include <linux/sched.h>
#include <asm/rethook.h>

/*
 * Instances come in these sizes, in bytes with struct rethook_node.  The largest
 * holds KRETPROBE_MAX_DATA_SIZE.
 */
#define RETHOOK_MAX_SIZE	4160

/*
 * The burst that every CPU is ready for without any worker running: this many
 * hits on a quiet machine find an instance.  A machine keeps RETHOOK_BURST_SMALL
 * instances of up to 256 bytes or RETHOOK_BURST_LARGE bigger ones in each size
 * that is in use, spread over the possible CPUs, within the two limits for a CPU.
 */
#define RETHOOK_BURST_SMALL	8192
#define RETHOOK_BURST_LARGE	1024
#define RETHOOK_BURST_CPU_MIN	128
#define RETHOOK_BURST_CPU_MAX	1024

/**
 * struct rethook - a hook; what its hits need to know
 * @handler:	called at the return; NULL once the hook was stopped
 * @kretprobe:	the same, if @is_kretprobe: called as the handler of a probe, which
 *		@data then is
 * @data:	handed to @handler
 * @pool:	where instances come from; if @limited, one that is empty and full
 * @retired:	in the list of those to be freed
 * @room:	how many calls more may be in flight, if @limited
 * @class:	of @pool
 * @state:	used by what frees retired ones
 * @is_kretprobe: see @kretprobe
 * @limited:	is there a limit to the calls in flight?
 */
struct rethook {
	union {
		rethook_handler_t	handler;
		rethook_kretprobe_t	kretprobe;
	};
	void			*data;
	struct rethook_pool __percpu *pool;
	struct llist_node	retired;
	atomic_t		room;
	u8			class;
	u8			state;
	bool			is_kretprobe;
	bool			limited;
};

struct rethook *rethook_alloc(void *data, rethook_handler_t handler, int size, int num);
struct rethook *rethook_alloc_kretprobe(struct kretprobe *rp, rethook_kretprobe_t handler,
					int size, int num);
void rethook_stop(struct rethook *rh);
void rethook_free(struct rethook *rh);
unsigned long rethook_find_ret_addr(struct task_struct *tsk, unsigned long frame,
				    struct llist_node **cur);
void rethook_flush_task(struct task_struct *tsk);

/**
 * struct rethook_usage - for tests
 * @hooks:	hooks, with those that only wait for calls in flight
 * @nodes:	instances
 * @in_flight:	instances that are not free
 */
struct rethook_usage {
	unsigned long	hooks;
	unsigned long	nodes;
	unsigned long	in_flight;
};

void rethook_get_usage(struct rethook_usage *usage);

/**
 * is_rethook_trampoline() - is this the address of the trampoline?
 * @addr: an address found in place of a return address
 *
 * The trampoline's first instruction is a call, so the address behind it stands
 * for the trampoline as well.
 *
 * Return: true when it stands for the true address that
 * rethook_find_ret_addr() tells.
 */
static __always_inline bool is_rethook_trampoline(unsigned long addr)
{
	return addr - (unsigned long)arch_rethook_trampoline <= ARCH_RETHOOK_CALL_SIZE;
}

struct rethook_node *rethook_try_get_slow(struct rethook *rh);
asmlinkage void rethook_recycle_slow(struct rethook_node *node);

/* For a hook without a limit, and this CPU's pool, which is not low. */
static __always_inline struct rethook_node *
rethook_get_plain(struct rethook *rh, struct rethook_pool *pool)
{
	struct rethook_node *node = rethook_pool_take(pool);

	WRITE_ONCE(node->rethook, rh);
	return node;
}

/**
 * rethook_try_get() - take an instance, at the entry of a function
 * @rh: the hook
 *
 * The instance is then either hooked or recycled.
 *
 * Context: any, NMI included; preemption off until it was hooked or recycled.
 * Return: the instance, or NULL: the limit is reached or this CPU's pool empty.
 */
static __always_inline struct rethook_node *rethook_try_get(struct rethook *rh)
{
	struct rethook_pool *pool = raw_cpu_ptr(rh->pool);

	if (unlikely(rethook_pool_is_low(pool)))
		return rethook_try_get_slow(rh);
	return rethook_get_plain(rh, pool);
}

/**
 * rethook_recycle() - give an instance back
 * @node: the instance
 *
 * Context: the one that took it; preemption off.
 */
static __always_inline void rethook_recycle(struct rethook_node *node)
{
	struct rethook_pool *pool = raw_cpu_ptr(node->rethook->pool);

	if (unlikely(rethook_pool_is_full(pool))) {
		rethook_recycle_slow(node);
		return;
	}
	/* Pairs with the look at all instances that precedes freeing hooks. */
	smp_store_release(&node->rethook, NULL);
	rethook_pool_give(pool, node);
}

/**
 * rethook_hook() - have the return of the function that was just entered hooked
 * @node:   the instance for this call
 * @regs:   the registers at the function's entry
 * @mcount: the entry was reached through ftrace (makes no difference on x86)
 *
 * Context: any, NMI included; preemption off since rethook_try_get().
 */
static __always_inline void rethook_hook(struct rethook_node *node,
					 struct pt_regs *regs, bool mcount)
{
	unsigned long *slot = arch_rethook_slot(regs, mcount);
	struct task_struct *tsk = current;

	node->frame = (unsigned long)slot;
	node->ret_addr = *slot;
	node->llist.next = READ_ONCE(tsk->rethooks.first);
	/* Whoever sees the trampoline's address finds the instance. */
	WRITE_ONCE(tsk->rethooks.first, &node->llist);
	barrier();
	WRITE_ONCE(*slot, (unsigned long)arch_rethook_trampoline);
}

#else /* !CONFIG_RETHOOK */

static inline void rethook_flush_task(struct task_struct *tsk) { }

#endif /* CONFIG_RETHOOK */

#endif /* _LINUX_RETHOOK_H */
