// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: witnesses, probes on functions that one thread calls, so that
 * each call is known to have been seen, or not, as soon as it is made.
 *
 * That holds while debugfs kprobes/enabled goes from 1 to 0 and back as well.  Who
 * writes there says before and after what it says, in our file "generation";
 * a call in one generation, from its beginning to its end, must be seen or must
 * not be, and one in between may be either, but not twice.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "stress.h"

#define NR_WITNESSES	5
#define BURST		50

/* The shortest between two of these. */
#define PAUSE_NS	(2 * NSEC_PER_MSEC)

static struct stress_probe witnesses[NR_WITNESSES];
static struct task_struct *thread;
static unsigned long seen, unseen, unknown;

/* Counts the changes; the second tells what it was changed to. */
static unsigned long generation;
static enum stress_generation is = PROBES_ARMED;
static bool always = true;

void stress_generation(enum stress_generation now)
{
	WRITE_ONCE(is, now);
	/* Pairs with the look at both before a call. */
	smp_store_release(&generation, generation + 1);
	if (now != PROBES_ARMED)
		WRITE_ONCE(always, false);
}

/* Were they, since the storm began? */
bool stress_always_armed(void)
{
	return READ_ONCE(always);
}

static unsigned long sum(struct stress_probe *p)
{
	return stress_probe_seen(p) + stress_probe_missed(p);
}

static void check_call(struct stress_probe *p, unsigned long x)
{
	unsigned long before = sum(p), began, hits;
	enum stress_generation then;

	/* Pairs with stress_generation(). */
	began = smp_load_acquire(&generation);
	then = READ_ONCE(is);
	stress_check_call(p->function, x);
	hits = sum(p) - before;
	/* "is" is written first: it may be a new one in the old generation. */
	if (READ_ONCE(generation) != began || READ_ONCE(is) != then)
		then = PROBES_CHANGING;

	switch (then) {
	case PROBES_ARMED:
		seen++;
		break;
	case PROBES_DISARMED:
		unseen++;
		break;
	default:
		unknown++;
	}
	if (hits > 1 || (then == PROBES_ARMED && hits != 1) ||
	    (then == PROBES_DISARMED && hits))
		stress_fail("witness %ps, kind %d, %s: %lu hits of one call",
			    stress_kp(p)->addr, p->kind,
			    then == PROBES_ARMED ? "armed" :
			    then == PROBES_DISARMED ? "disarmed" : "changing", hits);
}

static int call_them(void *unused)
{
	unsigned long x = 0, us;
	ktime_t began;
	int i;

	while (!kthread_should_stop()) {
		began = ktime_get();
		for (i = 0; i < BURST; i++)
			check_call(&witnesses[i % NR_WITNESSES], x++);
		us = div_u64(stress_pause_ns(began, PAUSE_NS), NSEC_PER_USEC);
		usleep_range(us, 2 * us);
	}
	return 0;
}

static void witnesses_unregister(int n)
{
	while (n--)
		stress_probe_unregister(&witnesses[n]);
}

int stress_witnesses_start(void)
{
	static const struct {
		enum probe_kind kind;
		int function;
	} at[NR_WITNESSES] = {
		{ KIND_PRE, 0 },
		{ KIND_RETURN, 1 },
		{ KIND_OBSERVER, NR_C_FUNCTIONS },
		{ KIND_PRE, NR_C_FUNCTIONS + 1 },
		{ KIND_RETURN_ENTRY, NR_C_FUNCTIONS + 1 },
	};
	struct stress_probe *p;
	int i, err;

	always = true;
	for (i = 0; i < NR_WITNESSES; i++) {
		p = &witnesses[i];
		stress_probe_init(p, at[i].kind, at[i].function,
				  kind_is_return(at[i].kind) ? stress_entry(at[i].function) :
				  stress_place(at[i].function, 0), 0);
		p->state = ON;
		err = stress_probe_register(p);
		if (err)
			goto undo;
	}
	thread = kthread_run(call_them, NULL, "kprobe-witness");
	if (!IS_ERR(thread))
		return 0;
	err = PTR_ERR(thread);
undo:
	witnesses_unregister(i);
	return err;
}

void stress_witnesses_stop(void)
{
	kthread_stop(thread);
	witnesses_unregister(NR_WITNESSES);
}

int stress_witnesses_show(char *buf, size_t size)
{
	return scnprintf(buf, size,
			 "witnesses: calls while armed %lu, while disarmed %lu, while changing %lu\n",
			 seen, unseen, unknown);
}
