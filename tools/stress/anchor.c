// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: anchors, the probes that stay.
 *
 * An anchor is registered before the storm and removed after it.  In between
 * its function's text is changed again and again for others, and still every
 * single call must be handled or counted as missed: the sums are exact.
 */
#include <linux/bits.h>
#include <linux/kernel.h>

#include "stress.h"

/* Every so many functions have anchors; all that may be changed in a quiet storm. */
#define STEP		4
#define NR_ANCHORS	(5 * NR_FUNCTIONS)

/* Alone, or in such company. */
static const unsigned long company[] = {
	BIT(KIND_PRE),
	BIT(KIND_RETURN),
	BIT(KIND_PRE) | BIT(KIND_BOTH) | BIT(KIND_RETURN),
	BIT(KIND_OBSERVER),
	BIT(KIND_PAIR),
	BIT(KIND_POST) | BIT(KIND_OBSERVER) | BIT(KIND_RETURN_ENTRY),
	BIT(KIND_TYPED) | BIT(KIND_RETURN_LIMITED),
	BIT(KIND_RETURN_ENTRY),
};

/* Beyond these no probe changes text at a function's entry. */
#define QUIET_COMPANY	(BIT(KIND_PRE) | BIT(KIND_BOTH) | BIT(KIND_RETURN) | \
			 BIT(KIND_RETURN_ENTRY))

static struct stress_probe anchors[NR_ANCHORS];
/* What the functions were called before the anchors were there. */
static unsigned long calls[NR_ANCHORS];
static unsigned int nr_anchors;

/* What the last ones came to. */
static unsigned long calls_expected, calls_seen, calls_missed;

/* Typed probes and returns are for entries, which a direct caller may share. */
static bool fits(unsigned int function, enum probe_kind kind)
{
	if (function >= NR_C_FUNCTIONS)
		return kind != KIND_TYPED && kind != KIND_PAIR;
	return stress_quiet || function < DIRECT_FIRST || function >= DIRECT_FIRST + NR_DIRECT ||
	       (kind != KIND_POST && kind != KIND_BOTH);
}

static int anchor_start(unsigned int function, enum probe_kind kind)
{
	struct stress_probe *p = &anchors[nr_anchors];
	void *addr = kind_is_return(kind) ? stress_entry(function) :
					    stress_place(function, 0);
	int err;

	stress_probe_init(p, kind, function, addr, 0);
	p->nests = kind == KIND_PRE;
	p->state = ON;
	calls[nr_anchors] = stress_calls(function);
	err = stress_probe_register(p);
	if (!err) {
		nr_anchors++;
		return 0;
	}
	stress_fail("anchor %ps, kind %d: error %d", addr, kind, err);
	stress_probe_done(p);
	return err;
}

static int anchors_on(unsigned int function, unsigned long kinds)
{
	unsigned long kind;
	int err = 0;

	for_each_set_bit(kind, &kinds, NR_KINDS)
		if (!err && fits(function, kind))
			err = anchor_start(function, kind);
	return err;
}

/* Nobody calls the functions yet. */
int stress_anchors_start(void)
{
	unsigned int i, step = stress_quiet ? 1 : STEP;
	int err = 0;

	nr_anchors = 0;
	for (i = 0; i < NR_FUNCTIONS && !err; i += step)
		err = anchors_on(i, stress_quiet && i < NR_C_FUNCTIONS ? QUIET_COMPANY :
				    company[i / step % ARRAY_SIZE(company)]);
	if (err)
		stress_anchors_stop();
	return err;
}

static void anchor_check(unsigned int i)
{
	struct stress_probe *p = &anchors[i];
	unsigned long expected = stress_calls(p->function) - calls[i];

	stress_probe_exact(p, expected);
	calls_expected += expected;
	calls_seen += stress_probe_seen(p);
	calls_missed += stress_probe_missed(p);
}

/* Nobody calls the functions any more. */
void stress_anchors_stop(void)
{
	unsigned int i;

	calls_expected = 0;
	calls_seen = 0;
	calls_missed = 0;
	/* Else it cannot be known. */
	for (i = 0; i < nr_anchors && stress_always_armed(); i++)
		anchor_check(i);
	for (i = 0; i < nr_anchors; i++) {
		stress_probe_unregister(&anchors[i]);
		stress_probe_done(&anchors[i]);
	}
}

int stress_anchors_show(char *buf, size_t size)
{
	return scnprintf(buf, size, "anchors: %u, expected %lu hits, %lu seen, %lu missed\n",
			 nr_anchors, calls_expected, calls_seen, calls_missed);
}
