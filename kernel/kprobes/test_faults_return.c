// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: an allocation fails, at each step of each call that makes or lets go of
 * a return probe, a typed probe, a hook or an fprobe.
 *
 * A table of entry points: one more is one line.  test_fault.c has the idea.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fprobe.h>
#include <linux/kprobes.h>
#include <linux/rethook.h>
#include <linux/string.h>

#include "../trace/rethook_internal.h"
#include "test_common.h"
#include "test_fault.h"

#define NR	3

static struct kretprobe rp[NR];
static struct kretprobe *rps[NR] = { &rp[0], &rp[1], &rp[2] };
static struct kprobe entry;
static struct jprobe jp;
static struct rethook *hook;

/* Return probes, at the set's places that are functions' entries. */
static void fill(struct fault_set *set)
{
	int i;

	memset(rp, 0, sizeof(rp));
	for (i = 0; i < NR; i++) {
		rp[i].kp.addr = set->addr[i * 5 / 2];
		rp[i].handler = no_ret;
		rp[i].data_size = i * 100;
	}
	/* One with a limit, which takes no pool. */
	rp[1].maxactive = 4;

	memset(&entry, 0, sizeof(entry));
	entry.addr = set->addr[0];
	entry.pre_handler = no_pre;
	memset(&jp, 0, sizeof(jp));
	jp.kp.addr = set->addr[0];
	jp.entry = JPROBE_ENTRY(no_pre);
}

/* No instances of any size: the first hook of a size has them made. */
static void fill_unstocked(struct fault_set *set)
{
	struct rethook_usage usage;
	int ms = 0;

	fill(set);
	do {
		mutex_lock(&rethook_mutex);
		rethook_classes_shrink(0);
		mutex_unlock(&rethook_mutex);
		rethook_get_usage(&usage);
		if (usage.nodes)
			msleep(20);
	} while (usage.nodes && (ms += 20) < 5000);
}

static int register_one(struct fault_set *set)
{
	return register_kretprobe(&rp[0]);
}

static void unregister_one(struct fault_set *set)
{
	unregister_kretprobe(&rp[0]);
}

static int register_some(struct fault_set *set)
{
	return register_kretprobes(rps, NR);
}

static void unregister_some(struct fault_set *set)
{
	unregister_kretprobes(rps, NR);
}

static void have_some(struct fault_set *set)
{
	fill(set);
	register_some(set);
}

static void have_disabled(struct fault_set *set)
{
	int i;

	fill(set);
	for (i = 0; i < NR; i++)
		rp[i].kp.flags = KPROBE_FLAG_DISABLED;
	register_some(set);
}

static int unregister_singly(struct fault_set *set)
{
	int i;

	for (i = 0; i < NR; i++)
		unregister_kretprobe(&rp[i]);
	return 0;
}

static int unregister_all(struct fault_set *set)
{
	unregister_some(set);
	return 0;
}

static int enable_one(struct fault_set *set)
{
	return enable_kretprobe(&rp[1]);
}

static int enable_some(struct fault_set *set)
{
	return enable_kretprobes(rps, NR);
}

static int disable_one(struct fault_set *set)
{
	return disable_kretprobe(&rp[1]);
}

static int disable_some(struct fault_set *set)
{
	return disable_kretprobes(rps, NR);
}

/* Typed probes, and pairs */

static int jprobe(struct fault_set *set)
{
	return register_jprobe(&jp);
}

static void no_jprobe(struct fault_set *set)
{
	unregister_jprobe(&jp);
}

static int erprobe(struct fault_set *set)
{
	return register_erprobe(&entry, &rp[0]);
}

static void no_erprobe(struct fault_set *set)
{
	unregister_erprobe(&entry, &rp[0]);
}

static void have_erprobe(struct fault_set *set)
{
	fill(set);
	erprobe(set);
}

static int leave_erprobe(struct fault_set *set)
{
	no_erprobe(set);
	return 0;
}

static int jrprobe(struct fault_set *set)
{
	return register_jrprobe(&jp, &rp[0]);
}

static void no_jrprobe(struct fault_set *set)
{
	unregister_jrprobe(&jp, &rp[0]);
}

/* Hooks */

static void on_return(struct rethook_node *node, void *data,
		      unsigned long ret_addr, struct pt_regs *regs)
{
}

