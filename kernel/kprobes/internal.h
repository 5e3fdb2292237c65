/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's own types and its locking rules, on one page.
 *
 * A probe (struct kprobe) belongs to its caller; a site (struct probe_site) is
 * an address with at least one probe, and belongs to the engine.  The site
 * knows the method that arms it.  Whoever changes probes works on a set, under
 * kprobe_mutex: resolve all, prepare all, arm all -- or undo all.
 *
 * Locks, outermost first; each may be taken inside those above it:
 *
 *   event_mutex		trace events call us with it held
 *   kprobe_mutex		every change to probes, sites, index, blacklist
 *   cpus_read_lock()		required by jump_label_lock()
 *   jump_label_lock()		no jump label moves while we look at text
 *   text_mutex			no text changes while we look at or poke it
 *
 * Beside these, slot_mutex guards the pages of slots: taken inside kprobe_mutex,
 * outside text_mutex, never with the locks between them.
 *
 * ftrace is called with kprobe_mutex held and text_mutex not held: it takes its
 * own ftrace_lock, and text_mutex inside.
 *
 * A hit takes no lock.  It runs with preemption off, finds the site through the
 * index and walks the site's lists under RCU; whatever it may look at is freed
 * an RCU grace period after it was unlinked, and a slot a tasks-RCU grace
 * period after, since a task can be preempted inside one.
 */
#ifndef _KERNEL_KPROBES_INTERNAL_H
#define _KERNEL_KPROBES_INTERNAL_H

#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct dentry;
struct module;
struct seq_file;
struct site_insn;

/*
 * Probes that may redirect regs->ip (those with a post_handler, unless they are
 * observers by their own word) are kept apart from the others: under ftrace they
 * need an ops of their own with IPMODIFY, which a livepatch or another
 * redirecting user excludes; and a jump does not serve them.  A probe stays in
 * its lane as long as it is registered.
 */
enum probe_lane {
	LANE_OBSERVE,
	LANE_REDIRECT,
	NR_LANES
};

#define for_each_lane(lane) for ((lane) = 0; (lane) < NR_LANES; (lane)++)

/* How hits get to a site; the index of arm_methods[]. */
enum arm_method_id {
#ifdef CONFIG_KPROBES_ON_FTRACE
	METHOD_FTRACE,
#endif
	METHOD_BREAKPOINT,
	NR_METHODS
};

/**
 * struct probe_site - an address with probes
 * @addr:	where; the key of the index
 * @probes:	the probes, by lane; read under RCU, changed under kprobe_mutex
 * @batch:	in a list of sites: the transaction that is running or gone_sites,
 *		under kprobe_mutex; then, on its way to be freed
 * @watched:	in LANE_OBSERVE, too, there is a post_handler; read by hits, changed
 *		under kprobe_mutex
 * @method:	how hits get here: enum arm_method_id
 * @armed:	lanes (bit mask) whose hits get here; kprobe_mutex
 * @change:	lanes that the running transaction arms or disarms; kprobe_mutex
 * @listed:	in the transaction that is running; kprobe_mutex
 * @gone:	the text was freed, the site is out of the index; kprobe_mutex
 *
 * There can be tens of thousands, so they are small: one for an address, with
 * one link.
 */
struct probe_site {
	unsigned long		addr;
	struct hlist_head	probes[NR_LANES];
	struct llist_node	batch;
	bool			watched;
	u8			method;
	u8			armed;
	u8			change;
	bool			listed;
	bool			gone;
};

/* A list of sites is in no particular order. */
#define for_each_site(site, sites)					\
	llist_for_each_entry(site, (sites)->first, batch)

/* The same when a site may get into another list; @sites may not be used on. */
#define for_each_site_safe(site, next, sites)				\
	llist_for_each_entry_safe(site, next, (sites)->first, batch)

/* How far a site has come on its way from a breakpoint to a jump. */
enum jump_state {
	JUMP_NOT,
	JUMP_QUEUED,		/* to be planned, in jump_queue */
	JUMP_IN_GRACE,		/* planned, in jump_grace: nobody enters the region */
	JUMP_ARMED,
};

/**
 * struct displaced_site - a site whose instruction does not run in its place
 * @site:	any method's
 * @insn:	the instruction, the architecture's; constant once the site is in
 *		the index
 * @jump_node:	in jump_queue or jump_grace; kprobe_mutex
 * @rcu:	for the release
 * @jump:	enum jump_state; kprobe_mutex
 */
struct displaced_site {
	struct probe_site	site;
	struct site_insn	*insn;
	union {
		struct list_head	jump_node;
		struct rcu_head		rcu;
	};
	u8			jump;
};

