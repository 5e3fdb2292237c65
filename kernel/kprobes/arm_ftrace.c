// SPDX-License-Identifier: GPL-2.0
/*
 * Method: ftrace.  The site is the nop that -mfentry leaves at a function's
 * entry; ftrace turns it into a call, and calls us with all registers.
 *
 * There is one ftrace_ops per lane, shared by all sites: its filter holds the
 * armed sites' addresses.  A set of sites is one change of the filter, so that
 * ftrace walks its records once, not once for every site.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/memory.h>
#include <linux/slab.h>

#include "arm_ftrace.h"
#include "internal.h"

/* Set for good when ftrace has found its own records broken. */
bool kprobe_ftrace_disabled __read_mostly;

/*
 * ftrace leaves a trampoline alone that an ops brings along, and has a function
 * call it while the ops is the function's only one.
 */
static struct ftrace_ops lane_ops[NR_LANES] = {
	[LANE_OBSERVE] = {
		.func		= ftrace_hit_observe,
		.trampoline	= (unsigned long)kprobe_entry_observe,
		.flags		= FTRACE_OPS_FL_SAVE_REGS,
	},
	[LANE_REDIRECT] = {
		.func		= ftrace_hit_redirect,
		.trampoline	= (unsigned long)kprobe_entry_redirect,
		.flags		= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
	},
};

/*
 * Armed sites in each lane; the ops is registered while there is one.  What the
 * filter of an ops that is not registered holds is of no account: the first
 * sites to be armed replace it.  kprobe_mutex.
 */
static unsigned int lane_count[NR_LANES];

/**
 * kprobe_ftrace_kill() - ftrace has shut itself down
 *
 * Context: any.
 */
void kprobe_ftrace_kill(void)
{
	kprobe_ftrace_disabled = true;
}

static unsigned int count_sites(struct llist_head *sites, int lane)
{
	struct probe_site *site;
	unsigned int n = 0;

	for_each_site(site, sites)
		n += !!(site->change & BIT(lane));
	return n;
}

/* One change of a filter for all of @sites. */
static int filter_change(struct llist_head *sites, int lane, unsigned int n, bool remove)
{
	bool reset = !lane_count[lane];
	struct probe_site *site;
	unsigned long *ips;
	unsigned int i = 0;
	int err;

	ips = kvmalloc_array(n, sizeof(*ips), GFP_KERNEL);
	if (!ips)
		return -ENOMEM;
	for_each_site(site, sites)
		if (site->change & BIT(lane))
			ips[i++] = site->addr;

	err = ftrace_set_filter_ips(&lane_ops[lane], ips, n, remove, reset);
	kvfree(ips);
	return err;
}

/*
 * An empty filter means every function, so the last address does not leave the
 * filter: the ops leaves ftrace.  Disarming has no way to fail: when memory is
 * short, it is asked for again.
 */
static void lane_disarm(struct llist_head *sites, int lane)
{
	unsigned int n = count_sites(sites, lane);
	unsigned int tries;
	int err;

	if (!n)
		return;

	if (n == lane_count[lane]) {
		err = unregister_ftrace_function(&lane_ops[lane]);
	} else {
		for (tries = 0; tries < 100; tries++) {
			err = filter_change(sites, lane, n, true);
			if (err != -ENOMEM)
				break;
			msleep(tries);
		}
	}
	lane_count[lane] -= n;
	if (err && !kprobe_ftrace_disabled)
		pr_err("ftrace kept %u probed functions: %d\n", n, err);
}

static int lane_arm(struct llist_head *sites, int lane)
{
	unsigned int n = count_sites(sites, lane);
	int err;

	if (!n)
		return 0;

	err = filter_change(sites, lane, n, false);
	if (err)
		return err;

	if (!lane_count[lane]) {
		err = register_ftrace_function(&lane_ops[lane]);
		if (err)
			return err;
	}
	lane_count[lane] += n;

	/* ftrace reports a failure to patch by giving up altogether. */
	if (kprobe_ftrace_disabled) {
		lane_disarm(sites, lane);
		return -ENODEV;
	}
	return 0;
}

static int ftrace_arm(struct llist_head *sites)
{
	struct probe_site *site;
	int lane, err;

	lockdep_assert_held(&kprobe_mutex);
	lockdep_assert_not_held(&text_mutex);

	/* With the sysctl at 0, ftrace takes everything and patches nothing. */
	if (kprobe_ftrace_disabled || !READ_ONCE(ftrace_enabled)) {
		complain("cannot probe a function entry: ftrace is %s\n",
			 kprobe_ftrace_disabled ? "dead" : "off (kernel.ftrace_enabled)");
		return -ENODEV;
	}

	for_each_lane(lane) {
		err = lane_arm(sites, lane);
		if (err)
			break;
	}
	if (!err)
		return 0;

	site = llist_entry(sites->first, struct probe_site, batch);
	complain("cannot probe %pS, or another of its set: %s (%pe)\n", (void *)site->addr,
		 err == -EBUSY ? "somebody else redirects it" : "ftrace does not take it",
		 ERR_PTR(err));
	while (lane--)
		lane_disarm(sites, lane);
	return err;
}

static void ftrace_disarm(struct llist_head *sites)
{
	int lane;

	lockdep_assert_held(&kprobe_mutex);
	lockdep_assert_not_held(&text_mutex);

	for_each_lane(lane)
		lane_disarm(sites, lane);
}

static int ftrace_prepare(struct probe_site *site)
{
	return 0;	/* a nop: nothing is displaced */
}

static void ftrace_release(struct probe_site *site)
{
	/* A hit holds the site with preemption off, and not beyond. */
	site_leave_to_hits(site);
}

const struct arm_method arm_ftrace = {
	.name		= "ftrace",
	.flag		= KPROBE_FLAG_FTRACE,
	.site_name	= "kprobe_site",
	.site_size	= sizeof(struct probe_site),
	.prepare	= ftrace_prepare,
	.arm		= ftrace_arm,
	.disarm		= ftrace_disarm,
	.release	= ftrace_release,
};
