// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_bench: the cost of attaching and detaching.
 *
 * Detaching waits for grace periods, and the counter that counts instructions
 * also runs on while the only CPU is idle.  So each figure comes twice: busy
 * (idle time taken off: instructions) and elapsed.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tick.h>

#include "bench.h"

/* How many probes are attached alone, for an average. */
#define ALONE		4

static unsigned int max_sites = BENCH_MAX_SITES;
module_param_named(sites, max_sites, uint, 0400);
MODULE_PARM_DESC(sites, "Probes in a set, at most");

/* Addresses that can be probed, after bench_sites_ready(). */
static unsigned long site[BENCH_MAX_SITES];
static unsigned int nr_sites;

/* The set: pointers into one of the two arrays of probes. */
static struct kprobe *set[BENCH_MAX_SITES];
static struct kprobe probes[BENCH_MAX_SITES];
static struct kretprobe returns[BENCH_MAX_POOL];
static unsigned int nr_set;

/* What is attached: the kind (NULL: nothing), and how many by name. */
static const char *set_kind;
static char set_size[8];

static u64 idle_us(void)
{
	return get_cpu_idle_time_us(raw_smp_processor_id(), NULL);
}

struct bench_watch bench_start_watch(void)
{
	return (struct bench_watch){
		.start = bench_now(),
		.idle_us = idle_us(),
	};
}

u64 bench_busy(struct bench_watch w)
{
	return bench_now() - w.start - (idle_us() - w.idle_us) * 1000;
}

/* Tell the cost of each of @nr: as WHAT.KIND.SIZE, by the set that is there. */
static void stop_watch(struct bench_watch w, const char *what, const char *kind,
		       unsigned int nr)
{
	u64 elapsed = bench_now() - w.start;
	u64 idle = (idle_us() - w.idle_us) * 1000;

	bench_say("%s.%s.%s %llu\n", what, kind, set_size,
		  (elapsed - idle) / nr);
	bench_say("%s.%s.%s.elapsed %llu\n", what, kind, set_size,
		  elapsed / nr);
}

int bench_sites_add(unsigned long addr)
{
	if (nr_sites >= BENCH_MAX_SITES)
		return -ENOSPC;
	site[nr_sites++] = addr;
	return 0;
}

/*
 * Keep the addresses that can be probed: try each, disabled.  The set is then
 * these probes, still registered.
 */
static void keep_sites(void)
{
	unsigned int i, kept = 0;

	for (i = 0; i < nr_sites && kept < max_sites; i++) {
		struct kprobe *p = &probes[kept];

		memset(p, 0, sizeof(*p));
		p->addr = (void *)site[i];
		p->flags = KPROBE_FLAG_DISABLED;
		if (register_kprobe(p))
			continue;
		set[kept] = p;
		site[kept++] = site[i];
		cond_resched();
	}
	nr_sites = kept;
	bench_say("sites %u\n", kept);
}

int bench_sites_ready(void)
{
	keep_sites();
	if (!nr_sites)
		return -ENOENT;
	unregister_kprobes(set, nr_sites);
	return 0;
}

static void fill_probe(struct kprobe *p, unsigned long addr)
{
	memset(p, 0, sizeof(*p));
	p->addr = (void *)addr;
	p->pre_handler = bench_empty_pre;
}

/* The next addition of pool.S at or after @text. */
static u8 *next_mid(u8 *text)
{
	static const u8 add[] = { 0x05, 0x21, 0x43, 0x65, 0x07 };

	while (memcmp(text, add, sizeof(add)))
		text++;
	return text;
}

enum kind { ENTRY, MID, RET };

static const char * const kinds[] = {
	[ENTRY]	= "entry",
	[MID]	= "mid",
	[RET]	= "ret",
};

