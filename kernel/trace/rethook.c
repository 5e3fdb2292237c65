// SPDX-License-Identifier: GPL-2.0
/*
 * Return hook: what happens when a hooked function returns, what unwinders are
 * told, and the life of a hook.
 *
 * The idea: a hit pays for no counting of what refers to a hook.  Who wants to
 * know looks at all instances there are: see retired_free().
 */
#include <linux/bug.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/panic.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>

#include "rethook_internal.h"

/* While calls are in flight, hooks that are to be freed are looked after so often. */
#define LOOK_FIRST	(HZ / 50 + 1)
#define LOOK_SELDOM	(60 * HZ)

/* struct rethook.state; the last two only mean something to retired_free(). */
enum {
	HOOK_LIVE,
	HOOK_RETIRED,
	HOOK_IN_FLIGHT,
};

static struct rethook_node *to_node(struct llist_node *llist)
{
	return llist_entry(llist, struct rethook_node, llist);
}

/*
 * What a hook with a limit has for a pool.  All of it stays NULL: there is nothing
 * to take and no room to give back to, so those who only look at that need not
 * ask for a limit.
 */
static DEFINE_PER_CPU(struct rethook_pool, no_pool);

/* This CPU's, and not no_pool. */
static __always_inline struct rethook_pool *true_pool(const struct rethook *rh)
{
	return raw_cpu_ptr(rethook_class_pool(rh->class));
}

/* The instance is free, and the hook no more our business. */
static __always_inline struct rethook_pool *release(struct rethook_node *node)
{
	struct rethook *rh = node->rethook;
	struct rethook_pool *pool = true_pool(rh);

	if (rh->limited)
		raw_atomic_inc(&rh->room);
	/* As in rethook_recycle(). */
	smp_store_release(&node->rethook, NULL);
	return pool;
}

/**
 * rethook_try_get_slow() - rethook_try_get() with a limit, or few instances left
 * @rh: the hook
 *
 * Context: as rethook_try_get().
 * Return: as rethook_try_get().
 */
struct rethook_node *rethook_try_get_slow(struct rethook *rh)
{
	struct rethook_pool *pool = true_pool(rh);
	struct rethook_node *node;

	if (rh->limited && !raw_atomic_add_unless(&rh->room, -1, 0))
		return NULL;
	node = rethook_pool_is_low(pool) ? rethook_pool_take_low(pool) :
					   rethook_pool_take(pool);
	if (node)
		WRITE_ONCE(node->rethook, rh);
	else if (rh->limited)
		raw_atomic_inc(&rh->room);
	return node;
}
NOKPROBE_SYMBOL(rethook_try_get_slow);

/*
 * Preemption is off while the handler runs: whoever stops the hook can wait for a
 * grace period.
 */
static __always_inline void run_handler(struct rethook *rh, struct rethook_node *node,
					unsigned long ret_addr, struct pt_regs *regs)
{
	rethook_handler_t handler;

	if (rh->is_kretprobe) {
		rethook_run_kretprobe(rh, node, regs);
		return;
	}
	handler = READ_ONCE(rh->handler);
	if (handler)
		handler(node, rh->data, ret_addr, regs);
}

/*
 * The instance on top is not of the call that returns: calls were abandoned
 * without their task's end, which nothing in the kernel does.  Drop their
 * instances, since there is an address to be found for this one.
 */
static struct rethook_node *drop_abandoned(unsigned long frame)
{
	struct rethook_node *node;
	struct llist_node *first;

	while ((first = READ_ONCE(current->rethooks.first))) {
		node = to_node(first);
		if (node->frame == frame)
			return node;
		WARN_ONCE(1, "rethook: calls in flight were abandoned\n");
		WRITE_ONCE(current->rethooks.first, first->next);
		rethook_pool_give_surplus(release(node), node);
	}
	panic("rethook: no return address for frame %lx\n", frame);
}
NOKPROBE_SYMBOL(drop_abandoned);

/*
 * The call may have been hooked more than once: only the first to do so found
 * an address that is not the trampoline's.  Returns its instance, and counts them.
 */
