/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kprobe_stress: what its files share.
 *
 * The idea: some threads call a pool of functions without pause and check what
 * they return, others register and remove probes on them at random.  Anchors
 * are probes that stay: whatever happens around them, they must see every call.
 */
#ifndef _KPROBE_STRESS_H
#define _KPROBE_STRESS_H

/* Functions of pool.c, which have an fentry, and of pool_x86.S, which do not. */
#define NR_C_FUNCTIONS		24
#define NR_ASM_FUNCTIONS	8
#define NR_FUNCTIONS		(NR_C_FUNCTIONS + NR_ASM_FUNCTIONS)

#ifndef __ASSEMBLY__
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/types.h>

/* main.c: what went wrong, counted; the first few are told. */
__printf(1, 2) void stress_fail(const char *fmt, ...);
extern atomic_long_t stress_hits, stress_ops, stress_failures;

/* pool.c: the functions, and the places in them that can be probed. */
unsigned long stress_call(unsigned int function, unsigned long x);
void stress_check_call(unsigned int function, unsigned long x);
unsigned long stress_calls(unsigned int function);
void *stress_entry(unsigned int function);
void *stress_place(u32 random);
int stress_pool_init(void);
void stress_pool_check(void);
void stress_pool_exit(void);

/* pool_x86.S: a function, and an instruction in its middle. */
struct stress_asm {
	unsigned long	(*fn)(unsigned long x);
	unsigned long	at;
};

extern const struct stress_asm stress_asm[NR_ASM_FUNCTIONS];

/* anchor.c */
int stress_anchors_start(void);
void stress_anchors_stop(void);

/* churn.c */
struct stress_churn;
struct stress_churn *stress_churn_start(unsigned int id, u64 seed);
void stress_churn_stop(struct stress_churn *churn);

#endif /* !__ASSEMBLY__ */
#endif /* _KPROBE_STRESS_H */
