// SPDX-License-Identifier: GPL-2.0
/*
 * races: the return hook and its pools.
 *
 * The idea: an instance is its own witness.  Who takes one writes into it whose it
 * is, and finds that there when it comes back; what is taken twice is not so.  When
 * a race is over, the instances in the pools are counted one by one.
 *
 * A task runs on one thread after another, so its calls return on other CPUs than
 * they were entered on.
 */
#include <unistd.h>

/* For a look into what is static there. */
#include "trace/rethook_pool.c"
#include "race.h"

#define NR_RUNNERS	3
#define NR_TASKS	64
#define MAX_DEPTH	24
#define MAX_HOOKED	3
#define NR_HOOKS	8
#define LIMIT		40

/* Calls and returns before a runner goes on with another task. */
#define TURN		16

/* A phase has more calls than returns, the next has more returns. */
#define PHASE		4096

/* Everything is to be free again after so many jiffies. */
#define SHRINK_JIFFIES	60000

/**
 * struct hook - a hook under test
 * @rh:		the hook
 * @size:	of its instances
 * @limit:	of the calls in flight, or 0
 * @in_flight:	their number, if there is a limit
 */
struct hook {
	struct rethook	*rh;
	size_t		size;
	int		limit;
	int		in_flight;
};

/* What a call has of the stack: the slot is where the return hook looks for it. */
struct frame {
	struct pt_regs	regs;
	unsigned long	slot;
	unsigned long	ret_addr;
	unsigned int	hooked, returned;
	struct hook	*limited[MAX_HOOKED];
};

struct task {
	struct task_struct	task;
	pthread_mutex_t		running;
	unsigned int		depth;
	struct frame		frames[MAX_DEPTH];
};

/* What the owner of an instance writes into it. */
struct witness {
	struct rethook_node	node;
	struct frame		*frame[];
};

static struct task tasks[NR_TASKS];
static struct hook *hooks[NR_HOOKS];

static struct {
	bool	churn, hotplug, limit;
} with;

static unsigned long nr_ops, calls, missed, nested, flushed, surplus_given;
static long ops_left;

#define count(what)	__atomic_fetch_add(&(what), 1, __ATOMIC_RELAXED)

void arch_rethook_trampoline(void) { }

static void wait_jiffies(unsigned long n)
{
	unsigned long end = jiffies + n;

	while (time_before(jiffies, end))
		usleep(1000);
}

/* --- A call, and its return ---------------------------------------------------- */

static unsigned int witness_words(struct hook *h)
{
	unsigned int words = (h->size - sizeof(struct rethook_node)) / sizeof(struct frame *);

	return min(words, 8U);
}

static void witness_write(struct hook *h, struct rethook_node *node, struct frame *f)
{
	struct witness *w = container_of(node, struct witness, node);
	unsigned int i;

	for (i = 0; i < witness_words(h); i++)
		w->frame[i] = f;
}

static void witness_check(struct hook *h, struct rethook_node *node, struct frame *f)
{
	struct witness *w = container_of(node, struct witness, node);
	unsigned int i;

	must(node->frame == (unsigned long)&f->slot);
	for (i = 0; i < witness_words(h); i++)
		must(w->frame[i] == f);
}

static void limit_enter(struct hook *h)
{
	if (h->limit)
		must(__atomic_add_fetch(&h->in_flight, 1, __ATOMIC_RELAXED) <= h->limit);
}

static void limit_leave(struct hook *h)
{
	if (h->limit)
		must(__atomic_sub_fetch(&h->in_flight, 1, __ATOMIC_RELAXED) >= 0);
}

static void returned(struct rethook_node *node, void *data, unsigned long ret_addr,
		     struct pt_regs *regs)
{
	struct hook *h = data;
	struct frame *f = container_of(regs, struct frame, regs);

	must(node->rethook == h->rh);
	must(ret_addr == f->ret_addr && regs->ip == ret_addr);
	witness_check(h, node, f);
	limit_leave(h);
	f->returned++;
}

