// SPDX-License-Identifier: GPL-2.0
/*
 * Return hook: where the instances in the pools come from and go to.
 *
 * The idea: an instance has one of a few sizes.  The first hook that needs a size
 * has it stocked on every CPU; a CPU that falls below its promised burst is
 * stocked up again by a worker, ahead of need.  Instances are never freed one by
 * one: all those of a size go together, some time after its last hook went.
 *
 * linux/rethook_pool.h says who may touch a pool, and how.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "rethook_internal.h"

/* Room for struct rethook_chunk; instances begin with a cache line. */
#define CHUNK_HEAD	64

/* Instances are allocated by the chunk; this is its head. */
struct rethook_chunk {
	struct list_head	list;
};

/**
 * struct rethook_class - the instances of one size
 * @size:	of an instance
 * @chunk_size:	bytes to allocate at once
 * @burst:	what is promised in all: RETHOOK_BURST_SMALL or RETHOOK_BURST_LARGE
 * @hooks:	how many use this size; without any, no CPU touches its pool
 * @idle_since:	jiffies when @hooks became 0
 * @pool:	the pools; once allocated, they stay
 * @refill:	their workers, likewise
 * @chunks:	all instances there are
 * @spare:	free instances that are in no pool
 *
 * All are changed under rethook_mutex.
 */
struct rethook_class {
	unsigned int			size;
	unsigned int			chunk_size;
	unsigned int			burst;
	unsigned long			hooks;
	unsigned long			idle_since;
	struct rethook_pool __percpu	*pool;
	struct rethook_refill __percpu	*refill;
	struct list_head		chunks;
	struct llist_node		*spare;
};

/**
 * struct rethook_refill - the worker of one pool
 * @class:	what the pool is a pool of
 * @pool:	the pool
 * @kick:	takes the request from the hit, in any context, to the work queue
 * @work:	the work
 */
struct rethook_refill {
	struct rethook_class	*class;
	struct rethook_pool	*pool;
	struct irq_work		kick;
	struct work_struct	work;
};

#define SIZE_CLASS(index, bytes, chunk, many) {			\
	.size = bytes,						\
	.chunk_size = chunk,					\
	.burst = many,						\
	.chunks = LIST_HEAD_INIT(classes[index].chunks)		\
}

static struct rethook_class classes[] = {
	/* A return probe without data: no more than struct rethook_node. */
	SIZE_CLASS(0, 32, SZ_4K, RETHOOK_BURST_SMALL),
	SIZE_CLASS(1, 64, SZ_4K, RETHOOK_BURST_SMALL),
	SIZE_CLASS(2, 128, SZ_4K, RETHOOK_BURST_SMALL),
	SIZE_CLASS(3, 256, SZ_4K, RETHOOK_BURST_SMALL),
	SIZE_CLASS(4, 512, SZ_4K, RETHOOK_BURST_LARGE),
	SIZE_CLASS(5, 1024, SZ_8K, RETHOOK_BURST_LARGE),
	SIZE_CLASS(6, 2048, SZ_16K, RETHOOK_BURST_LARGE),
	SIZE_CLASS(7, RETHOOK_MAX_SIZE, SZ_32K, RETHOOK_BURST_LARGE),
};

/* See rethook_internal.h. */
DEFINE_MUTEX(rethook_mutex);

/* CPUs that are online or about to be; rethook_mutex. */
static struct cpumask stocked_cpus;

static void spare_add(struct rethook_class *class, struct rethook_node *node)
{
	node->llist.next = class->spare;
	class->spare = &node->llist;
}

static struct rethook_node *spare_take(struct rethook_class *class)
{
	struct llist_node *first = class->spare;

	if (!first)
		return NULL;
	class->spare = first->next;
	return llist_entry(first, struct rethook_node, llist);
}

static unsigned int nodes_per_chunk(const struct rethook_class *class)
{
	return (class->chunk_size - CHUNK_HEAD) / class->size;
}

