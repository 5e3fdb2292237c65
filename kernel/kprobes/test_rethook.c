// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: the return hook under return probes.
 *
 * The idea: whatever happens to a hooked call -- it sleeps among thousands, never
 * returns, outlives its probe, is interrupted by others -- it is counted once, an
 * unwinder is told the truth about it, and its instance comes back.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/rethook.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/wait.h>

#define MANY		2000
#define DEPTH		64
#define BURST_TRIES	3000
/* The largest instances of which many are kept. */
#define SMALL_MOST	256

/* A return probe, and what its handler saw last: on whichever CPU that was. */
struct seen {
	struct kretprobe	rp;
	atomic_t		returned;
	unsigned long		value;
	unsigned long		ret_addr;
	unsigned long		ip;
	unsigned long		trace[32];
	unsigned int		trace_len;
	unsigned long		regs_trace[32];
	unsigned int		regs_trace_len;
	bool			want_trace;
};

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct seen *s = container_of(get_kretprobe(ri), struct seen, rp);

	atomic_inc(&s->returned);
	WRITE_ONCE(s->value, regs_return_value(regs));
	WRITE_ONCE(s->ret_addr, get_kretprobe_retaddr(ri));
	WRITE_ONCE(s->ip, instruction_pointer(regs));
	if (s->want_trace) {
		s->trace_len = stack_trace_save(s->trace, ARRAY_SIZE(s->trace), 0);
		s->regs_trace_len = stack_trace_save_regs(regs, s->regs_trace,
							  ARRAY_SIZE(s->regs_trace), 0);
	}
	return 0;
}

static void probe(struct kunit *test, struct seen *s, void *addr)
{
	memset(s, 0, sizeof(*s));
	s->rp.kp.addr = addr;
	s->rp.handler = on_return;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&s->rp), 0);
}

static bool contains(const unsigned long *trace, unsigned int len, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		if (trace[i] == addr)
			return true;
	return false;
}

static bool has_trampoline(const unsigned long *trace, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		if (is_rethook_trampoline(trace[i]))
			return true;
	return false;
}

/* What is in use, once what earlier tests have left is gone. */
static void usage_before(struct rethook_usage *before)
{
	struct rethook_usage now;

	do {
		rethook_get_usage(before);
		msleep(100);
		rethook_get_usage(&now);
	} while (now.hooks != before->hooks);
}

/* Is it all given back?  It takes a grace period or two. */
static bool usage_returns_to(const struct rethook_usage *before)
{
	struct rethook_usage now;
	int ms;

	for (ms = 0; ms < 5000; ms += 20) {
		rethook_get_usage(&now);
		if (now.hooks <= before->hooks && now.in_flight <= before->in_flight)
			return true;
		msleep(20);
	}
	return false;
}

/* Sleepers: tasks in a probed function. */
static DECLARE_WAIT_QUEUE_HEAD(sleepers_wait);
static atomic_t sleepers_in;
static bool sleepers_go;

static noinline int sleep_target(void)
{
	atomic_inc(&sleepers_in);
	wait_event(sleepers_wait, READ_ONCE(sleepers_go));
	return 17;
}

/* Where sleep_target() returns to in here is to be seen in a trace. */
static noinline int sleeper(void *unused)
{
	int ret = sleep_target();

	barrier();
	return ret;
}

static struct task_struct **sleepers_start(struct kunit *test, int n)
{
	struct task_struct **tasks;
	int i;

