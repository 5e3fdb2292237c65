// SPDX-License-Identifier: GPL-2.0
/*
 * Method: breakpoint.  The first byte of the instruction becomes a trap; the
 * displaced instruction is emulated, or runs from a slot.
 *
 * A set of sites is one round of pokes with one synchronisation of the CPUs.  A
 * task can be preempted in a slot, so a slot is freed a tasks-RCU grace period
 * after its last use, from a worker: who unregisters does not wait for that.
 */
#include <linux/jump_label.h>
#include <linux/llist.h>
#include <linux/memory.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/workqueue.h>

#include "internal.h"
#include "jump.h"

/*
 * Text that others poke on their own may not be displaced.  To ask for it is to
 * have all their tables walked, so first a look at the text itself.
 */
static int check_reserved(unsigned long addr)
{
	void *text = (void *)addr;

	if (!arch_text_may_be_patched(addr))
		return 0;
	if (jump_label_text_reserved(text, text) ||
	    static_call_text_reserved(text, text))
		return -EINVAL;
	return 0;
}

static int breakpoint_prepare(struct probe_site *site)
{
	int err;

	lockdep_assert_held(&kprobe_mutex);

	INIT_LIST_HEAD(&displaced(site)->jump_node);
	jump_make_way(site->addr);

	cpus_read_lock();
	jump_label_lock();
	mutex_lock(&text_mutex);
	err = check_reserved(site->addr);
	if (!err)
		err = arch_site_decode(site);
	mutex_unlock(&text_mutex);
	jump_label_unlock();
	cpus_read_unlock();
	if (err)
		goto out;

	err = arch_site_displace(site);
	if (err)
		arch_site_free(site);
out:
	if (err)
		jump_reconsider_before(site->addr);
	return err;
}

static int breakpoint_arm(struct llist_head *sites)
{
	struct probe_site *site;
	LIST_HEAD(jumps);

	lockdep_assert_held(&kprobe_mutex);

	/* One kind of probe more may be one that a jump cannot serve. */
	for_each_site(site, sites)
		if (site->armed)
			jump_cancel(site, &jumps);
	jumps_undo(&jumps);

	/* A lane more at an armed site changes nothing in the text. */
	mutex_lock(&text_mutex);
	arch_breakpoints_set(sites);
	mutex_unlock(&text_mutex);

	for_each_site(site, sites)
		jump_consider(site, site->armed | site->change, &jumps);
	jumps_begin(&jumps);
	return 0;
}

static void breakpoint_disarm(struct llist_head *sites)
{
	struct probe_site *site;
	LIST_HEAD(jumps);

	lockdep_assert_held(&kprobe_mutex);

	for_each_site(site, sites)
		jump_cancel(site, &jumps);
	jumps_undo(&jumps);

	mutex_lock(&text_mutex);
	arch_breakpoints_clear(sites);
	mutex_unlock(&text_mutex);

	for_each_site(site, sites)
		jump_consider(site, site->armed & ~site->change, &jumps);
	jumps_begin(&jumps);
}

/* Sites whose slot no task is in any more, on their way to release_work. */
static LLIST_HEAD(released);

/**
 * wait_for_idle_tasks() - what tasks-RCU does not see
 *
 * Context: may sleep.
 */
void wait_for_idle_tasks(void)
{
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
#else
	synchronize_rcu();
#endif
}

static void release_sites(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&released);
	struct probe_site *site, *next;

	wait_for_idle_tasks();

	llist_for_each_entry_safe(site, next, list, batch) {
		arch_site_free(site);
		site_leave_to_hits(site);
	}
	sites_free_left();
}

static DECLARE_WORK(release_work, release_sites);

static void slot_is_left(struct rcu_head *rcu)
{
	struct displaced_site *ds = container_of(rcu, struct displaced_site, rcu);

	llist_add(&ds->site.batch, &released);
	schedule_work(&release_work);
}

static void emulated_is_left(struct rcu_head *rcu)
{
	struct displaced_site *ds = container_of(rcu, struct displaced_site, rcu);

	arch_site_free(&ds->site);
	site_free(&ds->site);
}

static void breakpoint_release(struct probe_site *site)
{
	jump_reconsider_before(site->addr);
	if (arch_site_has_slot(site))
		call_rcu_tasks(&displaced(site)->rcu, slot_is_left);
	else
		call_rcu(&displaced(site)->rcu, emulated_is_left);
}

const struct arm_method arm_breakpoint = {
	.name		= "breakpoint",
	.site_name	= "kprobe_displaced_site",
	.site_size	= sizeof(struct displaced_site),
	.prepare	= breakpoint_prepare,
	.arm		= breakpoint_arm,
	.disarm		= breakpoint_disarm,
	.release	= breakpoint_release,
};