static struct rethook_node *chunk_node(const struct rethook_class *class,
				       struct rethook_chunk *chunk, unsigned int i)
{
	return (void *)chunk + CHUNK_HEAD + i * class->size;
}

static int chunk_add(struct rethook_class *class)
{
	struct rethook_chunk *chunk;
	unsigned int i;

	/* A hit that finds no instance is counted; that is no reason to kill. */
	chunk = kzalloc(class->chunk_size, GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (!chunk)
		return -ENOMEM;
	list_add(&chunk->list, &class->chunks);
	for (i = 0; i < nodes_per_chunk(class); i++)
		spare_add(class, chunk_node(class, chunk, i));
	return 0;
}

/* What ended up where it cannot be used. */
static void surplus_collect(struct rethook_class *class)
{
	struct rethook_node *node, *next;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct llist_head *surplus = &per_cpu_ptr(class->pool, cpu)->surplus;

		llist_for_each_entry_safe(node, next, llist_del_all(surplus), llist)
			spare_add(class, node);
	}
}

/* Have an instance in @spare. */
static int spare_provide(struct rethook_class *class)
{
	if (!class->spare)
		surplus_collect(class);
	return class->spare ? 0 : chunk_add(class);
}

/* What a CPU is ready for with no worker's help. */
static unsigned int cpu_burst(const struct rethook_class *class)
{
	return clamp(class->burst / num_possible_cpus(), RETHOOK_BURST_CPU_MIN,
		     RETHOOK_BURST_CPU_MAX);
}

/* A little more than that, so that the worker is not asked at once. */
static bool is_stocked(const struct rethook_class *class, const struct rethook_pool *pool)
{
	unsigned int burst = cpu_burst(class);

	return READ_ONCE(pool->top) >= pool->slot + burst + burst / 8;
}

/* Stock up the CPU that this runs on, as a task of it. */
static void refill_this_cpu(struct rethook_class *class)
{
	struct rethook_pool *pool;
	bool enough = !class->hooks;

	while (!enough) {
		if (spare_provide(class))
			return;
		preempt_disable_notrace();
		pool = raw_cpu_ptr(class->pool);
		while (class->spare && !is_stocked(class, pool))
			rethook_pool_give(pool, spare_take(class));
		enough = is_stocked(class, pool);
		preempt_enable_notrace();
	}
}

static void refill(struct work_struct *work)
{
	struct rethook_refill *refill = container_of(work, struct rethook_refill, work);

	/* From here on it may ask again: what follows is no less than it needs. */
	WRITE_ONCE(refill->pool->asked, false);
	mutex_lock(&rethook_mutex);
	refill_this_cpu(refill->class);
	mutex_unlock(&rethook_mutex);
}

/* Runs on the CPU that asked. */
static void kick(struct irq_work *work)
{
	struct rethook_refill *refill = container_of(work, struct rethook_refill, kick);

	queue_work_on(raw_smp_processor_id(), system_highpri_wq, &refill->work);
}

/**
 * rethook_pool_take_low() - take an instance when few or none are left
 * @pool: this CPU's pool
 *
 * Context: any, preemption off since before the pool was looked up.
 * Return: the instance, or NULL.
 */
struct rethook_node *rethook_pool_take_low(struct rethook_pool *pool)
{
	if (!READ_ONCE(pool->asked)) {
		WRITE_ONCE(pool->asked, true);
		irq_work_queue(&pool->refill->kick);
	}
	return READ_ONCE(pool->top) > pool->slot ? rethook_pool_take(pool) : NULL;
}
NOKPROBE_SYMBOL(rethook_pool_take_low);

/**
 * rethook_pool_give_surplus() - give an instance back, but not to the array
 * @pool: any CPU's pool
 * @node: the instance; not the giver's any more
 *
 * Context: any.
 */
