/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Return hook: what hooks (rethook.c) and pools (rethook_pool.c) share.
 */
#ifndef _KERNEL_TRACE_RETHOOK_INTERNAL_H
#define _KERNEL_TRACE_RETHOOK_INTERNAL_H

#include <linux/mutex.h>
#include <linux/rethook.h>

/*
 * Guards who uses which size, and what instances there are.  Taken by workers
 * and by CPU hotplug: nothing that waits for a CPU may be called with it held.
 */
extern struct mutex rethook_mutex;

asmlinkage void rethook_return_slow(struct pt_regs *regs);

int rethook_class_of(size_t size);
int rethook_class_use(int index);
void rethook_class_unuse(int index);
unsigned long rethook_classes_shrink(void);
struct rethook_pool __percpu *rethook_class_pool(int index);
unsigned long rethook_count_hooks(void);
void rethook_visit_nodes(void (*fn)(struct rethook_node *node, void *arg), void *arg);

#endif /* _KERNEL_TRACE_RETHOOK_INTERNAL_H */
