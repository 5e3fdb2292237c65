// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: an allocation fails, at each step of each call of the engine.
 *
 * A table of entry points: one more is one line.  test_fault.c has the idea.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>

#include "count.h"
#include "internal.h"
#include "test_fault.h"

/* A probe of the set that takes a slot, for the calls that take one probe. */
#define ONE	3

static int register_one(struct fault_set *set)
{
	return register_kprobe(&set->kp[ONE]);
}

static void unregister_one(struct fault_set *set)
{
	unregister_kprobe(&set->kp[ONE]);
}

static int register_set(struct fault_set *set)
{
	return register_kprobes(set->kps, FAULT_SET);
}

static void unregister_set(struct fault_set *set)
{
	unregister_kprobes(set->kps, FAULT_SET);
}

static void have_set(struct fault_set *set)
{
	fault_set_fill(set);
	register_set(set);
}

static void have_disabled_set(struct fault_set *set)
{
	int i;

	fault_set_fill(set);
	for (i = 0; i < FAULT_SET; i++)
		set->kp[i].flags = KPROBE_FLAG_DISABLED;
	register_set(set);
}

/* Half of them are there: changes of ftrace's filter, not its beginning. */
static void have_half(struct fault_set *set)
{
	fault_set_fill(set);
	register_kprobes(set->kps, FAULT_SET / 2);
}

static int register_other_half(struct fault_set *set)
{
	return register_kprobes(set->kps + FAULT_SET / 2, FAULT_SET / 2);
}

/* In halves: a change of ftrace's filter, then its end. */
static int unregister_halves(struct fault_set *set)
{
	unregister_kprobes(set->kps, FAULT_SET / 2);
	unregister_kprobes(set->kps + FAULT_SET / 2, FAULT_SET / 2);
	return 0;
}

/* One by each method: at an entry, by a breakpoint, and with a slot. */
static const int few[] = { 0, 1, ONE };

static void have_few(struct fault_set *set)
{
	int i;

	fault_set_fill(set);
	for (i = 0; i < ARRAY_SIZE(few); i++)
		register_kprobe(&set->kp[few[i]]);
}

static int unregister_few(struct fault_set *set)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(few); i++)
		unregister_kprobe(&set->kp[few[i]]);
	return 0;
}

static int enable_one(struct fault_set *set)
{
	return enable_kprobe(&set->kp[2]);
}

static int enable_set(struct fault_set *set)
{
	return enable_kprobes(set->kps, FAULT_SET);
}

static int disable_one(struct fault_set *set)
{
	return disable_kprobe(&set->kp[0]);
}

static int disable_set(struct fault_set *set)
{
	return disable_kprobes(set->kps, FAULT_SET);
}

/* debugfs: kprobes/enabled */

static void have_all_disarmed(struct fault_set *set)
{
	have_set(set);
	sites_set_armed(false);
}

static int arm_all(struct fault_set *set)
{
	return sites_set_armed(true);
}

static int disarm_all(struct fault_set *set)
{
	return sites_set_armed(false);
}

static void rearm_and_unregister(struct fault_set *set)
{
	sites_set_armed(true);
	unregister_set(set);
}

/* debugfs: kprobes/count */

static int count_set(bool on)
{
	int err;

	mutex_lock(&kprobe_mutex);
	err = counting_set(on);
	mutex_unlock(&kprobe_mutex);
	return err;
}

static int count_on(struct fault_set *set)
{
	return count_set(true);
}

static void count_off(struct fault_set *set)
{
	count_set(false);
	unregister_set(set);
}

/* Hits that cannot be counted are no reason to refuse a probe. */
static void have_counting(struct fault_set *set)
{
	fault_set_fill(set);
	count_set(true);
}

/* A module brings its blacklist. */

static const char module_text[16];
static const struct text_area module_areas[] = {
	{ module_text, sizeof(module_text) }, {}
};

static int module_comes(struct fault_set *set)
{
	int err;

	mutex_lock(&kprobe_mutex);
	err = blacklist_add_text(NULL, 0, module_areas);
	mutex_unlock(&kprobe_mutex);
	return err;
}

static void module_goes(struct fault_set *set)
{
	mutex_lock(&kprobe_mutex);
	blacklist_remove_text((unsigned long)module_text, sizeof(module_text));
	mutex_unlock(&kprobe_mutex);
}

static const struct entry_point entry_points[] = {
	/* name			before		call		after		fails */
	{ "register_kprobe",	fault_set_fill, register_one,	unregister_one,	2 },
	{ "register_kprobes",	fault_set_fill, register_set,	unregister_set,	3 },
	{ "register, beside others", have_half, register_other_half,
	  unregister_set, 3, .undoes = true },
	{ "unregister_kprobe",	have_few, unregister_few, NULL, 0 },
	{ "unregister_kprobes",	have_set, unregister_halves, NULL, 0 },
	{ "enable_kprobe",	have_disabled_set, enable_one,	unregister_set,	2 },
	{ "enable_kprobes",	have_disabled_set, enable_set,	unregister_set,	3 },
	{ "disable_kprobe",	have_set,	disable_one,	unregister_set,	0 },
	{ "disable_kprobes",	have_set,	disable_set,	unregister_set,	0 },
	{ "arm all",		have_all_disarmed, arm_all,	unregister_set,	3 },
	{ "disarm all",		have_set, disarm_all, rearm_and_unregister, 0 },
	{ "count",		have_set,	count_on,	count_off,	3 },
	{ "register, counted",	have_counting,	register_set,	count_off,	3 },
	{ "blacklist of a module", NULL,		module_comes,	module_goes,	1 },
};

KUNIT_ARRAY_PARAM(entry_point, entry_points, entry_point_describe);

static void test_entry_point(struct kunit *test)
{
	faults_try(test, test->param_value);
}

static struct kunit_case faults_cases[] = {
	KUNIT_CASE_PARAM(test_entry_point, entry_point_gen_params),
	{}
};

static struct kunit_suite faults_suite = {
	.name = "kprobes_faults",
	.suite_init = faults_init,
	.suite_exit = faults_exit,
	.test_cases = faults_cases,
};

kunit_test_suites(&faults_suite);