void rethook_pool_give_surplus(struct rethook_pool *pool, struct rethook_node *node)
{
	llist_add(&node->llist, &pool->surplus);
}
NOKPROBE_SYMBOL(rethook_pool_give_surplus);

/*
 * Give a CPU the array of its pool, if it has none.  This and the next two are
 * for a CPU that has no hits, since it is not up or nobody uses the class.
 */
static int pool_open(struct rethook_class *class, int cpu)
{
	struct rethook_pool *pool = per_cpu_ptr(class->pool, cpu);
	unsigned int burst = cpu_burst(class);

	if (pool->slot)
		return 0;
	pool->slot = kvmalloc_node(2 * burst * sizeof(*pool->slot),
				   GFP_KERNEL | __GFP_NOWARN, cpu_to_node(cpu));
	if (!pool->slot)
		return -ENOMEM;
	pool->top = pool->slot;
	pool->low = pool->slot + burst;
	pool->end = pool->slot + 2 * burst;
	return 0;
}

/* Fill the array. */
static int pool_stock(struct rethook_class *class, int cpu)
{
	struct rethook_pool *pool = per_cpu_ptr(class->pool, cpu);

	while (!is_stocked(class, pool)) {
		if (spare_provide(class))
			return -ENOMEM;
		*pool->top++ = spare_take(class);
	}
	return 0;
}

/* Empty it, and take it away. */
static void pool_close(struct rethook_class *class, int cpu)
{
	struct rethook_pool *pool = per_cpu_ptr(class->pool, cpu);

	while (pool->top > pool->slot)
		spare_add(class, *--pool->top);
	kvfree(pool->slot);
	pool->slot = NULL;
	pool->top = NULL;
	pool->low = NULL;
	pool->end = NULL;
}

static void pool_init(struct rethook_class *class, int cpu)
{
	struct rethook_pool *pool = per_cpu_ptr(class->pool, cpu);
	struct rethook_refill *worker = per_cpu_ptr(class->refill, cpu);

	pool->refill = worker;
	init_llist_head(&pool->surplus);

	worker->class = class;
	worker->pool = pool;
	init_irq_work(&worker->kick, kick);
	INIT_WORK(&worker->work, refill);
}

static int pools_create(struct rethook_class *class)
{
	int cpu;

	class->pool = __alloc_percpu(sizeof(struct rethook_pool), SMP_CACHE_BYTES);
	class->refill = alloc_percpu(struct rethook_refill);
	if (!class->pool || !class->refill) {
		free_percpu(class->pool);
		free_percpu(class->refill);
		class->pool = NULL;
		return -ENOMEM;
	}

	for_each_possible_cpu(cpu)
		pool_init(class, cpu);
	return 0;
}

static void class_empty(struct rethook_class *class)
{
	struct rethook_chunk *chunk, *next;
	int cpu;

	for_each_possible_cpu(cpu)
		pool_close(class, cpu);
	surplus_collect(class);
	class->spare = NULL;
	list_for_each_entry_safe(chunk, next, &class->chunks, list)
		kfree(chunk);
	INIT_LIST_HEAD(&class->chunks);
}

static int class_stock(struct rethook_class *class)
{
	int cpu, err = 0;

	if (!class->pool)
		err = pools_create(class);
	if (err)
		return err;

	for_each_cpu(cpu, &stocked_cpus) {
		err = pool_open(class, cpu) ?: pool_stock(class, cpu);
		if (err) {
			class_empty(class);
			break;
		}
	}
	return err;
}

/**
 * rethook_class_of() - the class for a size
 * @size: of an instance, in bytes
 *
 * Return: its index, or -E2BIG.
 */
int rethook_class_of(size_t size)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (size <= classes[i].size)
			return i;
	return -E2BIG;
}

/**
 * rethook_class_use() - one more hook uses a class: have it stocked
 * @index: of the class
 *
 * Context: may sleep; rethook_mutex held.
 * Return: 0 or -ENOMEM.
 */
