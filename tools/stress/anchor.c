// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: anchors, the probes that stay.
 *
 * An anchor is registered before the storm and removed after it.  In between
 * its function's text is changed again and again for others, and still every
 * single call must be handled or counted as missed: the sums are exact.
 */
#include <linux/string.h>

#include "stress.h"

/* An anchor of each kind, on every function that is a multiple of this. */
#define STEP		4
#define NR_ANCHORS	(NR_FUNCTIONS / STEP)

struct anchor {
	struct kprobe		plain;
	struct kprobe		post;
	struct kretprobe	ret;
	atomic_long_t		pre_hits, post_hits, returns;
	/* What the functions were called before the anchors were there. */
	unsigned long		calls;
};

static struct anchor anchors[NR_ANCHORS];

static unsigned int function_of(struct anchor *a)
{
	return (a - anchors) * STEP;
}

/* Calls another function that has anchors, whose probes are then missed. */
static int plain_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct anchor *a = container_of(p, struct anchor, plain);
	unsigned int other = (function_of(a) + STEP) % NR_FUNCTIONS;

	if ((atomic_long_inc_return(&a->pre_hits) & 15) == 0)
		stress_call(other, 0);
	atomic_long_inc(&stress_hits);
	return 0;
}

static void post_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
	struct anchor *a = container_of(p, struct anchor, post);

	atomic_long_inc(&a->post_hits);
	atomic_long_inc(&stress_hits);
}

static int ret_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		atomic_long_inc(&container_of(rp, struct anchor, ret)->returns);
	atomic_long_inc(&stress_hits);
	return 0;
}

/* The middle of an assembler function has no entry to hook, but a place. */
static void set_up(struct anchor *a)
{
	unsigned int function = function_of(a);

	memset(a, 0, sizeof(*a));
	a->plain.addr = stress_entry(function);
	if (function >= NR_C_FUNCTIONS)
		a->plain.addr += stress_asm[function - NR_C_FUNCTIONS].at;
	a->post.addr = a->plain.addr;
	a->plain.pre_handler = plain_pre;
	a->post.post_handler = post_post;
	a->ret.kp.addr = stress_entry(function);
	a->ret.handler = ret_handler;
	a->ret.maxactive = 64;
	a->calls = stress_calls(function);
}

static int anchor_start(struct anchor *a)
{
	int err;

	set_up(a);
	err = register_kprobe(&a->plain);
	if (err)
		return err;
	err = register_kprobe(&a->post);
	if (err)
		goto plain;
	err = register_kretprobe(&a->ret);
	if (!err)
		return 0;
	unregister_kprobe(&a->post);
plain:
	unregister_kprobe(&a->plain);
	return err;
}

static void expect(struct anchor *a, const char *what, unsigned long handled,
		   unsigned long missed)
{
	unsigned long calls = stress_calls(function_of(a)) - a->calls;

	if (handled + missed != calls)
		stress_fail("anchor %ps, %s: %lu handled + %lu missed of %lu",
			    a->plain.addr, what, handled, missed, calls);
}

static void anchor_stop(struct anchor *a)
{
	expect(a, "pre", atomic_long_read(&a->pre_hits), a->plain.nmissed);
	expect(a, "post", atomic_long_read(&a->post_hits), a->post.nmissed);
	expect(a, "return", atomic_long_read(&a->returns),
	       a->ret.kp.nmissed + a->ret.nmissed);
	unregister_kretprobe(&a->ret);
	unregister_kprobe(&a->post);
	unregister_kprobe(&a->plain);
}

/* Nobody calls the functions yet. */
int stress_anchors_start(void)
{
	int i, err = 0;

	for (i = 0; i < NR_ANCHORS && !err; i++)
		err = anchor_start(&anchors[i]);
	if (!err)
		return 0;
	stress_fail("anchor %ps: error %d", anchors[i - 1].plain.addr, err);
	for (i -= 2; i >= 0; i--)
		anchor_stop(&anchors[i]);
	return err;
}

/* Nobody calls the functions any more. */
void stress_anchors_stop(void)
{
	int i;

	for (i = 0; i < NR_ANCHORS; i++)
		anchor_stop(&anchors[i]);
}
