/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kprobe events: what their files share.
 *
 * The one idea: an event probes a set of places.  Usually it is a set of one;
 * a pattern as the symbol makes it a larger one.  Nothing but the parser asks
 * which of the two it is: arming, hits and counts go over the members.
 *
 *	trace_kprobe.c		the events that there are
 *	trace_kprobe_files.c	tracefs files, boot
 *	trace_kprobe_def.c	from a definition to an event
 *	trace_kprobe_symbols.c	what symbols and patterns mean
 *	trace_kprobe_members.c	from that to members, registered
 *	trace_kprobe_module.c	when a module comes or goes
 *	trace_kprobe_arm.c	enable and disable: whole sets at once
 *	trace_kprobe_write.c	what one write adds and deletes
 *	trace_kprobe_set.c	many members for one call of the engine
 *	trace_kprobe_reset.c	what deletion leaves behind in the ring buffers
 *	trace_kprobe_hit.c	what a hit does, and how an entry looks
 *	trace_kprobe_perf.c	perf's own events, and what BPF asks
 *	trace_kprobe_cmd.c	definitions made by other parts of the kernel
 *
 * Lists, members and flags change under event_mutex.  Parsing is under
 * dyn_event_ops_mutex, taken before it.
 */

#ifndef _TRACE_KPROBE_H
#define _TRACE_KPROBE_H

#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>

#include "trace_dynevent.h"
#include "trace_probe.h"

#define KPROBE_EVENT_SYSTEM	"kprobes"

struct trace_kprobe;

/**
 * struct trace_kprobe_member - one place that an event probes
 * @rp:		the return probe; of a plain probe only @rp.kp is used
 * @tk:		the event's probe that it belongs to
 * @registered:	the engine knows it; where it stands in a module that is not
 *		loaded it does not, and @rp.kp.addr means nothing
 */
struct trace_kprobe_member {
	struct kretprobe	rp;
	struct trace_kprobe	*tk;
	bool			registered;
};

/**
 * struct trace_kprobe_members - the places that a definition comes to
 * @rcu:	perf and BPF look at them with nothing but RCU
 * @nr:		how many there are; at least one, maybe not registered
 * @left_out:	functions that match the pattern and may not be probed
 * @at:		the places
 *
 * Who looks at them with RCU alone looks at nothing of what is not registered.
 */
struct trace_kprobe_members {
	struct rcu_head			rcu;
	unsigned int			nr;
	unsigned int			left_out;
	struct trace_kprobe_member	at[] __counted_by(nr);
};

/**
 * struct trace_kprobe - a definition of kprobe_events
 * @devent:	in the list of dynamic events
 * @node:	in the table by group and name; see trace_kprobe_find()
 * @pending:	in the transaction that is open; see trace_kprobe_arm.c
 *		and trace_kprobe_write.c
 * @nhit:	hits, on each CPU
 * @symbol:	"[MOD:]SYM" or "[MOD:]PATTERN" as it was defined; NULL if it is
 *		an address
 * @offset:	from @symbol
 * @maxactive:	as it was defined, 0 if it was not
 * @is_return:	a return probe
 * @is_glob:	@symbol is a pattern
 * @retired:	deleted; it stays in its event's list of probes until
 *		trace_kprobe_retire() has unregistered it and frees it
 * @lost:	misses of members that are no more: their module has gone
 * @members:	the places; when their module comes it has others, published
 *		under event_mutex
 * @tp:		what all kinds of probe events have
 */
struct trace_kprobe {
	struct dyn_event		devent;
	struct hlist_node		node;
	struct list_head		pending;
	unsigned long __percpu		*nhit;
	const char			*symbol;
	unsigned long			offset;
	int				maxactive;
	bool				is_return;
	bool				is_glob;
	bool				retired;
	unsigned long			lost;
	struct trace_kprobe_members __rcu *members;
	struct trace_probe		tp;	/* ends in an array */
};

/* Under event_mutex or RCU, or when nobody else knows of @tk. */
static inline struct trace_kprobe_members *trace_kprobe_members(const struct trace_kprobe *tk)
{
	return rcu_dereference_check(tk->members, lockdep_is_held(&event_mutex) ||
						  hlist_unhashed(&tk->node));
}

/* @set is named twice: where RCU alone holds it, it is a variable. */
#undef for_each_member	/* of BTF */
#define for_each_member(m, set)						\
	for ((m) = (set)->at; (m) < (set)->at + (set)->nr; (m)++)

/* Of a definition that is no pattern: there is but one. */
static inline struct kprobe *trace_kprobe_only(const struct trace_kprobe *tk)
{
	return &trace_kprobe_members(tk)->at[0].rp.kp;
}

/* trace_dynevent.c's, which declares it nowhere. */
extern struct mutex dyn_event_ops_mutex;

extern struct dyn_event_operations trace_kprobe_ops;

static inline bool is_trace_kprobe(struct dyn_event *ev)
{
	return ev->ops == &trace_kprobe_ops;
}

static inline struct trace_kprobe *to_trace_kprobe(struct dyn_event *ev)
{
	return container_of(ev, struct trace_kprobe, devent);
}