	tasks = kunit_kcalloc(test, n, sizeof(*tasks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tasks);
	atomic_set(&sleepers_in, 0);
	WRITE_ONCE(sleepers_go, false);
	for (i = 0; i < n; i++) {
		tasks[i] = kthread_create(sleeper, NULL, "rethook-test");
		KUNIT_ASSERT_FALSE(test, IS_ERR(tasks[i]));
		get_task_struct(tasks[i]);
		wake_up_process(tasks[i]);
	}
	while (atomic_read(&sleepers_in) < n)
		usleep_range(1000, 2000);
	return tasks;
}

static void sleepers_end(struct kunit *test, struct task_struct **tasks, int n)
{
	int i, wrong = 0;

	WRITE_ONCE(sleepers_go, true);
	wake_up_all(&sleepers_wait);
	for (i = 0; i < n; i++) {
		wrong += kthread_stop(tasks[i]) != 17;
		put_task_struct(tasks[i]);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* However many tasks sleep in the function, none is missed. */
static void test_many_in_flight(struct kunit *test)
{
	static struct seen s;
	struct task_struct **tasks;
	struct rethook_usage before;

	usage_before(&before);
	probe(test, &s, sleep_target);
	tasks = sleepers_start(test, MANY);
	sleepers_end(test, tasks, MANY);
	KUNIT_EXPECT_EQ(test, s.rp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s.returned), MANY);
	unregister_kretprobe(&s.rp);
	KUNIT_EXPECT_TRUE(test, usage_returns_to(&before));
}

/* They outlive their probe: the hook stays as long as one of them is inside. */
static void test_many_outlive(struct kunit *test)
{
	static struct seen s;
	struct task_struct **tasks;
	struct rethook_usage before, now;

	usage_before(&before);
	probe(test, &s, sleep_target);
	tasks = sleepers_start(test, MANY);
	unregister_kretprobe(&s.rp);
	msleep(100);
	rethook_get_usage(&now);
	KUNIT_EXPECT_EQ(test, now.hooks, before.hooks + 1);
	KUNIT_EXPECT_GE(test, now.in_flight, MANY);
	memset(&s.rp, 0xff, sizeof(s.rp));
	sleepers_end(test, tasks, MANY);
	KUNIT_EXPECT_EQ(test, atomic_read(&s.returned), 0);
	KUNIT_EXPECT_TRUE(test, usage_returns_to(&before));
}

/* Another task's trace shows where its probed function will return to. */
static void test_trace_of_sleeper(struct kunit *test)
{
	static struct seen s;
	struct task_struct **tasks;
	unsigned long bare[32], hooked[32];
	unsigned int n_bare, n_hooked, i;

	tasks = sleepers_start(test, 1);
	n_bare = stack_trace_save_tsk(tasks[0], bare, ARRAY_SIZE(bare), 0);
	sleepers_end(test, tasks, 1);

	probe(test, &s, sleep_target);
	tasks = sleepers_start(test, 1);
	n_hooked = stack_trace_save_tsk(tasks[0], hooked, ARRAY_SIZE(hooked), 0);
	sleepers_end(test, tasks, 1);
	unregister_kretprobe(&s.rp);

	KUNIT_EXPECT_GT(test, n_bare, 2);
	KUNIT_ASSERT_EQ(test, n_hooked, n_bare);
	for (i = 0; i < n_bare; i++)
		KUNIT_EXPECT_EQ(test, hooked[i], bare[i]);
	KUNIT_EXPECT_TRUE(test, contains(hooked, n_hooked, s.ret_addr));
}

static unsigned long caller_seen;
static unsigned long body_trace[32];
static unsigned int body_trace_len;

static noinline int trace_target(void)
{
	caller_seen = (unsigned long)__builtin_return_address(0);
	body_trace_len = stack_trace_save(body_trace, ARRAY_SIZE(body_trace), 0);
	return 5;
}

static noinline int call_trace_target(void)
{
	int ret = trace_target();

	barrier();
	return ret;
}

static void expect_true_traces(struct kunit *test, struct seen *s, unsigned long caller)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&s->returned), 1);
	KUNIT_EXPECT_EQ(test, s->value, 5);
	KUNIT_EXPECT_EQ(test, s->ret_addr, caller);
	KUNIT_EXPECT_EQ(test, s->ip, caller);
	KUNIT_EXPECT_TRUE(test, contains(s->trace, s->trace_len, caller));
	/* In the registers the call has returned already. */
	KUNIT_ASSERT_GT(test, s->regs_trace_len, 2);
	KUNIT_EXPECT_EQ(test, s->regs_trace[0], caller);
	KUNIT_EXPECT_FALSE(test, has_trampoline(s->regs_trace, s->regs_trace_len));
	KUNIT_EXPECT_TRUE(test, contains(s->trace, s->trace_len, s->regs_trace[1]));
}

