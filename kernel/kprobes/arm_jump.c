// SPDX-License-Identifier: GPL-2.0
/*
 * From a breakpoint to a jump, and back.
 *
 * A breakpoint is armed first, always; a jump then takes its place where the
 * text allows it, and gives it back when something else wants the bytes.  Hits
 * are never without one of the two.
 *
 * One instruction of five bytes or more is replaced at once: nothing can be
 * inside it.  Several shorter ones are a region that a task may have been
 * preempted in, and be about to go on in: there a jump lands a tasks-RCU grace
 * period after the breakpoint has begun to send everybody around the region.
 * That may take for ever, if a task spins; nobody waits for it, and no lock is
 * held meanwhile.
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/memory.h>
#include <linux/sysctl.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "index.h"
#include "internal.h"
#include "jump.h"

/* The sysctl; kprobe_mutex. */
static int jumps_allowed = 1;

/* To be planned; kprobe_mutex. */
static LIST_HEAD(jump_queue);

/* Planned, and waiting for the grace period that is running; kprobe_mutex. */
static LIST_HEAD(jump_grace);
static bool grace_is_running;
static struct rcu_head grace_rcu;

/* For those who want to see the end of it. */
static DECLARE_WAIT_QUEUE_HEAD(jumps_settled);

static void plan_jumps(struct work_struct *work);
static void land_jumps(struct work_struct *work);
static DECLARE_WORK(plan_work, plan_jumps);
static DECLARE_WORK(land_work, land_jumps);

/*
 * Behind a jump nobody redirects; and post-handlers get control behind the first
 * instruction only if it is the only one.
 */
static bool jump_is_wanted(const struct probe_site *site, unsigned int lanes)
{
	return jumps_allowed && !site->gone && lanes == BIT(LANE_OBSERVE) &&
	       (!site->watched || arch_jump_is_single(displaced(site)));
}

static void mark_probes(struct displaced_site *ds, bool jumped)
{
	struct kprobe *p;

	hlist_for_each_entry(p, &ds->site.probes[LANE_OBSERVE], hlist)
		probe_set_flag(p, KPROBE_FLAG_OPTIMIZED, jumped);
}

static void set_state(struct displaced_site *ds, enum jump_state state,
		      struct list_head *list)
{
	ds->jump = state;
	if (list)
		list_move_tail(&ds->jump_node, list);
	else
		list_del_init(&ds->jump_node);
}

/**
 * jumps_begin() - breakpoints become jumps
 * @jumps: sites that jump_consider() has found fit at once, or whose grace period
 *	   is over, linked by jump_node; emptied
 *
 * Context: may sleep; kprobe_mutex held, text_mutex not.
 */
void jumps_begin(struct list_head *jumps)
{
	struct displaced_site *ds, *next;

	if (list_empty(jumps))
		return;
	mutex_lock(&text_mutex);
	arch_jumps_set(jumps);
	mutex_unlock(&text_mutex);

	list_for_each_entry_safe(ds, next, jumps, jump_node) {
		set_state(ds, JUMP_ARMED, NULL);
		mark_probes(ds, true);
	}
}

/**
 * jump_consider() - a site may have become fit for a jump
 * @site:  a site whose breakpoint is armed
 * @lanes: the lanes that are, or will be, armed there
 * @now:   where to collect sites for jumps_begin()
 *
 * Context: kprobe_mutex held.
 */
void jump_consider(struct probe_site *site, unsigned int lanes, struct list_head *now)
{
	struct displaced_site *ds = displaced(site);

	if (ds->jump != JUMP_NOT || !jump_is_wanted(site, lanes))
		return;
	if (arch_jump_is_single(ds)) {
		list_add_tail(&ds->jump_node, now);
		return;
	}
	set_state(ds, JUMP_QUEUED, &jump_queue);
	schedule_work(&plan_work);
}

/**
 * jump_cancel() - a site is to have its breakpoint back, or not to lose it
 * @site: the site
 * @undo: where to collect sites for jumps_undo()
 *
 * Context: kprobe_mutex held.
 */
void jump_cancel(struct probe_site *site, struct list_head *undo)
{
	struct displaced_site *ds = displaced(site);

	switch (ds->jump) {
	case JUMP_QUEUED:
	case JUMP_IN_GRACE:
		set_state(ds, JUMP_NOT, NULL);
		arch_jump_route(ds, false);
		/* Who waits for this one need not wait for the grace period. */
		wake_up_all(&jumps_settled);
		break;
	case JUMP_ARMED:
		list_move_tail(&ds->jump_node, undo);
		break;
	}
}

/**
 * jumps_undo() - give breakpoints back to what jump_cancel() has collected
 * @undo: the collection; emptied
 *
 * Context: may sleep; kprobe_mutex held, text_mutex not.
 */
void jumps_undo(struct list_head *undo)
{
	struct displaced_site *ds, *next;

	if (list_empty(undo))
		return;
	mutex_lock(&text_mutex);
	arch_jumps_clear(undo);
	mutex_unlock(&text_mutex);

	list_for_each_entry_safe(ds, next, undo, jump_node) {
		set_state(ds, JUMP_NOT, NULL);
		arch_jump_route(ds, false);
		mark_probes(ds, false);
	}
}

/**
 * jump_reconsider() - a site has become watched, or is no longer
 * @site: the site
 *
 * Context: may sleep; kprobe_mutex held, text_mutex not.
 */
void jump_reconsider(struct probe_site *site)
{
	LIST_HEAD(now);
	LIST_HEAD(undo);

	if (!site_is_displaced(site) || !site->armed)
		return;
	if (jump_is_wanted(site, site->armed))
		jump_consider(site, site->armed, &now);
	else
		jump_cancel(site, &undo);
	jumps_begin(&now);
	jumps_undo(&undo);
}