/* Preemption is off. */
static bool hook_call(struct hook *h, struct frame *f)
{
	struct rethook_node *node = rethook_try_get(h->rh);

	if (!node) {
		count(missed);
		return false;
	}
	limit_enter(h);
	must(node->rethook == h->rh);
	if (chance(10)) {
		/* Its entry handler will not have it. */
		limit_leave(h);
		rethook_recycle(node);
		return true;
	}
	witness_write(h, node, f);
	rethook_hook(node, &f->regs, true);
	f->limited[f->hooked++] = h->limit ? h : NULL;
	return true;
}

static void frame_init(struct frame *f, unsigned long ret_addr)
{
	f->ret_addr = ret_addr;
	f->slot = ret_addr;
	f->hooked = 0;
	f->returned = 0;
	f->regs.sp = (unsigned long)&f->slot;
}

/* Returns false, when there was no instance for it. */
static bool call(struct frame *f)
{
	unsigned int n = chance(20) ? MAX_HOOKED : 1;
	bool hooked = true;
	struct hook *h;

	preempt_disable();
	frame_init(f, 0x1000 + below(1 << 20));
	while (n--) {
		h = READ_ONCE(hooks[below(NR_HOOKS)]);
		if (h && !hook_call(h, f))
			hooked = false;
	}
	count(calls);
	preempt_enable();
	return hooked;
}

static void call_return(struct frame *f)
{
	preempt_disable();
	if (f->slot == (unsigned long)arch_rethook_trampoline)
		rethook_return_slow(&f->regs);
	else
		must(!f->hooked);
	must(f->slot == f->ret_addr);
	/* Of hooks that were stopped meanwhile nobody is told. */
	must(with.churn ? f->returned <= f->hooked : f->returned == f->hooked);
	preempt_enable();
}

static void check_unwind(struct task *t)
{
	struct llist_node *cur = NULL;
	unsigned int depth = t->depth;
	struct frame *f;

	while (depth--) {
		f = &t->frames[depth];
		if (f->slot == (unsigned long)arch_rethook_trampoline)
			must(rethook_find_ret_addr(&t->task, (unsigned long)&f->slot,
						   &cur) == f->ret_addr);
	}
}

/* --- Interrupts ----------------------------------------------------------------- */

/* Tasks that have exited with calls in flight, to be looked after in an interrupt. */
static LLIST_HEAD(exited);

struct dead_task {
	struct task_struct	task;
	struct llist_node	list;
	bool			done;
};

static void interrupt_calls(void)
{
	struct frame frames[2];
	unsigned int i, n = 1 + below(ARRAY_SIZE(frames));
	struct dead_task *dead, *next;

	if (current) {
		count(nested);
		for (i = 0; i < n; i++)
			call(&frames[i]);
		while (n--)
			call_return(&frames[n]);
	}
	llist_for_each_entry_safe(dead, next, llist_del_all(&exited), list) {
		rethook_flush_task(&dead->task);
		/* Pairs with task_exit(): it is gone from there on. */
		smp_store_release(&dead->done, true);
	}
}

/* --- Tasks ----------------------------------------------------------------------- */

static void forget_limits(struct task *t)
{
	struct frame *f;
	unsigned int i;

	for (f = t->frames; f < t->frames + t->depth; f++)
		for (i = 0; i < f->hooked; i++)
			if (f->limited[i])
				limit_leave(f->limited[i]);
}

static void task_exit(struct task *t)
{
	struct dead_task dead = { .task = t->task };

	count(flushed);
	forget_limits(t);
	t->task.rethooks.first = NULL;
	t->depth = 0;
	if (chance(50)) {
		rethook_flush_task(&dead.task);
		return;
	}
	llist_add(&dead.list, &exited);
	/* Pairs with interrupt_calls(). */
	while (!smp_load_acquire(&dead.done)) {
		preempt_disable();
		interrupt_calls();
		preempt_enable();
	}
}

static void task_turn(struct task *t, bool deepen)
{
	int i;

	current = &t->task;
	for (i = 0; i < TURN; i++) {
		wanted_cpu = below(RACE_CPUS / 2) + (deepen ? 0 : RACE_CPUS / 2);
		if (chance(deepen ? 60 : 40)) {
			if (t->depth < MAX_DEPTH) {
				/* In the kernel the worker comes before us. */
				if (!call(&t->frames[t->depth]) && !with.limit)
					usleep(50);
				t->depth++;
			}
		} else if (t->depth) {
			call_return(&t->frames[--t->depth]);
		}
	}
	check_unwind(t);
	/* One that exits must know who counts its calls. */
	if (!(with.limit && with.churn) && chance(2))
		task_exit(t);
	current = NULL;
}