/* Inside the function and inside its handlers, with one probe and with two. */
static void test_traces(struct kunit *test)
{
	static struct seen a, b;
	unsigned long caller;

	call_trace_target();
	caller = caller_seen;

	probe(test, &a, trace_target);
	a.want_trace = true;
	call_trace_target();
	KUNIT_EXPECT_TRUE(test, contains(body_trace, body_trace_len, caller));
	KUNIT_EXPECT_FALSE(test, has_trampoline(body_trace, body_trace_len));
	expect_true_traces(test, &a, caller);

	probe(test, &b, trace_target);
	b.want_trace = true;
	atomic_set(&a.returned, 0);
	call_trace_target();
	unregister_kretprobe(&b.rp);
	unregister_kretprobe(&a.rp);
	KUNIT_EXPECT_TRUE(test, contains(body_trace, body_trace_len, caller));
	KUNIT_EXPECT_FALSE(test, has_trampoline(body_trace, body_trace_len));
	expect_true_traces(test, &a, caller);
	expect_true_traces(test, &b, caller);
}

static noinline unsigned int deep_target(unsigned int depth)
{
	unsigned int below = depth > 1 ? deep_target(depth - 1) : 0;

	barrier();
	return below + 1;
}

static void test_recursion(struct kunit *test)
{
	static struct seen s;

	probe(test, &s, deep_target);
	KUNIT_EXPECT_EQ(test, deep_target(DEPTH), DEPTH);
	KUNIT_EXPECT_EQ(test, atomic_read(&s.returned), DEPTH);
	KUNIT_EXPECT_EQ(test, s.value, DEPTH);
	KUNIT_EXPECT_EQ(test, s.rp.nmissed, 0);
	unregister_kretprobe(&s.rp);
	/* The default is not a limit the next time, either. */
	KUNIT_ASSERT_EQ(test, register_kretprobe(&s.rp), 0);
	KUNIT_EXPECT_EQ(test, deep_target(DEPTH), DEPTH);
	KUNIT_EXPECT_EQ(test, s.rp.nmissed, 0);
	unregister_kretprobe(&s.rp);
}

static noinline unsigned int tail_target(unsigned int x)
{
	barrier();
	return x * 3;
}

/* The compiler makes the call a jump: both return by one ret. */
static noinline unsigned int tail_caller(unsigned int x)
{
	return tail_target(x + 1);
}

static void test_tail_call(struct kunit *test)
{
	static struct seen outer, inner;

	probe(test, &outer, tail_caller);
	probe(test, &inner, tail_target);
	KUNIT_EXPECT_EQ(test, tail_caller(4), 15);
	unregister_kretprobe(&inner.rp);
	unregister_kretprobe(&outer.rp);
	KUNIT_EXPECT_EQ(test, atomic_read(&outer.returned), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&inner.returned), 1);
	KUNIT_EXPECT_EQ(test, outer.value, 15);
	KUNIT_EXPECT_EQ(test, inner.value, 15);
}

static noinline int exit_target(void *unused)
{
	kthread_exit(0);
	return 0;
}

