// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: the pool of functions, and the count of their calls.
 *
 * A function returns its argument plus its number, so that a caller knows
 * whether it did what it should.  Its text before all probes is kept, to be
 * compared when they are gone.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "stress.h"

/* The part of a function's text that is compared. */
#define TEXT_SIZE	24

/* One in so many calls of a function that may sleep does. */
#define SLEEP_EVERY	64

static atomic_long_t calls[NR_FUNCTIONS];
static u8 (*pristine)[TEXT_SIZE];

/* What each function does: every sixth may sleep. */
static __always_inline unsigned long body(unsigned long x, unsigned int nr)
{
	barrier();
	if (nr % 6 == 5 && x % SLEEP_EVERY == 1)
		usleep_range(100, 2000);
	return x + nr;
}

#define FUNCTION(nr)							\
	static noinline unsigned long stress_fn_##nr(unsigned long x)	\
	{								\
		return body(x, nr);					\
	}

FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
FUNCTION(9)
FUNCTION(10)
FUNCTION(11)
FUNCTION(12)
FUNCTION(13)
FUNCTION(14)
FUNCTION(15)
FUNCTION(16)
FUNCTION(17)
FUNCTION(18)
FUNCTION(19)
FUNCTION(20)
FUNCTION(21)
FUNCTION(22)
FUNCTION(23)

static unsigned long (*const c_functions[])(unsigned long) = {
	stress_fn_0, stress_fn_1, stress_fn_2, stress_fn_3, stress_fn_4,
	stress_fn_5, stress_fn_6, stress_fn_7, stress_fn_8, stress_fn_9,
	stress_fn_10, stress_fn_11, stress_fn_12, stress_fn_13, stress_fn_14,
	stress_fn_15, stress_fn_16, stress_fn_17, stress_fn_18, stress_fn_19,
	stress_fn_20, stress_fn_21, stress_fn_22, stress_fn_23,
};

static_assert(ARRAY_SIZE(c_functions) == NR_C_FUNCTIONS);

void *stress_entry(unsigned int function)
{
	if (function < NR_C_FUNCTIONS)
		return c_functions[function];
	return stress_asm[function - NR_C_FUNCTIONS].fn;
}

static void *asm_place(unsigned int nr)
{
	return (void *)stress_asm[nr].fn + stress_asm[nr].at;
}

/* Any place: the entry of a function, or the middle of one that has it. */
void *stress_place(u32 random)
{
	unsigned int nr = random % (NR_FUNCTIONS + NR_ASM_FUNCTIONS);

	if (nr >= NR_FUNCTIONS)
		return asm_place(nr - NR_FUNCTIONS);
	return stress_entry(nr);
}

/* From any context where the function does not sleep; counted first. */
unsigned long stress_call(unsigned int function, unsigned long x)
{
	atomic_long_inc(&calls[function]);
	if (function < NR_C_FUNCTIONS)
		return c_functions[function](x);
	return stress_asm[function - NR_C_FUNCTIONS].fn(x);
}

void stress_check_call(unsigned int function, unsigned long x)
{
	unsigned long nr = function < NR_C_FUNCTIONS ? function :
			   function - NR_C_FUNCTIONS;
	unsigned long got = stress_call(function, x);

	if (got != x + nr)
		stress_fail("%ps(%lu) returned %lu", stress_entry(function), x,
			    got);
}

unsigned long stress_calls(unsigned int function)
{
	return atomic_long_read(&calls[function]);
}

int stress_pool_init(void)
{
	unsigned int i;

	pristine = kcalloc(NR_FUNCTIONS, sizeof(*pristine), GFP_KERNEL);
	if (!pristine)
		return -ENOMEM;
	for (i = 0; i < NR_FUNCTIONS; i++)
		memcpy(pristine[i], stress_entry(i), TEXT_SIZE);
	return 0;
}

void stress_pool_check(void)
{
	unsigned int i;

	for (i = 0; i < NR_FUNCTIONS; i++)
		if (memcmp(pristine[i], stress_entry(i), TEXT_SIZE))
			stress_fail("text of %ps: %*ph, was %*ph",
				    stress_entry(i), TEXT_SIZE, stress_entry(i),
				    TEXT_SIZE, pristine[i]);
}

void stress_pool_exit(void)
{
	kfree(pristine);
}