static int make_hook(struct fault_set *set)
{
	hook = rethook_alloc(NULL, on_return, sizeof(struct rethook_node), 0);
	return PTR_ERR_OR_ZERO(hook);
}

static void free_hook(struct fault_set *set)
{
	rethook_free(hook);
}

static const struct entry_point entry_points[] = {
	/* name			before		call		after		fails */
	{ "register_kretprobe",	fill,		register_one,	unregister_one,	3 },
	{ "register_kretprobe, the first", fill_unstocked, register_one,
	  unregister_one, 10 },
	{ "register_kretprobes", fill,		register_some,	unregister_some, 5 },
	{ "unregister_kretprobe", have_some,	unregister_singly, NULL,	0 },
	{ "unregister_kretprobes", have_some,	unregister_all,	NULL,		0 },
	{ "enable_kretprobe",	have_disabled,	enable_one,	unregister_some, 2 },
	{ "enable_kretprobes",	have_disabled,	enable_some,	unregister_some, 2 },
	{ "disable_kretprobe",	have_some,	disable_one,	unregister_some, 0 },
	{ "disable_kretprobes",	have_some,	disable_some,	unregister_some, 0 },
	{ "register_jprobe",	fill,		jprobe,		no_jprobe,	2 },
	{ "register_erprobe",	fill,		erprobe,	no_erprobe,	3 },
	{ "unregister_erprobe",	have_erprobe,	leave_erprobe,	NULL,		0 },
	{ "register_jrprobe",	fill,		jrprobe,	no_jrprobe,	3 },
	{ "rethook_alloc",	fill_unstocked,	make_hook,	free_hook,	10 },
};

KUNIT_ARRAY_PARAM(entry_point, entry_points, entry_point_describe);

static void test_entry_point(struct kunit *test)
{
	faults_try(test, test->param_value);
}

/* Fprobes are the base's; what they take of the return hook is ours. */

/*
 * A new one each time, of memory that stays: when ftrace fails for want of memory,
 * it keeps the structure in a list.
 */
static struct fprobe fprobes[256];
static struct fprobe *fp = fprobes;

static void fprobe_return(struct fprobe *fp, unsigned long entry_ip,
			  unsigned long ret_ip, struct pt_regs *regs, void *data)
{
}

static void fresh_fprobe(void)
{
	if (fp < fprobes + ARRAY_SIZE(fprobes) - 1)
		fp++;
	fp->exit_handler = fprobe_return;
}

static int fprobe(struct fault_set *set)
{
	fresh_fprobe();
	return register_fprobe(fp, "fault_target_*", NULL);
}

static int fprobe_ips(struct fault_set *set)
{
	unsigned long ips[] = { (unsigned long)set->addr[0], (unsigned long)set->addr[2] };

	fresh_fprobe();
	return register_fprobe_ips(fp, ips, ARRAY_SIZE(ips));
}

static int fprobe_syms(struct fault_set *set)
{
	const char *syms[] = { "kunit_run_tests", "kunit_try_catch_run" };

	fresh_fprobe();
	return register_fprobe_syms(fp, syms, ARRAY_SIZE(syms));
}

static void no_fprobe(struct fault_set *set)
{
	unregister_fprobe(fp);
}

static const struct entry_point fprobe_points[] = {
	{ "register_fprobe",	NULL,		fprobe,		no_fprobe,	1,
	  .also = -EINVAL /* of ftrace's */ },
	{ "register_fprobe_ips", NULL,		fprobe_ips,	no_fprobe,	1 },
	{ "register_fprobe_syms", NULL,		fprobe_syms,	no_fprobe,	1 },
};

KUNIT_ARRAY_PARAM(fprobe_point, fprobe_points, entry_point_describe);

static void test_fprobe(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_FPROBE))
		kunit_skip(test, "no CONFIG_FPROBE");
	faults_try(test, test->param_value);
}

static struct kunit_case faults_cases[] = {
	KUNIT_CASE_PARAM(test_entry_point, entry_point_gen_params),
	KUNIT_CASE_PARAM(test_fprobe, fprobe_point_gen_params),
	{}
};

static struct kunit_suite faults_suite = {
	.name = "kretprobes_faults",
	.suite_init = faults_init,
	.suite_exit = faults_exit,
	.test_cases = faults_cases,
};

kunit_test_suites(&faults_suite);
