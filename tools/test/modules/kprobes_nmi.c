// SPDX-License-Identifier: GPL-2.0
/*
 * Hits in NMIs: the same four probes are hit by a thread and by NMIs on its CPU,
 * and each call must be found again, as a hit or as missed.
 *
 * NMIs come from two sides.  Another CPU sends them, and the handlers give way to
 * it now and then (an emulator runs it only then): those arrive within handlers.
 * A timer on the thread's CPU sends them to itself: those arrive wherever it
 * interrupts, which is anywhere in the code of a hit that has interrupts on.
 *
 * "echo N > parameters/run" makes N rounds of the thread.  parameters/report then
 * has a line for each probe: name, calls, hits, missed, second hits; the second
 * ones are post_handlers or returns.  parameters/nmis says how many NMIs there were,
 * parameters/nmi_hits how many hits in them.
 *
 * The timer and the NMIs also look at the thread's stack: whatever of a hit was
 * interrupted, the function that makes the calls is on it, its caller next, and then
 * the stack ends as it does without a hit.  parameters/stacks has a line for each
 * piece of code that was interrupted: name, looks, looks that saw another stack.
 * Where the slot of a function was interrupted that has no unwind information, there
 * is nothing to compare; parameters/untold counts these looks.  An unwinder that
 * follows frame pointers is not asked: an NMI in an NMI writes over the frame by
 * which it leaves their stack, and it warns.
 */
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/objtool.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/nmi.h>

#include "kprobes_nmi.h"

#define TIMER_NS	50000
#define GIVE_WAY	8	/* in one of so many hits */

struct counted {
	const char *name;
	int (*fn)(void);
	atomic_long_t calls, hits, second;
};

enum { OF_ENTRY, OF_JUMP, OF_TRAP, OF_RETURN, NR };

static struct counted counted[NR] = {
	[OF_ENTRY] = { "entry", kprobes_nmi_entry },
	[OF_JUMP] = { "jump", kprobes_nmi_jump },
	[OF_TRAP] = { "trap", kprobes_nmi_trap },
	[OF_RETURN] = { "return", kprobes_nmi_return },
};

static atomic_t nmi_count, nmi_hit_count, wrong_count, untold_count;
static int target_cpu;
static bool running, filling;

#define MAX_ENTRIES	64

/* What may be interrupted, and the looks at the stack then. */
static struct {
	const char *symbol;
	atomic_t looks, wrong;
} places[] = {
	{ "kprobe_entry_observe" },
	{ "kprobe_entry_jump" },
	{ "kprobe_entry_resume" },
	{ "arch_rethook_trampoline" },
	{ "0x" },			/* a slot has no symbol */
	{ "entry_hit" },
	{ "jump_hit" },
	{ "trap_hit" },
	{ "return_entry" },
	{ "return_hit" },
};

/* The thread, where its function was called from, and where the calls are made. */
static struct task_struct *caller;
static unsigned long end[8], in_rounds, in_call_all;
static unsigned int end_len;

/* Of a stack that was taken, the end is: the calls', the rounds', and theirs. */
static bool ends_well(const unsigned long *entry, unsigned int n)
{
	return n >= end_len + 2 && entry[n - end_len - 2] == READ_ONCE(in_call_all) &&
	       entry[n - end_len - 1] == in_rounds &&
	       !memcmp(&entry[n - end_len], end, end_len * sizeof(*end));
}

/* @ip was interrupted. */
static void look(unsigned long ip)
{
	unsigned long entry[MAX_ENTRIES];
	char name[KSYM_SYMBOL_LEN];
	unsigned int i, n;

	if (!IS_ENABLED(CONFIG_UNWINDER_ORC) || current != READ_ONCE(caller))
		return;
	sprint_symbol_no_offset(name, ip);
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!strncmp(name, places[i].symbol, strlen(places[i].symbol)))
			break;
	if (i == ARRAY_SIZE(places))
		return;
	n = stack_trace_save(entry, MAX_ENTRIES, 0);
	if (filling) {
		if (!strncmp(name, "0x", 2))
			atomic_inc(&untold_count);
		return;
	}
	atomic_inc(&places[i].looks);
	if (ends_well(entry, n) || atomic_inc_return(&places[i].wrong) > 1)
		return;
	pr_info("another stack, %pS interrupted:\n", (void *)ip);
	for (i = 0; i < n; i++)
		pr_info("  %pS\n", (void *)entry[i]);
}

noinline __noclone int kprobes_nmi_entry(void)
{
	WRITE_ONCE(in_call_all, (unsigned long)__builtin_return_address(0));
	return OF_ENTRY;
}