static const struct rethook_node *find_first(const struct rethook_node *node, int *num)
{
	const struct rethook_node *first = node;

	for (*num = 1; is_rethook_trampoline(first->ret_addr); ++*num) {
		first = to_node(first->llist.next);
		if (!first || first->frame != node->frame)
			panic("rethook: return address lost at frame %lx\n", node->frame);
	}
	return first;
}
NOKPROBE_SYMBOL(find_first);

/* What handlers are told, when the function graph tracer has its own way back. */
static unsigned long find_caller(const struct rethook_node *first)
{
	struct llist_node *cur = NULL;

	if (likely(!is_graph_handler(first->ret_addr)))
		return first->ret_addr;
	return rethook_find_ret_addr(current, first->frame, &cur) ?: first->ret_addr;
}
NOKPROBE_SYMBOL(find_caller);

/* The instance on top is that of the call that returns, and off it goes. */
static __always_inline void finish(struct rethook_node *node, unsigned long caller,
				   struct pt_regs *regs)
{
	WRITE_ONCE(node->ret_addr, caller);
	run_handler(node->rethook, node, caller, regs);
	WRITE_ONCE(current->rethooks.first, node->llist.next);
	barrier();
	rethook_recycle(node);
}

/**
 * rethook_return_slow() - a hooked function has returned, and there is more to it
 * @regs: the registers that it returned with, below the slot of its return address
 *
 * For the trampoline, which deals itself with one call that has one instance.
 *
 * Context: any, preemption off.
 */
asmlinkage __visible void rethook_return_slow(struct pt_regs *regs)
{
	unsigned long *slot = arch_rethook_return_slot(regs);
	const struct rethook_node *first;
	unsigned long caller;
	int n;

	first = find_first(drop_abandoned((unsigned long)slot), &n);
	caller = find_caller(first);
	/*
	 * From here on an unwinder finds the true address in the slot, or asks the
	 * function graph tracer as ever; and handlers see the registers as they
	 * will be in the caller.
	 */
	arch_rethook_fix_regs(regs, caller);
	WRITE_ONCE(*slot, first->ret_addr);
	while (n--)
		finish(to_node(READ_ONCE(current->rethooks.first)), caller, regs);
}
NOKPROBE_SYMBOL(rethook_return_slow);

/**
 * rethook_recycle_slow() - rethook_recycle() of one with a limit, or into a full pool
 * @node: the instance
 *
 * Context: as rethook_recycle().
 */
asmlinkage __visible void rethook_recycle_slow(struct rethook_node *node)
{
	struct rethook_pool *pool = release(node);

	if (rethook_pool_is_full(pool))
		rethook_pool_give_surplus(pool, node);
	else
		rethook_pool_give(pool, node);
}
NOKPROBE_SYMBOL(rethook_recycle_slow);

/**
 * rethook_find_ret_addr() - the true return address of a hooked call
 * @tsk:   the task: current, or one that does not run
 * @frame: address of the stack slot in which the trampoline's address was found
 * @cur:   where to go on looking, NULL before the first frame of an unwinding;
 *	   updated
 *
 * Another task may begin to run, return from its calls and make others: then the
 * answer may be wrong, but instances are not freed while the task is in a
 * hooked function, and the walk ends.
 *
 * The function graph tracer puts an address of its own into the slot, too.  If
 * it came to the call after us, an unwinder has asked it first, and learnt the
 * trampoline's address.  If it came before, its address is what we took for the
 * true one, and it is for us to ask.  Both at once, if several hooks came to the
 * call, or calls that share a slot.
 *
 * Context: any, NMI included.
 * Return: the address, or 0 if there is none.
 */
unsigned long rethook_find_ret_addr(struct task_struct *tsk, unsigned long frame,
				    struct llist_node **cur)
{
	struct llist_node *llist;
	struct rethook_node *node;
	unsigned long ret_addr;
	/* A call takes a slot of the stack. */
	int steps = THREAD_SIZE / sizeof(long);
	/* The unwinder has one, too: beginning anew it finds the same. */
	int graph_idx = 0;

	if (WARN_ON_ONCE(!cur))
		return 0;

	/* What was next a moment ago may not be so any more in another task. */
	if (tsk == current && *cur)
		llist = READ_ONCE((*cur)->next);
	else
		llist = READ_ONCE(tsk->rethooks.first);

