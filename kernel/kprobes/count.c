// SPDX-License-Identifier: GPL-2.0
/*
 * How often sites are reached, counted only while somebody wants to know.
 *
 * The counters are not part of the sites, of which there may be tens of
 * thousands while nobody counts: they are objects of their own, found by address
 * in a second table.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/percpu.h>
#include <linux/slab.h>

#include "count.h"
#include "index.h"
#include "internal.h"

DEFINE_STATIC_KEY_FALSE(kprobe_counting);

/**
 * struct hit_counter - the hits of one site
 * @addr:	the site's address; the key of the table
 * @hits:	per CPU, each changed by its CPU only
 * @rcu:	for the release
 */
struct hit_counter {
	unsigned long		addr;
	unsigned long __percpu	*hits;
	struct rcu_head		rcu;
};

static struct addr_index __rcu *counters __read_mostly = RCU_INITIALIZER(&addr_index_empty);

static __always_inline struct hit_counter *counter_find(unsigned long addr)
{
	return (struct hit_counter *)addr_index_find(&counters, addr);
}

/**
 * kprobe_count_hit() - a site was reached
 * @site: the site
 *
 * Context: any, preemption off.
 */
void kprobe_count_hit(const struct probe_site *site)
{
	struct hit_counter *c = counter_find(site->addr);

	/* One instruction: what interrupts it is counted, too. */
	if (c)
		this_cpu_inc(*c->hits);
}
NOKPROBE_SYMBOL(kprobe_count_hit);

static void counter_free(struct rcu_head *rcu)
{
	struct hit_counter *c = container_of(rcu, struct hit_counter, rcu);

	free_percpu(c->hits);
	kfree(c);
}

static void counter_del(struct hit_counter *c)
{
	addr_index_del(&counters, &c->addr);
	call_rcu(&c->rcu, counter_free);
}

static int counter_add(unsigned long addr)
{
	struct hit_counter *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	c->addr = addr;
	c->hits = alloc_percpu(unsigned long);
	if (!c->hits || addr_index_reserve(&counters, 1)) {
		free_percpu(c->hits);
		kfree(c);
		return -ENOMEM;
	}
	addr_index_add(&counters, &c->addr);
	return 0;
}

static void counters_drop(void)
{
	struct hit_counter *c;
	unsigned int pos = 0;

	while ((c = (struct hit_counter *)addr_index_next(&counters, &pos)))
		counter_del(c);
	addr_index_clear(&counters);
}

/**
 * count_site() - a site was made: count its hits, if hits are counted
 * @site: the site
 *
 * Without memory it goes uncounted; that is no reason to refuse a probe.
 *
 * Context: may sleep; kprobe_mutex held.
 */
void count_site(const struct probe_site *site)
{
	if (static_key_enabled(&kprobe_counting) && counter_add(site->addr))
		pr_warn("%pS: no memory to count hits\n", (void *)site->addr);
}

/**
 * uncount_site() - a site goes away
 * @site: the site
 *
 * Context: kprobe_mutex held.
 */
void uncount_site(const struct probe_site *site)
{
	struct hit_counter *c = counter_find(site->addr);

	if (c)
		counter_del(c);
}

/**
 * site_hits() - how often was a site reached since counting began?
 * @site: the site
 * @hits: the answer
 *
 * Context: kprobe_mutex held.
 * Return: false when it is not counted.
 */
bool site_hits(const struct probe_site *site, unsigned long *hits)
{
	struct hit_counter *c = counter_find(site->addr);
	unsigned long sum = 0;
	int cpu;

	if (!c)
		return false;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(c->hits, cpu));
	*hits = sum;
	return true;
}

/**
 * counting_set() - begin counting from zero at every site, or stop
 * @on: which
 *
 * Context: may sleep; kprobe_mutex held.
 * Return: 0, or -ENOMEM: then hits are not counted.
 */
int counting_set(bool on)
{
	struct probe_site *site;
	unsigned int pos = 0;
	int err = 0;

	if (on == static_key_enabled(&kprobe_counting))
		return 0;
	if (!on) {
		static_branch_disable(&kprobe_counting);
		counters_drop();
		return 0;
	}

	while (!err && (site = site_next(&pos)))
		err = counter_add(site->addr);
	if (err)
		counters_drop();
	else
		static_branch_enable(&kprobe_counting);
	return err;
}