static void run_tasks(void)
{
	struct task *t;
	long left;

	while ((left = __atomic_sub_fetch(&ops_left, TURN, __ATOMIC_RELAXED)) >= 0 ||
	       READ_ONCE(nested) < RACE_INTERRUPTS) {
		do
			t = &tasks[below(NR_TASKS)];
		while (pthread_mutex_trylock(&t->running));
		task_turn(t, left / PHASE & 1);
		pthread_mutex_unlock(&t->running);
	}
}

/* --- Hooks that come and go ------------------------------------------------------ */

static const size_t sizes[] = { 32, 40, 200, 512, 4160 };

static struct hook *hook_new(size_t size, int limit)
{
	struct hook *h = calloc(1, sizeof(*h));

	h->size = size;
	h->limit = limit;
	h->rh = rethook_alloc(h, returned, size, limit);
	must(!IS_ERR(h->rh));
	return h;
}

static void hook_add(int i)
{
	struct hook *h = hook_new(sizes[below(ARRAY_SIZE(sizes))],
				  with.limit && i % 2 ? LIMIT : 0);

	rcu_assign_pointer(hooks[i], h);
}

static void hook_del(int i)
{
	struct hook *h = hooks[i];

	WRITE_ONCE(hooks[i], NULL);
	rethook_free(h->rh);
	synchronize_rcu();
	free(h);
}

static void churn(void)
{
	int i;

	while (!READ_ONCE(race_over)) {
		for (i = 0; i < NR_HOOKS; i++) {
			if (chance(60))
				continue;
			if (hooks[i])
				hook_del(i);
			else
				hook_add(i);
		}
		/* Those that were freed are looked at again and again. */
		usleep(below(20000));
	}
}

static void hotplug(void)
{
	struct frame last;
	int cpu;

	while (!READ_ONCE(race_over)) {
		cpu = 1 + below(RACE_CPUS - 1);
		/* What its idle task does last never returns. */
		wanted_cpu = cpu;
		current = idle_task(cpu);
		call(&last);
		current = NULL;
		cpu_take_down(cpu);
		usleep(below(500));
		cpu_bring_up(cpu);
		usleep(below(500));
	}
}

static void thread(int nr)
{
	if (nr < NR_RUNNERS)
		run_tasks();
	else if (nr == NR_RUNNERS && with.churn)
		churn();
	else if (nr == NR_RUNNERS + 1 && with.hotplug)
		hotplug();
}

/* --- The end --------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

/* All instances of a class are free: each is in one place, and there are no more. */
static void check_class(struct rethook_class *class)
{
	unsigned long nodes = 0, n = 0, i;
	struct rethook_chunk *chunk;
	struct rethook_node **all;
	struct llist_node *llist;
	int cpu;

	list_for_each_entry(chunk, &class->chunks, list)
		nodes += nodes_per_chunk(class);
	all = calloc(nodes + 1, sizeof(*all));
	for (llist = class->spare; llist; llist = llist->next)
		if (n++ < nodes)
			all[n - 1] = llist_entry(llist, struct rethook_node, llist);
	if (class->pool) {
		for_each_possible_cpu(cpu) {
			struct rethook_pool *pool = per_cpu_ptr(class->pool, cpu);
			struct rethook_node **slot;

			must(pool->top >= pool->slot && pool->top <= pool->end);
			for (slot = pool->slot; slot < pool->top; slot++)
				if (n++ < nodes)
					all[n - 1] = *slot;
			for (llist = pool->surplus.first; llist; llist = llist->next) {
				surplus_given++;
				if (n++ < nodes)
					all[n - 1] = llist_entry(llist, struct rethook_node, llist);
			}
		}
	}
	if (n != nodes)
		die("size %u: %lu instances, %lu are free", class->size, nodes, n);
	qsort(all, n, sizeof(*all), by_address);
	for (i = 0; i < n; i++)
		must(!all[i]->rethook && (!i || all[i] != all[i - 1]));
	free(all);
}

