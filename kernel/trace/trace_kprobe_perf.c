// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: those that perf_event_open() makes for itself, and what BPF asks
 * of any of them.
 *
 * The one idea: perf's own event is a definition like any other, put together here
 * in place of the parser, and in no list: it is found by nobody but its owner.
 */
#include <linux/bpf.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/error-injection.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "trace_kprobe.h"

/* No two of them need tell themselves apart: their names are seen nowhere. */
#define LOCAL_EVENT_NAME	"perf_local"

static struct trace_kprobe *first_of(struct trace_event_call *call)
{
	struct trace_probe *tp = trace_probe_primary_from_call(call);

	return tp ? trace_kprobe_of(tp) : NULL;
}

/*
 * Is @test true of every place that @call probes, and is there one?
 *
 * perf asks under locks that are taken inside event_mutex: we do not take it.
 */
static bool all_members(struct trace_event_call *call,
			bool (*test)(const struct trace_kprobe_member *m))
{
	struct trace_kprobe_member *m;
	struct trace_kprobe *tk;
	bool any = false;

	list_for_each_entry(tk, &trace_probe_event_from_call(call)->probes, tp.list) {
		for_each_member(m, tk) {
			if (!test(m))
				return false;
			any = true;
		}
	}
	return any;
}

static bool member_on_entry(const struct trace_kprobe_member *m)
{
	return m->registered && m->rp.kp.flags & KPROBE_FLAG_ON_FUNC_ENTRY;
}

/**
 * trace_kprobe_on_func_entry() - does an event probe nothing but functions' entries?
 * @call:	the event
 *
 * Context: may sleep; the caller holds the event.
 * Return: true when all the places that it probes are.
 */
bool trace_kprobe_on_func_entry(struct trace_event_call *call)
{
	return all_members(call, member_on_entry);
}

static bool member_injectable(const struct trace_kprobe_member *m)
{
	return m->registered && within_error_injection_list((unsigned long)m->rp.kp.addr);
}

/**
 * trace_kprobe_error_injectable() - may an error be injected wherever an event probes?
 * @call:	the event
 *
 * Context: may sleep; the caller holds the event.
 * Return: true when all the functions that it probes are said to allow it.
 */
bool trace_kprobe_error_injectable(struct trace_event_call *call)
{
	return all_members(call, member_injectable);
}

/**
 * bpf_get_kprobe_info() - what a perf event probes, for BPF's link and task queries
 * @event:	a perf event on a kprobe event
 * @fd_type:	BPF_FD_TYPE_KPROBE or BPF_FD_TYPE_KRETPROBE
 * @symbol:	the symbol or the pattern; NULL when it was defined by an address
 * @probe_offset: bytes from the symbol
 * @probe_addr:	the address; 0 when it is not to be seen, or when there are several
 * @missed:	how many hits were missed; NULL if it is not asked for
 * @perf_type_tracepoint: the event is one of tracefs, not perf's own
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL when the event has no probe.
 */
int bpf_get_kprobe_info(const struct perf_event *event, u32 *fd_type, const char **symbol,
			u64 *probe_offset, u64 *probe_addr, unsigned long *missed,
			bool perf_type_tracepoint)
{
	struct trace_kprobe *tk = first_of(event->tp_event);
	unsigned long addr = 0;

	if (!tk)
		return -EINVAL;
	if (tk->nr_members == 1 && kallsyms_show_value(current_cred()))
		addr = (unsigned long)tk->members[0].rp.kp.addr;

	*fd_type = tk->is_return ? BPF_FD_TYPE_KRETPROBE : BPF_FD_TYPE_KPROBE;
	*symbol = tk->symbol;
	*probe_offset = tk->offset;
	*probe_addr = addr;
	if (missed)
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
	struct trace_kprobe *tk = first_of(event_call);

	if (WARN_ON_ONCE(!tk || trace_probe_is_enabled(&tk->tp)))
		return;
	trace_kprobe_unregister_members(tk);
	trace_kprobe_free(tk);
}
