// SPDX-License-Identifier: GPL-2.0
/*
 * races: sites, the index that they are found in, their probes, and their counters.
 *
 * The idea: there are three kinds of addresses.  Some have a probe from the
 * beginning to the end: each hit must find it, and run its handler once.  Some never
 * have one: no hit may find anything.  On the others probes come and go, so that the
 * table fills, is swept and grows around the first two.
 *
 * Half of all addresses begin their way through a small table at the same entry.
 */
#include <unistd.h>

#include "kprobes/count.h"
#include "kprobes/hit.h"
#include "race.h"

#define NR_READERS	2
#define NR_FIXED	24
#define NR_ABSENT	24
#define NR_CHANGING	400
#define NR_PROBES	4

/* Enough for the smallest table, and its end. */
#define COLLIDE_BITS	6

static unsigned long fixed[NR_FIXED], absent[NR_ABSENT], changing[NR_CHANGING];

/* Probes that are there all the time; the number of their hits, by reader. */
static struct kprobe fixed_probe[NR_FIXED][2];
static unsigned long fixed_hits[NR_FIXED], fixed_missed[NR_FIXED];

/* A probe that comes and goes. */
struct changing {
	struct kprobe	p;
	struct rcu_head	rcu;
};

static struct changing *changing_probe[NR_CHANGING][NR_PROBES];

static unsigned long hits, changes, nested, toggles;
static long ops_left;
static bool counted;

#define count(what)	__atomic_fetch_add(&(what), 1, __ATOMIC_RELAXED)

/* As in internal.h. */
DEFINE_MUTEX(kprobe_mutex);

/* --- The engine's other half ------------------------------------------------------ */

static int prepare(struct probe_site *site)
{
	return 0;
}

const struct arm_method arm_breakpoint = {
	.name		= "races",
	.site_name	= "site",
	.site_size	= sizeof(struct displaced_site),
	.prepare	= prepare,
	.release	= site_leave_to_hits,
};

const struct arm_method *const arm_methods[NR_METHODS] = { &arm_breakpoint };

static void probe_add(struct kprobe *p)
{
	struct probe_target at = { .addr = (unsigned long)p->addr };
	struct probe_site *site;

	mutex_lock(&kprobe_mutex);
	must(!addr_index_reserve(&kprobe_site_index, 1));
	site = site_get(&at);
	must(!IS_ERR(site));
	site_join(site, p);
	mutex_unlock(&kprobe_mutex);
}

static void probe_del(struct kprobe *p)
{
	bool wait = chance(5);
	struct probe_site *site;

	mutex_lock(&kprobe_mutex);
	site = probe_site_of(p);
	must(site);
	site_leave(site, p);
	if (site_empty(site))
		site_put(site);
	if (!wait)
		sites_free_left_soon();
	mutex_unlock(&kprobe_mutex);
	if (wait)
		sites_free_left();
}

/* --- Hits -------------------------------------------------------------------------- */

/* Handlers of probes that are there all the time. */
static __thread unsigned int ran;

static int pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	must((unsigned long)p->addr == regs->ip);
	must(kprobe_running() == p);
	return 0;
}

/* A hit within a handler is missed. */
static void hit_in_handler(void)
{
	unsigned int i = below(NR_FIXED);
	struct probe_site *site = site_find(fixed[i]);

	must(site && site->addr == fixed[i]);
	site_count_hit(site);
	site_count_missed(site, ALL_LANES);
	count(fixed_hits[i]);
	count(fixed_missed[i]);
	must(!site_find(absent[i % NR_ABSENT]));
}

static int fixed_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	ran++;
	if (chance(10))
		hit_in_handler();
	return pre_handler(p, regs);
}

static void post_handler(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	must((unsigned long)p->addr == regs->ip);
}

/* As a method does; preemption is off.  Returns by how many @ran has grown. */
static unsigned int hit(unsigned long addr)
{
	struct probe_site *site = site_find(addr);
	struct pt_regs regs = { .ip = addr };
	unsigned int before = ran, n;

	if (!site)
		return 0;
	must(site->addr == addr);
	site_count_hit(site);
	must(!site_run_pre(site, &regs, ALL_LANES));
	n = ran - before;
	if (site_has_post(site, ALL_LANES))
		site_run_post(site, &regs, ALL_LANES);
	return n;
}

