// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: a probe of any kind.
 *
 * Its handlers count, and check all that they are given: that the probe ought to
 * be there, that the registers are those of this call, that an instance is
 * the one that the entry was given.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "stress.h"

/* A pre_handler that nests calls a function in one of so many calls. */
#define NEST_EVERY	16

/* What an entry_handler keeps for the return. */
struct entry_data {
	struct stress_probe	*probe;
	unsigned int		cpu;
	unsigned long		x;
};

/* Returns on another CPU than that of the entry. */
static atomic_long_t crossed;

static struct stress_probe *of_kprobe(struct kprobe *kp)
{
	return container_of(kp, struct stress_probe, jp.kp);
}

static unsigned long seen(struct stress_probe *p, atomic_long_t *count)
{
	atomic_long_inc(&stress_hits);
	if (READ_ONCE(p->state) == FREE)
		stress_fail("%ps: a handler of a removed probe ran", stress_kp(p)->addr);
	return atomic_long_inc_return(count);
}

/* The probes of what is called from here are missed, and say so. */
static void nest(struct stress_probe *p)
{
	unsigned int other = (p->function + 4) % NR_C_FUNCTIONS;

	stress_call(max_t(unsigned int, other, NR_WITNESSES_C), 0);
}

static int pre(struct kprobe *kp, struct pt_regs *regs)
{
	struct stress_probe *p = of_kprobe(kp);
	unsigned long n = seen(p, &p->pre);

	if (instruction_pointer(regs) != (unsigned long)kp->addr + 1)
		stress_fail("%ps: ip %pS", kp->addr, (void *)instruction_pointer(regs));
	if (p->nests && n % NEST_EVERY == 0)
		nest(p);
	return 0;
}

static void post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	struct stress_probe *p = of_kprobe(kp);

	seen(p, &p->post);
}

/*
 * Have the prototype of the functions, and so no way to know their probe: one
 * for each that there is at a time.
 */
#define ALL(m)	SIXTEEN(m, 0x0) SIXTEEN(m, 0x1) SIXTEEN(m, 0x2) SIXTEEN(m, 0x3)

#define NR_TYPED	64

static struct stress_probe *typed_probe[NR_TYPED];
static DECLARE_BITMAP(typed_used, NR_TYPED);

static void typed(struct stress_probe *p)
{
	seen(p, &p->pre);
}

#define TYPED(nr)						\
	static unsigned long typed_##nr(unsigned long x)	\
	{							\
		typed(typed_probe[nr]);				\
		return 0;					\
	}

#define NAME(nr)	JPROBE_ENTRY(typed_##nr),

ALL(TYPED)

static void *const typed_handlers[] = { ALL(NAME) };

static_assert(ARRAY_SIZE(typed_handlers) == NR_TYPED);

static bool typed_take(struct stress_probe *p)
{
	unsigned int nr;

	do {
		nr = find_first_zero_bit(typed_used, NR_TYPED);
		if (nr == NR_TYPED)
			return false;
	} while (test_and_set_bit(nr, typed_used));
	p->typed = nr;
	typed_probe[nr] = p;
	p->jp.entry = typed_handlers[nr];
	return true;
}

/* It is not registered any more, or could not be. */
void stress_probe_done(struct stress_probe *p)
{
	if (p->typed >= 0)
		clear_bit(p->typed, typed_used);
	p->typed = -1;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct stress_probe *p = container_of(rp, struct stress_probe, rp);
	struct entry_data *data = (void *)ri->data;
	unsigned long n = seen(p, &p->entries);

	data->probe = p;
	data->cpu = raw_smp_processor_id();
	data->x = regs_get_kernel_argument(regs, 0);
	if (n % 3)
		return 0;
	atomic_long_inc(&p->declined);
	return 1;
}

static int ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	struct stress_probe *p = container_of(rp, struct stress_probe, rp);
	struct entry_data *data = (void *)ri->data;
	unsigned long got = regs_return_value(regs);

	seen(p, &p->returns);
	if (!rp->entry_handler)
		return 0;
	if (data->cpu != raw_smp_processor_id())
		atomic_long_inc(&crossed);
	if (data->probe != p)
		stress_fail("%ps: another call's data", rp->kp.addr);
	else if (p->function >= 0 && got != data->x + stress_number(p->function))
		stress_fail("%ps(%lx) returned %lx: another call's return?", rp->kp.addr,
			    data->x, got);
	return 0;
}