/* The first of a set of entry probes is bench_target(): the oldest. */
static void fill_set(enum kind kind)
{
	u8 *mid = (u8 *)bench_mid_pool;
	unsigned int i;

	for (i = 0; i < nr_set; i++) {
		set[i] = &probes[i];
		if (kind == MID) {
			mid = next_mid(mid);
			fill_probe(&probes[i], (unsigned long)mid);
			mid += 5;
		} else if (kind == RET) {
			memset(&returns[i], 0, sizeof(returns[i]));
			returns[i].kp.addr = (void *)site[i];
			set[i] = &returns[i].kp;
		} else {
			fill_probe(&probes[i], i ? site[i] :
				   (unsigned long)bench_target);
		}
	}
}

static int register_set(enum kind kind)
{
	/* A return probe begins with its kprobe, so the pointers are the same. */
	if (kind == RET)
		return register_kretprobes((struct kretprobe **)set, nr_set);
	return register_kprobes(set, nr_set);
}

static void unregister_set(void)
{
	if (set_kind == kinds[RET])
		unregister_kretprobes((struct kretprobe **)set, nr_set);
	else
		unregister_kprobes(set, nr_set);
}

/* Attach a set: so many, or "all" that leave some to be attached alone. */
int bench_attach(const char *arg, const char *size)
{
	int kind = match_string(kinds, ARRAY_SIZE(kinds), arg);
	unsigned int most = nr_sites - min(nr_sites, ALONE);
	struct bench_watch w;
	int err;

	if (kind < 0 || set_kind)
		return -EINVAL;
	if (kind == MID || kind == RET)
		most = min(most, BENCH_MAX_POOL);
	nr_set = most;
	if (strcmp(size, "all") && kstrtouint(size, 0, &nr_set))
		return -EINVAL;
	if (!nr_set || nr_set > most)
		return -EINVAL;
	strscpy(set_size, size);
	fill_set(kind);
	w = bench_start_watch();
	err = register_set(kind);
	stop_watch(w, "attach", kinds[kind], nr_set);
	if (!err)
		set_kind = kinds[kind];
	return err;
}

int bench_detach(void)
{
	struct bench_watch w;

	if (!set_kind)
		return -EINVAL;
	w = bench_start_watch();
	unregister_set();
	stop_watch(w, "detach", set_kind, nr_set);
	set_kind = NULL;
	return 0;
}

/* Attach and detach a few probes alone, beside the set. */
int bench_attach_one(void)
{
	struct kprobe **alone = set + nr_set;
	struct bench_watch w;
	int i, err = 0;

	if (set_kind != kinds[ENTRY])
		return -EINVAL;
	for (i = 0; i < ALONE; i++) {
		alone[i] = &probes[nr_set + i];
		fill_probe(alone[i], site[nr_set + i]);
	}
	w = bench_start_watch();
	for (i = 0; i < ALONE && !err; i++)
		err = register_kprobe(alone[i]);
	stop_watch(w, "attach", "one", ALONE);
	i -= !!err;
	w = bench_start_watch();
	while (i--)
		unregister_kprobe(alone[i]);
	stop_watch(w, "detach", "one", ALONE);
	return err;
}

int bench_old(void)
{
	if (set_kind != kinds[ENTRY])
		return -EINVAL;
	bench_hits_old_probe(set_size);
	return 0;
}

/*
 * The oldest of as many as there can be where arming them takes minutes: the
 * others are only registered, which takes nothing from the cost of its hit.
 */
int bench_old_idle(void)
{
	static struct kprobe oldest;
	int err;

	if (set_kind)
		return -EINVAL;
	fill_probe(&oldest, (unsigned long)bench_target);
	err = register_kprobe(&oldest);
	if (err)
		return err;
	keep_sites();
	bench_hits_old_probe("all");
	if (nr_sites)
		unregister_kprobes(set, nr_sites);
	unregister_kprobe(&oldest);
	return 0;
}

/* A return probe that stays: what all of them share is there from now on. */
static struct kretprobe first = { .kp.addr = (void *)bench_target };
static bool have_first;

int bench_first(void)
{
	int err = have_first ? -EEXIST : register_kretprobe(&first);

	have_first |= !err;
	return err;
}

void bench_attach_exit(void)
{
	if (have_first)
		unregister_kretprobe(&first);
	if (set_kind)
		bench_detach();
}