/* Where in its function the label 1 is: data that does not point into text. */
#define PLACE_OF(fn)					\
	".pushsection .rodata\n"			\
	".balign 4\n"					\
	fn "_at: .long 1b - " fn "\n"			\
	".popsection"

/* Of five bytes, so a jump takes its place. */
noinline __noclone int kprobes_nmi_jump(void)
{
	int x;

	asm volatile("1: movl %1, %0\n"
		     PLACE_OF("kprobes_nmi_jump") : "=a" (x) : "i" (OF_JUMP));
	return x;
}

/* Its probe has a post_handler, so none does. */
noinline __noclone int kprobes_nmi_trap(void)
{
	int x;

	asm volatile("1: movl %1, %0\n"
		     PLACE_OF("kprobes_nmi_trap") : "=a" (x) : "i" (OF_TRAP));
	return x;
}

noinline __noclone int kprobes_nmi_return(void)
{
	barrier();
	return OF_RETURN;
}

/* Long enough to be interrupted in its slot, and without unwind information. */
noinline __noclone void kprobes_nmi_fill(void)
{
	static char filled[8192];
	unsigned long count = sizeof(filled);
	char *to = filled;

	asm volatile("1: rep stosb\n"
		     PLACE_OF("kprobes_nmi_fill") : "+D" (to), "+c" (count)
		     : "a" (0) : "memory");
}

STACK_FRAME_NON_STANDARD(kprobes_nmi_fill);

static void count_hit(struct counted *c)
{
	long n = atomic_long_inc_return(&c->hits);

	if (in_nmi() && c != &counted[OF_TRAP])
		atomic_inc(&nmi_hit_count);
	if (n % GIVE_WAY == 0)
		cpu_relax();
}

NOKPROBE_SYMBOL(count_hit);

static int entry_hit(struct kprobe *p, struct pt_regs *regs)
{
	count_hit(&counted[OF_ENTRY]);
	return 0;
}

NOKPROBE_SYMBOL(entry_hit);

static int jump_hit(struct kprobe *p, struct pt_regs *regs)
{
	count_hit(&counted[OF_JUMP]);
	return 0;
}

NOKPROBE_SYMBOL(jump_hit);

static int trap_hit(struct kprobe *p, struct pt_regs *regs)
{
	count_hit(&counted[OF_TRAP]);
	return 0;
}

NOKPROBE_SYMBOL(trap_hit);

static void trap_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	atomic_long_inc(&counted[OF_TRAP].second);
}

NOKPROBE_SYMBOL(trap_post);

static int return_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count_hit(&counted[OF_RETURN]);
	return 0;
}

NOKPROBE_SYMBOL(return_entry);

static int return_hit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (atomic_long_inc_return(&counted[OF_RETURN].second) % GIVE_WAY == 0)
		cpu_relax();
	if (regs_return_value(regs) != OF_RETURN)
		atomic_inc(&wrong_count);
	return 0;
}

NOKPROBE_SYMBOL(return_hit);

static struct kprobe entry_probe = {
	.symbol_name = "kprobes_nmi_entry", .pre_handler = entry_hit,
};

static struct kprobe jump_probe = {
	.symbol_name = "kprobes_nmi_jump", .pre_handler = jump_hit,
};

static struct kprobe trap_probe = {
	.symbol_name = "kprobes_nmi_trap", .pre_handler = trap_hit,
	.post_handler = trap_post,
};