static inline bool site_is_displaced(const struct probe_site *site)
{
	return site->method == METHOD_BREAKPOINT;
}

static inline struct displaced_site *displaced(const struct probe_site *site)
{
	return container_of(site, struct displaced_site, site);
}

static inline struct site_insn *site_insn(const struct probe_site *site)
{
	return displaced(site)->insn;
}

/**
 * struct arm_method - a way to make a hit on an address reach its site
 * @name:	for the log and the list
 * @flag:	KPROBE_FLAG_* that probes under this method carry, or 0
 * @site_name:	of the slab cache of its sites
 * @site_size:	bytes of a site, which begins with a struct probe_site
 * @prepare:	learn what the text at the site needs; may sleep.  Returns 0,
 *		-EILSEQ (not an instruction boundary), -EINVAL (reserved text or
 *		an instruction that cannot be displaced), -ENOMEM
 * @arm:	arm site->change of every site in the list, or none.  Returns 0,
 *		-EBUSY (another user holds the place), -ENODEV, -ENOMEM
 * @disarm:	disarm site->change of every site in the list; cannot fail
 * @release:	free what @prepare made and the site itself, once no CPU and no
 *		task can be in it; returns at once.  The caller sees to it that
 *		sites_free_left() follows
 *
 * All are called under kprobe_mutex.
 */
struct arm_method {
	const char	*name;
	u32		flag;
	const char	*site_name;
	size_t		site_size;
	int (*prepare)(struct probe_site *site);
	int (*arm)(struct llist_head *sites);
	void (*disarm)(struct llist_head *sites);
	void (*release)(struct probe_site *site);
};

extern const struct arm_method arm_breakpoint;
extern const struct arm_method arm_ftrace;
extern const struct arm_method *const arm_methods[NR_METHODS];

static inline const struct arm_method *site_method(const struct probe_site *site)
{
	return arm_methods[site->method];
}

/* kprobes.c */
extern struct mutex kprobe_mutex;
bool kprobe_is_registered(const struct kprobe *p);
int kprobes_check_set(const char *call, const void *set, int num);
int kprobes_check_new(struct kprobe **kps, int num);

/*
 * What a caller did wrong, or asked for in vain, is told in one line.  A caller in
 * a loop is told ten times in five seconds.
 */
extern struct ratelimit_state kprobe_complaints;

