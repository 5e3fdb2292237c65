/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return hook: what hooks (rethook.c) and pools (rethook_pool.c) share.
 */
#ifndef _KERNEL_TRACE_RETHOOK_INTERNAL_H
#define _KERNEL_TRACE_RETHOOK_INTERNAL_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/rethook.h>

/*
 * Guards who uses which size, and what instances there are.  Taken by workers
 * and by CPU hotplug: nothing that waits for a CPU may be called with it held.
 */
extern struct mutex rethook_mutex;

asmlinkage void rethook_return_slow(struct pt_regs *regs);

#ifdef CONFIG_FUNCTION_GRAPH_TRACER

/* What the function graph tracer puts in place of a return address. */
static __always_inline bool is_graph_handler(unsigned long addr)
{
	return addr == (unsigned long)return_to_handler;
}

#else /* !CONFIG_FUNCTION_GRAPH_TRACER */

static inline bool is_graph_handler(unsigned long addr)
{
	return false;
}

#endif /* CONFIG_FUNCTION_GRAPH_TRACER */

#ifdef CONFIG_KPROBES

/*
 * A return probe's handler is promised what every handler of a probe is.  No
 * other is running: what is called from within one is not hooked, and what was
 * hooked before returns after it.
 */
static __always_inline void
rethook_run_kretprobe(struct rethook *rh, struct rethook_node *node, struct pt_regs *regs)
{
	rethook_kretprobe_t handler = READ_ONCE(rh->kretprobe);
	struct kretprobe *rp = rh->data;

	if (!handler)
		return;
	__this_cpu_write(current_kprobe, &rp->kp);
	__this_cpu_write(kprobe_ctlblk.kprobe_status, KPROBE_HIT_ACTIVE);
	handler(container_of(node, struct kretprobe_instance, node), regs);
	reset_current_kprobe();
}

#else /* !CONFIG_KPROBES */

/* Nobody makes a hook that is_kretprobe. */
static inline void
rethook_run_kretprobe(struct rethook *rh, struct rethook_node *node, struct pt_regs *regs) { }

#endif /* CONFIG_KPROBES */

/* A size without hooks keeps its instances for so long, in jiffies. */
#define RETHOOK_IDLE_TIME	(5 * HZ)

int rethook_class_of(size_t size);
int rethook_class_use(int index);
void rethook_class_unuse(int index);
unsigned long rethook_classes_shrink(unsigned long idle);
struct rethook_pool __percpu *rethook_class_pool(int index);
unsigned long rethook_count_hooks(void);
void rethook_visit_nodes(void (*fn)(struct rethook_node *node, void *arg), void *arg);

#endif /* _KERNEL_TRACE_RETHOOK_INTERNAL_H */
