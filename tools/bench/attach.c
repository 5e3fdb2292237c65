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

#define MAX_CANDIDATES	(BENCH_MAX_SITES * 2)
/* How many probes are attached alone, for an average. */
#define ALONE		4

static unsigned int max_sites = BENCH_MAX_SITES;
module_param_named(sites, max_sites, uint, 0400);
MODULE_PARM_DESC(sites, "Probes in a set");

/* Addresses that can be probed, after bench_sites_ready(). */
static unsigned long site[MAX_CANDIDATES];
static unsigned int nr_sites;

/* The set: pointers into one of the two arrays of probes. */
static struct kprobe *set[BENCH_MAX_SITES];
static struct kprobe probes[BENCH_MAX_SITES];
static struct kretprobe returns[BENCH_MAX_SITES];
static unsigned int nr_set;
static const char *set_kind;

struct stopwatch {
	u64 start, idle_us;
};

static u64 idle_us(void)
{
	return get_cpu_idle_time_us(raw_smp_processor_id(), NULL);
}

static struct stopwatch start_watch(void)
{
	return (struct stopwatch){ .start = bench_now(), .idle_us = idle_us() };
}

static void stop_watch(struct stopwatch w, const char *what, const char *kind,
		       unsigned int nr)
{
	u64 elapsed = bench_now() - w.start;
	u64 idle = (idle_us() - w.idle_us) * 1000;

	bench_say("%s.%s %llu\n", what, kind, (elapsed - idle) / nr);
	bench_say("%s.%s.elapsed %llu\n", what, kind, elapsed / nr);
}

int bench_sites_add(unsigned long addr)
{
	if (nr_sites >= MAX_CANDIDATES)
		return -ENOSPC;
	site[nr_sites++] = addr;
	return 0;
}

/* Keep the addresses that can be probed: try each, disabled. */
int bench_sites_ready(void)
{
	unsigned int i, kept = 0, wanted = min(max_sites, BENCH_MAX_SITES);

	for (i = 0; i < nr_sites && kept < wanted; i++) {
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
	if (kept)
		unregister_kprobes(set, kept);
	nr_sites = kept;
	bench_say("sites %u\n", kept);
	return kept == wanted ? 0 : -ENOENT;
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

/* The first of a set of entry probes is bench_target(): the oldest. */
static void fill_set(const char *kind)
{
	u8 *mid = (u8 *)bench_mid_pool;
	bool is_entry = !strcmp(kind, "entry");
	unsigned int i;

	for (i = 0; i < nr_sites; i++) {
		set[i] = &probes[i];
		if (!strcmp(kind, "mid")) {
			mid = next_mid(mid);
			fill_probe(&probes[i], (unsigned long)mid);
			mid += 5;
		} else if (is_entry) {
			fill_probe(&probes[i], i ? site[i] :
				   (unsigned long)bench_target);
		} else {
			memset(&returns[i], 0, sizeof(returns[i]));
			returns[i].kp.addr = (void *)site[i];
			set[i] = &returns[i].kp;
		}
	}
}

static int register_set(const char *kind)
{
	/* A return probe begins with its kprobe, so the pointers are the same. */
	if (!strcmp(kind, "ret"))
		return register_kretprobes((struct kretprobe **)set, nr_set);
	return register_kprobes(set, nr_set);
}

static void unregister_set(const char *kind)
{
	if (!strcmp(kind, "ret"))
		unregister_kretprobes((struct kretprobe **)set, nr_set);
	else
		unregister_kprobes(set, nr_set);
}

int bench_attach(const char *arg)
{
	static const char * const kinds[] = { "entry", "mid", "ret" };
	int kind = match_string(kinds, ARRAY_SIZE(kinds), arg);
	struct stopwatch w;
	int err;

	if (kind < 0 || set_kind || !nr_sites)
		return -EINVAL;
	nr_set = nr_sites;
	fill_set(kinds[kind]);
	w = start_watch();
	err = register_set(kinds[kind]);
	stop_watch(w, "attach", kinds[kind], nr_set);
	if (!err)
		set_kind = kinds[kind];
	return err;
}

int bench_detach(void)
{
	struct stopwatch w;

	if (!set_kind)
		return -EINVAL;
	w = start_watch();
	unregister_set(set_kind);
	stop_watch(w, "detach", set_kind, nr_set);
	set_kind = NULL;
	return 0;
}

/* Attach and detach a few probes alone, beside @existing ones. */
int bench_attach_one(unsigned int existing)
{
	struct stopwatch w;
	char kind[16];
	int i, err;

	if (set_kind || !existing || existing + ALONE > nr_sites)
		return -EINVAL;
	fill_set("entry");
	err = register_kprobes(set, existing);
	if (err)
		return err;
	snprintf(kind, sizeof(kind), "one.%u", existing);
	w = start_watch();
	for (i = 0; i < ALONE && !err; i++)
		err = register_kprobe(set[existing + i]);
	stop_watch(w, "attach", kind, ALONE);
	i -= !!err;
	w = start_watch();
	while (i--)
		unregister_kprobe(set[existing + i]);
	stop_watch(w, "detach", kind, ALONE);
	unregister_kprobes(set, existing);
	return err;
}

void bench_attach_exit(void)
{
	if (set_kind)
		bench_detach();
}
