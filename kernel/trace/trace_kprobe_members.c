// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: from a symbol or a pattern to members, and to registered probes.
 *
 * The one idea: members are made anew whenever the text that they stand in comes,
 * from the symbol as it was defined.  So a definition in a module that is not loaded
 * is no special case: its members are only not registered yet.
 */
#define pr_fmt(fmt) "trace_kprobe: " fmt

#include <linux/cleanup.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "trace_kprobe.h"

/* Behind the engine's, which is to know a module's text before we probe it. */
#define TRACE_KPROBE_NOTIFIER_PRIORITY 2

static bool is_in_module(const struct trace_kprobe *tk, const struct module *mod)
{
	size_t len = strlen(mod->name);

	return tk->symbol && !strncmp(tk->symbol, mod->name, len) && tk->symbol[len] == ':';
}

/* Members */

static int alloc_members(struct trace_kprobe *tk, unsigned int nr)
{
	struct trace_kprobe_member *m;

	tk->members = kvcalloc(nr, sizeof(*tk->members), GFP_KERNEL);
	if (!tk->members)
		return -ENOMEM;
	tk->nr_members = nr;
	for_each_member(m, tk)
		m->tk = tk;
	return 0;
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
	int err = alloc_members(tk, 1);

	if (err)
		return err;
	/* Where the engine will have it, so that equal places have equal addresses. */
	if (ftrace_location((unsigned long)addr))
		addr = (void *)ftrace_location((unsigned long)addr);
	tk->members->rp.kp.addr = addr;
	return 0;
}

/**
 * trace_kprobe_add_symbol() - have a probe stand at its symbol
 * @tk:	the probe, without members; @tk->symbol and @tk->offset are set
 *
 * A symbol of a module that is not loaded is taken on trust: registering its member
 * says -ENOENT until the module is there.
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: no such symbol; -EADDRNOTAVAIL: several; -ENOMEM.
 */
int trace_kprobe_add_symbol(struct trace_kprobe *tk)
{
	int err;

	switch (trace_kprobe_count_symbols(tk->symbol)) {
	case 0:
		if (!trace_kprobe_awaits_module(tk->symbol))
			return -ENOENT;
		break;
	case 1:
		break;
	default:
		return -EADDRNOTAVAIL;
	}

	err = alloc_members(tk, 1);
	if (err)
		return err;
	tk->members->rp.kp.symbol_name = tk->symbol;
	tk->members->rp.kp.offset = tk->offset;
	return 0;
}

/**
 * trace_kprobe_add_matches() - have a probe stand on every function that matches
 * @tk:	the probe, without members; @tk->symbol is the pattern
 *
 * A pattern for a module that is not loaded matches nothing yet, which is no error:
 * there is one member, without an address.
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: no function matches that may be probed; -ENOMEM.
 */