/*
 * For a typed one there may be no handler left: then it is KIND_PRE.
 * @addr NULL: the caller sets the symbol's name.  @data: bytes more than needed.
 */
void stress_probe_init(struct stress_probe *p, enum probe_kind kind, int function,
		       void *addr, unsigned int data)
{
	struct kprobe *kp = &p->jp.kp;

	memset(p, 0, sizeof(*p));
	p->typed = -1;
	if ((kind == KIND_TYPED || kind == KIND_PAIR) && !typed_take(p))
		kind = KIND_PRE;
	p->kind = kind;
	p->function = function;
	stress_kp(p)->addr = addr;

	if (kind == KIND_PRE || kind == KIND_BOTH || kind == KIND_OBSERVER)
		kp->pre_handler = pre;
	if (kind == KIND_POST || kind == KIND_BOTH || kind == KIND_OBSERVER)
		kp->post_handler = post;
	if (kind == KIND_OBSERVER)
		kp->flags = KPROBE_FLAG_OBSERVER;
	if (!kind_is_return(kind) && kind != KIND_PAIR)
		return;

	p->rp.handler = ret;
	if (kind == KIND_RETURN)
		return;
	p->rp.entry_handler = entry;
	p->rp.data_size = sizeof(struct entry_data) + data;
	if (kind == KIND_RETURN_LIMITED)
		p->rp.maxactive = 2;
}

int stress_probe_register(struct stress_probe *p)
{
	switch (p->kind) {
	case KIND_RETURN:
	case KIND_RETURN_ENTRY:
	case KIND_RETURN_LIMITED:
		return register_kretprobe(&p->rp);
	case KIND_TYPED:
		return register_jprobe(&p->jp);
	case KIND_PAIR:
		return register_jrprobe(&p->jp, &p->rp);
	default:
		return register_kprobe(&p->jp.kp);
	}
}

void stress_probe_unregister(struct stress_probe *p)
{
	switch (p->kind) {
	case KIND_RETURN:
	case KIND_RETURN_ENTRY:
	case KIND_RETURN_LIMITED:
		unregister_kretprobe(&p->rp);
		break;
	case KIND_TYPED:
		unregister_jprobe(&p->jp);
		break;
	case KIND_PAIR:
		unregister_jrprobe(&p->jp, &p->rp);
		break;
	default:
		unregister_kprobe(&p->jp.kp);
	}
}

/* Entries that it was called for; of KIND_RETURN, returns. */
unsigned long stress_probe_seen(struct stress_probe *p)
{
	switch (p->kind) {
	case KIND_POST:
		return atomic_long_read(&p->post);
	case KIND_RETURN:
		return atomic_long_read(&p->returns);
	case KIND_RETURN_ENTRY:
	case KIND_RETURN_LIMITED:
		return atomic_long_read(&p->entries);
	default:
		return atomic_long_read(&p->pre);
	}
}

/* Entries that it was not called for, by its own account. */
unsigned long stress_probe_missed(struct stress_probe *p)
{
	if (kind_is_return(p->kind))
		return READ_ONCE(p->rp.kp.nmissed) + READ_ONCE(p->rp.nmissed);
	return READ_ONCE(p->jp.kp.nmissed);
}

static void expect(struct stress_probe *p, const char *what, unsigned long got,
		   unsigned long calls)
{
	if (got != calls)
		stress_fail("%ps, kind %d, %s: %lu of %lu", stress_kp(p)->addr, p->kind,
			    what, got, calls);
}

/* It was armed all the time that so many calls were made, and none is under way. */
void stress_probe_exact(struct stress_probe *p, unsigned long calls)
{
	unsigned long missed = stress_probe_missed(p);

	expect(p, "seen and missed", stress_probe_seen(p) + missed, calls);
	if (p->jp.kp.post_handler)
		expect(p, "post and missed", atomic_long_read(&p->post) + missed, calls);
	if (p->kind == KIND_PAIR)
		expect(p, "of the pair, seen and missed",
		       atomic_long_read(&p->entries) + p->rp.kp.nmissed + p->rp.nmissed,
		       calls);
	if (p->rp.entry_handler)
		expect(p, "returned and declined",
		       atomic_long_read(&p->returns) + atomic_long_read(&p->declined),
		       atomic_long_read(&p->entries));
}

int stress_probes_show(char *buf, size_t size)
{
	return scnprintf(buf, size, "returns on another CPU: %ld\n", atomic_long_read(&crossed));
}
