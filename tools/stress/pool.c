// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: the pool of functions, and the count of their calls.
 *
 * A function returns its argument plus its number, so that a caller knows
 * whether it did what it should.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/sched.h>

#include "stress.h"

/* One in so many calls of a function that may sleep does. */
#define SLEEP_EVERY	64

static atomic_long_t calls[NR_FUNCTIONS];

/* To be left by another CPU than it was entered by. */
static noinline void move_on(void)
{
	unsigned int cpu = cpumask_next(raw_smp_processor_id(), cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(cpu_online_mask);
	/* It may be going down: then not. */
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static noinline void sleep_in(unsigned long x)
{
	if (x / SLEEP_EVERY % 2)
		move_on();
	else
		usleep_range(100, 2000);
}

/*
 * What each function does: every sixth may sleep or change the CPU, every
 * sixteenth calls itself.
 */
static __always_inline unsigned long body(unsigned long x, unsigned int nr)
{
	const unsigned long once = 1UL << STRESS_DEPTH;

	barrier();
	if (nr % 6 == 5 && x & STRESS_MAY_SLEEP && x % SLEEP_EVERY == 1)
		sleep_in(x);
	if (nr % 16 == 14 && x >= once)
		return stress_call(nr, x - once) + once;
	return x + nr;
}

#define ALL(m)								\
	SIXTEEN(m, 0x00) SIXTEEN(m, 0x01) SIXTEEN(m, 0x02) SIXTEEN(m, 0x03) \
	SIXTEEN(m, 0x04) SIXTEEN(m, 0x05) SIXTEEN(m, 0x06) SIXTEEN(m, 0x07) \
	SIXTEEN(m, 0x08) SIXTEEN(m, 0x09) SIXTEEN(m, 0x0a) SIXTEEN(m, 0x0b) \
	SIXTEEN(m, 0x0c) SIXTEEN(m, 0x0d) SIXTEEN(m, 0x0e) SIXTEEN(m, 0x0f) \
	SIXTEEN(m, 0x10) SIXTEEN(m, 0x11) SIXTEEN(m, 0x12) SIXTEEN(m, 0x13) \
	SIXTEEN(m, 0x14) SIXTEEN(m, 0x15) SIXTEEN(m, 0x16) SIXTEEN(m, 0x17) \
	SIXTEEN(m, 0x18) SIXTEEN(m, 0x19) SIXTEEN(m, 0x1a) SIXTEEN(m, 0x1b) \
	SIXTEEN(m, 0x1c) SIXTEEN(m, 0x1d) SIXTEEN(m, 0x1e) SIXTEEN(m, 0x1f)

#define FUNCTION(nr)							\
	static noinline unsigned long stress_fn_##nr(unsigned long x)	\
	{								\
		return body(x, nr);					\
	}

#define NAME(nr)	stress_fn_##nr,

ALL(FUNCTION)

static unsigned long (*const c_functions[])(unsigned long) = { ALL(NAME) };

static_assert(ARRAY_SIZE(c_functions) == NR_C_FUNCTIONS);

/* What a function adds to its argument. */
unsigned int stress_number(unsigned int function)
{
	return function < NR_C_FUNCTIONS ? function : function - NR_C_FUNCTIONS;
}

void *stress_entry(unsigned int function)
{
	if (function < NR_C_FUNCTIONS)
		return c_functions[function];
	return stress_asm[function - NR_C_FUNCTIONS].fn;
}
EXPORT_SYMBOL_GPL(stress_entry);

/* The entry of a function, or a place in the middle of one that has them. */
void *stress_place(unsigned int function, unsigned int place)
{
	const struct stress_asm *f;

	if (function < NR_C_FUNCTIONS)
		return stress_entry(function);
	f = &stress_asm[function - NR_C_FUNCTIONS];
	return (void *)f->fn + f->at[place % NR_ASM_PLACES];
}

/* One that anybody may call. */
unsigned int stress_choose_function(struct rnd_state *rnd)
{
	unsigned int nr = NR_WITNESSES_C +
		stress_draw(rnd, NR_FUNCTIONS - NR_WITNESSES_C - NR_WITNESSES_ASM);

	return nr < NR_C_FUNCTIONS ? nr : nr + NR_WITNESSES_ASM;
}

/* From any context where the function does not sleep; counted first. */
noinline __noclone unsigned long stress_call(unsigned int function, unsigned long x)
{
	atomic_long_inc(&calls[function]);
	if (function < NR_C_FUNCTIONS)
		return c_functions[function](x);
	return stress_asm[function - NR_C_FUNCTIONS].fn(x);
}

void stress_check_call(unsigned int function, unsigned long x)
{
	unsigned long got = stress_call(function, x);

	if (got != x + stress_number(function))
		stress_fail("%ps(%lx) returned %lx", stress_entry(function), x, got);
}

unsigned long stress_calls(unsigned int function)
{
	return atomic_long_read(&calls[function]);
}
