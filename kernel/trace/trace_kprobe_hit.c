// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: what a hit does, and how an entry looks to user space.
 *
 * The one idea: a plain hit and a return differ in the head of their entry and in
 * nothing else.  Each makes a struct hit, with the head in it; writing the entry,
 * for each trace instance and for perf, is the same code, inlined into both.
 *
 * Handlers run in any context, in that of a breakpoint too: no lock, no allocation,
 * nothing in memory but this CPU's and the stack.  All that is called here and
 * belongs to us may not be probed.
 */
#include <linux/bpf.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <linux/trace_events.h>

#include "trace_kprobe.h"
#include "trace_probe_kernel.h"
#include "trace_probe_tmpl.h"

/* The two addresses of a head behind its struct trace_entry. */
static_assert(sizeof(struct kretprobe_trace_entry_head) ==
	      sizeof(struct kprobe_trace_entry_head) + sizeof(unsigned long));

/**
 * struct hit - a hit that is to be written down
 * @tk:		whose
 * @regs:	as the handler was given them
 * @edata:	what a return finds from its entry, or NULL
 * @ip:		the probed address
 * @ret_ip:	where the function has returned to; of returns alone
 * @head:	bytes of the entry before the arguments
 * @dynamic:	bytes of the entry behind them
 */
struct hit {
	struct trace_kprobe	*tk;
	struct pt_regs		*regs;
	void			*edata;
	unsigned long		ip;
	unsigned long		ret_ip;
	unsigned int		head;
	int			dynamic;
};

/* What the entry has left for the return. */
static nokprobe_inline unsigned long left_by_entry(const void *edata, int offset)
{
	return *(const unsigned long *)(edata + offset);
}

/* An argument's first stage: the value that it starts from. */
static nokprobe_inline int first_value(const struct fetch_insn *code, struct pt_regs *regs,
				       const void *edata, unsigned long *value)
{
	switch (code->op) {
	case FETCH_OP_EDATA:
		*value = left_by_entry(edata, code->offset);
		return 0;
	case FETCH_OP_LATENCY:
		*value = fetch_clock() - left_by_entry(edata, code->offset);
		return 0;
	default:
		return process_regs_fetch_insn(code, regs, value);
	}
}

/* The template calls this for all that is no plain copy. */
static int process_fetch_insn(struct fetch_insn *code, void *rec, void *edata,
			      void *dest, void *base)
{
	unsigned long value;
	int err;

	/* The name is only kept to be looked up again. */
	while (code->op == FETCH_NOP_SYMBOL)
		code++;
	err = first_value(code, rec, edata, &value);
	return err < 0 ? err : process_fetch_insn_bottom(code + 1, value, dest, base);
}
NOKPROBE_SYMBOL(process_fetch_insn)

/* Most events know at their definition what an entry takes. */
static nokprobe_inline int dynamic_size(const struct hit *h)
{
	struct trace_probe *tp = &h->tk->tp;

	return likely(!tp->nr_dynamic) ? 0 : __get_data_size(tp, h->regs, h->edata);
}

/* What comes before the arguments; a head is a trace_entry and these. */
static nokprobe_inline void fill_head(const struct hit *h, void *entry)
{
	struct kretprobe_trace_entry_head *head = entry;

	head->func = h->ip;
	if (h->head == sizeof(*head))
		head->ret_ip = h->ret_ip;
}

static nokprobe_inline void fill_entry(const struct hit *h, void *entry)
{
	fill_head(h, entry);
	store_trace_args(entry + h->head, &h->tk->tp, h->regs, h->edata, h->head, h->dynamic);
}

static nokprobe_inline void trace_one(const struct hit *h, struct trace_event_file *file)
{
	struct trace_event_buffer fbuffer __uninitialized;
	void *entry;

	if (trace_trigger_soft_disabled(file))
		return;
	entry = trace_event_buffer_reserve(&fbuffer, file,
					   h->head + h->tk->tp.size + h->dynamic);
	if (!entry)
		return;
	fbuffer.regs = h->regs;
	fill_entry(h, entry);
	trace_event_buffer_commit(&fbuffer);
}

/* An entry for each instance in which the event is enabled: mostly one. */
static nokprobe_inline void trace_all(struct hit *h)
{
	struct list_head *files = &h->tk->tp.event->files;
	struct event_file_link *link;

	h->dynamic = dynamic_size(h);
	list_for_each_entry_rcu(link, files, list)
		trace_one(h, link->file);
}

