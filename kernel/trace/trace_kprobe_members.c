// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: from a symbol or a pattern to members, and to registered probes.
 *
 * The one idea: members are made anew whenever the text that they stand in comes,
 * from the symbol as it was defined.  So a definition in a module that is not loaded
 * is no special case: its members are only not registered yet.
 */
#define pr_fmt(fmt) "trace_kprobe: " fmt

#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "trace_kprobe.h"

/* Members */

static struct trace_kprobe_members *alloc_members(struct trace_kprobe *tk, unsigned int nr)
{
	struct trace_kprobe_members *set;
	struct trace_kprobe_member *m;

	set = kvzalloc(struct_size(set, at, nr), GFP_KERNEL);
	if (!set)
		return ERR_PTR(-ENOMEM);
	set->nr = nr;
	for_each_member(m, set)
		m->tk = tk;
	return set;
}

static struct trace_kprobe_members *members_of_symbol(struct trace_kprobe *tk)
{
	struct trace_kprobe_members *set;

	switch (trace_kprobe_count_symbols(tk->symbol)) {
	case 0:
		if (!trace_kprobe_awaits_module(tk->symbol))
			return ERR_PTR(-ENOENT);
		break;
	case 1:
		break;
	default:
		return ERR_PTR(-EADDRNOTAVAIL);
	}

	set = alloc_members(tk, 1);
	if (!IS_ERR(set)) {
		set->at[0].rp.kp.symbol_name = tk->symbol;
		set->at[0].rp.kp.offset = tk->offset;
	}
	return set;
}

static struct trace_kprobe_members *members_of_pattern(struct trace_kprobe *tk)
{
	struct trace_kprobe_members *set;
	unsigned long *addrs = NULL;
	unsigned int left_out;
	int i, nr;

	nr = trace_kprobe_find_matches(tk->symbol, &addrs, &left_out);
	if (nr == -ENOENT && trace_kprobe_awaits_module(tk->symbol))
		return alloc_members(tk, 1);
	if (nr < 0)
		return ERR_PTR(nr);

	set = alloc_members(tk, nr);
	if (!IS_ERR(set)) {
		set->left_out = left_out;
		for (i = 0; i < nr; i++)
			set->at[i].rp.kp.addr = (kprobe_opcode_t *)addrs[i];
	}
	kvfree(addrs);
	return set;
}

/* What its symbol means now; not registered yet. */
static struct trace_kprobe_members *make_members(struct trace_kprobe *tk)
{
	return tk->is_glob ? members_of_pattern(tk) : members_of_symbol(tk);
}

/* Whoever has looked at those before may still do so. */
static void publish_members(struct trace_kprobe *tk, struct trace_kprobe_members *set)
{
	struct trace_kprobe_members *old = trace_kprobe_members(tk);

	rcu_assign_pointer(tk->members, set);
	if (old)
		kvfree_rcu(old, rcu);
}

/**
 * trace_kprobe_add_address() - have a probe stand at an address
 * @tk:		the probe, without members
 * @addr:	the address
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int trace_kprobe_add_address(struct trace_kprobe *tk, void *addr)
{
	struct trace_kprobe_members *set = alloc_members(tk, 1);

	if (IS_ERR(set))
		return PTR_ERR(set);
	/* Where the engine will have it, so that equal places have equal addresses. */
	if (ftrace_location((unsigned long)addr))
		addr = (void *)ftrace_location((unsigned long)addr);
	set->at[0].rp.kp.addr = addr;
	publish_members(tk, set);
	return 0;
}

/**
 * trace_kprobe_add_symbol() - have a probe stand where its symbol is
 * @tk:	the probe, without members; @tk->symbol is set, and @tk->is_glob or @tk->offset
 *
 * A symbol of a module that is not loaded is taken on trust, and a pattern for it
 * matches nothing yet, which is no error: registering the one member says -ENOENT
 * until the module is there.
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: no such symbol, or no function matches that may be probed;
 * -EADDRNOTAVAIL: several symbols; -ENOMEM.
 */
int trace_kprobe_add_symbol(struct trace_kprobe *tk)
{
	struct trace_kprobe_members *set = make_members(tk);

	if (IS_ERR(set))
		return PTR_ERR(set);
	publish_members(tk, set);
	return 0;
}

/* Registration */

/*
 * ftrace's own functions have no fentry, and are what a hit is written down with.
 * A part that the compiler has split off has none either: it is as good as the
 * function that it is from.
 */
static bool is_notrace(unsigned long addr)
{
	char name[KSYM_NAME_LEN], *dot;
	unsigned long size, into;

	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) || IS_ENABLED(CONFIG_KPROBE_EVENTS_ON_NOTRACE))
		return false;
	if (!kallsyms_lookup_size_offset(addr, &size, &into))
		return false;	/* the engine says it better */
	if (ftrace_location(addr - into))
		return false;

	if (lookup_symbol_name(addr, name))
		return true;
	dot = strchr(name, '.');
	if (!dot)
		return true;
	*dot = '\0';
	addr = kallsyms_lookup_name(name);
	return !addr || !ftrace_location(addr);
}

static int check_traced(const struct kprobe *p)
{
	unsigned long addr = (unsigned long)p->addr;

	if (p->symbol_name)
		addr = kallsyms_lookup_name(p->symbol_name);
	if (!addr)
		return -ENOENT;
	addr += p->offset;
	if (!is_notrace(addr))
		return 0;
	pr_warn("Could not probe notrace function %ps\n", (void *)addr);
	return -EINVAL;
}

