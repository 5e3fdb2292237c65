// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress_visitor: a module that comes and goes in the storm.
 *
 * It brings functions that others probe while it is there, calls them, has probes
 * of its own on them and on those of the pool, and takes some of the pool's as a
 * direct caller, if nobody has them who redirects.
 */
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

#include "stress.h"

#define NR_CALLS	200

/* Every other one of the pool's first functions, and two of our own. */
#define NR_POOL		24
#define NR_OWN		2

static struct kprobe kprobes[NR_POOL + NR_OWN];
static struct kretprobe kretprobes[NR_POOL];
static struct ftrace_ops direct;
static bool is_direct;

noinline __noclone int stress_visitor_0(int x)
{
	barrier();
	return x + 1;
}

noinline __noclone int stress_visitor_1(int x)
{
	barrier();
	return x + 2;
}

/* Its text goes when the module has been loaded. */
noinline __noclone int __init stress_visitor_2(int x)
{
	barrier();
	return x + 3;
}

asm(".pushsection .text, \"ax\", @progbits\n"
"	.type stress_direct, @function\n"
"stress_direct:\n"
	ASM_ENDBR
	CALL_DEPTH_ACCOUNT
"	nop\n"
	ASM_RET
"	.size stress_direct, .-stress_direct\n"
"	.popsection\n");

static int pre(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static int ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static int take_direct(void)
{
	unsigned int i;
	int err;

	for (i = DIRECT_FIRST; i < DIRECT_FIRST + NR_DIRECT; i++) {
		err = ftrace_set_filter_ip(&direct, (unsigned long)stress_entry(i) +
					   ENDBR_INSN_SIZE, 0, 0);
		if (err)
			return err;
	}
	err = register_ftrace_direct(&direct, (unsigned long)stress_direct);
	is_direct = !err;
	/* Somebody may redirect one. */
	return err == -EBUSY ? 0 : err;
}

static int probe_all(void)
{
	struct kprobe *kps[ARRAY_SIZE(kprobes)];
	struct kretprobe *rps[ARRAY_SIZE(kretprobes)];
	unsigned int i;
	int err;

	for (i = 0; i < NR_POOL; i++) {
		kprobes[i].addr = stress_entry(2 * i);
		kretprobes[i].kp.addr = stress_entry(2 * i);
		kretprobes[i].handler = ret;
		rps[i] = &kretprobes[i];
	}
	kprobes[NR_POOL].addr = (kprobe_opcode_t *)stress_visitor_0;
	kprobes[NR_POOL + 1].addr = (kprobe_opcode_t *)stress_visitor_1;
	for (i = 0; i < ARRAY_SIZE(kprobes); i++) {
		kprobes[i].pre_handler = pre;
		kps[i] = &kprobes[i];
	}

	err = register_kprobes(kps, ARRAY_SIZE(kps));
	if (err)
		return err;
	err = register_kretprobes(rps, ARRAY_SIZE(rps));
	if (err)
		unregister_kprobes(kps, ARRAY_SIZE(kps));
	return err;
}

static void unprobe_all(void)
{
	struct kprobe *kps[ARRAY_SIZE(kprobes)];
	struct kretprobe *rps[ARRAY_SIZE(kretprobes)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kps); i++)
		kps[i] = &kprobes[i];
	for (i = 0; i < ARRAY_SIZE(rps); i++)
		rps[i] = &kretprobes[i];
	unregister_kretprobes(rps, ARRAY_SIZE(rps));
	unregister_kprobes(kps, ARRAY_SIZE(kps));
}

static bool call_own(void)
{
	unsigned int i;

	for (i = 0; i < NR_CALLS; i++)
		if (stress_visitor_0(i) != i + 1 || stress_visitor_1(i) != i + 2)
			return false;
	return true;
}

static void leave_direct(void)
{
	if (is_direct)
		unregister_ftrace_direct(&direct, (unsigned long)stress_direct, true);
	else
		ftrace_free_filter(&direct);
}

static int __init visitor_init(void)
{
	int err = probe_all();

	if (err)
		return err;
	err = take_direct();
	if (!err && call_own() && stress_visitor_2(1) == 4)
		return 0;
	leave_direct();
	unprobe_all();
	return err ?: -EIO;
}

static void __exit visitor_exit(void)
{
	if (!call_own())
		pr_err("kprobe_stress: the visitor's own functions fail\n");
	leave_direct();
	unprobe_all();
}

module_init(visitor_init);
module_exit(visitor_exit);
MODULE_DESCRIPTION("Comes and goes in the storm of kprobe_stress");
MODULE_LICENSE("GPL");