/*
 * A BPF program decides whether perf sees the hit, and may send the function
 * back to its caller.  Returns true when perf is to see it.
 */
static nokprobe_inline bool bpf_lets_pass(struct trace_event_call *call,
					  struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);

	if (!bpf_prog_array_valid(call))
		return true;
	return trace_call_bpf(call, regs) && instruction_pointer(regs) == ip;
}

static nokprobe_inline void perf_entry(struct hit *h, struct trace_event_call *call,
				       struct hlist_head *events)
{
	int size, rctx;
	void *entry;

	h->dynamic = dynamic_size(h);
	/* perf puts a u32 before it, and wants the two of them in whole u64s. */
	size = h->head + h->tk->tp.size + h->dynamic;
	size = ALIGN(size + sizeof(u32), sizeof(u64)) - sizeof(u32);
	entry = perf_trace_buf_alloc(size, NULL, &rctx);
	if (!entry)
		return;

	/* A string may turn out shorter than it was: nothing old shows behind it. */
	memset(entry + h->head + h->tk->tp.size, 0, h->dynamic);
	fill_entry(h, entry);
	perf_trace_buf_submit(entry, size, rctx, call->event.type, 1, h->regs, events, NULL);
}

/* For perf, and for BPF programs.  Returns true when a program has moved regs->ip. */
static nokprobe_inline bool profile(struct hit *h)
{
	struct trace_event_call *call = trace_probe_event_call(&h->tk->tp);
	unsigned long ip = instruction_pointer(h->regs);
	struct hlist_head *events;

	if (!bpf_lets_pass(call, h->regs))
		return instruction_pointer(h->regs) != ip;

	events = this_cpu_ptr(call->perf_events);
	if (!hlist_empty(events))
		perf_entry(h, call, events);
	return false;
}

/* Not what most hits are for.  It comes by value: else it would not live in registers. */
static noinline bool hit_with_perf(struct hit h, unsigned int flags)
{
	if (flags & TP_FLAG_TRACE)
		trace_all(&h);
	return flags & TP_FLAG_PROFILE && profile(&h);
}
NOKPROBE_SYMBOL(hit_with_perf);

/* Counts the hit, and writes it down for whoever wants it. */
static nokprobe_inline bool hit_dispatch(struct hit *h)
{
	unsigned int flags;

	this_cpu_inc(*h->tk->nhit);
	flags = trace_probe_load_flag(&h->tk->tp);
	if (unlikely(flags != TP_FLAG_TRACE))
		return hit_with_perf(*h, flags);
	trace_all(h);
	return false;
}

static nokprobe_inline struct trace_kprobe *tk_of_kprobe(struct kprobe *kp)
{
	return container_of(kp, struct trace_kprobe_member, rp.kp)->tk;
}

/* Non-zero: a BPF program sends the function back, and regs->ip is to be obeyed. */
static int on_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct hit h = {
		.tk	= tk_of_kprobe(kp),
		.regs	= regs,
		.ip	= (unsigned long)kp->addr,
		.head	= sizeof(struct kprobe_trace_entry_head),
	};

	return hit_dispatch(&h);
}
NOKPROBE_SYMBOL(on_hit);

/* Only of a return probe that reads something at the entry.  It always wants the return. */
static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct trace_kprobe *tk = tk_of_kprobe(&get_kretprobe(ri)->kp);

	store_trace_entry_data(ri->data, &tk->tp, regs);
	return 0;
}
NOKPROBE_SYMBOL(on_entry);

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kprobe *kp = &get_kretprobe(ri)->kp;
	struct hit h = {
		.tk	= tk_of_kprobe(kp),
		.regs	= regs,
		.edata	= ri->data,
		.ip	= (unsigned long)kp->addr,
		.ret_ip	= get_kretprobe_retaddr(ri),
		.head	= sizeof(struct kretprobe_trace_entry_head),
	};

	hit_dispatch(&h);
	return 0;
}
NOKPROBE_SYMBOL(on_return);

/**
 * trace_kprobe_init_member() - give a member the handlers that its event needs
 * @m:	the member; @m->tk and its arguments are complete
 *
 * Context: before it is registered.
 */
void trace_kprobe_init_member(struct trace_kprobe_member *m)
{
	if (!m->tk->is_return) {
		m->rp.kp.pre_handler = on_hit;
		return;
	}
	m->rp.handler = on_return;
	m->rp.entry_handler = m->tk->tp.entry_arg ? on_entry : NULL;
	m->rp.data_size = traceprobe_get_entry_data_size(&m->tk->tp);
}

