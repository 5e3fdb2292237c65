// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_bench: the cost of probe events.
 *
 * They are made and changed from user space, through tracefs; here are only
 * the watch that is started before and read after, and the calls that hit.
 */
#include <linux/kstrtox.h>
#include <linux/math.h>

#include "bench.h"

static struct bench_watch watch;

/* A watch keeps no more than its start: the last one started is read. */
int bench_watch_start(void)
{
	watch = bench_start_watch();
	return 0;
}

/* Tell as @key what was done, in units of so many instructions. */
int bench_watch_stop(const char *key, const char *arg)
{
	u64 busy = bench_busy(watch), elapsed = bench_now() - watch.start;
	unsigned int unit;

	if (kstrtouint(arg, 0, &unit) || !unit)
		return -EINVAL;
	bench_say("%s %llu\n", key, DIV_ROUND_CLOSEST_ULL(busy, unit));
	bench_say("%s.elapsed %llu\n", key,
		  DIV_ROUND_CLOSEST_ULL(elapsed, unit));
	return 0;
}
