/* SPDX-License-Identifier: GPL-2.0 */
/*
 * races: what our sources want of the kernel, in a program.
 *
 * The idea: a CPU is a lock, and preemption off is to hold it; a grace period is
 * over when each of them was held once by who waits for it.  So whatever the
 * kernel lets run side by side runs side by side here, on true CPUs, and nothing
 * else does.  Accesses that are marked become C11's atomics of the same strength:
 * ThreadSanitizer then knows what may race and what orders what.
 *
 * Each <linux/...> and <asm/...> that is neither ours nor one of a few of the
 * base's, as lists, stands for this file: see run.
 */
#ifndef _RACES_SHIM_H
#define _RACES_SHIM_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- The compiler, and small change ------------------------------------------ */

#define __percpu
#define __rcu
#define __init
#define __visible
#define __read_mostly
#define __ro_after_init
#define asmlinkage
#define nokprobe_inline		inline
#define noinline		__attribute__((noinline))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define static_assert(e)	_Static_assert(e, #e)
#define NOKPROBE_SYMBOL(fn)	struct races_nothing
#define EXPORT_SYMBOL_GPL(fn)	struct races_nothing
#define IS_ENABLED(option)	0

typedef uint8_t u8;
typedef int32_t s32;
typedef uint32_t u32;
typedef uint64_t u64;

#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define typeof_member(type, member)	typeof(((type *)0)->member)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define clamp(n, low, high)	min(max(n, low), high)
#define ilog2(n)		(63 - __builtin_clzl(n))
#define roundup_pow_of_two(n)	(1UL << (64 - __builtin_clzl((unsigned long)(n) - 1)))
#define GOLDEN_RATIO_64		0x61c8864680b583ebUL
#define SZ_4K			0x1000
#define SZ_8K			0x2000
#define SZ_16K			0x4000
#define SZ_32K			0x8000
#define THREAD_SIZE		0x4000
#define POISON_POINTER_DELTA	0UL
#define LIST_POISON1		((void *)0x100)
#define LIST_POISON2		((void *)0x122)

#define ERR_PTR(err)		((void *)(long)(err))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) >= (unsigned long)-4095)
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))

/* Tells what it was, and where; the end. */
#define die(...)							\
	do {								\
		fprintf(stderr, "races: %s:%d: ", __FILE__, __LINE__);	\
		fprintf(stderr, __VA_ARGS__);				\
		fputc('\n', stderr);					\
		abort();						\
	} while (0)
#define must(cond)		do { if (!(cond)) die("not so: %s", #cond); } while (0)
#define panic(...)		die(__VA_ARGS__)
#define pr_warn(...)		die(__VA_ARGS__)
#define WARN_ONCE(cond, ...)	do { if (cond) die(__VA_ARGS__); } while (0)
#define WARN_ON_ONCE(cond) \
	({ if (cond) die("WARN_ON_ONCE(%s)", #cond); false; })

/* --- Accesses that are marked ------------------------------------------------ */

/*
 * What follows through a pointer that was read is ordered behind the reading.
 * C11 has a name for it, consume, but no compiler does more than acquire.
 */
#define READ_ONCE(x)							\
	__atomic_load_n(&(x), __builtin_classify_type(x) == 5 ?	\
			__ATOMIC_ACQUIRE : __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define barrier()		__atomic_signal_fence(__ATOMIC_SEQ_CST)
#define xchg(p, v)		__atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define try_cmpxchg(p, old, new)					\
	__atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, \
				    __ATOMIC_RELAXED)

#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#define data_race(expr) ({						\
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);			\
	__auto_type __value = (expr);					\
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);			\
	__value;							\
})
#else
#define data_race(expr)		(expr)
#endif

typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic_long_t;

#define atomic_set(v, i)	__atomic_store_n(&(v)->counter, i, __ATOMIC_RELAXED)
#define atomic_read(v)		__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define raw_atomic_inc(v) \
	((void)__atomic_fetch_add(&(v)->counter, 1, __ATOMIC_RELAXED))
#define raw_atomic_long_inc(v)	raw_atomic_inc(v)