/* The displaced sites whose jump would cover @addr, one by one, nearest first. */
static struct probe_site *next_before(unsigned long addr, unsigned int *distance)
{
	struct probe_site *site;

	while (++*distance < JUMP_REGION_MAX) {
		site = site_find(addr - *distance);
		if (site && site_is_displaced(site))
			return site;
	}
	return NULL;
}

/**
 * jump_make_way() - undo jumps over an address that is to be probed itself
 * @addr: the address
 *
 * Context: may sleep; kprobe_mutex held, text_mutex not.
 */
void jump_make_way(unsigned long addr)
{
	struct probe_site *site;
	unsigned int distance = 0;
	LIST_HEAD(undo);

	while ((site = next_before(addr, &distance)))
		if (arch_jump_region(displaced(site)) > distance)
			jump_cancel(site, &undo);
	jumps_undo(&undo);
}

/**
 * jump_reconsider_before() - an address is no longer in the way of jumps over it
 * @addr: the address
 *
 * Context: kprobe_mutex held.
 */
void jump_reconsider_before(unsigned long addr)
{
	struct probe_site *site;
	unsigned int distance = 0;
	LIST_HEAD(now);

	while ((site = next_before(addr, &distance)))
		if (site->armed)
			jump_consider(site, site->armed, &now);
	jumps_begin(&now);
}

static bool neighbour_is_in(const struct displaced_site *ds)
{
	unsigned int i;

	for (i = 1; i < arch_jump_region(ds); i++)
		if (site_find(ds->site.addr + i))
			return true;
	return false;
}

/* Look at the text; what cannot have a jump leaves the queue. */
static void check_queue(void)
{
	struct displaced_site *ds, *next;

	cpus_read_lock();
	jump_label_lock();
	mutex_lock(&text_mutex);
	list_for_each_entry_safe(ds, next, &jump_queue, jump_node)
		if (!arch_jump_check(ds) || neighbour_is_in(ds))
			set_state(ds, JUMP_NOT, NULL);
	mutex_unlock(&text_mutex);
	jump_label_unlock();
	cpus_read_unlock();
}

static void grace_is_over(struct rcu_head *rcu)
{
	schedule_work(&land_work);
}

static void plan_jumps(struct work_struct *work)
{
	struct displaced_site *ds, *next;

	mutex_lock(&kprobe_mutex);
	/* One grace period at a time: land_jumps() comes back here. */
	if (grace_is_running)
		goto out;

	check_queue();
	list_for_each_entry_safe(ds, next, &jump_queue, jump_node) {
		if (arch_jump_prepare(ds)) {
			set_state(ds, JUMP_NOT, NULL);
			continue;
		}
		arch_jump_route(ds, true);
		set_state(ds, JUMP_IN_GRACE, &jump_grace);
	}
	if (!list_empty(&jump_grace)) {
		grace_is_running = true;
		call_rcu_tasks(&grace_rcu, grace_is_over);
	}
	wake_up_all(&jumps_settled);
out:
	mutex_unlock(&kprobe_mutex);
}

static void land_jumps(struct work_struct *work)
{
	wait_for_idle_tasks();

	mutex_lock(&kprobe_mutex);
	grace_is_running = false;
	jumps_begin(&jump_grace);
	mutex_unlock(&kprobe_mutex);

	plan_jumps(NULL);
}

static bool jumps_are_settled(void)
{
	bool settled;

	mutex_lock(&kprobe_mutex);
	settled = list_empty(&jump_queue) && list_empty(&jump_grace);
	mutex_unlock(&kprobe_mutex);
	return settled;
}

/**
 * wait_for_kprobe_optimizer() - wait until every jump on its way has landed
 *
 * Context: may sleep, as long as any task spins in the kernel; no lock held.
 */
void wait_for_kprobe_optimizer(void)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	/* Not wait_event(): to look takes a mutex. */
	add_wait_queue(&jumps_settled, &wait);
	while (!jumps_are_settled())
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(&jumps_settled, &wait);
}

/**
 * jumps_allow() - what the sysctl says, done at once where that is possible
 * @allow: whether breakpoints may become jumps; if not, jumps become breakpoints
 *
 * Context: may sleep; no lock held.
 */
void jumps_allow(bool allow)
{
	struct probe_site *site;
	unsigned int pos = 0;
	LIST_HEAD(now);
	LIST_HEAD(undo);

	mutex_lock(&kprobe_mutex);
	jumps_allowed = allow;
	while ((site = site_next(&pos))) {
		if (!site_is_displaced(site))
			continue;
		if (!allow)
			jump_cancel(site, &undo);
		else if (site->armed)
			jump_consider(site, site->armed, &now);
	}
	jumps_begin(&now);
	jumps_undo(&undo);
	mutex_unlock(&kprobe_mutex);
	wake_up_all(&jumps_settled);
}

static int optimization_sysctl(const struct ctl_table *table, int write, void *buffer,
			       size_t *len, loff_t *pos)
{
	int allow = READ_ONCE(jumps_allowed);
	struct ctl_table copy = *table;
	int err;

	copy.data = &allow;
	err = proc_dointvec_minmax(&copy, write, buffer, len, pos);
	if (!err && write)
		jumps_allow(allow);
	return err;
}

static struct ctl_table jump_sysctls[] = {
	{
		.procname	= "kprobes-optimization",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= optimization_sysctl,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};

static int __init jump_init(void)
{
	register_sysctl_init("debug", jump_sysctls);
	return 0;
}
subsys_initcall(jump_init);