static void hit_one(void)
{
	unsigned int i = below(NR_FIXED);

	preempt_disable();
	switch (below(3)) {
	case 0:
		/* Of its two probes one is in each lane. */
		must(hit(fixed[i]) == 2);
		count(fixed_hits[i]);
		break;
	case 1:
		must(!site_find(absent[below(NR_ABSENT)]));
		break;
	case 2:
		hit(changing[below(NR_CHANGING - NR_FIXED)]);
		break;
	}
	count(hits);
	preempt_enable();
}

/* In a handler or outside of one. */
static void interrupt_hit(void)
{
	unsigned int before = ran;

	count(nested);
	if (kprobe_running())
		hit_in_handler();
	else
		hit_one();
	ran = before;
}

/* --- Changes ------------------------------------------------------------------------ */

static struct changing *changing_new(unsigned long addr)
{
	struct changing *c = calloc(1, sizeof(*c));

	c->p.addr = (void *)addr;
	c->p.pre_handler = pre_handler;
	if (chance(40))
		c->p.post_handler = post_handler;
	if (chance(50))
		c->p.flags = KPROBE_FLAG_OBSERVER;
	return c;
}

static void changing_free(struct rcu_head *rcu)
{
	free(container_of(rcu, struct changing, rcu));
}

/* Half of the addresses are mostly free, the other half mostly not; then the reverse. */
static void change_one(unsigned int phase)
{
	unsigned int i = below(NR_CHANGING), k = below(NR_PROBES);
	struct changing *c = changing_probe[i][k];

	if (!c && chance((i ^ phase) & 1 ? 80 : 20)) {
		c = changing_new(changing[i]);
		probe_add(&c->p);
		changing_probe[i][k] = c;
	} else if (c) {
		changing_probe[i][k] = NULL;
		probe_del(&c->p);
		call_rcu(&c->rcu, changing_free);
	}
}

static void toggle_counting(void)
{
	mutex_lock(&kprobe_mutex);
	must(!counting_set(!static_key_enabled(&kprobe_counting)));
	mutex_unlock(&kprobe_mutex);
	toggles++;
}

static void change(void)
{
	while (!READ_ONCE(race_over)) {
		change_one(changes++ / 2000);
		/* What is to be freed is not to be more than there is. */
		if (changes % 500 == 0)
			rcu_barrier();
		if (!counted && chance(1))
			toggle_counting();
	}
}

static void thread(int nr)
{
	wanted_cpu = nr;
	if (nr == NR_READERS) {
		change();
		return;
	}
	while (__atomic_sub_fetch(&ops_left, 1, __ATOMIC_RELAXED) >= 0 ||
	       READ_ONCE(nested) < RACE_INTERRUPTS) {
		wanted_cpu = below(RACE_CPUS);
		hit_one();
	}
}

/* --- The beginning and the end ------------------------------------------------------- */

/* Of two addresses one is of text, and one hashes to where many do. */
static unsigned long make_addr(unsigned int nr)
{
	unsigned long inverse = INDEX_HASH, hash;
	int i;

	if (nr % 2)
		return 0xffffffff81000000 + nr * 16;
	/* Newton's iteration: each step doubles the bits that are right. */
	for (i = 0; i < 6; i++)
		inverse *= 2 - INDEX_HASH * inverse;
	hash = ((1UL << COLLIDE_BITS) - 1 - nr / 2 % 3) << (64 - COLLIDE_BITS);
	return (hash + nr) * inverse;
}

static void probes_init(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_CHANGING; i++)
		changing[i] = make_addr(nr++);
	for (i = 0; i < NR_ABSENT; i++)
		absent[i] = make_addr(nr++);
	for (i = 0; i < NR_FIXED; i++) {
		struct kprobe *p = fixed_probe[i];

		fixed[i] = make_addr(nr++);
		p[0].addr = (void *)fixed[i];
		p[1].addr = (void *)fixed[i];
		p[0].pre_handler = fixed_pre_handler;
		p[1].pre_handler = fixed_pre_handler;
		p[1].post_handler = post_handler;
		probe_add(&p[0]);
		probe_add(&p[1]);
		/* Some come and go right beside them. */
		changing[NR_CHANGING - 1 - i] = fixed[i];
	}
}

