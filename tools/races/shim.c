// SPDX-License-Identifier: GPL-2.0
/*
 * races: CPUs, grace periods, and what is done later; see shim.h.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include "shim.h"

/**
 * struct cpu - a CPU, which is a lock
 * @taken:	by the thread that is on it
 * @online:	may tasks be on it?
 * @idle:	its idle task
 * @irq_works:	to be run in an interrupt, before whoever is on it leaves
 * @works:	to be run by its worker
 * @wake:	the worker
 */
struct cpu {
	int			taken;
	bool			online;
	struct task_struct	idle;
	struct irq_work		*irq_works;
	struct work_struct	*works;
	sem_t			wake;
} __attribute__((aligned(64)));

/* One more, that is only a worker: for work that may wait, on any CPU. */
#define UNBOUND		RACE_CPUS
static struct cpu cpus[RACE_CPUS + 1];
static int (*cpu_up)(unsigned int cpu), (*cpu_down)(unsigned int cpu);

__thread int this_cpu = -1;
__thread int wanted_cpu;
__thread volatile int preempt_count;
__thread struct task_struct *current;

ptrdiff_t per_cpu_offset[RACE_CPUS];
unsigned long jiffies_now;

static bool cpu_try(int cpu)
{
	return !__atomic_exchange_n(&cpus[cpu].taken, 1, __ATOMIC_ACQUIRE);
}

static void cpu_enter(int cpu)
{
	while (!cpu_try(cpu))
		sched_yield();
	this_cpu = cpu;
}

static void cpu_leave(void)
{
	irq_work_run(this_cpu);
	__atomic_store_n(&cpus[this_cpu].taken, 0, __ATOMIC_RELEASE);
}

/*
 * An interrupt may come anywhere in here.  It is on this CPU if preemption is off
 * by the count, and else has to find one.
 */
void preempt_disable(void)
{
	if (!preempt_count) {
		cpu_enter(wanted_cpu);
		if (!cpus[wanted_cpu].online) {
			cpu_leave();
			cpu_enter(0);
		}
	}
	preempt_count++;
}

void preempt_enable(void)
{
	if (!--preempt_count)
		cpu_leave();
}

int interrupt_enter(void)
{
	int was = this_cpu, cpu = wanted_cpu;

	if (!preempt_count) {
		/* The interrupted thread may be about to enter or to leave it. */
		if (!cpu_try(cpu))
			return NO_CPU;
		this_cpu = cpu;
		if (!cpus[cpu].online) {
			cpu_leave();
			this_cpu = was;
			return NO_CPU;
		}
	}
	preempt_count++;
	return was;
}

void interrupt_exit(int was)
{
	preempt_enable();
	this_cpu = was;
}

struct task_struct *idle_task(int cpu)
{
	return &cpus[cpu].idle;
}

int cpuhp_setup_state(int state, const char *name, int (*up)(unsigned int cpu),
		      int (*down)(unsigned int cpu))
{
	int cpu;

	cpu_up = up;
	cpu_down = down;
	for_each_possible_cpu(cpu)
		must(!up(cpu));
	return 0;
}

void cpu_take_down(int cpu)
{
	might_sleep();
	cpu_enter(cpu);
	cpus[cpu].online = false;
	cpu_leave();
	cpu_down(cpu);
}

void cpu_bring_up(int cpu)
{
	might_sleep();
	must(!cpu_up(cpu));
	cpu_enter(cpu);
	cpus[cpu].online = true;
	cpu_leave();
}

/* --- Per-CPU memory: an area for each, of static data and an arena ------------ */

extern char __start_percpu[], __stop_percpu[];

/* The arena, by the way of all static data. */
PER_CPU_SECTION char per_cpu_arena[PER_CPU_ARENA];

/* A piece, before what is handed out; all of it in units of a cache line. */
static struct {
	unsigned int size;
	bool used;
} pieces[PER_CPU_ARENA / SMP_CACHE_BYTES];

static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;

static int arena_take(unsigned int units)
{
	unsigned int i, n;

	pthread_mutex_lock(&arena_lock);
	for (i = 0; i + units <= ARRAY_SIZE(pieces); i += n) {
		n = pieces[i].size ?: units;
		if (pieces[i].used || n != units)
			continue;
		pieces[i].size = units;
		pieces[i].used = true;
		pthread_mutex_unlock(&arena_lock);
		return i;
	}
	pthread_mutex_unlock(&arena_lock);
	return -1;
}

void *__alloc_percpu(size_t size, size_t align)
{
	unsigned int units = (size + SMP_CACHE_BYTES - 1) / SMP_CACHE_BYTES;
	int i = arena_take(units), cpu;
	void *p;

	might_sleep();
	if (i < 0) {
		/* Some may be about to be freed. */
		rcu_barrier();
		i = arena_take(units);
		must(i >= 0);
	}
	p = per_cpu_arena + i * SMP_CACHE_BYTES;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(p, cpu), 0, size);
	return p;
}

void free_percpu(void *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&arena_lock);
	pieces[((char *)p - per_cpu_arena) / SMP_CACHE_BYTES].used = false;
	pthread_mutex_unlock(&arena_lock);
}

/* Room for the arena and some more. */
static char areas[RACE_CPUS][2 * PER_CPU_ARENA] __attribute__((aligned(SMP_CACHE_BYTES)));

void cpus_init(void)
{
	size_t size = __stop_percpu - __start_percpu;
	int cpu;

	must(size <= sizeof(areas[0]));
	for_each_possible_cpu(cpu) {
		memcpy(areas[cpu], __start_percpu, size);
		per_cpu_offset[cpu] = areas[cpu] - __start_percpu;
		cpus[cpu].online = true;
	}
}