/* A call that never returns keeps its instance no longer than its task lives. */
static void test_exit_inside(struct kunit *test)
{
	struct rethook_usage before;
	struct task_struct *task;
	static struct seen s;

	usage_before(&before);
	probe(test, &s, exit_target);
	task = kthread_create(exit_target, NULL, "rethook-exit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	while (!READ_ONCE(task->exit_state))
		usleep_range(1000, 2000);
	put_task_struct(task);
	unregister_kretprobe(&s.rp);
	KUNIT_EXPECT_EQ(test, atomic_read(&s.returned), 0);
	KUNIT_EXPECT_TRUE(test, usage_returns_to(&before));
}

static void no_handler(struct rethook_node *node, void *data, unsigned long ret_addr,
		       struct pt_regs *regs)
{
}

struct burst {
	struct rethook	*rh;
	int		got;
};

/* How many instances can be had here at once, with no worker's help? */
static int burst_here(void *arg)
{
	struct burst *b = arg;
	struct llist_node *all = NULL, *next;
	struct rethook_node *node;
	unsigned long flags;
	int i;

	b->got = 0;
	local_irq_save(flags);
	for (i = 0; i < BURST_TRIES; i++) {
		node = rethook_try_get(b->rh);
		if (!node)
			continue;
		node->llist.next = all;
		all = &node->llist;
		b->got++;
	}
	for (; all; all = next) {
		next = all->next;
		rethook_recycle(llist_entry(all, struct rethook_node, llist));
	}
	local_irq_restore(flags);
	return 0;
}

/* Of instances of this size, in bytes. */
static int promised_burst(int size)
{
	int all = size <= SMALL_MOST ? RETHOOK_BURST_SMALL : RETHOOK_BURST_LARGE;

	return clamp(all / (int)num_possible_cpus(), RETHOOK_BURST_CPU_MIN,
		     RETHOOK_BURST_CPU_MAX);
}

static struct rethook *make_hook(struct kunit *test, int size, int num)
{
	struct rethook *rh = rethook_alloc(NULL, no_handler, size, num);

	KUNIT_ASSERT_FALSE(test, IS_ERR(rh));
	return rh;
}

static const int burst_sizes[] = {
	sizeof(struct rethook_node), SMALL_MOST, SMALL_MOST + 1, 1024, 2048,
	RETHOOK_MAX_SIZE,
};

static void describe_size(const int *size, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%d bytes", *size);
}

KUNIT_ARRAY_PARAM(burst_size, burst_sizes, describe_size);

/* A quiet CPU keeps what was promised, and what it has is had to the last. */
static void test_burst(struct kunit *test)
{
	int i, size = *(const int *)test->param_value;
	struct rethook_usage before, now;
	struct burst b = {};

	usage_before(&before);
	b.rh = make_hook(test, size, 0);
	for (i = 0; i < 3; i++) {
		msleep(20);
		smp_call_on_cpu(0, burst_here, &b, false);
		KUNIT_EXPECT_GE(test, b.got, promised_burst(size));
		KUNIT_EXPECT_LT(test, b.got, BURST_TRIES);
	}
	rethook_get_usage(&now);
	KUNIT_EXPECT_LE(test, now.in_flight, before.in_flight);
	rethook_free(b.rh);
	KUNIT_EXPECT_TRUE(test, usage_returns_to(&before));
}

/*
 * More calls in flight on one CPU than there are instances, and no interrupt that
 * could bring any: many probes on a function that calls itself.
 */
#define MANY_PROBES	64

struct big_burst {
	struct kretprobe	rp[MANY_PROBES];
	struct kretprobe	*set[MANY_PROBES];
	int			returned[2];
	int			missed[2];
};

/*
 * Interrupts are off and all is on one CPU: no need to be atomic, but the compiler
 * sees no call that changes it.
 */
static int big_burst_returned;

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(big_burst_returned, big_burst_returned + 1);
	return 0;
}

static int sum_missed(const struct big_burst *b)
{
	int i, sum = 0;

	for (i = 0; i < MANY_PROBES; i++)
		sum += b->rp[i].nmissed;
	return sum;
}

static int big_burst_here(void *arg)
{
	struct big_burst *b = arg;
	unsigned long flags;
	int i, missed;

	local_irq_save(flags);
	for (i = 0; i < 2; i++) {
		WRITE_ONCE(big_burst_returned, 0);
		missed = sum_missed(b);
		deep_target(DEPTH);
		b->returned[i] = READ_ONCE(big_burst_returned);
		b->missed[i] = sum_missed(b) - missed;
	}
	local_irq_restore(flags);
	return 0;
}

static void test_big_burst(struct kunit *test)
{
	struct big_burst *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	int i, size = *(const int *)test->param_value;

	/* Not more than a return probe may ask for. */
	size = min(size, (int)sizeof(struct kretprobe_instance) + KRETPROBE_MAX_DATA_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, b);
	for (i = 0; i < MANY_PROBES; i++) {
		b->rp[i].kp.addr = (void *)deep_target;
		b->rp[i].handler = count_return;
		b->rp[i].data_size = max(0, size - (int)sizeof(struct kretprobe_instance));
		b->set[i] = &b->rp[i];
	}
	KUNIT_ASSERT_EQ(test, register_kretprobes(b->set, MANY_PROBES), 0);
	msleep(20);
	smp_call_on_cpu(0, big_burst_here, b, false);
	unregister_kretprobes(b->set, MANY_PROBES);

	/* What is missed is counted to the last call, and nothing got lost by it. */
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, b->returned[i] + b->missed[i], MANY_PROBES * DEPTH);
		KUNIT_EXPECT_GE(test, b->returned[i], promised_burst(size));
		KUNIT_EXPECT_GT(test, b->missed[i], 0);
	}
	KUNIT_EXPECT_EQ(test, b->returned[0], b->returned[1]);
}