/* All hits were counted, those of a handler that was not run, too. */
static void check_counts(void)
{
	unsigned long n;
	int i;

	mutex_lock(&kprobe_mutex);
	for (i = 0; i < NR_FIXED; i++) {
		must(fixed_probe[i][0].nmissed == fixed_missed[i]);
		must(fixed_probe[i][1].nmissed == fixed_missed[i]);
		if (!counted)
			continue;
		must(site_hits(site_find(fixed[i]), &n));
		if (n != fixed_hits[i])
			die("%lu hits, %lu counted", fixed_hits[i], n);
	}
	mutex_unlock(&kprobe_mutex);
}

static void finish(void)
{
	unsigned int i, k;

	/* Nobody looks at probes any more. */
	check_counts();
	for (i = 0; i < NR_CHANGING; i++) {
		for (k = 0; k < NR_PROBES; k++) {
			if (changing_probe[i][k])
				probe_del(&changing_probe[i][k]->p);
			free(changing_probe[i][k]);
		}
	}
	for (i = 0; i < NR_FIXED; i++) {
		probe_del(&fixed_probe[i][0]);
		probe_del(&fixed_probe[i][1]);
		must(!site_find(fixed[i]));
	}
	mutex_lock(&kprobe_mutex);
	must(!counting_set(false));
	addr_index_clear(&kprobe_site_index);
	mutex_unlock(&kprobe_mutex);
	sites_free_left();
	rcu_barrier();
}

static void race(unsigned long ops)
{
	ops_left = ops;
	interrupt = interrupt_hit;
	race_run(thread, NR_READERS + 1, NR_READERS);
	interrupt = NULL;
	finish();
	printf("%lu hits, %lu changes, %lu interrupts, %lu times counting on or off\n",
	       hits, changes, nested, toggles);
	must(hits && changes);
}

static void run_hits(unsigned long ops)
{
	race(ops);
	must(toggles);
}

static void run_counted(unsigned long ops)
{
	counted = true;
	toggle_counting();
	race(ops);
}

/* --- One instruction after another --------------------------------------------------- */

/* All that must be found, and all that must not. */
static void interrupt_look(void)
{
	struct probe_site *site;
	int i;

	for (i = 0; i < NR_FIXED; i++) {
		site = site_find(fixed[i]);
		must(site && site->addr == fixed[i]);
	}
	for (i = 0; i < NR_ABSENT; i++)
		must(!site_find(absent[i]));
	interrupt_hit();
}

/* The index alone: what it finds on the changing addresses is no site in use. */
#define NR_STEP		(NR_CHANGING - NR_FIXED)

static struct displaced_site step_sites[NR_STEP];
static bool step_in[NR_STEP];

static void step_change(void *arg)
{
	unsigned int i = *(unsigned int *)arg;
	unsigned long *object = &step_sites[i].site.addr;

	if (step_in[i]) {
		addr_index_del(&kprobe_site_index, object);
	} else {
		must(!addr_index_reserve(&kprobe_site_index, 1));
		addr_index_add(&kprobe_site_index, object);
	}
}

static void run_step(unsigned long ops)
{
	unsigned long steps = 0;
	unsigned int i, few;

	for (i = 0; i < NR_STEP; i++)
		step_sites[i].site.addr = changing[i];
	interrupt = interrupt_look;
	while (ops--) {
		/* A few, so that the table stays small; then more and more. */
		few = ops % 1000 > 100 ? 12 : NR_STEP;
		i = below(few);
		steps += step_through(step_change, &i, 0);
		step_in[i] = !step_in[i];
	}
	interrupt = NULL;
	for (i = 0; i < NR_STEP; i++)
		if (step_in[i])
			addr_index_del(&kprobe_site_index, &step_sites[i].site.addr);
	printf("%lu steps\n", steps);
	must(steps);
	finish();
}

static const struct scenario scenarios[] = {
	{ "step", run_step },
	{ "hits", run_hits },
	{ "counted", run_counted },
};

static void init(void)
{
	sites_init();
	probes_init();
}

int main(int argc, char **argv)
{
	return race_main(argc, argv, scenarios, ARRAY_SIZE(scenarios), init);
}