static inline bool raw_atomic_add_unless(atomic_t *v, int add, int unless)
{
	int old = atomic_read(v);

	do {
		if (old == unless)
			return false;
	} while (!__atomic_compare_exchange_n(&v->counter, &old, old + add, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return true;
}

/* Text is not patched here: a key is a variable. */
struct static_key_false {
	bool on;
};

#define DECLARE_STATIC_KEY_FALSE(name)	extern struct static_key_false name
#define DEFINE_STATIC_KEY_FALSE(name)	struct static_key_false name
#define static_branch_unlikely(key)	READ_ONCE((key)->on)
#define static_key_enabled(key)		READ_ONCE((key)->on)
#define static_branch_enable(key)	WRITE_ONCE((key)->on, true)
#define static_branch_disable(key)	WRITE_ONCE((key)->on, false)

/* --- Types that lists and RCU are made of ------------------------------------ */

struct list_head { struct list_head *next, *prev; };
struct hlist_head { struct hlist_node *first; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct rcu_head { struct rcu_head *next; void (*func)(struct rcu_head *rcu); };

/* --- CPUs -------------------------------------------------------------------- */

#define RACE_CPUS			4
#define SMP_CACHE_BYTES		64
#define PER_CPU_ARENA		0x10000

#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < RACE_CPUS; (cpu)++)
#define num_possible_cpus()	((unsigned int)RACE_CPUS)
#define cpu_to_node(cpu)	0

/* The CPU that a thread is on, for as long as it holds one. */
extern __thread int this_cpu;
/* Which it would like to be on next, and how often preemption was turned off. */
extern __thread int wanted_cpu;
extern __thread volatile int preempt_count;

void cpus_init(void);
void preempt_disable(void);
void preempt_enable(void);
#define preempt_disable_notrace()	preempt_disable()
#define preempt_enable_notrace()	preempt_enable()
#define raw_smp_processor_id()		this_cpu

/*
 * For what interrupts a thread: where that was, for interrupt_exit(), or NO_CPU if
 * there is none to be on.
 */
#define NO_CPU			(-2)
int interrupt_enter(void);
void interrupt_exit(int was);

/* A CPU goes and comes back: what the callbacks of rethook_pool.c are called for. */
void cpu_take_down(int cpu);
void cpu_bring_up(int cpu);
struct task_struct *idle_task(int cpu);

struct cpumask {
	unsigned long bits;
};

#define cpumask_set_cpu(cpu, mask)	((mask)->bits |= BIT(cpu))
#define cpumask_clear_cpu(cpu, mask)	((mask)->bits &= ~BIT(cpu))
#define for_each_cpu(cpu, mask)						\
	for ((cpu) = 0; (cpu) < RACE_CPUS; (cpu)++)			\
		if ((mask)->bits & BIT(cpu))

#define CPUHP_BP_PREPARE_DYN		0

int cpuhp_setup_state(int state, const char *name, int (*up)(unsigned int cpu),
		      int (*down)(unsigned int cpu));

/* As in the kernel a pointer stands for all copies, which are a stride apart. */
#define PER_CPU_SECTION		__attribute__((section("percpu"), aligned(64)))
#define DECLARE_PER_CPU(type, name)	extern typeof(type) name
#define DEFINE_PER_CPU(type, name)	PER_CPU_SECTION typeof(type) name

extern ptrdiff_t per_cpu_offset[RACE_CPUS];

/* Not for the compiler to know that it leaves what it began in. */
#define per_cpu_ptr(p, cpu) ({						\
	char *__base = (char *)(p);					\
	asm("" : "+r" (__base));					\
	(typeof(p))(__base + per_cpu_offset[cpu]);			\
})
#define raw_cpu_ptr(p)		per_cpu_ptr(p, this_cpu)
#define this_cpu_ptr(p)		per_cpu_ptr(p, this_cpu)
#define __this_cpu_read(x)	(*per_cpu_ptr(&(x), this_cpu))
#define __this_cpu_write(x, v)	(*per_cpu_ptr(&(x), this_cpu) = (v))
#define this_cpu_inc(x) \
	((void)__atomic_fetch_add(per_cpu_ptr(&(x), this_cpu), 1, __ATOMIC_RELAXED))

void *__alloc_percpu(size_t size, size_t align);
void free_percpu(void *p);
#define alloc_percpu(type)	((type *)__alloc_percpu(sizeof(type), 8))

/* --- RCU --------------------------------------------------------------------- */

#define rcu_dereference_raw(p)		READ_ONCE(p)
#define rcu_dereference_raw_check(p)	READ_ONCE(p)
#define rcu_dereference_protected(p, c)	(p)
#define rcu_dereference_check(p, c)	READ_ONCE(p)
#define rcu_access_pointer(p)		READ_ONCE(p)
#define rcu_assign_pointer(p, v)	smp_store_release(&(p), v)
#define RCU_INITIALIZER(v)		(v)
#define RCU_LOCKDEP_WARN(cond, text)	do { } while (0)
#define ASSERT_EXCLUSIVE_ACCESS(x)	do { } while (0)

void synchronize_rcu(void);
void call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu));
/* Until all that was handed to call_rcu() is done. */
void rcu_barrier(void);

