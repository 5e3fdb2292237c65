// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: what user space reads of an event.
 *
 * The one idea: three views of the same table of arguments.  The fields of
 * "format", the "print fmt" line below them, and the text of an entry in the
 * trace each go over it once, element by element; what differs from type to type
 * is in struct fetch_type.
 */
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/trace_seq.h>

#include "trace_probe.h"

/* How "print fmt" shows the head of an entry, and where it finds that. */
static const struct {
	const char	*fmt;
	const char	*fields;
} heads[] = {
	[PROBE_PRINT_NORMAL] = {
		"(%lx)",
		", REC->" FIELD_STRING_IP,
	},
	[PROBE_PRINT_RETURN] = {
		"(%lx <- %lx)",
		", REC->" FIELD_STRING_FUNC ", REC->" FIELD_STRING_RETIP,
	},
	[PROBE_PRINT_EVENT] = { "", "" },
};

/* Most events' print fmt is shorter. */
#define PRINT_FMT_FIRST_TRY	256

/* " name=FMT", or " name={FMT,FMT}" */
static void put_arg_format(struct seq_buf *s, const struct probe_arg *arg)
{
	unsigned int i;

	seq_buf_printf(s, " %s=", arg->name);
	if (!arg->count) {
		seq_buf_puts(s, arg->type->fmt);
		return;
	}
	for (i = 0; i < arg->count; i++)
		seq_buf_printf(s, "%c%s", i ? ',' : '{', arg->type->fmt);
	seq_buf_putc(s, '}');
}

/* What the above is a format of; @index is "" or "[N]". */
static void put_element(struct seq_buf *s, const struct probe_arg *arg, const char *index)
{
	const char *how = arg->type->is_string ? ", __get_str(%s%s)" : ", REC->%s%s";

	seq_buf_printf(s, how, arg->name, index);
}

static void put_arg_values(struct seq_buf *s, const struct probe_arg *arg)
{
	char index[sizeof("[4294967295]")];
	unsigned int i;

	if (!arg->count)
		put_element(s, arg, "");
	for (i = 0; i < arg->count; i++) {
		snprintf(index, sizeof(index), "[%u]", i);
		put_element(s, arg, index);
	}
}

static void put_print_fmt(struct seq_buf *s, struct trace_probe *tp,
			  enum probe_print_type ptype)
{
	unsigned int i;

	seq_buf_printf(s, "\"%s", heads[ptype].fmt);
	for (i = 0; i < tp->nr_args; i++)
		put_arg_format(s, &tp->args[i]);
	seq_buf_printf(s, "\"%s", heads[ptype].fields);
	for (i = 0; i < tp->nr_args; i++)
		put_arg_values(s, &tp->args[i]);
}

/**
 * traceprobe_set_print_fmt() - give an event its print fmt
 * @tp:		a probe of the event; all its arguments are parsed
 * @ptype:	what the head of an entry is
 *
 * Context: process context; before the event is registered.
 * Return: 0, or -ENOMEM.
 */
int traceprobe_set_print_fmt(struct trace_probe *tp, enum probe_print_type ptype)
{
	struct seq_buf s;
	size_t size;
	char *buf;

	/* Its length is known when it is done: until it fits, twice as much. */
	for (size = PRINT_FMT_FIRST_TRY; ; size *= 2) {
		buf = kmalloc(size, GFP_KERNEL);
		if (!buf)
			return -ENOMEM;
		seq_buf_init(&s, buf, size);
		put_print_fmt(&s, tp, ptype);
		/* No overflow, and room for the NUL. */
		if (seq_buf_buffer_left(&s))
			break;
		kfree(buf);
	}
	seq_buf_str(&s);
	tp->event->call.print_fmt = buf;
	return 0;
}

/**
 * traceprobe_define_arg_fields() - the fields of "format", filters and histograms
 * @event_call:	the event
 * @offset:	where in an entry the arguments begin, in bytes
 * @tp:		its first probe
 *
 * Context: process context, while the event is registered.
 * Return: 0, or -ENOMEM.
 */
int traceprobe_define_arg_fields(struct trace_event_call *event_call,
				 size_t offset, struct trace_probe *tp)
{
	struct probe_arg *arg;
	int err = 0;

	for (arg = tp->args; !err && arg < tp->args + tp->nr_args; arg++)
		err = trace_define_field(event_call, arg->fmt ?: arg->type->fmttype,
					 arg->name, offset + arg->offset,
					 arg->type->size * max(arg->count, 1U),
					 arg->type->is_signed, FILTER_OTHER);
	return err;
}

/* Elements stand one after the other; 0 when the line is full. */
static int print_elements(struct trace_seq *s, struct probe_arg *arg,
			  u8 *data, void *field)
{
	unsigned int i;

	for (i = 0; i < arg->count; i++, data += arg->type->size) {
		trace_seq_putc(s, i ? ',' : '{');
		if (!arg->type->print(s, data, field))
			return 0;
	}
	trace_seq_putc(s, '}');
	return 1;
}

/**
 * trace_probe_print_args() - print the arguments in an entry
 * @s:		where to
 * @args:	the arguments
 * @nr_args:	how many
 * @data:	where in the entry they are
 * @field:	the entry
 *
 * Return: 0, or -ENOMEM when @s is full.
 */
int trace_probe_print_args(struct trace_seq *s, struct probe_arg *args, int nr_args,
			   u8 *data, void *field)
{
	struct probe_arg *arg;
	int ok;

	for (arg = args; arg < args + nr_args; arg++) {
		trace_seq_printf(s, " %s=", arg->name);
		if (arg->count)
			ok = print_elements(s, arg, data + arg->offset, field);
		else
			ok = arg->type->print(s, data + arg->offset, field);
		if (!ok)
			return -ENOMEM;
	}
	return 0;
}