int rethook_class_use(int index)
{
	struct rethook_class *class = &classes[index];

	if (!class->hooks) {
		int err = class_stock(class);

		if (err)
			return err;
	}
	class->hooks++;
	return 0;
}

/**
 * rethook_class_unuse() - a hook is gone, and no instance refers to it
 * @index: of its class
 *
 * Context: may sleep; rethook_mutex held.
 */
void rethook_class_unuse(int index)
{
	struct rethook_class *class = &classes[index];

	/* The last instances may still be on their way to a pool. */
	if (class->hooks == 1)
		synchronize_rcu();
	if (!--class->hooks)
		class->idle_since = jiffies;
}

/**
 * rethook_classes_shrink() - free the instances of classes that are not used
 * @idle:	for so long, in jiffies: RETHOOK_IDLE_TIME, less only for tests
 *
 * Context: may sleep; rethook_mutex held.
 * Return: jiffies until this is to be called again, 0: it need not be.
 */
unsigned long rethook_classes_shrink(unsigned long idle)
{
	unsigned long again = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		struct rethook_class *class = &classes[i];

		if (class->hooks || list_empty(&class->chunks))
			continue;
		if (time_before(jiffies, class->idle_since + idle)) {
			again = idle;
			continue;
		}
		class_empty(class);
	}
	return again;
}

/**
 * rethook_class_pool() - the pools of a class that is in use
 * @index: of the class
 *
 * Context: any.
 * Return: the pools.
 */
struct rethook_pool __percpu *rethook_class_pool(int index)
{
	return classes[index].pool;
}
NOKPROBE_SYMBOL(rethook_class_pool);

/**
 * rethook_count_hooks() - how many hooks are there?
 *
 * Context: rethook_mutex held.
 * Return: their number.
 */
unsigned long rethook_count_hooks(void)
{
	unsigned long n = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		n += classes[i].hooks;
	return n;
}

/**
 * rethook_visit_nodes() - look at all instances, free and in flight
 * @fn:  called for each
 * @arg: handed to @fn
 *
 * Context: rethook_mutex held.
 */
void rethook_visit_nodes(void (*fn)(struct rethook_node *node, void *arg), void *arg)
{
	struct rethook_class *class;
	struct rethook_chunk *chunk;
	unsigned int i;

	for (class = classes; class < classes + ARRAY_SIZE(classes); class++)
		list_for_each_entry(chunk, &class->chunks, list)
			for (i = 0; i < nodes_per_chunk(class); i++)
				fn(chunk_node(class, chunk, i), arg);
}

static void close_all(unsigned int cpu)
{
	int i;

	cpumask_clear_cpu(cpu, &stocked_cpus);
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (classes[i].pool)
			pool_close(&classes[i], cpu);
}

/* A CPU comes: its first hits are before anything can run on it. */
static int cpu_prepare(unsigned int cpu)
{
	int i, err = 0;

	mutex_lock(&rethook_mutex);
	cpumask_set_cpu(cpu, &stocked_cpus);
	for (i = 0; i < ARRAY_SIZE(classes) && !err; i++) {
		if (!classes[i].hooks)
			continue;
		err = pool_open(&classes[i], cpu);
		/* With less than all the worker is asked at the first hit. */
		if (!err)
			pool_stock(&classes[i], cpu);
	}
	if (err)
		close_all(cpu);
	mutex_unlock(&rethook_mutex);
	return err;
}

/* A CPU is gone, and what its idle task was in never returns. */
static int cpu_dead(unsigned int cpu)
{
	rethook_flush_task(idle_task(cpu));
	mutex_lock(&rethook_mutex);
	close_all(cpu);
	mutex_unlock(&rethook_mutex);
	return 0;
}

static int __init rethook_pool_init(void)
{
	int err = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "trace/rethook:prepare",
				    cpu_prepare, cpu_dead);

	return err < 0 ? err : 0;
}
early_initcall(rethook_pool_init);