#define complain(fmt, ...)						\
do {									\
	if (__ratelimit(&kprobe_complaints))				\
		pr_warn(fmt, ##__VA_ARGS__);				\
} while (0)

/* Written under kprobe_mutex through debugfs "enabled". */
extern bool kprobes_all_disarmed;

/* Of a probe in a site's list, whose flags hits look at; kprobe_mutex held. */
static inline void probe_set_flag(struct kprobe *p, u32 flag, bool on)
{
	WRITE_ONCE(p->flags, on ? p->flags | flag : p->flags & ~flag);
}

static inline enum probe_lane probe_lane(const struct kprobe *p)
{
	if (p->post_handler && !(p->flags & KPROBE_FLAG_OBSERVER))
		return LANE_REDIRECT;
	return LANE_OBSERVE;
}

static inline bool site_empty(const struct probe_site *site)
{
	return hlist_empty(&site->probes[LANE_OBSERVE]) &&
	       hlist_empty(&site->probes[LANE_REDIRECT]);
}

#ifndef CONFIG_DYNAMIC_FTRACE
static inline unsigned long ftrace_location_range(unsigned long start, unsigned long end)
{
	return 0;
}
#endif

/* address.c: what may be probed, and why not */
struct probe_target {
	unsigned long	addr;
	bool		on_entry;	/* first instruction of a function */
	bool		fentry;		/* an fentry nop: ftrace's to change */
	const char	*why_not;	/* after an error, for complain_of() */
};

static inline int refuse(struct probe_target *to, int err, const char *why)
{
	to->why_not = why;
	return err;
}

int complain_of(const struct kprobe *p, int err, const char *why);
int probe_check_entry(const struct kprobe *p);

int probe_resolve(const struct kprobe *p, struct probe_target *to);

/* module.c */
#ifdef CONFIG_MODULES
int check_module_text(struct probe_target *to);
int __init kprobes_follow_modules(void);
#else
static inline int check_module_text(struct probe_target *to)
{
	return refuse(to, -EINVAL, "no kernel text");
}

static inline int kprobes_follow_modules(void)
{
	return 0;
}
#endif

/* blacklist.c */
struct text_area {
	const void	*start;
	unsigned long	size;
};

int __init blacklist_init(void);
int blacklist_add_text(const unsigned long *func, unsigned int nr,
		       const struct text_area areas[2]);
void blacklist_remove_text(unsigned long start, unsigned long size);
extern const struct seq_operations blacklist_sops;

/* arm_breakpoint.c */
void wait_for_idle_tasks(void);

/* site.c: the life of a site */
extern struct llist_head gone_sites;
struct probe_site *site_get(const struct probe_target *at);
struct probe_site *probe_site_of(const struct kprobe *p);
struct kprobe *probe_of_module(const struct module *mod);
void site_join(struct probe_site *site, struct kprobe *p);
void site_leave(struct probe_site *site, struct kprobe *p);
void site_put(struct probe_site *site);
void site_kill(struct probe_site *site);
void sites_put_gone(void);
void site_free(struct probe_site *site);
void site_leave_to_hits(struct probe_site *site);
void sites_free_left(void);
void sites_free_left_soon(void);
void __init sites_init(void);

/* hit.c, and hit.h: what happens when a site is reached */
void site_count_missed(struct probe_site *site, unsigned int lanes);

/* arm.c: transactions */
unsigned int site_wanted(const struct probe_site *site);
void txn_change(struct llist_head *txn, struct probe_site *site, unsigned int lanes);
int txn_arm(struct llist_head *txn);
void txn_disarm(struct llist_head *txn);
void txn_disarm_unwanted(struct llist_head *txn);
void txn_end(struct llist_head *txn);
void txn_put(struct llist_head *txn);
int sites_set_armed(bool armed);
void sites_kill_range(unsigned long start, unsigned long size);

/* kretprobe.c */
bool probe_is_kretprobe(const struct kprobe *p);
int kretprobe_begin(struct kretprobe *rp);
void kretprobe_end(struct kretprobe *rp);

/* typed.c */
bool probe_is_jprobe(const struct kprobe *p);

/* debugfs.c: all sites, behind SEQ_START_TOKEN for a heading; those that are gone last */
void *site_seq_start(struct seq_file *m, loff_t *pos);
void *site_seq_next(struct seq_file *m, void *v, loff_t *pos);
void site_seq_stop(struct seq_file *m, void *v);

/* stats.c */
void __init stats_init(struct dentry *dir);

/*
 * The architecture's half, arch/x86/kernel/kprobes/.
 *
 * arch_skip_entry_prologue(): the first address of a function that a probe on
 *	its entry may stand at.
 * arch_text_may_be_patched(): can the instruction at an address be one of those
 *	that jump labels and static calls consist of?  text_mutex held.
 * arch_site_decode(): look at the text around a site and make site_insn();
 *	text_mutex held.  Returns 0, -EILSEQ, -EINVAL or -ENOMEM.
 * arch_site_displace(): make the slot, if one is needed; may sleep.  Returns 0,
 *	-EINVAL or -ENOMEM; then, too, arch_site_free() is called.
 * arch_site_has_slot(): may a task be in the displaced instruction?
 * arch_site_free(): undo arch_site_decode() and arch_site_displace(); may sleep
 *	only when there is a slot.
 * arch_breakpoints_set(), arch_breakpoints_clear(): poke the sites of a
 *	transaction whose text is to change; text_mutex held.
 * arch_call_typed(): call @entry with the arguments in @regs and JPROBE_STACK_WORDS
 *	words of @stack; any context.
 * arch_describe_insn(): what struct kprobe tells its owner of the instruction.
 * arch_slot_progress(): how many of the displaced bytes, of so many, have run when a
 *	task is at an offset in their slot; any context.
 * arch_slot_page_seal(): a fresh page, writable, becomes executable and full of
 *	breakpoints; may sleep.
 * arch_slot_fill(): fill a slot with breakpoints; may sleep.
 */
extern struct kretprobe_blackpoint kretprobe_blacklist[];
int __init arch_populate_kprobe_blacklist(void);
unsigned long arch_skip_entry_prologue(unsigned long func);
bool arch_text_may_be_patched(unsigned long addr);
int arch_site_decode(struct probe_site *site);
int arch_site_displace(struct probe_site *site);
bool arch_site_has_slot(const struct probe_site *site);
void arch_site_free(struct probe_site *site);
void arch_breakpoints_set(struct llist_head *sites);
void arch_breakpoints_clear(struct llist_head *sites);
void arch_call_typed(const struct pt_regs *regs, void *entry, const unsigned long *stack);
void arch_describe_insn(const struct probe_site *site, struct kprobe *p);
unsigned int arch_slot_progress(unsigned int at, unsigned int len);
void arch_slot_page_seal(void *page);
void arch_slot_fill(void *slot);

#endif /* _KERNEL_KPROBES_INTERNAL_H */