static void check_classes(void)
{
	struct rethook_class *class;

	mutex_lock(&rethook_mutex);
	for (class = classes; class < classes + ARRAY_SIZE(classes); class++)
		check_class(class);
	mutex_unlock(&rethook_mutex);
}

static void return_all(void)
{
	struct task *t;

	for (t = tasks; t < tasks + NR_TASKS; t++) {
		current = &t->task;
		while (t->depth)
			call_return(&t->frames[--t->depth]);
		must(!t->task.rethooks.first);
	}
	/* So do those of a CPU's idle task, when it goes. */
	for (wanted_cpu = 1; wanted_cpu < RACE_CPUS; wanted_cpu++)
		must(!idle_task(wanted_cpu)->rethooks.first);
	current = NULL;
}

/* After a while nothing is left. */
static void wait_for_shrink(void)
{
	unsigned long end = jiffies + SHRINK_JIFFIES;
	struct rethook_usage usage;

	do {
		must(time_before(jiffies, end));
		usleep(1000);
		rethook_get_usage(&usage);
		must(!usage.in_flight);
	} while (usage.hooks || usage.nodes);
}

static void finish(void)
{
	int i;

	return_all();
	/* What has been asked for is still being done. */
	works_flush();
	check_classes();
	for (i = 0; i < NR_HOOKS; i++) {
		if (!hooks[i])
			continue;
		if (hooks[i]->limit) {
			must(!hooks[i]->in_flight);
			must(atomic_read(&hooks[i]->rh->room) == hooks[i]->limit);
		}
		hook_del(i);
	}
	wait_for_shrink();
}

static void race(unsigned long ops)
{
	int i;

	for (i = 0; i < NR_TASKS; i++)
		pthread_mutex_init(&tasks[i].running, NULL);
	for (i = 0; i < NR_HOOKS; i++)
		hook_add(i);
	nr_ops = ops;
	ops_left = ops;
	interrupt = interrupt_calls;
	race_run(thread, NR_RUNNERS + 2, NR_RUNNERS);
	interrupt = NULL;
	finish();
	printf("%lu calls, %lu missed, %lu interrupts, %lu tasks exited, %lu surplus\n",
	       calls, missed, nested, flushed, surplus_given);
	must(calls);
}

static void run_calls(unsigned long ops)
{
	race(ops);
}

static void run_limit(unsigned long ops)
{
	with.limit = true;
	race(ops);
	must(missed);
}

static void run_churn(unsigned long ops)
{
	with.churn = true;
	race(ops);
}

static void run_retire(unsigned long ops)
{
	with.limit = true;
	with.churn = true;
	race(ops);
}

static void run_hotplug(unsigned long ops)
{
	with.hotplug = true;
	race(ops);
}

static void run_all(unsigned long ops)
{
	with.churn = true;
	with.hotplug = true;
	race(ops);
}

/* The last hook of a size is freed after a grace period: have one more of each. */
static void keep_sizes(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		hooks[2 + i] = hook_new(sizes[i], 0);
}

/* --- The last call of a hook ------------------------------------------------------- */

/*
 * A hook is freed while a call is in flight.  When that returns, what it does with
 * the hook is ordered before the freeing by the instance alone: nothing else happens
 * meanwhile, and time is no order.
 */
static void run_last(unsigned long ops)
{
	struct task *t = &tasks[0];
	unsigned long n;
	struct hook *h;
	int i;

	with.churn = true;
	with.limit = true;
	keep_sizes();
	current = &t->task;
	for (n = 0; n < ops; n++) {
		/* Of two, the other one has a limit. */
		i = n % 2;
		hook_add(i);
		h = hooks[i];
		preempt_disable();
		frame_init(&t->frames[0], 1);
		while (!t->frames[0].hooked)
			must(hook_call(h, &t->frames[0]));
		preempt_enable();
		hook_del(i);
		wait_jiffies(20);
		call_return(&t->frames[0]);
		/* By then the hook was looked at again. */
		wait_jiffies(100);
	}
	current = NULL;
	printf("%lu hooks\n", n);
	finish();
}

/* --- A call that is late ------------------------------------------------------------ */

static bool found;

