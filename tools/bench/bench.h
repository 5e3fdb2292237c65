/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kprobe_bench: what its files share.
 *
 * The idea: the module is driven by one debugfs file, a verb at a time, and
 * answers in "key value" lines.  It uses the public API only, so that the same
 * source measures any kernel.
 */
#ifndef _KPROBE_BENCH_H
#define _KPROBE_BENCH_H

/* More than a guest has of traceable functions. */
#define BENCH_MAX_SITES	32768
/* Instructions in pool.S, and return probes in a set. */
#define BENCH_MAX_POOL	4000

/* What the instructions of pool.S add: a mark to find them by. */
#define BENCH_POOL_IMM	0x07654321

#ifndef __ASSEMBLY__
#include <linux/kprobes.h>
#include <linux/types.h>
#include <asm/msr.h>

/* Under -icount shift=0 the time stamp counter counts guest instructions. */
static inline u64 bench_now(void)
{
	return rdtsc_ordered();
}

/*
 * What is waited for is not idle but for grace periods; the counter that counts
 * instructions also runs on while the only CPU is idle.
 */
struct bench_watch {
	u64 start, idle_us;
};

/* attach.c: instructions since, idle time taken off. */
struct bench_watch bench_start_watch(void);
u64 bench_busy(struct bench_watch w);

/* main.c: add one line to the answer. */
__printf(1, 2) void bench_say(const char *fmt, ...);

/* hit.c: the cost of one hit, each way of probing in turn; bare: of none. */
void bench_hits_bare(void);
int bench_hits(void);
int bench_hits_breakpoint(void);
int bench_hits_jump(void);
void bench_hits_old_probe(const char *among);
int bench_hits_event(const char *key);
unsigned long bench_target(unsigned long x);
int bench_empty_pre(struct kprobe *p, struct pt_regs *regs);

/* attach.c: the cost of attaching and detaching many probes. */
int bench_sites_add(unsigned long addr);
int bench_sites_ready(void);
int bench_attach(const char *kind, const char *nr);
int bench_detach(void);
int bench_attach_one(void);
int bench_old(void);
int bench_old_idle(void);
int bench_first(void);
void bench_attach_exit(void);

/* events.c: what user space does to probe events. */
int bench_watch_start(void);
int bench_watch_stop(const char *key, const char *unit);

/* flight.c: many return probes in flight at once. */
int bench_sleepers(void);
int bench_crowd(void);
int bench_crowd_in(void);
int bench_crowd_out(void);
int bench_burst(void);

/* pool.S: probed in the middle. */
void bench_mid_pool(void);

#endif /* !__ASSEMBLY__ */

#endif /* _KPROBE_BENCH_H */