/* --- Locks ------------------------------------------------------------------- */

struct mutex {
	pthread_mutex_t lock;
};

#define DEFINE_MUTEX(name)	struct mutex name = { PTHREAD_MUTEX_INITIALIZER }
#define lockdep_is_held(lock)	1

/* Nobody who sleeps holds a CPU. */
#define might_sleep()		must(preempt_count == 0)

static inline void mutex_lock(struct mutex *m)
{
	might_sleep();
	pthread_mutex_lock(&m->lock);
}

static inline void mutex_unlock(struct mutex *m)
{
	pthread_mutex_unlock(&m->lock);
}

/* --- Memory ------------------------------------------------------------------ */

typedef unsigned int gfp_t;

#define GFP_KERNEL		0
#define __GFP_NOWARN		0
#define __GFP_NORETRY		0
#define SLAB_PANIC		0

struct kmem_cache {
	size_t size;
};

static inline void *kzalloc(size_t size, gfp_t flags)
{
	might_sleep();
	return calloc(1, size);
}

#define kvzalloc(size, flags)		kzalloc(size, flags)
#define kvmalloc_node(size, flags, node) malloc(size)
#define kfree(p)			free(p)
#define kvfree(p)			free(p)
#define kmem_cache_zalloc(cache, flags)	kzalloc((cache)->size, flags)
#define kmem_cache_free(cache, p)	free(p)
#define KMEM_CACHE(type, flags) \
	kmem_cache_create(#type, sizeof(struct type), 0, flags, NULL)

static inline struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
						   unsigned int flags, void *ctor)
{
	struct kmem_cache *cache = malloc(sizeof(*cache));

	cache->size = size;
	return cache;
}

/* --- Time, and what is done later -------------------------------------------- */

#define HZ			50

/* One more each millisecond: whatever waits does not for long. */
extern unsigned long jiffies_now;
#define jiffies			READ_ONCE(jiffies_now)
#define time_before(a, b)	((long)((a) - (b)) < 0)

struct work_struct {
	void (*func)(struct work_struct *work);
	struct work_struct *next;
	bool pending;
};

struct delayed_work {
	struct work_struct work;
	unsigned long due;
	bool armed;
};

struct irq_work {
	void (*func)(struct irq_work *work);
	struct irq_work *next;
	bool pending;
};

#define DECLARE_WORK(name, f)	struct work_struct name = { .func = (f) }
#define INIT_WORK(w, f)		(*(w) = (struct work_struct) { .func = (f) })
#define DECLARE_DELAYED_WORK(name, f) \
	struct delayed_work name = { .work = { .func = (f) } }
#define init_irq_work(w, f)	(*(w) = (struct irq_work) { .func = (f) })
#define system_highpri_wq	NULL
#define system_unbound_wq	NULL

void works_init(void);
/* Until all that was queued is done, and all that was queued meanwhile. */
void works_flush(void);
void irq_work_queue(struct irq_work *work);
void irq_work_run(int cpu);
void queue_work_on(int cpu, void *wq, struct work_struct *work);
void schedule_work(struct work_struct *work);
void queue_delayed_work(void *wq, struct delayed_work *work, unsigned long delay);
void mod_delayed_work(void *wq, struct delayed_work *work, unsigned long delay);

/* Called one after another, by name. */
int initcall_rethook_init(void);
int initcall_rethook_pool_init(void);

#define early_initcall(fn)	int initcall_##fn(void) { return fn(); } struct races_nothing

/* --- Tasks, and their registers ---------------------------------------------- */

struct pt_regs {
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#define user_mode(regs)			false
#define instruction_pointer(regs)	((regs)->ip)
#define instruction_pointer_set(regs, v) ((regs)->ip = (v))

struct task_struct;
extern __thread struct task_struct *current;

/* No module is here, */
#define within_module(addr, mod)	false

/* and no function graph tracer. */
#define ftrace_graph_ret_addr(task, idx, addr, slot)	((void)(idx), addr)

#define __KERNEL__
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/llist.h>
#undef __KERNEL__

struct task_struct {
	struct llist_head rethooks;
};

#endif /* _RACES_SHIM_H */
