// SPDX-License-Identifier: GPL-2.0
/*
 * Return hook: what the trampoline in rethook_64.S believes of C's structures,
 * and leaves to C.
 */
#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/preempt.h>
#include <linux/rethook.h>
#include <linux/stddef.h>

#define CHECK_OFFSET(name, type, member) \
	static_assert((name) == offsetof(struct type, member))

CHECK_OFFSET(0, rethook_node, llist.next);
CHECK_OFFSET(RETHOOK_NODE_rethook, rethook_node, rethook);
CHECK_OFFSET(RETHOOK_NODE_ret_addr, rethook_node, ret_addr);
CHECK_OFFSET(RETHOOK_NODE_frame, rethook_node, frame);
CHECK_OFFSET(RETHOOK_handler, rethook, handler);
CHECK_OFFSET(RETHOOK_data, rethook, data);
CHECK_OFFSET(RETHOOK_pool, rethook, pool);
CHECK_OFFSET(RETHOOK_is_kretprobe, rethook, is_kretprobe);
CHECK_OFFSET(RETHOOK_POOL_top, rethook_pool, top);
CHECK_OFFSET(RETHOOK_POOL_end, rethook_pool, end);

/**
 * arch_preempt_again() - somebody has waited for preemption to be possible again
 *
 * For the trampoline and the entry stubs of kprobes/, which have just counted
 * preemption down to that.
 *
 * Context: any, preemption on.
 */
asmlinkage __visible void arch_preempt_again(void)
{
	preempt_disable_notrace();
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(arch_preempt_again);
