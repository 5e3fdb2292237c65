// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_bench: the cost of one hit.
 *
 * A loop of calls is timed with a probe and without, interrupts off so that
 * nothing else is counted; the difference, by the number of calls, is the cost.
 */
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/string.h>
#include <asm/text-patching.h>

#include "bench.h"

#define CALLS		2000
#define WARM_UP		100

/* How long the base may take to turn a breakpoint into a jump. */
#define JUMP_WAIT_MS	2000

/* The probed functions; bench_mid() is probed on its addition. */
noinline unsigned long bench_target(unsigned long x)
{
	barrier();
	return x + 1;
}

/* Any value that no other instruction of bench_mid() holds. */
#define MID_IMM		0x12345678

static noinline notrace unsigned long bench_mid(unsigned long x)
{
	asm volatile("addq %1, %0" : "+a" (x) : "i" (MID_IMM));
	return x;
}

int bench_empty_pre(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static void empty_post(struct kprobe *p, struct pt_regs *regs,
		       unsigned long flags)
{
}

static int empty_ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static u64 time_calls(unsigned long (*fn)(unsigned long))
{
	unsigned long flags, i;
	u64 start, end;

	local_irq_save(flags);
	for (i = 0; i < WARM_UP; i++)
		fn(i);
	start = bench_now();
	for (i = 0; i < CALLS; i++)
		fn(i);
	end = bench_now();
	local_irq_restore(flags);
	return end - start;
}

/* What the same calls cost without a probe. */
static u64 bare_target, bare_mid;

void bench_hits_bare(void)
{
	bare_target = time_calls(bench_target);
	bare_mid = time_calls(bench_mid);
}

static void say_entry(const char *key)
{
	bench_say("%s %lld\n", key, (s64)(time_calls(bench_target) -
					  bare_target) / CALLS);
}

static void say_mid(const char *key)
{
	bench_say("%s %lld\n", key, (s64)(time_calls(bench_mid) -
					  bare_mid) / CALLS);
}

/* The addition is "REX.W 05 imm32": 0x48, 0x05, then the constant. */
static void *mid_addr(void)
{
	static const u8 add[] = { 0x48, 0x05, 0x78, 0x56, 0x34, 0x12 };
	u8 *text = (u8 *)bench_mid;
	int i;

	for (i = 0; i < 64; i++)
		if (!memcmp(text + i, add, sizeof(add)))
			return text + i;
	return NULL;
}

/* The first probes of @pool, up to @n, all at bench_target(). */
static int hits_at_entry(void)
{
	static const char * const keys[] = {
		"hit.entry", "hit.entry.2", "hit.entry.3" };
	static struct kprobe pool[3];
	int i, err = 0;

	memset(pool, 0, sizeof(pool));
	for (i = 0; i < 3 && !err; i++) {
		pool[i].addr = (void *)bench_target;
		pool[i].pre_handler = bench_empty_pre;
		err = register_kprobe(&pool[i]);
		if (!err)
			say_entry(keys[i]);
	}
	i -= !!err;
	while (i--)
		unregister_kprobe(&pool[i]);
	return err;
}

static int hits_entry_post(void)
{
	struct kprobe p = {
		.addr = (void *)bench_target,
		.pre_handler = bench_empty_pre,
		.post_handler = empty_post,
	};
	int err = register_kprobe(&p);

	if (err)
		return err;
	say_entry("hit.entry.post");
	unregister_kprobe(&p);
	return 0;
}

/* The text tells whether the jump came; nothing in the public API does. */
static int hits_mid(const char *key, kprobe_post_handler_t post, bool jump)
{
	struct kprobe p = {
		.addr = mid_addr(),
		.pre_handler = bench_empty_pre,
		.post_handler = post,
	};
	int err, waited;

	if (!p.addr)
		return -ENXIO;
	err = register_kprobe(&p);
	if (err)
		return err;
	for (waited = 0; jump && waited < JUMP_WAIT_MS; waited += 20) {
		if (*p.addr == JMP32_INSN_OPCODE)
			break;
		msleep(20);
	}
	if (jump == (*p.addr == JMP32_INSN_OPCODE))
		say_mid(key);
	unregister_kprobe(&p);
	return 0;
}

static int hits_return(const char *key, kretprobe_handler_t entry,
		       size_t data_size)
{
	struct kretprobe rp = {
		.kp.addr = (void *)bench_target,
		.handler = empty_ret,
		.entry_handler = entry,
		.data_size = data_size,
	};
	int err = register_kretprobe(&rp);

	if (err)
		return err;
	say_entry(key);
	unregister_kretprobe(&rp);
	return 0;
}

static void empty_ftrace(unsigned long ip, unsigned long parent,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}

static int hits_ftrace(void)
{
	static struct ftrace_ops ops = {
		.func = empty_ftrace,
		.flags = FTRACE_OPS_FL_SAVE_REGS,
	};
	int err;

	err = ftrace_set_filter_ip(&ops, (unsigned long)bench_target, 0, 0);
	if (err)
		return err;
	err = register_ftrace_function(&ops);
	if (!err) {
		say_entry("hit.ftrace");
		unregister_ftrace_function(&ops);
	}
	ftrace_set_filter_ip(&ops, (unsigned long)bench_target, 1, 0);
	return err;
}

static int fprobe_entry(struct fprobe *fp, unsigned long ip,
			unsigned long ret_ip, struct pt_regs *regs, void *data)
{
	return 0;
}

static void fprobe_exit(struct fprobe *fp, unsigned long ip,
			unsigned long ret_ip, struct pt_regs *regs, void *data)
{
}

static int hits_fprobe(const char *key, fprobe_exit_cb exit)
{
	struct fprobe fp = {
		.entry_handler = fprobe_entry,
		.exit_handler = exit,
	};
	unsigned long addr = (unsigned long)bench_target;
	int err = register_fprobe_ips(&fp, &addr, 1);

	if (err)
		return err;
	say_entry(key);
	return unregister_fprobe(&fp);
}

/* The probe that bench_attach() registered before all others. */
void bench_hits_old_probe(const char *among)
{
	char key[32];

	snprintf(key, sizeof(key), "hit.old.%s", among);
	say_entry(key);
}

/* What is enabled at bench_target() through tracefs. */
int bench_hits_event(const char *key)
{
	say_entry(key);
	return 0;
}

/* To be called with kprobes-optimization off. */
int bench_hits_breakpoint(void)
{
	return hits_mid("hit.mid", NULL, false) ?:
	       hits_mid("hit.mid.post", empty_post, false);
}

/* To be called with kprobes-optimization on. */
int bench_hits_jump(void)
{
	return hits_mid("hit.mid.jump", NULL, true);
}

int bench_hits(void)
{
	return hits_ftrace() ?:
	       hits_at_entry() ?:
	       hits_entry_post() ?:
	       hits_return("hit.ret", NULL, 0) ?:
	       hits_return("hit.ret.entry", empty_ret, 8) ?:
	       hits_fprobe("hit.fprobe", NULL) ?:
	       hits_fprobe("hit.fprobe.exit", fprobe_exit);
}
