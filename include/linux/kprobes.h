/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel probes: run a handler when an instruction of the kernel is reached
 * (kprobe) or when a function returns (kretprobe).
 *
 * The one idea to know: what a caller registers (struct kprobe) and the place
 * in the text that it watches (struct probe_site, private to kernel/kprobes/)
 * are two things.  A site is armed by the cheapest method that its bytes allow;
 * a handler sees the same under every method.  Every call that changes probes
 * takes a set and is a transaction: all of it happens, or nothing.
 *
 * Documentation/trace/kprobes.rst has the long story.
 */
#ifndef _LINUX_KPROBES_H
#define _LINUX_KPROBES_H

#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <asm/kprobes.h>

#ifndef CONFIG_KPROBES
#include <asm-generic/kprobes.h>
typedef int kprobe_opcode_t;
struct arch_specific_insn {
	int dummy;
};
#endif

struct kprobe;
struct kretprobe;
struct kretprobe_instance;
struct pt_regs;
struct task_struct;

/* kprobe_ctlblk.kprobe_status, as a handler may read it. */
#define KPROBE_HIT_ACTIVE	0x01	/* in a pre-handler or a return handler */
#define KPROBE_HIT_SS		0x02	/* displaced instruction is running */
#define KPROBE_REENTER		0x04	/* hit from within a handler: missed */
#define KPROBE_HIT_SSDONE	0x08	/* in a post-handler */

/* What a caller's own functions look like. */
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs,
				      unsigned long flags);
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri,
				   struct pt_regs *regs);

/**
 * struct kprobe - a probe on one instruction, owned by the caller
 * @hlist:	the site's list of probes; private
 * @list:	the set that a running transaction works on; private, and an
 *		empty list at any other time once the probe was registered
 * @nmissed:	hits whose handlers were not run, because they came from
 *		within a handler of this or of another probe
 * @addr:	address of the probed instruction; set by the caller, or resolved
 *		from @symbol_name (give one of the two, not both)
 * @symbol_name: "function" or "module:function"
 * @offset:	bytes from the symbol (or from @addr) to the instruction
 * @pre_handler: called before the instruction; returns 0, or non-zero when it
 *		has set regs->ip itself, which is then obeyed
 * @post_handler: called after the instruction; setting one also says that
 *		@pre_handler may redirect regs->ip, unless KPROBE_FLAG_OBSERVER is
 * @opcode:	first byte of the displaced instruction
 * @ainsn:	the displaced instruction, as the architecture keeps it
 * @flags:	KPROBE_FLAG_*; a caller may pass in KPROBE_FLAG_DISABLED and
 *		KPROBE_FLAG_OBSERVER
 *
 * Handlers run with preemption off and must not sleep.  Handlers and the
 * structure must stay valid until unregister_kprobe() has returned.
 */
struct kprobe {
	struct hlist_node	hlist;
	struct list_head	list;
	unsigned long		nmissed;
	kprobe_opcode_t		*addr;
	const char		*symbol_name;
	unsigned int		offset;
	kprobe_pre_handler_t	pre_handler;
	kprobe_post_handler_t	post_handler;
	kprobe_opcode_t		opcode;
	struct arch_specific_insn ainsn;
	u32			flags;
};

#define KPROBE_FLAG_GONE	0x01	/* its text was freed; unregister it */
#define KPROBE_FLAG_DISABLED	0x02	/* registered, handlers are not run */
#define KPROBE_FLAG_OPTIMIZED	0x04	/* reached by a jump */
#define KPROBE_FLAG_FTRACE	0x08	/* reached through the function's fentry */
#define KPROBE_FLAG_ON_FUNC_ENTRY 0x10	/* first instruction of a function */
/*
 * From the caller: has a post_handler, and yet never redirects regs->ip.  Such a
 * probe shares a function with those who do (a livepatch), and can be reached by a
 * jump.
 */
#define KPROBE_FLAG_OBSERVER	0x20

/**
 * kprobe_gone() - was the probed text freed (module unloaded, init text)?
 * @p: a registered probe
 *
 * Return: true when @p can no longer be hit nor enabled.
 */
