/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit: what the suites share, of any architecture.
 *
 * All of it is the including file's own, as lib/test_kprobes.c may be a module.
 */
#ifndef _KERNEL_KPROBES_TEST_COMMON_H
#define _KERNEL_KPROBES_TEST_COMMON_H

#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/string.h>

/*
 * A function to probe, of known effect: @expr is what it makes of its argument
 * x.  Who calls it does so through a pointer, read with READ_ONCE(): such a call
 * cannot be folded, cloned or moved by the compiler.
 */
#define TEST_TARGET(name, expr)						\
	static noinline u32 name(u32 x)					\
	{								\
		barrier();						\
		return expr;						\
	}

/* Handlers that do nothing, for probes of which only the fate matters. */
static inline int no_pre(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static inline void no_post(struct kprobe *p, struct pt_regs *regs,
			   unsigned long flags)
{
}

static inline int no_ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

/**
 * struct counted - a probe, and what its handlers saw
 * @kp:		the probe
 * @pre:	calls of the pre-handler
 * @post:	calls of the post-handler
 * @arg:	the probed function's argument, of the last call
 */
struct counted {
	struct kprobe	kp;
	int		pre;
	int		post;
	u32		arg;
};

static inline int count_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct counted *c = container_of(p, struct counted, kp);

	c->pre++;
	c->arg = regs_get_kernel_argument(regs, 0);
	return 0;
}

static inline void count_post(struct kprobe *p, struct pt_regs *regs,
			      unsigned long flags)
{
	container_of(p, struct counted, kp)->post++;
}

/* Ready to be registered, without the post-handler. */
static inline void set_up_counted(struct counted *c, void *addr)
{
	memset(c, 0, sizeof(*c));
	c->kp.addr = addr;
	c->kp.pre_handler = count_pre;
}

#endif /* _KERNEL_KPROBES_TEST_COMMON_H */