	for (; llist && steps--; llist = READ_ONCE(llist->next)) {
		node = to_node(llist);
		if (READ_ONCE(node->frame) != frame)
			continue;
		ret_addr = ftrace_graph_ret_addr(tsk, &graph_idx, READ_ONCE(node->ret_addr),
						 (unsigned long *)frame);
		if (!is_rethook_trampoline(ret_addr)) {
			*cur = llist;
			return ret_addr;
		}
	}
	return 0;
}
NOKPROBE_SYMBOL(rethook_find_ret_addr);

/**
 * rethook_flush_task() - give back the instances of a task that is no more
 * @tsk: the task; it has been in hooked functions that never return, as do_exit()
 *
 * Context: any but NMI.
 */
void rethook_flush_task(struct task_struct *tsk)
{
	struct llist_node *llist = tsk->rethooks.first, *next;

	tsk->rethooks.first = NULL;
	for (; llist; llist = next) {
		next = llist->next;
		preempt_disable_notrace();
		rethook_pool_give_surplus(release(to_node(llist)), to_node(llist));
		preempt_enable_notrace();
	}
}

static struct kmem_cache *rethook_cache;

/* Hooks to be freed: fresh ones, and those that a grace period has passed for. */
static LLIST_HEAD(retiring);
static struct llist_node *retired;	/* rethook_mutex */

static void look_at_retired(struct work_struct *work);
static DECLARE_DELAYED_WORK(look, look_at_retired);

static void mark_in_flight(struct rethook_node *node, void *unused)
{
	/* Pairs with rethook_recycle() and release(). */
	struct rethook *rh = smp_load_acquire(&node->rethook);

	if (rh && READ_ONCE(rh->state) == HOOK_RETIRED)
		WRITE_ONCE(rh->state, HOOK_IN_FLIGHT);
}

/*
 * Free the retired hooks that no call in flight refers to.
 *
 * A hook came here stopped, with nothing left that could hit it, and a grace
 * period has passed: whoever was taking an instance for it then has written
 * node->rethook, and nobody will any more.  From there on the instances that
 * refer to it only become fewer, so when a look at all of them finds none, then
 * there is none.  A return clears node->rethook as the last thing that it does
 * with the hook, and releases: what we do not see any more is done with.  Hooks
 * are freed nowhere else, so all that an instance refers to can be looked at.
 */
static void retired_free(void)
{
	struct llist_node *llist, *next, *keep = NULL;
	struct rethook *rh;

	for (llist = retired; llist; llist = llist->next) {
		rh = llist_entry(llist, struct rethook, retired);
		WRITE_ONCE(rh->state, HOOK_RETIRED);
	}
	if (retired)
		rethook_visit_nodes(mark_in_flight, NULL);

	for (llist = retired; llist; llist = next) {
		next = llist->next;
		rh = llist_entry(llist, struct rethook, retired);
		if (rh->state == HOOK_IN_FLIGHT) {
			llist->next = keep;
			keep = llist;
			continue;
		}
		rethook_class_unuse(rh->class);
		kmem_cache_free(rethook_cache, rh);
	}
	retired = keep;
}

static void look_at_retired(struct work_struct *work)
{
	static unsigned long delay;
	struct llist_node *fresh = llist_del_all(&retiring), *next;
	unsigned long again;

	if (fresh) {
		synchronize_rcu();
		delay = LOOK_FIRST;
	}

	mutex_lock(&rethook_mutex);
	for (; fresh; fresh = next) {
		next = fresh->next;
		fresh->next = retired;
		retired = fresh;
	}
	retired_free();
	again = rethook_classes_shrink(RETHOOK_IDLE_TIME);
	if (retired) {
		delay = min(2 * delay, LOOK_SELDOM);
		again = again ? min(again, delay) : delay;
	}
	mutex_unlock(&rethook_mutex);

	if (again)
		queue_delayed_work(system_unbound_wq, &look, again);
}

/* A hook without a handler, which hooks calls already, but to no effect. */
static struct rethook *hook_create(void *data, int size, int num)
{
	struct rethook *rh;
	int class, err;