static inline bool kprobe_gone(struct kprobe *p)
{
	return READ_ONCE(p->flags) & KPROBE_FLAG_GONE;
}

/**
 * kprobe_disabled() - are the handlers of a probe switched off?
 * @p: a registered probe
 *
 * Return: true when disabled by its owner, or gone.
 */
static inline bool kprobe_disabled(struct kprobe *p)
{
	/* Asked at every hit.  One test of memory, so it is as good as marked. */
	return data_race(p->flags & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE));
}

/**
 * kprobe_optimized() - is the probe reached by a jump?
 * @p: a registered probe
 *
 * Return: true while the jump method is in use.
 */
static inline bool kprobe_optimized(struct kprobe *p)
{
	return READ_ONCE(p->flags) & KPROBE_FLAG_OPTIMIZED;
}

/**
 * kprobe_ftrace() - is the probe reached through the function's fentry call?
 * @p: a registered probe
 *
 * Return: true when the ftrace method is in use.
 */
static inline bool kprobe_ftrace(struct kprobe *p)
{
	return READ_ONCE(p->flags) & KPROBE_FLAG_FTRACE;
}

/**
 * struct kretprobe - a probe on the return of a function, owned by the caller
 * @kp:		the probe at the function's entry; the caller names the function
 *		in it and leaves the handlers alone.  First member: a set of
 *		return probes is also a set of entry probes
 * @handler:	called when the function has returned
 * @entry_handler: called at entry; non-zero: this call's return is not probed,
 *		zero: @handler will be called for it
 * @maxactive:	how many calls may be in flight; <= 0: as many as there are.  In
 *		that case it reads max(10, 2 * possible CPUs) while the probe is
 *		registered, and 0 after
 * @nmissed:	calls over @maxactive, or that found no free instance on their CPU
 *		since more than RETHOOK_BURST_* came at once; zeroed at
 *		registration
 * @data_size:	bytes of private data in each instance, at most
 *		KRETPROBE_MAX_DATA_SIZE
 * @rh:		the return hook; private
 */
struct kretprobe {
	struct kprobe		kp;
	kretprobe_handler_t	handler;
	kretprobe_handler_t	entry_handler;
	int			maxactive;
	int			nmissed;
	size_t			data_size;
	struct rethook		*rh;
};

#define KRETPROBE_MAX_DATA_SIZE	4096

/**
 * struct kretprobe_instance - one probed call in flight
 * @node:	what the return hook keeps of the call
 * @data:	kretprobe.data_size bytes for the two handlers to share
 */
struct kretprobe_instance {
	struct rethook_node	node;
	char			data[];
};

/**
 * struct jprobe - a typed probe on the entry of a function, owned by the caller
 * @kp:		the probe; the caller names the function in it
 * @entry:	a function of the same prototype as the probed one, called with the
 *		same arguments and the promises made to every handler
 */
struct jprobe {
	struct kprobe	kp;
	void		*entry;
};

#define JPROBE_ENTRY(handler)	((void *)(handler))

/* Handlers written for the first jprobes end with this; ours just return. */
static inline void jprobe_return(void) { }

/* A function whose return address must not be touched. */
struct kretprobe_blackpoint {
	const char	*name;
	void		*addr;
};

#ifdef CONFIG_KPROBES

DECLARE_PER_CPU(struct kprobe *, current_kprobe);
DECLARE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

/**
 * kprobe_running() - the probe whose handler this CPU is in
 *
 * Context: preemption off.
 * Return: the probe, or NULL outside of handlers.
 */
static inline struct kprobe *kprobe_running(void)
{
	return __this_cpu_read(current_kprobe);
}

static inline void reset_current_kprobe(void)
{
	__this_cpu_write(current_kprobe, NULL);
}

static inline struct kprobe_ctlblk *get_kprobe_ctlblk(void)
{
	return this_cpu_ptr(&kprobe_ctlblk);
}

int register_kprobe(struct kprobe *p);
int register_kprobes(struct kprobe **kps, int num);
void unregister_kprobe(struct kprobe *p);
void unregister_kprobes(struct kprobe **kps, int num);
int enable_kprobe(struct kprobe *kp);
int enable_kprobes(struct kprobe **kps, int num);
int disable_kprobe(struct kprobe *kp);
int disable_kprobes(struct kprobe **kps, int num);