static inline struct trace_kprobe *trace_kprobe_of(struct trace_probe *tp)
{
	return container_of(tp, struct trace_kprobe, tp);
}

/* All probes of one event; @tk is the cursor, @tp any of theirs. */
#define for_each_trace_kprobe_of(tk, _tp)				\
	list_for_each_entry(tk, trace_probe_probe_list(_tp), tp.list)

/*
 * The same, of a @call that event_mutex or a reference to it holds: while there is
 * one probes are added to it, and none is taken away.
 */
#define for_each_trace_kprobe_of_call(tk, call)				\
	list_for_each_entry_lockless(tk, &trace_probe_event_from_call(call)->probes, tp.list)

/* The first that is not deleted stands for them all; NULL if all are. */
static inline struct trace_kprobe *trace_kprobe_of_call(struct trace_event_call *call)
{
	struct trace_kprobe *tk;

	for_each_trace_kprobe_of_call(tk, call)
		if (!READ_ONCE(tk->retired))
			return tk;
	return NULL;
}

/* trace_kprobe.c */
struct trace_kprobe *trace_kprobe_alloc(const char *group, const char *event,
					int nargs, bool is_return);
void trace_kprobe_free(struct trace_kprobe *tk);
struct trace_kprobe *trace_kprobe_find(const char *event, const char *group);
int trace_kprobe_register(struct trace_kprobe *tk);
unsigned long trace_kprobe_hits(struct trace_kprobe *tk);
unsigned long trace_kprobe_misses(struct trace_kprobe *tk);
int trace_kprobe_show(struct seq_file *m, struct dyn_event *ev);

/* trace_kprobe_def.c */
int trace_kprobe_parse(int argc, const char *argv[]);	/* defines and registers */

/* trace_kprobe_symbols.c */
bool trace_kprobe_awaits_module(const char *symbol);
unsigned int trace_kprobe_count_symbols(const char *symbol);
int trace_kprobe_first_match(const char *symbol, char *name);
int trace_kprobe_find_matches(const char *symbol, unsigned long **addrs,
			      unsigned int *left_out);

/* trace_kprobe_members.c */
int trace_kprobe_add_address(struct trace_kprobe *tk, void *addr);
int trace_kprobe_add_symbol(struct trace_kprobe *tk);
int trace_kprobe_register_members(struct trace_kprobe *tk);	/* disarmed */
void trace_kprobe_unregister_members(struct trace_kprobe *tk);	/* one grace period */
int trace_kprobe_renew_members(struct trace_kprobe *tk);

/* trace_kprobe_module.c */
#ifdef CONFIG_MODULES
bool trace_kprobe_may_load(const char *name);
int trace_kprobe_module_init(void);
#else
static inline bool trace_kprobe_may_load(const char *name)
{
	return false;
}

static inline int trace_kprobe_module_init(void)
{
	return 0;
}
#endif

/* trace_kprobe_arm.c */
int trace_kprobe_enable(struct trace_event_call *call, struct trace_event_file *file);
int trace_kprobe_disable(struct trace_event_call *call, struct trace_event_file *file);

/* trace_kprobe_write.c */
void trace_kprobe_arm_later(struct trace_kprobe *tk);
/*
 * Unregister it, then trace_probe_unlink() and trace_kprobe_free(): at once, or
 * when the open write ends, or when nobody has a reference to its event.  It is
 * in no other list any more; handlers may run, and look at its event, until it is
 * unregistered.
 */
void trace_kprobe_retire(struct trace_kprobe *tk);
bool trace_kprobe_in_write(void);

/**
 * struct trace_kprobe_set - members for one call of the engine
 * @kps:	their probes
 * @nr:		how many there are
 * @room:	how many there may be
 * @few:	@kps without memory
 */
struct trace_kprobe_set {
	struct kprobe	**kps;
	unsigned int	nr;
	unsigned int	room;
	struct kprobe	*few[8];
};

/* trace_kprobe_set.c */
void trace_kprobe_set_init(struct trace_kprobe_set *set, unsigned int room);
void trace_kprobe_set_free(struct trace_kprobe_set *set);
int trace_kprobe_set_call(struct trace_kprobe_set *set,
			  int (*engine)(struct kprobe **kps, int num));
void trace_kprobe_set_add(struct trace_kprobe_set *set, struct trace_kprobe_member *m,
			  int (*engine)(struct kprobe **kps, int num));
int trace_kprobe_unregister(struct kprobe **kps, int num);

/* What a probe in a list stands for: itself, or all of its event. */
enum trace_kprobe_scope {
	TRACE_KPROBE_ALONE,
	TRACE_KPROBE_EVENT,
};

int trace_kprobes_arm(struct list_head *probes, enum trace_kprobe_scope scope);
void trace_kprobes_disarm(struct list_head *probes);

/* trace_kprobe_reset.c */
void trace_kprobe_reset_kept(void);

/* trace_kprobe_hit.c */
void trace_kprobe_init_call(struct trace_kprobe *tk);	/* class and funcs: of a new event */
void trace_kprobe_init_member(struct trace_kprobe_member *m);	/* handlers: of a new member */

#endif /* _TRACE_KPROBE_H */