int trace_kprobe_add_matches(struct trace_kprobe *tk)
{
	unsigned long *addrs = NULL;
	int i, nr, err;

	nr = trace_kprobe_find_matches(tk->symbol, &addrs, &tk->left_out);
	if (nr == -ENOENT && trace_kprobe_awaits_module(tk->symbol))
		return alloc_members(tk, 1);
	if (nr < 0)
		return nr;
	err = alloc_members(tk, nr);
	for (i = 0; i < nr && !err; i++)
		tk->members[i].rp.kp.addr = (kprobe_opcode_t *)addrs[i];
	kvfree(addrs);
	return err;
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
	if (ftrace_location_range(addr - into, addr - into + size - 1))
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

/* Whoever adds a place to an enabled event wants its hits at once. */
static void prepare_member(struct trace_kprobe_member *m)
{
	struct kprobe *p = &m->rp.kp;

	p->flags = trace_probe_is_enabled(&m->tk->tp) ? 0 : KPROBE_FLAG_DISABLED;
	if (p->symbol_name)
		p->addr = NULL;
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
	for (i = 0; i < nr; i++)
		first[i].registered = !err;
	return err;
}

/* The engine does not take it: the last one takes its place. */
static void leave_out(struct trace_kprobe *tk, unsigned int i)
{
	tk->members[i] = tk->members[--tk->nr_members];
	tk->left_out++;
}

/*
 * Register all, in one transaction.  If that is refused: half of them, and so on,
 * until it is known who is to blame.  What is registered stands in front of what is
 * not, which alone may move.
 */
static int register_all(struct trace_kprobe *tk, struct kretprobe **set)
{
	unsigned int done = 0, step = tk->nr_members;
	int err = 0;

	while (done < tk->nr_members) {
		step = min(step, tk->nr_members - done);
		err = register_range(tk->members + done, step, set);
		if (err == -ENOMEM)
			return err;
		if (!err) {
			done += step;
			step *= 2;
		} else if (step > 1) {
			step /= 2;
		} else {
			if (tk->nr_members == 1)
				return err;
			leave_out(tk, done);
		}
	}
	return 0;
}

static int register_matches(struct trace_kprobe *tk)
{
	struct kretprobe **set;
	int err;

	if (!tk->members->rp.kp.addr)
		return -ENOENT;
	set = kvmalloc_array(tk->nr_members, sizeof(*set), GFP_KERNEL);
	if (!set)
		return -ENOMEM;
	err = register_all(tk, set);
	kvfree(set);
	if (err)
		trace_kprobe_unregister_members(tk);
	else if (tk->left_out)
		pr_info("%s: %u functions are probed, %u that match may not be\n",
			tk->symbol, tk->nr_members, tk->left_out);
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

/**
 * trace_kprobe_register_members() - have the engine know a probe's members
 * @tk:	the probe, with members, arguments and event
 *
 * They are not armed unless the event is enabled.  Members of a pattern that the
 * engine refuses are left out; what is left out is told in one line of the log.
 *
 * Context: event_mutex held, or nobody knows of @tk; may sleep.
 * Return: 0; -EPERM: the kernel is locked down; -EINVAL: a notrace function; -ENOENT:
 * an argument reads a symbol that is not there; else as
 * register_kprobes() or register_kretprobes(), and nothing is registered.
 */
int trace_kprobe_register_members(struct trace_kprobe *tk)
{
	struct kretprobe *alone;
	int err;

	err = security_locked_down(LOCKDOWN_KPROBES);
	err = err ?: update_args(tk);
	if (err)
		return err;
	if (tk->is_glob)
		return register_matches(tk);
	err = check_traced(&tk->members->rp.kp);
	if (err)
		return err;
	return register_range(tk->members, 1, &alone);
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
	struct trace_kprobe_member *m;
	struct kretprobe *alone, **set;
	unsigned int nr = 0;

	/* Without memory it takes a grace period for each. */
	set = kvmalloc_array(tk->nr_members, sizeof(*set), GFP_KERNEL);
	for_each_member(m, tk) {
		if (!m->registered)
			continue;
		alone = &m->rp;
		if (set)
			set[nr++] = alone;
		else if (tk->is_return)
			unregister_kretprobe(alone);
		else
			unregister_kprobe(&alone->kp);
	}
	if (tk->is_return)
		unregister_kretprobes(set, nr);
	else
		unregister_kprobes((struct kprobe **)set, nr);
	kvfree(set);

	tk->lost = trace_kprobe_misses(tk);
	for_each_member(m, tk)
		m->registered = false;
}

/* Modules */

/* The members that a pattern has now, in place of those that it had. */
static int match_again(struct trace_kprobe *tk)
{
	struct trace_kprobe_member *old = tk->members;
	unsigned int nr_old = tk->nr_members;
	int err = trace_kprobe_add_matches(tk);

	if (err) {
		tk->members = old;
		tk->nr_members = nr_old;
	} else {
		kvfree(old);
	}
	return err;
}

static void module_came(struct trace_kprobe *tk)
{
	int err = 0;

	if (tk->members->registered)
		return;
	if (tk->is_glob)
		err = match_again(tk);
	if (!err)
		err = trace_kprobe_register_members(tk);
	if (err)
		pr_warn("%s/%s: could not probe %s: error %d\n", trace_probe_group_name(&tk->tp),
			trace_probe_name(&tk->tp), tk->symbol, err);
}

static void module_goes(struct trace_kprobe *tk)
{
	trace_kprobe_unregister_members(tk);
	/* Addresses mean nothing any more.  There is always a first member. */
	if (tk->is_glob) {
		tk->nr_members = 1;
		tk->members->rp.kp.addr = NULL;
	}
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *data)
{
	struct dyn_event *ev;

	if (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING)
		return NOTIFY_DONE;

	guard(mutex)(&event_mutex);
	for_each_dyn_event(ev) {
		if (!is_trace_kprobe(ev) || !is_in_module(to_trace_kprobe(ev), data))
			continue;
		if (state == MODULE_STATE_COMING)
			module_came(to_trace_kprobe(ev));
		else
			module_goes(to_trace_kprobe(ev));
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call	= module_notify,
	.priority	= TRACE_KPROBE_NOTIFIER_PRIORITY,
};

/**
 * trace_kprobe_module_init() - from now on follow what modules come and go
 *
 * Context: boot.
 * Return: 0 or a negative errno.
 */
int __init trace_kprobe_module_init(void)
{
	if (!IS_ENABLED(CONFIG_MODULES))
		return 0;
	return register_module_notifier(&module_nb);
}