int register_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, int num);
void unregister_kretprobe(struct kretprobe *rp);
void unregister_kretprobes(struct kretprobe **rps, int num);
void unregister_mixed_kprobes(struct kprobe **kps, int num);

int register_jprobe(struct jprobe *jp);
void unregister_jprobe(struct jprobe *jp);
int register_erprobe(struct kprobe *kp, struct kretprobe *rp);
void unregister_erprobe(struct kprobe *kp, struct kretprobe *rp);
int register_jrprobe(struct jprobe *jp, struct kretprobe *rp);
void unregister_jrprobe(struct jprobe *jp, struct kretprobe *rp);

struct kprobe *get_kprobe(void *addr);
kprobe_opcode_t *kprobe_lookup_name(const char *name, unsigned int offset);
int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym, unsigned long offset);
void kprobes_inc_nmissed_count(struct kprobe *p);
void kprobe_busy_begin(void);
void kprobe_busy_end(void);
void dump_kprobe(struct kprobe *kp);

bool within_kprobe_blacklist(unsigned long addr);
int kprobe_add_ksym_blacklist(unsigned long entry);
int kprobe_add_area_blacklist(unsigned long start, unsigned long end);

/* NOKPROBE_SYMBOL() leaves the address of each function here. */
extern unsigned long __start_kprobe_blacklist[];
extern unsigned long __stop_kprobe_blacklist[];

/* What the rest of the kernel asks about executable slots. */
bool is_kprobe_insn_slot(unsigned long addr);
unsigned long kprobe_slot_origin(unsigned long addr);
unsigned long kprobe_slot_text(unsigned long addr);
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type, char *sym);

void kprobe_free_init_mem(void);
#ifdef CONFIG_OPTPROBES
void wait_for_kprobe_optimizer(void);
#else
static inline void wait_for_kprobe_optimizer(void) { }
#endif

#else /* !CONFIG_KPROBES */

static inline struct kprobe *kprobe_running(void)
{
	return NULL;
}

static inline struct kprobe *get_kprobe(void *addr)
{
	return NULL;
}

static inline int register_kprobe(struct kprobe *p)
{
	return -EOPNOTSUPP;
}

static inline int register_kprobes(struct kprobe **kps, int num)
{
	return -EOPNOTSUPP;
}

static inline int register_kretprobe(struct kretprobe *rp)
{
	return -EOPNOTSUPP;
}

static inline int register_kretprobes(struct kretprobe **rps, int num)
{
	return -EOPNOTSUPP;
}

static inline int register_jprobe(struct jprobe *jp)
{
	return -EOPNOTSUPP;
}

static inline int register_erprobe(struct kprobe *kp, struct kretprobe *rp)
{
	return -EOPNOTSUPP;
}

static inline int register_jrprobe(struct jprobe *jp, struct kretprobe *rp)
{
	return -EOPNOTSUPP;
}

static inline int enable_kprobe(struct kprobe *kp)
{
	return -EOPNOTSUPP;
}

static inline int enable_kprobes(struct kprobe **kps, int num)
{
	return -EOPNOTSUPP;
}

static inline int disable_kprobe(struct kprobe *kp)
{
	return -EOPNOTSUPP;
}

static inline int disable_kprobes(struct kprobe **kps, int num)
{
	return -EOPNOTSUPP;
}

static inline void unregister_kprobe(struct kprobe *p) { }
static inline void unregister_kprobes(struct kprobe **kps, int num) { }
static inline void unregister_kretprobe(struct kretprobe *rp) { }
static inline void unregister_kretprobes(struct kretprobe **rps, int num) { }
static inline void unregister_jprobe(struct jprobe *jp) { }
static inline void unregister_erprobe(struct kprobe *kp, struct kretprobe *rp) { }
static inline void unregister_jrprobe(struct jprobe *jp, struct kretprobe *rp) { }
static inline void kprobe_busy_begin(void) { }
static inline void kprobe_busy_end(void) { }
static inline void kprobe_free_init_mem(void) { }
static inline void wait_for_kprobe_optimizer(void) { }

