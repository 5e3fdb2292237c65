/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ftrace method's two halves: who is armed (generic), and what a hit does
 * to the registers (architecture).  One callback per lane, so that a hit need
 * not ask which ops it came through.
 */
#ifndef _KERNEL_KPROBES_ARM_FTRACE_H
#define _KERNEL_KPROBES_ARM_FTRACE_H

#include <linux/ftrace.h>

void ftrace_hit_observe(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *ops, struct ftrace_regs *fregs);
void ftrace_hit_redirect(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs);

/* The same, for a function without other users: called from its entry. */
void kprobe_entry_observe(void);
void kprobe_entry_redirect(void);

#endif /* _KERNEL_KPROBES_ARM_FTRACE_H */