/* Whoever adds a place to an enabled event wants its hits at once, or after the write. */
static void prepare_member(struct trace_kprobe_member *m)
{
	bool armed = trace_probe_is_enabled(&m->tk->tp) && !trace_kprobe_in_write();

	m->rp.kp.flags = armed ? 0 : KPROBE_FLAG_DISABLED;
	m->rp.maxactive = m->tk->maxactive;
	trace_kprobe_init_member(m);
}

/* Register @nr members, in one transaction; @set has room for them. */
static int register_range(struct trace_kprobe_member *first, unsigned int nr,
			  struct kretprobe **set)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		prepare_member(&first[i]);
		set[i] = &first[i].rp;
	}
	if (first->tk->is_return)
		err = register_kretprobes(set, nr);
	else
		err = register_kprobes((struct kprobe **)set, nr);
	for (i = 0; i < nr; i++) {
		/* Pairs with copy_place(). */
		smp_store_release(&first[i].registered, !err);
	}
	return err;
}

/* The engine does not take it: the last one takes its place. */
static void leave_out(struct trace_kprobe_members *set, unsigned int i)
{
	set->at[i] = set->at[set->nr - 1];
	WRITE_ONCE(set->nr, set->nr - 1);
	set->left_out++;
}

/*
 * Register all, in one transaction.  If that is refused: half of them, and so on,
 * until it is known who is to blame.  What is registered stands in front of what is
 * not, which alone may move.
 */
static int register_all(struct trace_kprobe_members *set, struct kretprobe **probes)
{
	unsigned int done = 0, step = set->nr;
	int err = 0;

	while (done < set->nr) {
		step = min(step, set->nr - done);
		err = register_range(set->at + done, step, probes);
		if (err == -ENOMEM)
			return err;
		if (!err) {
			done += step;
			step *= 2;
		} else if (step > 1) {
			step /= 2;
		} else {
			if (set->nr == 1)
				return err;
			leave_out(set, done);
		}
	}
	return 0;
}

/* Without memory it takes a grace period for a few. */
static void unregister_members(struct trace_kprobe_members *set)
{
	struct trace_kprobe_member *m;
	struct trace_kprobe_set all;

	trace_kprobe_set_init(&all, set->nr);
	for_each_member(m, set)
		if (m->registered)
			trace_kprobe_set_add(&all, m, trace_kprobe_unregister);
	trace_kprobe_set_call(&all, trace_kprobe_unregister);
	trace_kprobe_set_free(&all);
}

static int register_matches(struct trace_kprobe *tk, struct trace_kprobe_members *set)
{
	struct kretprobe **probes;
	int err;

	if (!set->at[0].rp.kp.addr)
		return -ENOENT;
	probes = kvmalloc_array(set->nr, sizeof(*probes), GFP_KERNEL);
	if (!probes)
		return -ENOMEM;
	err = register_all(set, probes);
	kvfree(probes);
	if (err)
		unregister_members(set);
	else if (set->left_out)
		pr_info("%s: %u functions are probed, %u that match may not be\n",
			tk->symbol, set->nr, set->left_out);
	return err;
}

/* The arguments may read symbols, of the same module perhaps. */
static int update_args(struct trace_kprobe *tk)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < tk->tp.nr_args && !err; i++)
		err = traceprobe_update_arg(&tk->tp.args[i]);
	return err;
}

/* What may be registered, arguments and all. */
static int register_set(struct trace_kprobe *tk, struct trace_kprobe_members *set)
{
	struct kretprobe *alone;
	int err;

	err = security_locked_down(LOCKDOWN_KPROBES);
	err = err ?: update_args(tk);
	if (err)
		return err;
	if (tk->is_glob)
		return register_matches(tk, set);
	err = check_traced(&set->at[0].rp.kp);
	return err ?: register_range(set->at, 1, &alone);
}

/**
 * trace_kprobe_register_members() - have the engine know a probe's members
 * @tk:	the probe, with members, arguments and event
 *
 * They are not armed unless the event is enabled, and then not before the end of
 * the write that this task is in.  Members of a pattern that the
 * engine refuses are left out; what is left out is told in one line of the log.
 *
 * Context: nobody but us can look at @tk's members yet; may sleep.
 * Return: 0; -EPERM: the kernel is locked down; -EINVAL: a notrace function; -ENOENT:
 * an argument reads a symbol that is not there; else as
 * register_kprobes() or register_kretprobes(), and nothing is registered.
 */
int trace_kprobe_register_members(struct trace_kprobe *tk)
{
	return register_set(tk, trace_kprobe_members(tk));
}

/**
 * trace_kprobe_unregister_members() - have the engine forget a probe's members
 * @tk:	the probe
 *
 * When this returns no handler of theirs runs.  What they have missed is kept in
 * @tk->lost.
 *
 * Context: event_mutex held, or nobody knows of @tk; may sleep.
 */
void trace_kprobe_unregister_members(struct trace_kprobe *tk)
{
	struct trace_kprobe_members *set = trace_kprobe_members(tk);
	struct trace_kprobe_member *m;

	unregister_members(set);
	WRITE_ONCE(tk->lost, trace_kprobe_misses(tk));
	for_each_member(m, set)
		WRITE_ONCE(m->registered, false);
}

/**
 * trace_kprobe_renew_members() - have the engine know members of the text as it is now
 * @tk:	the probe; none of the members that it has are registered
 *
 * Context: event_mutex held; may sleep.
 * Return: 0; or as trace_kprobe_add_symbol() and trace_kprobe_register_members(), and
 * it has the members that it had.
 */
int trace_kprobe_renew_members(struct trace_kprobe *tk)
{
	struct trace_kprobe_members *set = make_members(tk);
	int err;

	if (IS_ERR(set))
		return PTR_ERR(set);
	err = register_set(tk, set);
	if (err)
		kvfree(set);
	else
		publish_members(tk, set);
	return err;
}