static void test_limit(struct kunit *test)
{
	struct rethook_usage before;
	struct burst b = {};
	int i;

	usage_before(&before);
	b.rh = make_hook(test, sizeof(struct rethook_node), 7);
	for (i = 0; i < 3; i++) {
		burst_here(&b);
		KUNIT_EXPECT_EQ(test, b.got, 7);
	}
	rethook_free(b.rh);
	KUNIT_EXPECT_TRUE(test, usage_returns_to(&before));
}

static void test_alloc_errors(struct kunit *test)
{
	size_t size = sizeof(struct rethook_node);

	KUNIT_EXPECT_EQ(test, PTR_ERR(rethook_alloc(NULL, NULL, size, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rethook_alloc(NULL, no_handler, size - 1, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rethook_alloc(NULL, no_handler, RETHOOK_MAX_SIZE + 1, 0)),
			-E2BIG);
}

/* Instances of every size, used to their ends. */
static void test_sizes(struct kunit *test)
{
	static const int sizes[] = { 32, 64, 65, 250, 500, 1000, 2048, RETHOOK_MAX_SIZE };
	struct rethook_node *nodes[20];
	struct rethook_usage before;
	struct rethook *rh;
	size_t data;
	int i, j;

	usage_before(&before);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		data = sizes[i] - sizeof(struct rethook_node);
		rh = rethook_alloc(NULL, no_handler, sizes[i], 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(rh));
		preempt_disable();
		for (j = 0; j < ARRAY_SIZE(nodes); j++) {
			nodes[j] = rethook_try_get(rh);
			if (nodes[j])
				memset(nodes[j] + 1, j, data);
		}
		for (j = 0; j < ARRAY_SIZE(nodes); j++) {
			u8 *end = (u8 *)nodes[j] + sizes[i] - 1;

			KUNIT_EXPECT_TRUE(test, nodes[j] && nodes[j]->rethook == rh);
			KUNIT_EXPECT_TRUE(test, nodes[j] && (!data || *end == j));
			if (nodes[j])
				rethook_recycle(nodes[j]);
		}
		preempt_enable();
		rethook_free(rh);
	}
	KUNIT_EXPECT_TRUE(test, usage_returns_to(&before));
}

/* A CPU that comes back has its burst again; what a dead one had is not lost. */
static void test_cpu_hotplug(struct kunit *test)
{
	int promised = promised_burst(sizeof(struct rethook_node));
	struct rethook_usage start, before, after;
	struct burst b = {};
	unsigned int cpu = cpumask_last(cpu_online_mask);

	if (!cpu || !IS_ENABLED(CONFIG_HOTPLUG_CPU))
		kunit_skip(test, "one CPU");

	usage_before(&start);
	b.rh = make_hook(test, sizeof(struct rethook_node), 0);
	rethook_get_usage(&before);
	if (remove_cpu(cpu)) {
		rethook_free(b.rh);
		kunit_skip(test, "the CPU stays");
	}
	KUNIT_ASSERT_EQ(test, add_cpu(cpu), 0);
	KUNIT_ASSERT_EQ(test, smp_call_on_cpu(cpu, burst_here, &b, false), 0);
	KUNIT_EXPECT_GE(test, b.got, promised);
	msleep(20);
	rethook_get_usage(&after);
	KUNIT_EXPECT_LE(test, after.in_flight, before.in_flight);
	/* Refilled from what the dead CPU left, but for what the worker rounds up. */
	KUNIT_EXPECT_LE(test, after.nodes, before.nodes + promised);
	rethook_free(b.rh);
	KUNIT_EXPECT_TRUE(test, usage_returns_to(&start));
}

static noinline unsigned int timer_target(unsigned int x)
{
	barrier();
	return x + 9;
}

static unsigned int timer_calls, timer_wrong;

static enum hrtimer_restart timer_hit(struct hrtimer *timer)
{
	timer_wrong += timer_target(timer_calls) != timer_calls + 9;
	timer_calls++;
	hrtimer_forward_now(timer, ns_to_ktime(50 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* Hits in interrupts, between any two instructions of hits in a task. */
static void test_interrupts(struct kunit *test)
{
	static struct seen task, irq;
	struct hrtimer timer;
	unsigned int calls, wrong = 0;
	unsigned long end;

	probe(test, &task, tail_target);
	probe(test, &irq, timer_target);
	timer_calls = 0;
	timer_wrong = 0;
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = timer_hit;
	hrtimer_start(&timer, ns_to_ktime(50 * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
	end = jiffies + HZ / 2;
	for (calls = 0; time_before(jiffies, end); calls++)
		wrong += tail_target(calls) != calls * 3;
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	unregister_kretprobe(&irq.rp);
	unregister_kretprobe(&task.rp);

	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, timer_wrong, 0);
	KUNIT_EXPECT_GT(test, timer_calls, 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&task.returned), calls);
	KUNIT_EXPECT_EQ(test, task.rp.nmissed + irq.rp.nmissed, 0);
	/* Those that interrupted a handler are not handled, but counted. */
	KUNIT_EXPECT_EQ(test, atomic_read(&irq.returned) + irq.rp.kp.nmissed, timer_calls);
}

#ifdef CONFIG_X86_64

/* A function that promises to change nothing but the carry flag, which it sets. */
void rethook_test_quiet(void);
asm("	.pushsection .text\n"
	"	.type rethook_test_quiet, @function\n"
	"	.globl rethook_test_quiet\n"
	"rethook_test_quiet:\n"
	ASM_ENDBR
	"	nop\n"
	"	stc\n"
	ASM_RET
	"	.size rethook_test_quiet, .-rethook_test_quiet\n"
	"	.popsection\n");

/* Every register that a function may clobber keeps its value here. */
static noinline bool call_quiet(void)
{
	unsigned int changed;
	bool carry;

	asm volatile("movl $0x11, %%eax\n	movl $0x22, %%ecx\n"
		     "movl $0x33, %%edx\n	movl $0x44, %%esi\n"
		     "movl $0x55, %%edi\n	movl $0x66, %%r8d\n"
		     "movl $0x77, %%r9d\n	movl $0x88, %%r10d\n"
		     "movl $0x99, %%r11d\n"
		     "call rethook_test_quiet\n"
		     "setc %[carry]\n"
		     "xorl $0x11, %%eax\n	xorl $0x22, %%ecx\n"
		     "xorl $0x33, %%edx\n	xorl $0x44, %%esi\n"
		     "xorl $0x55, %%edi\n	xorl $0x66, %%r8d\n"
		     "xorl $0x77, %%r9d\n	xorl $0x88, %%r10d\n"
		     "xorl $0x99, %%r11d\n"
		     "orl %%ecx, %%eax\n	orl %%edx, %%eax\n"
		     "orl %%esi, %%eax\n	orl %%edi, %%eax\n"
		     "orl %%r8d, %%eax\n	orl %%r9d, %%eax\n"
		     "orl %%r10d, %%eax\n	orl %%r11d, %%eax\n"
		     : "=a" (changed), [carry] "=&b" (carry), ASM_CALL_CONSTRAINT
		     : : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc",
			 "memory");
	return carry && !changed;
}

static void test_quiet_function(struct kunit *test)
{
	static struct seen s;

	KUNIT_EXPECT_TRUE(test, call_quiet());
	probe(test, &s, rethook_test_quiet);
	KUNIT_EXPECT_TRUE(test, call_quiet());
	unregister_kretprobe(&s.rp);
	KUNIT_EXPECT_EQ(test, atomic_read(&s.returned), 1);
	KUNIT_EXPECT_EQ(test, s.value, 0x11);
}

#endif /* CONFIG_X86_64 */

static struct kunit_case rethook_cases[] = {
	KUNIT_CASE_SLOW(test_many_in_flight),
	KUNIT_CASE_SLOW(test_many_outlive),
	KUNIT_CASE(test_trace_of_sleeper),
	KUNIT_CASE(test_traces),
	KUNIT_CASE(test_recursion),
	KUNIT_CASE(test_tail_call),
	KUNIT_CASE(test_exit_inside),
	KUNIT_CASE_PARAM(test_burst, burst_size_gen_params),
	KUNIT_CASE_PARAM(test_big_burst, burst_size_gen_params),
	KUNIT_CASE(test_limit),
	KUNIT_CASE(test_alloc_errors),
	KUNIT_CASE(test_sizes),
	KUNIT_CASE(test_cpu_hotplug),
	KUNIT_CASE(test_interrupts),
#ifdef CONFIG_X86_64
	KUNIT_CASE(test_quiet_function),
#endif
	{}
};

static struct kunit_suite rethook_suite = {
	.name = "kretprobes_hook",
	.test_cases = rethook_cases,
};

kunit_test_suites(&rethook_suite);
