/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kprobe_stress: what its files share.
 *
 * The idea: threads and interrupts call a pool of functions without pause and
 * check what they return, while other threads change probes on them at random.
 * Three kinds of probes tell whether a hit was lost or came twice: anchors, which
 * stay and must have seen every single call; witnesses, whose functions only one
 * thread calls, so that each call can be checked by itself; and the ones that
 * come and go, which must have seen what was called in between, give or take
 * the few calls under way when they came and went.
 */
#ifndef _KPROBE_STRESS_H
#define _KPROBE_STRESS_H

/*
 * Functions of pool.c, which have an fentry, and of pool_x86.S, which do not.
 * The first of each are the witnesses'.
 */
#define NR_C_FUNCTIONS		512
#define NR_ASM_FUNCTIONS	14
#define NR_FUNCTIONS		(NR_C_FUNCTIONS + NR_ASM_FUNCTIONS)
#define NR_WITNESSES_C		2
#define NR_WITNESSES_ASM	2

/* Functions that a direct caller takes now and then: not to be redirected. */
#define DIRECT_FIRST		8
#define NR_DIRECT		4

#ifndef __ASSEMBLY__
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/types.h>

/* m(hi0) to m(hif): functions that differ in their number only. */
#define SIXTEEN(m, hi)							\
	m(hi##0) m(hi##1) m(hi##2) m(hi##3) m(hi##4) m(hi##5)		\
	m(hi##6) m(hi##7) m(hi##8) m(hi##9) m(hi##a) m(hi##b)		\
	m(hi##c) m(hi##d) m(hi##e) m(hi##f)

/* main.c: what went wrong, counted; the first few are told. */
__printf(1, 2) void stress_fail(const char *fmt, ...);

extern atomic_long_t stress_hits, stress_failures;

/* Text must not be patched, but for the probes that are there before and after. */
extern bool stress_quiet;

static inline u32 stress_draw(struct rnd_state *rnd, u32 below)
{
	return prandom_u32_state(rnd) % below;
}

/* pool.c: the functions, the places in them that can be probed, their calls. */
#define STRESS_MAY_SLEEP	BIT(32)		/* in an argument */
#define STRESS_DEPTH		40		/* shift: so often to call itself */

unsigned long stress_call(unsigned int function, unsigned long x);
void stress_check_call(unsigned int function, unsigned long x);
unsigned long stress_calls(unsigned int function);
unsigned int stress_number(unsigned int function);
unsigned int stress_choose_function(struct rnd_state *rnd);
void *stress_entry(unsigned int function);
void *stress_place(unsigned int function, unsigned int place);

/* pool_x86.S: a function, and instructions in its middle. */
#define NR_ASM_PLACES	2

struct stress_asm {
	unsigned long	(*fn)(unsigned long x);
	unsigned long	at[NR_ASM_PLACES];
};

extern const struct stress_asm stress_asm[NR_ASM_FUNCTIONS];

/* probe.c: a probe of any kind, and the count of what its handlers saw. */
enum probe_kind {
	KIND_PRE,
	KIND_POST,		/* without a pre_handler */
	KIND_BOTH,
	KIND_OBSERVER,		/* both, and never redirects */
	KIND_RETURN,
	KIND_RETURN_ENTRY,	/* with an entry_handler, and data */
	KIND_RETURN_LIMITED,	/* and a maxactive */
	KIND_TYPED,		/* jprobe */
	KIND_PAIR,		/* jprobe and return probe */
	NR_KINDS
};

enum probe_state { FREE, TRYING, OFF, ON };

/**
 * struct stress_probe - a probe
 * @jp:		what kinds other than the returns use, if only its kprobe
 * @rp:		what the returns and KIND_PAIR use
 * @kind:	which
 * @state:	what its owner has asked for; a handler looks at it
 * @function:	the function of the pool, -1: another
 * @nests:	its pre_handler calls a function of the pool at times
 * @typed:	which of the typed handlers is its own, or -1
 * @pre:	calls of pre_handler, or of a jprobe's handler
 * @post:	calls of post_handler
 * @entries:	calls of entry_handler
 * @declined:	those that declined
 * @returns:	calls of handler
 */
struct stress_probe {
	struct jprobe		jp;
	struct kretprobe	rp;
	enum probe_kind		kind;
	enum probe_state	state;
	int			function;
	bool			nests;
	int			typed;
	atomic_long_t		pre, post, entries, declined, returns;
};

static inline bool kind_is_return(enum probe_kind kind)
{
	return kind == KIND_RETURN || kind == KIND_RETURN_ENTRY ||
	       kind == KIND_RETURN_LIMITED;
}

/* By which its registration is known. */
static inline struct kprobe *stress_kp(struct stress_probe *p)
{
	return kind_is_return(p->kind) ? &p->rp.kp : &p->jp.kp;
}

void stress_probe_init(struct stress_probe *p, enum probe_kind kind, int function,
		       void *addr, unsigned int data);
void stress_probe_done(struct stress_probe *p);
int stress_probe_register(struct stress_probe *p);
void stress_probe_unregister(struct stress_probe *p);
unsigned long stress_probe_seen(struct stress_probe *p);
unsigned long stress_probe_missed(struct stress_probe *p);
void stress_probe_exact(struct stress_probe *p, unsigned long calls);
int stress_probes_show(char *buf, size_t size);

/* anchor.c */
int stress_anchors_start(void);
void stress_anchors_stop(void);
int stress_anchors_show(char *buf, size_t size);

/* churn.c */
struct stress_churn;
struct stress_churn *stress_churn_start(unsigned int id, u64 seed);
void stress_churn_stop(struct stress_churn *churn);
unsigned long stress_churn_operations(void);
int stress_churn_show(char *buf, size_t size);

/* callers.c: who calls the pool. */
int stress_callers_start(u64 seed);
void stress_callers_stop(void);
unsigned int stress_calls_under_way(void);
u64 stress_pause_ns(ktime_t began, u64 least);
int stress_callers_show(char *buf, size_t size);

/* witness.c; "generation" is how it is told what debugfs kprobes/enabled says. */
enum stress_generation { PROBES_DISARMED, PROBES_ARMED, PROBES_CHANGING };

void stress_generation(enum stress_generation now);
bool stress_always_armed(void);
int stress_witnesses_start(void);
void stress_witnesses_stop(void);
int stress_witnesses_show(char *buf, size_t size);

/* visitor.c: what the module that comes and goes brings along. */
int stress_visitor_0(int x);
int stress_visitor_1(int x);
int stress_visitor_2(int x);
void stress_direct(void);

/* text.c: the kernel's text and our own, as it was. */
int stress_text_keep(void);
void stress_text_compare(void);
void stress_text_drop(void);

#endif /* !__ASSEMBLY__ */
#endif /* _KPROBE_STRESS_H */
