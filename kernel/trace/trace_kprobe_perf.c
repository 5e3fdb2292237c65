// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: those that perf_event_open() makes for itself, and what BPF asks
 * of any of them.
 *
 * The one idea: perf's own event is a definition like any other, put together here
 * in place of the parser, and in no list: it is found by nobody but its owner.
 */
#include <linux/bpf.h>
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "trace_kprobe.h"

/* No two of them need tell themselves apart: their names are seen nowhere. */
#define LOCAL_EVENT_NAME	"perf_local"

/* What is asked of a place; @addr of one that is not registered is 0. */
struct place {
	unsigned long	addr;
	bool		on_entry;
};

/* A copy of the @n-th place of a probe, which a module's coming may replace. */
static bool copy_place(const struct trace_kprobe *tk, unsigned int n, struct place *to)
{
	struct trace_kprobe_members *set;
	struct trace_kprobe_member *m;

	guard(rcu)();
	set = trace_kprobe_members(tk);
	if (n >= READ_ONCE(set->nr))
		return false;
	m = &set->at[n];
	*to = (struct place){};
	/* Pairs with register_range(). */
	if (smp_load_acquire(&m->registered)) {
		to->addr = (unsigned long)m->rp.kp.addr;
		to->on_entry = READ_ONCE(m->rp.kp.flags) & KPROBE_FLAG_ON_FUNC_ENTRY;
	}
	return true;
}

/*
 * Is @test, which may sleep, true of every place that @call probes, and is there one?
 *
 * perf asks under locks that are taken inside event_mutex: we do not take it.
 */
static bool all_places(struct trace_event_call *call, bool (*test)(const struct place *at))
{
	struct trace_kprobe *tk;
	struct place at;
	bool any = false;
	unsigned int n;

	for_each_trace_kprobe_of_call(tk, call) {
		if (READ_ONCE(tk->retired))
			continue;
		for (n = 0; copy_place(tk, n, &at); n++) {
			if (!test(&at))
				return false;
			any = true;
		}
	}
	return any;
}

static bool place_on_entry(const struct place *at)
{
	return at->on_entry;
}

/**
 * trace_kprobe_on_func_entry() - does an event probe nothing but functions' entries?
 * @call:	the event
 *
 * Context: may sleep; the caller has a reference to the event.
 * Return: true when all the places that it probes are.
 */
bool trace_kprobe_on_func_entry(struct trace_event_call *call)
{
	return all_places(call, place_on_entry);
}

static bool place_injectable(const struct place *at)
{
	return at->addr && within_error_injection_list(at->addr);
}

/**
 * trace_kprobe_error_injectable() - may an error be injected wherever an event probes?
 * @call:	the event
 *
 * Context: may sleep; the caller has a reference to the event.
 * Return: true when all the functions that it probes are said to allow it.
 */
bool trace_kprobe_error_injectable(struct trace_event_call *call)
{
	return all_places(call, place_injectable);
}

/**
 * bpf_get_kprobe_info() - what a perf event probes, for BPF's link and task queries
 * @event:	a perf event on a kprobe event
 * @fd_type:	BPF_FD_TYPE_KPROBE or BPF_FD_TYPE_KRETPROBE
 * @symbol:	the symbol or the pattern; NULL when it was defined by an address
 * @probe_offset: bytes from the symbol
 * @probe_addr:	the address; 0 when it is not to be seen, when there is none as its
 *		module is not loaded, or when there are several
 * @missed:	how many hits were missed; NULL if it is not asked for
 * @perf_type_tracepoint: the event is one of tracefs, not perf's own
 *
 * Context: may sleep; the caller holds @event, and so what is in @symbol.
 * Return: 0, or -EINVAL when the event has no probe.
 */
int bpf_get_kprobe_info(const struct perf_event *event, u32 *fd_type, const char **symbol,
			u64 *probe_offset, u64 *probe_addr, unsigned long *missed,
			bool perf_type_tracepoint)
{
	struct trace_kprobe *tk = trace_kprobe_of_call(event->tp_event);
	struct place at, second;

	if (!tk)
		return -EINVAL;
	if (!copy_place(tk, 0, &at) || copy_place(tk, 1, &second) ||
	    !kallsyms_show_value(current_cred()))
		at.addr = 0;

	*fd_type = tk->is_return ? BPF_FD_TYPE_KRETPROBE : BPF_FD_TYPE_KPROBE;
	*symbol = tk->symbol;
	*probe_offset = tk->offset;
	*probe_addr = at.addr;
	if (!missed)
		return 0;
	guard(rcu)();
	*missed = trace_kprobe_misses(tk);
	return 0;
}

/* Where it is, as the parser would have it. */
static int local_place(struct trace_kprobe *tk, const char *func, void *addr,
		       unsigned long offs)
{
	if (!func)
		return trace_kprobe_add_address(tk, addr);

	tk->offset = offs;
	tk->symbol = kstrdup(func, GFP_KERNEL);
	return tk->symbol ? trace_kprobe_add_symbol(tk) : -ENOMEM;
}

static int local_setup(struct trace_kprobe *tk, const char *func, void *addr,
		       unsigned long offs)
{
	int err = local_place(tk, func, addr, offs);

	if (err)
		return err;
	trace_kprobe_init_call(tk);
	err = traceprobe_set_print_fmt(&tk->tp, tk->is_return ? PROBE_PRINT_RETURN :
							      PROBE_PRINT_NORMAL);
	return err ?: trace_kprobe_register_members(tk);
}

/**
 * create_local_trace_kprobe() - an event of perf's own
 * @func:	the function's name; NULL: @addr is the place
 * @addr:	the place, if there is no @func
 * @offs:	bytes from @func
 * @is_return:	probe its return
 *
 * It is not armed until perf wants it.
 *
 * Context: may sleep; event_mutex not held.
 * Return: the event, or an ERR_PTR(): -EINVAL: not to be probed; -ENOENT: no such
 * symbol; -EADDRNOTAVAIL: several symbols of that name; -EILSEQ: no instruction
 * begins there; -ENOMEM.
 */
struct trace_event_call *
create_local_trace_kprobe(char *func, void *addr, unsigned long offs, bool is_return)
{
	struct trace_kprobe *tk;
	int err;

	tk = trace_kprobe_alloc(KPROBE_EVENT_SYSTEM, LOCAL_EVENT_NAME, 0, is_return);
	if (IS_ERR(tk))
		return ERR_CAST(tk);

	mutex_lock(&event_mutex);
	err = local_setup(tk, func, addr, offs);
	if (err)
		trace_kprobe_free(tk);
	mutex_unlock(&event_mutex);
	return err ? ERR_PTR(err) : trace_probe_event_call(&tk->tp);
}

/**
 * destroy_local_trace_kprobe() - let go of an event of perf's own
 * @event_call:	the event
 *
 * Context: may sleep; with event_mutex or without, since nobody else has the event.
 */
void destroy_local_trace_kprobe(struct trace_event_call *event_call)
{
	struct trace_kprobe *tk = trace_kprobe_of_call(event_call);

	if (WARN_ON_ONCE(!tk || trace_probe_is_enabled(&tk->tp)))
		return;
	trace_kprobe_unregister_members(tk);
	trace_kprobe_free(tk);
}