static int fill_hit(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

NOKPROBE_SYMBOL(fill_hit);

static struct kprobe fill_probe = {
	.symbol_name = "kprobes_nmi_fill", .pre_handler = fill_hit,
};

static struct kprobe *probes[] = { &entry_probe, &jump_probe, &trap_probe, &fill_probe };

static struct kretprobe return_probe = {
	.kp.symbol_name = "kprobes_nmi_return",
	.entry_handler = return_entry, .handler = return_hit,
};

static noinline void call_all(void)
{
	int i;

	if (!in_nmi())
		in_rounds = (unsigned long)__builtin_return_address(0);
	for (i = 0; i < NR; i++) {
		atomic_long_inc(&counted[i].calls);
		if (counted[i].fn() != i)
			atomic_inc(&wrong_count);
	}
}

static int nmi(unsigned int type, struct pt_regs *regs)
{
	if (!READ_ONCE(running) || raw_smp_processor_id() != target_cpu)
		return NMI_DONE;
	atomic_inc(&nmi_count);
	/* In the timer's interrupt, or in a handler that has given way. */
	look(get_irq_regs() ? get_irq_regs()->ip : regs->ip);
	call_all();
	return NMI_HANDLED;
}

static void send_nmi(void)
{
	apic->send_IPI_mask(cpumask_of(target_cpu), NMI_VECTOR);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	look(get_irq_regs()->ip);
	send_nmi();
	hrtimer_forward_now(timer, TIMER_NS);
	return HRTIMER_RESTART;
}

static int rounds(void *arg)
{
	unsigned int i, n = (unsigned long)arg;
	struct hrtimer timer;

	end_len = stack_trace_save(end, ARRAY_SIZE(end), 1);
	/* Where calls are made from is known before somebody looks. */
	call_all();
	WRITE_ONCE(caller, current);
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = tick;
	hrtimer_start(&timer, TIMER_NS, HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < n; i++) {
		call_all();
		if (i % 16 == 0) {
			WRITE_ONCE(filling, true);
			kprobes_nmi_fill();
			WRITE_ONCE(filling, false);
		}
		if (i % 1024 == 0)
			cond_resched();
	}
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	WRITE_ONCE(caller, NULL);
	WRITE_ONCE(running, false);
	return 0;
}

static int run_set(const char *arg, const struct kernel_param *param)
{
	struct task_struct *thread;
	unsigned int n;
	int err;

	err = kstrtouint(arg, 0, &n);
	if (err)
		return err;
	cpus_read_lock();
	target_cpu = cpumask_last(cpu_online_mask);
	running = true;
	thread = kthread_create_on_cpu(rounds, (void *)(unsigned long)n, target_cpu,
				       "kprobes_nmi/%u");
	if (IS_ERR(thread)) {
		err = PTR_ERR(thread);
		goto out;
	}
	get_task_struct(thread);
	wake_up_process(thread);
	while (READ_ONCE(running)) {
		if (raw_smp_processor_id() != target_cpu)
			send_nmi();
		cpu_relax();
		cond_resched();
	}
	kthread_stop_put(thread);
out:
	running = false;
	cpus_read_unlock();
	return err;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);

static unsigned long missed(int i)
{
	switch (i) {
	case OF_ENTRY:
		return entry_probe.nmissed;
	case OF_JUMP:
		return jump_probe.nmissed;
	case OF_TRAP:
		return trap_probe.nmissed;
	default:
		return return_probe.kp.nmissed + return_probe.nmissed;
	}
}

static int report_get(char *buffer, const struct kernel_param *param)
{
	int i, len = 0;

	for (i = 0; i < NR; i++)
		len += sysfs_emit_at(buffer, len, "%s %ld %ld %lu %ld\n",
				     counted[i].name,
				     atomic_long_read(&counted[i].calls),
				     atomic_long_read(&counted[i].hits), missed(i),
				     atomic_long_read(&counted[i].second));
	return len;
}

static int stacks_get(char *buffer, const struct kernel_param *param)
{
	int i, len = 0;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		len += sysfs_emit_at(buffer, len, "%s %d %d\n", places[i].symbol,
				     atomic_read(&places[i].looks),
				     atomic_read(&places[i].wrong));
	return len;
}

static const struct kernel_param_ops stacks_ops = { .get = stacks_get };
module_param_cb(stacks, &stacks_ops, NULL, 0444);

static const struct kernel_param_ops report_ops = { .get = report_get };
module_param_cb(report, &report_ops, NULL, 0444);
module_param_named(nmis, nmi_count.counter, int, 0444);
module_param_named(nmi_hits, nmi_hit_count.counter, int, 0444);
module_param_named(untold, untold_count.counter, int, 0444);
module_param_named(wrong, wrong_count.counter, int, 0444);

static int __init kprobes_nmi_init(void)
{
	int err;

	jump_probe.offset = kprobes_nmi_jump_at;
	trap_probe.offset = kprobes_nmi_trap_at;
	fill_probe.offset = kprobes_nmi_fill_at;
	err = register_kprobes(probes, ARRAY_SIZE(probes));
	if (err)
		return err;
	err = register_kretprobe(&return_probe);
	if (err)
		goto no_return;
	err = register_nmi_handler(NMI_LOCAL, nmi, 0, "kprobes_nmi");
	if (err)
		goto no_nmi;
	return 0;

no_nmi:
	unregister_kretprobe(&return_probe);
no_return:
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	return err;
}

static void __exit kprobes_nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kprobes_nmi");
	unregister_kretprobe(&return_probe);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(kprobes_nmi_init);
module_exit(kprobes_nmi_exit);
MODULE_DESCRIPTION("hits in NMIs");
MODULE_LICENSE("GPL");