/* Finds a hook, and takes its time before it takes an instance for it. */
static void call_late(void)
{
	struct task *t = &tasks[0];
	struct frame *f = t->frames;
	struct hook *h;

	current = &t->task;
	preempt_disable();
	do
		h = READ_ONCE(hooks[0]);
	while (!h);
	/* Pairs with free_early(). */
	smp_store_release(&found, true);
	wait_jiffies(20);
	frame_init(f, 1);
	hook_call(h, f);
	preempt_enable();
	call_return(f);
	current = NULL;
}

static void free_early(void)
{
	/* Pairs with call_late(). */
	while (!smp_load_acquire(&found))
		usleep(1000);
	hook_del(0);
}

static void late_thread(int nr)
{
	if (nr)
		free_early();
	else
		call_late();
}

static void run_late(unsigned long ops)
{
	unsigned long n;

	with.churn = true;
	keep_sizes();
	for (n = 0; n < ops; n++) {
		found = false;
		hook_add(0);
		race_run(late_thread, 2, 2);
	}
	printf("%lu hooks\n", n);
	finish();
}

/* --- One instruction after another ------------------------------------------------ */

/* Takes and gives, not only in the order of calls. */
static void interrupt_swap(void)
{
	struct hook *h = hooks[below(NR_HOOKS)];
	struct rethook_pool *pool = raw_cpu_ptr(rethook_class_pool(h->rh->class));
	struct rethook_node *a, *b;

	interrupt_calls();
	if (rethook_pool_is_low(pool))
		return;
	a = rethook_pool_take(pool);
	if (rethook_pool_is_low(pool)) {
		rethook_pool_give(pool, a);
		return;
	}
	b = rethook_pool_take(pool);
	must(a != b);
	rethook_pool_give(pool, a);
	rethook_pool_give(pool, b);
}

static void step_call(void *arg)
{
	struct frame *f = arg;

	call(f);
}

static void step_return(void *arg)
{
	struct frame *f = arg;

	call_return(f);
}

/* Take so many of each size away from this CPU that it has @left above its low mark. */
static unsigned int drain(struct hook *h, struct rethook_node **taken, int left)
{
	struct rethook_pool *pool;
	unsigned int n = 0;

	preempt_disable();
	pool = raw_cpu_ptr(rethook_class_pool(h->rh->class));
	while (pool->top > pool->low + left)
		taken[n++] = rethook_pool_take(pool);
	preempt_enable();
	return n;
}

static void refill_from(struct hook *h, struct rethook_node **taken, unsigned int n)
{
	struct rethook_pool *pool;

	preempt_disable();
	pool = raw_cpu_ptr(rethook_class_pool(h->rh->class));
	while (n--) {
		if (rethook_pool_is_full(pool))
			rethook_pool_give_surplus(pool, taken[n]);
		else
			rethook_pool_give(pool, taken[n]);
	}
	preempt_enable();
}

static void run_step(unsigned long ops)
{
	static struct rethook_node *taken[2 * RETHOOK_BURST_CPU_MAX];
	struct task *t = &tasks[0];
	unsigned long steps = 0;
	unsigned int n;
	int i;

	with.limit = true;
	for (i = 0; i < NR_HOOKS; i++)
		hook_add(i);
	current = &t->task;
	interrupt = interrupt_swap;
	while (ops--) {
		struct hook *h = hooks[below(NR_HOOKS)];
		struct frame *f = &t->frames[below(MAX_DEPTH)];

		/* Now and then with few instances left. */
		n = chance(50) ? drain(h, taken, below(4)) : 0;
		steps += step_through(step_call, f, 499);
		refill_from(h, taken, n);
		steps += step_through(step_return, f, 499);
	}
	interrupt = NULL;
	printf("%lu steps\n", steps);
	must(steps);
	finish();
}

static const struct scenario scenarios[] = {
	{ "step", run_step },
	{ "calls", run_calls },
	{ "limit", run_limit },
	{ "churn", run_churn },
	{ "retire", run_retire },
	{ "last", run_last },
	{ "late", run_late },
	{ "hotplug", run_hotplug },
	{ "all", run_all },
};

static void init(void)
{
	must(!initcall_rethook_init());
	must(!initcall_rethook_pool_init());
}

int main(int argc, char **argv)
{
	return race_main(argc, argv, scenarios, ARRAY_SIZE(scenarios), init);
}