/* --- RCU ---------------------------------------------------------------------- */

static pthread_mutex_t rcu_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rcu_changed = PTHREAD_COND_INITIALIZER;
static struct rcu_head *rcu_heads;
static bool rcu_busy;

void synchronize_rcu(void)
{
	int cpu;

	might_sleep();
	for_each_possible_cpu(cpu) {
		while (!cpu_try(cpu))
			sched_yield();
		__atomic_store_n(&cpus[cpu].taken, 0, __ATOMIC_RELEASE);
	}
}

void call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu))
{
	pthread_mutex_lock(&rcu_lock);
	rcu->func = func;
	rcu->next = rcu_heads;
	rcu_heads = rcu;
	pthread_cond_broadcast(&rcu_changed);
	pthread_mutex_unlock(&rcu_lock);
}

void rcu_barrier(void)
{
	pthread_mutex_lock(&rcu_lock);
	while (rcu_heads || rcu_busy)
		pthread_cond_wait(&rcu_changed, &rcu_lock);
	pthread_mutex_unlock(&rcu_lock);
}

static void *rcu_thread(void *unused)
{
	struct rcu_head *heads, *next;

	pthread_mutex_lock(&rcu_lock);
	for (;;) {
		rcu_busy = false;
		pthread_cond_broadcast(&rcu_changed);
		while (!rcu_heads)
			pthread_cond_wait(&rcu_changed, &rcu_lock);
		rcu_busy = true;
		heads = rcu_heads;
		rcu_heads = NULL;
		pthread_mutex_unlock(&rcu_lock);

		synchronize_rcu();
		for (; heads; heads = next) {
			next = heads->next;
			heads->func(heads);
		}
		pthread_mutex_lock(&rcu_lock);
	}
	return NULL;
}

/* --- Later --------------------------------------------------------------------- */

/* Called with the CPU held, by it alone; in any context. */
void irq_work_queue(struct irq_work *work)
{
	struct cpu *cpu = &cpus[this_cpu];

	must(preempt_count > 0);
	if (__atomic_exchange_n(&work->pending, true, __ATOMIC_SEQ_CST))
		return;
	work->next = READ_ONCE(cpu->irq_works);
	while (!try_cmpxchg(&cpu->irq_works, &work->next, work))
		;
}

void irq_work_run(int cpu)
{
	struct irq_work *work = xchg(&cpus[cpu].irq_works, NULL), *next;

	for (; work; work = next) {
		next = work->next;
		__atomic_store_n(&work->pending, false, __ATOMIC_SEQ_CST);
		work->func(work);
	}
}

/* Works that are queued or run. */
static unsigned long works_left;

/* In any context. */
void queue_work_on(int nr, void *wq, struct work_struct *work)
{
	struct cpu *cpu = &cpus[nr];

	if (__atomic_exchange_n(&work->pending, true, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&works_left, 1, __ATOMIC_RELAXED);
	work->next = READ_ONCE(cpu->works);
	while (!try_cmpxchg(&cpu->works, &work->next, work))
		;
	sem_post(&cpu->wake);
}

void schedule_work(struct work_struct *work)
{
	queue_work_on(UNBOUND, NULL, work);
}

void works_flush(void)
{
	while (__atomic_load_n(&works_left, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static void work_run(struct work_struct *work)
{
	__atomic_store_n(&work->pending, false, __ATOMIC_SEQ_CST);
	work->func(work);
	__atomic_fetch_sub(&works_left, 1, __ATOMIC_RELEASE);
}

/* Runs on its CPU as long as that is there, and anywhere else after. */
static void *worker_thread(void *arg)
{
	struct cpu *cpu = arg;
	struct work_struct *work, *next;

	wanted_cpu = (cpu - cpus) % RACE_CPUS;
	for (;;) {
		while (sem_wait(&cpu->wake))
			;
		for (work = xchg(&cpu->works, NULL); work; work = next) {
			next = work->next;
			work_run(work);
		}
	}
	return NULL;
}

static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;
/* There is one in all our sources. */
static struct delayed_work *timer;

void mod_delayed_work(void *wq, struct delayed_work *work, unsigned long delay)
{
	pthread_mutex_lock(&timer_lock);
	must(!timer || timer == work);
	timer = work;
	work->due = jiffies + delay;
	work->armed = true;
	pthread_mutex_unlock(&timer_lock);
}

void queue_delayed_work(void *wq, struct delayed_work *work, unsigned long delay)
{
	bool armed;

	pthread_mutex_lock(&timer_lock);
	armed = work->armed;
	pthread_mutex_unlock(&timer_lock);
	if (!armed)
		mod_delayed_work(wq, work, delay);
}

/* Time goes on whatever waits. */
static void *timer_thread(void *unused)
{
	struct delayed_work *due;

	for (;;) {
		usleep(1000);
		WRITE_ONCE(jiffies_now, jiffies_now + 1);
		pthread_mutex_lock(&timer_lock);
		due = timer && timer->armed && !time_before(jiffies_now, timer->due) ?
		      timer : NULL;
		if (due)
			due->armed = false;
		pthread_mutex_unlock(&timer_lock);
		if (due)
			schedule_work(&due->work);
	}
	return NULL;
}

void works_init(void)
{
	pthread_t thread;
	int cpu;

	for (cpu = 0; cpu <= UNBOUND; cpu++) {
		sem_init(&cpus[cpu].wake, 0, 0);
		must(!pthread_create(&thread, NULL, worker_thread, &cpus[cpu]));
	}
	must(!pthread_create(&thread, NULL, rcu_thread, NULL));
	must(!pthread_create(&thread, NULL, timer_thread, NULL));
}