static inline bool within_kprobe_blacklist(unsigned long addr)
{
	return true;
}

static inline bool is_kprobe_insn_slot(unsigned long addr)
{
	return false;
}

static inline unsigned long kprobe_slot_origin(unsigned long addr)
{
	return addr;
}

static inline unsigned long kprobe_slot_text(unsigned long addr)
{
	return 0;
}

static inline int kprobe_get_kallsym(unsigned int symnum, unsigned long *value,
				     char *type, char *sym)
{
	return -ERANGE;
}

static inline int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	return 0;
}

#endif /* CONFIG_KPROBES */

#ifdef CONFIG_KPROBES_ON_FTRACE
extern bool kprobe_ftrace_disabled __read_mostly;
void kprobe_ftrace_kill(void);
#else
static inline void kprobe_ftrace_kill(void) { }
#endif

/* Displaced instructions and detours share their slots: one question, not two. */
static inline bool is_kprobe_optinsn_slot(unsigned long addr)
{
	return false;
}

/* An exiting task's instances are given back by the return hook. */
static inline void kprobe_flush_task(struct task_struct *tk) { }

/**
 * enable_kretprobe() - run the handlers of a disabled return probe again
 * @rp: a registered return probe
 *
 * Return: as enable_kprobe().
 */
static inline int enable_kretprobe(struct kretprobe *rp)
{
	return enable_kprobe(&rp->kp);
}

/**
 * enable_kretprobes() - enable_kretprobe() for a set, all or none
 * @rps: the set
 * @num: how many
 *
 * Return: as enable_kprobes().
 */
static inline int enable_kretprobes(struct kretprobe **rps, int num)
{
	return enable_kprobes((struct kprobe **)rps, num);
}

/**
 * disable_kretprobe() - stop hooking returns until enable_kretprobe()
 * @rp: a registered return probe
 *
 * Return: as disable_kprobe().
 */
static inline int disable_kretprobe(struct kretprobe *rp)
{
	return disable_kprobe(&rp->kp);
}

/**
 * disable_kretprobes() - disable_kretprobe() for a set
 * @rps: the set
 * @num: how many
 *
 * Return: as disable_kprobes().
 */
static inline int disable_kretprobes(struct kretprobe **rps, int num)
{
	return disable_kprobes((struct kprobe **)rps, num);
}

#ifdef CONFIG_KRETPROBES

/**
 * get_kretprobe() - the return probe that an instance belongs to
 * @ri: what a handler was given
 *
 * Context: in a handler of @ri.
 * Return: the probe.
 */
static nokprobe_inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	return READ_ONCE(ri->node.rethook->data);
}

/**
 * get_kretprobe_retaddr() - where the probed call will return to
 * @ri: what a handler was given
 *
 * Return: the true return address; not yet known in an entry handler.
 */
static nokprobe_inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return ri->node.ret_addr;
}

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return is_rethook_trampoline(addr);
}

/* For unwinders: the next true return address of @tsk above frame @fp. */
static nokprobe_inline unsigned long
kretprobe_find_ret_addr(struct task_struct *tsk, void *fp, struct llist_node **cur)
{
	return rethook_find_ret_addr(tsk, (unsigned long)fp, cur);
}

#else /* !CONFIG_KRETPROBES */

static inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return false;
}

static inline unsigned long
kretprobe_find_ret_addr(struct task_struct *tsk, void *fp, struct llist_node **cur)
{
	return 0;
}

#endif /* CONFIG_KRETPROBES */

/*
 * For the page fault handler: did a probe resolve this fault?  It never does.
 * But a task may sleep on a fault, and must not do so in a slot, which nobody
 * would know to be in use: the instruction is started again from its place in
 * the text once the fault is dealt with, and its probes are hit again.
 */
static nokprobe_inline bool kprobe_page_fault(struct pt_regs *regs, unsigned int trap)
{
	if (!user_mode(regs))
		instruction_pointer_set(regs, kprobe_slot_origin(instruction_pointer(regs)));
	return false;
}

#endif /* _LINUX_KPROBES_H */