/* What all lines have behind the places: the arguments. */
static enum print_line_t print_rest(struct trace_seq *s, struct trace_probe *tp,
				    void *entry, size_t head)
{
	trace_seq_putc(s, ')');
	if (!trace_probe_print_args(s, tp->args, tp->nr_args, entry + head, entry))
		trace_seq_putc(s, '\n');
	return trace_handle_return(s);
}

/* "name: (", or NULL when the event has lost its probes. */
static struct trace_probe *print_name(struct trace_seq *s, struct trace_event *event)
{
	struct trace_event_call *call = container_of(event, struct trace_event_call, event);
	struct trace_probe *tp = trace_probe_primary_from_call(call);

	if (!WARN_ON_ONCE(!tp))
		trace_seq_printf(s, "%s: (", trace_event_name(call));
	return tp;
}

static enum print_line_t print_hit(struct trace_iterator *iter, int flags,
				   struct trace_event *event)
{
	struct kprobe_trace_entry_head *entry = (void *)iter->ent;
	struct trace_probe *tp = print_name(&iter->seq, event);

	if (!tp || !seq_print_ip_sym(&iter->seq, entry->ip, flags | TRACE_ITER_SYM_OFFSET))
		return trace_handle_return(&iter->seq);
	return print_rest(&iter->seq, tp, entry, sizeof(*entry));
}

static enum print_line_t print_return(struct trace_iterator *iter, int flags,
				      struct trace_event *event)
{
	struct kretprobe_trace_entry_head *entry = (void *)iter->ent;
	struct trace_seq *s = &iter->seq;
	struct trace_probe *tp = print_name(s, event);

	if (!tp || !seq_print_ip_sym(s, entry->ret_ip, flags | TRACE_ITER_SYM_OFFSET))
		return trace_handle_return(s);
	trace_seq_puts(s, " <- ");
	if (!seq_print_ip_sym(s, entry->func, flags & ~TRACE_ITER_SYM_OFFSET))
		return trace_handle_return(s);
	return print_rest(s, tp, entry, sizeof(*entry));
}

static int define_hit_fields(struct trace_event_call *event_call)
{
	struct trace_probe *tp = trace_probe_primary_from_call(event_call);
	struct kprobe_trace_entry_head field;
	int ret;

	if (WARN_ON_ONCE(!tp))
		return -ENOENT;
	DEFINE_FIELD(unsigned long, ip, FIELD_STRING_IP, 0);

	return traceprobe_define_arg_fields(event_call, sizeof(field), tp);
}

static int define_return_fields(struct trace_event_call *event_call)
{
	struct trace_probe *tp = trace_probe_primary_from_call(event_call);
	struct kretprobe_trace_entry_head field;
	int ret;

	if (WARN_ON_ONCE(!tp))
		return -ENOENT;
	DEFINE_FIELD(unsigned long, func, FIELD_STRING_FUNC, 0);
	DEFINE_FIELD(unsigned long, ret_ip, FIELD_STRING_RETIP, 0);

	return traceprobe_define_arg_fields(event_call, sizeof(field), tp);
}

/* A plain event's, then a return event's. */
static struct trace_event_functions kprobe_funcs[] = {
	{ .trace = print_hit },
	{ .trace = print_return },
};

static struct trace_event_fields kprobe_fields[][2] = {
	{ { .type = TRACE_FUNCTION_TYPE, .define_fields = define_hit_fields } },
	{ { .type = TRACE_FUNCTION_TYPE, .define_fields = define_return_fields } },
};

/* @data is a file, or NULL for perf. */
static int kprobe_event_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	switch (type) {
	case TRACE_REG_REGISTER:
	case TRACE_REG_PERF_REGISTER:
		return trace_kprobe_enable(call, data);
	case TRACE_REG_UNREGISTER:
	case TRACE_REG_PERF_UNREGISTER:
		return trace_kprobe_disable(call, data);
	default:
		/* A perf event that comes or goes changes nothing here. */
		return 0;
	}
}

/**
 * trace_kprobe_init_call() - what tracing calls of an event
 * @tk:	the first probe of a new event
 *
 * Context: before the event is registered.
 */
void trace_kprobe_init_call(struct trace_kprobe *tk)
{
	struct trace_event_call *call = trace_probe_event_call(&tk->tp);

	call->flags |= TRACE_EVENT_FL_KPROBE;
	call->event.funcs = &kprobe_funcs[tk->is_return];
	call->class->fields_array = kprobe_fields[tk->is_return];
	call->class->reg = kprobe_event_reg;
}