	if (size < (int)sizeof(struct rethook_node))
		return ERR_PTR(-EINVAL);
	class = rethook_class_of(size);
	if (class < 0)
		return ERR_PTR(class);
	if (!rethook_cache)
		return ERR_PTR(-EAGAIN);

	rh = kmem_cache_zalloc(rethook_cache, GFP_KERNEL);
	if (!rh)
		return ERR_PTR(-ENOMEM);

	mutex_lock(&rethook_mutex);
	err = rethook_class_use(class);
	mutex_unlock(&rethook_mutex);
	if (err) {
		kmem_cache_free(rethook_cache, rh);
		return ERR_PTR(err);
	}

	rh->data = data;
	rh->limited = num > 0;
	rh->pool = rh->limited ? &no_pool : rethook_class_pool(class);
	atomic_set(&rh->room, max(num, 0));
	rh->class = class;
	rh->state = HOOK_LIVE;
	return rh;
}

/**
 * rethook_alloc() - make a hook
 * @data:    handed to @handler
 * @handler: called when a hooked function has returned, with preemption off; may
 *	     change what the registers hold, but not where the call returns to
 * @size:    of an instance in bytes, struct rethook_node included
 * @num:     how many calls may be in flight, 0 or less: as many as there are
 *
 * The first hook for a size of instances has every CPU stocked with them.
 *
 * Context: may sleep.
 * Return: the hook, or an error: -EINVAL: no handler, or a size without room for
 * struct rethook_node; -E2BIG: a size over RETHOOK_MAX_SIZE; -ENOMEM; -EAGAIN:
 * too early in the boot.
 */
struct rethook *rethook_alloc(void *data, rethook_handler_t handler, int size, int num)
{
	struct rethook *rh;

	if (!handler)
		return ERR_PTR(-EINVAL);
	rh = hook_create(data, size, num);
	if (!IS_ERR(rh))
		rh->handler = handler;
	return rh;
}

/**
 * rethook_alloc_kretprobe() - make the hook of a return probe
 * @rp:      the probe
 * @handler: called when a hooked function has returned, as the handlers of probes
 *	     are; NULL for none
 * @size:    as in rethook_alloc()
 * @num:     as in rethook_alloc()
 *
 * Context: may sleep.
 * Return: as rethook_alloc().
 */
struct rethook *rethook_alloc_kretprobe(struct kretprobe *rp, rethook_kretprobe_t handler,
					int size, int num)
{
	struct rethook *rh = hook_create(rp, size, num);

	if (!IS_ERR(rh)) {
		rh->is_kretprobe = true;
		rh->kretprobe = handler;
	}
	return rh;
}

/**
 * rethook_stop() - have the handler called no more
 * @rh: the hook
 *
 * Calls in flight, and those that are hooked from here on, return untouched.
 * After a grace period no handler runs any more.
 *
 * Context: any.
 */
void rethook_stop(struct rethook *rh)
{
	WRITE_ONCE(rh->handler, NULL);
}

/**
 * rethook_free() - stop a hook and free it
 * @rh: the hook; no entry of a function may lead to it any more, though one that
 *	did may still be running with preemption off
 *
 * The memory goes when the last call in flight is back.
 *
 * Context: any but NMI; does not sleep.
 */
void rethook_free(struct rethook *rh)
{
	rethook_stop(rh);
	if (llist_add(&rh->retired, &retiring))
		mod_delayed_work(system_unbound_wq, &look, LOOK_FIRST);
}

static void count_node(struct rethook_node *node, void *arg)
{
	struct rethook_usage *usage = arg;

	usage->nodes++;
	if (READ_ONCE(node->rethook))
		usage->in_flight++;
}

/**
 * rethook_get_usage() - what is in use, for tests
 * @usage: is filled in
 *
 * Context: may sleep.
 */
void rethook_get_usage(struct rethook_usage *usage)
{
	*usage = (struct rethook_usage) {};
	mutex_lock(&rethook_mutex);
	usage->hooks = rethook_count_hooks();
	rethook_visit_nodes(count_node, usage);
	mutex_unlock(&rethook_mutex);
}

static int __init rethook_init(void)
{
	rethook_cache = KMEM_CACHE(rethook, SLAB_PANIC);
	return 0;
}
early_initcall(rethook_init);
