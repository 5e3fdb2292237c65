// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: from the words of a definition to events and arguments.
 *
 * The one idea: [NAME=]VALUE[:TYPE] is cut into its three parts by two
 * characters, and each part has a parser that knows nothing of the others.  What
 * they find becomes a struct probe_arg only when all is well.
 */
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_probe_parse.h"

/*
 * [GROUP/][EVENT]
 */
static int parse_group(const char **pevent, const char **pgroup, char *buf,
		       const char *slash, int offset)
{
	size_t len = slash - *pevent;

	if (!len)
		return probe_error(offset, NO_GROUP_NAME, -EINVAL);
	if (len >= MAX_EVENT_NAME_LEN)
		return probe_error(offset, GROUP_TOO_LONG, -EINVAL);
	memcpy(buf, *pevent, len);
	buf[len] = '\0';
	if (!is_good_system_name(buf))
		return probe_error(offset, BAD_GROUP_NAME, -EINVAL);
	*pgroup = buf;
	*pevent = slash + 1;
	return 0;
}

/**
 * traceprobe_parse_event_name() - read the name of an event
 * @pevent:	[GROUP/][EVENT], or with a '.'; then EVENT, NULL if there is none
 *		but a group
 * @pgroup:	set to GROUP if there is one
 * @buf:	where GROUP is kept, MAX_EVENT_NAME_LEN bytes
 * @offset:	of the text in its word
 *
 * Context: under dyn_event_ops_mutex, with the word set in the log; as all here.
 * Return: 0; or -EINVAL, and the log says why.
 */
int traceprobe_parse_event_name(const char **pevent, const char **pgroup,
				char *buf, int offset)
{
	const char *word = *pevent;
	const char *slash = strchr(word, '/') ?: strchr(word, '.');
	int err;

	if (slash) {
		err = parse_group(pevent, pgroup, buf, slash, offset);
		if (err)
			return err;
		offset += *pevent - word;
	}
	if (!**pevent && slash) {
		*pevent = NULL;
		return 0;
	}
	if (!**pevent)
		return probe_error(offset, NO_EVENT_NAME, -EINVAL);
	if (strlen(*pevent) >= MAX_EVENT_NAME_LEN)
		return probe_error(offset, EVENT_TOO_LONG, -EINVAL);
	if (!is_good_name(*pevent))
		return probe_error(offset, BAD_EVENT_NAME, -EINVAL);
	return 0;
}

/**
 * traceprobe_split_symbol_offset() - split SYMBOL[+|-OFFSET]
 * @symbol:	the text; then SYMBOL
 * @offset:	OFFSET, or 0
 *
 * Return: 0; or -EINVAL or -ERANGE, and @symbol is as it was.
 */
int traceprobe_split_symbol_offset(char *symbol, long *offset)
{
	char *sign = strpbrk(symbol, "+-");
	int err = 0;

	*offset = 0;
	if (sign)
		err = kstrtol(sign, 0, offset);
	if (sign && !err)
		*sign = '\0';
	return err;
}

/*
 * NAME=
 */

/* The fields that stand before the arguments, of any kind of probe. */
static const char * const reserved_names[] = {
	"common_type", "common_flags", "common_preempt_count", "common_pid",
	"common_tgid",
	FIELD_STRING_IP, FIELD_STRING_RETIP, FIELD_STRING_FUNC,
};

static bool is_used(const struct trace_probe *tp, int nr, const struct probe_span *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(reserved_names); i++)
		if (probe_span_is(name, reserved_names[i]))
			return true;
	for (i = 0; i < nr; i++)
		if (probe_span_is(name, tp->args[i].name))
			return true;
	return false;
}

/* Take NAME= from @text, if there is one; @name is empty if not. */
static int parse_name(struct probe_span *text, struct probe_span *name)
{
	struct probe_span rest = *text;

	*name = probe_lex_until(&rest, "=");
	if (!probe_lex_take(&rest, '=')) {
		name->len = 0;
		return 0;
	}
	*text = rest;
	if (!name->len)
		return probe_error(name->offset, NO_ARG_NAME, -EINVAL);
	if (name->len > MAX_ARG_NAME_LEN)
		return probe_error(name->offset, ARG_NAME_TOO_LONG, -EINVAL);
	if (!probe_span_is_name(name))
		return probe_error(name->offset, BAD_ARG_NAME, -EINVAL);
	if (!rest.len)
		return probe_error(rest.offset, NO_ARG_BODY, -EINVAL);
	return 0;
}

/* Give the @nr-th argument a name: @name, or one that fits its @text. */
static int name_arg(struct trace_probe *tp, int nr, struct probe_span name,
		    struct probe_span text)
{
	struct probe_span value = probe_lex_until(&text, ":");
	char number[sizeof("arg") + 10];
	char *copy;

	if (!name.len && !probe_value_default_name(&value, &name)) {
		snprintf(number, sizeof(number), "arg%d", nr + 1);
		name = probe_span_of(number);
	}
	if (is_used(tp, nr, &name))
		return probe_error(0, USED_ARG_NAME, -EINVAL);
	copy = probe_span_dup(&name);
	tp->args[nr].name = copy;
	return copy ? 0 : -ENOMEM;
}

/*
 * The argument as a whole
 */
static bool owns_data(const struct fetch_insn *insn)
{
	return insn->op == FETCH_OP_DATA || insn->op == FETCH_NOP_SYMBOL;
}

static void free_data(struct probe_parser *p)
{
	while (p->nr--)
		if (owns_data(&p->code[p->nr]))
			kfree(p->code[p->nr].data);
}

/* A type for those that nobody asked one for, and that have none of their own. */
static const struct fetch_type *default_type(struct traceprobe_parse_context *ctx)
{
	const char *name = probe_btf_default_type(ctx) ?: __stringify(__PASTE(x, BITS_PER_LONG));

	return trace_probe_find_type(name, strlen(name));
}

/* Does the program come to a copy out of pt_regs? */
static void find_copy(struct probe_arg *arg, const struct probe_parser *p)
{
	int offset = probe_insn_regs_offset(&p->code[0]);

	if (offset < 0 || p->nr != 3 || p->code[1].op != FETCH_OP_ST_RAW ||
	    tparg_is_event_probe(p->ctx->flags))
		return;
	arg->copy_from = offset;
	arg->copy_size = p->code[1].size;
}

/* Take over what was found, and place it in the entry. */
static int keep_arg(struct probe_arg *arg, struct probe_parser *p,
		    const struct probe_cast *cast)
{
	size_t size = cast->type->size * max(cast->count, 1U);

	if (p->tp->size + size > MAX_PROBE_EVENT_SIZE)
		return probe_error(p->ctx->offset, EVENT_TOO_BIG, -E2BIG);
	if (cast->count) {
		arg->fmt = kasprintf(GFP_KERNEL, "%s[%u]", cast->type->fmttype, cast->count);
		if (!arg->fmt)
			return -ENOMEM;
	}
	arg->code = kmemdup(p->code, p->nr * sizeof(*p->code), GFP_KERNEL);
	if (!arg->code)
		return -ENOMEM;

	find_copy(arg, p);
	arg->type = cast->type;
	arg->count = cast->count;
	arg->offset = p->tp->size;
	arg->dynamic = cast->type->is_string;
	p->tp->size += size;
	p->tp->nr_dynamic += arg->dynamic;
	return 0;
}

/* VALUE[:TYPE] */
static int parse_body(struct probe_parser *p, struct probe_arg *arg, struct probe_span text)
{
	struct probe_cast cast;
	int err;

	err = probe_parse_cast(&text, p->ctx, &cast);
	err = err ?: probe_parse_value(p, text);
	if (err)
		return err;
	if (!cast.type)
		cast.type = default_type(p->ctx);
	return probe_parse_store(p, &cast) ?: keep_arg(arg, p, &cast);
}

/**
 * traceprobe_parse_probe_arg() - parse one argument of a probe
 * @tp:		the probe, whose arguments before are parsed
 * @i:		which argument it is
 * @argv:	its text
 * @ctx:	what they share
 *
 * On an error trace_probe_cleanup() frees what there is of @tp.
 *
 * Return: 0; or -ENOMEM, or another errno, and the log says why.
 */
int traceprobe_parse_probe_arg(struct trace_probe *tp, int i, const char *argv,
			       struct traceprobe_parse_context *ctx)
{
	struct probe_parser p = { .ctx = ctx, .tp = tp };
	struct probe_span name, text = probe_span_of(argv);
	struct probe_arg *arg = &tp->args[i];
	int err;

	ctx->tp = tp;
	ctx->last_type = NULL;
	ctx->last_bitsize = 0;

	err = parse_name(&text, &name) ?: name_arg(tp, i, name, text);
	if (err)
		return err;
	if (text.len > MAX_ARGSTR_LEN)
		return probe_error(text.offset, ARG_TOO_LONG, -E2BIG);
	arg->comm = probe_span_dup(&text);
	if (!arg->comm)
		return -ENOMEM;

	err = parse_body(&p, arg, text);
	if (err)
		free_data(&p);
	return err;
}

/**
 * traceprobe_finish_parse() - let go of what was found out on the way
 * @ctx:	the context of arguments that were parsed; it may be used again
 */
void traceprobe_finish_parse(struct traceprobe_parse_context *ctx)
{
	probe_btf_finish(ctx);
}

/**
 * traceprobe_free_probe_arg() - free what an argument owns
 * @arg:	the argument, which is parsed, or all zeroes, or something between
 */
void traceprobe_free_probe_arg(struct probe_arg *arg)
{
	struct fetch_insn *code = arg->code;

	for (; code && code->op != FETCH_OP_END; code++)
		if (owns_data(code))
			kfree(code->data);
	kfree(arg->code);
	kfree(arg->name);
	kfree(arg->comm);
	kfree(arg->fmt);
	memset(arg, 0, sizeof(*arg));
}

/**
 * traceprobe_update_arg() - look up the symbol that an argument reads
 * @arg:	an argument that is parsed; it need not have one
 *
 * Symbols come and go with modules, so it is done whenever the probe is
 * registered.
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: there is no such symbol, and the argument is as it was; or
 * -ENOMEM.
 */
int traceprobe_update_arg(struct probe_arg *arg)
{
	struct fetch_insn *code = arg->code;
	unsigned long address;
	char *symbol;
	long offset;
	int err;

	if (!code || code->op != FETCH_NOP_SYMBOL)
		return 0;
	symbol = kstrdup(code->data, GFP_KERNEL);
	if (!symbol)
		return -ENOMEM;
	err = traceprobe_split_symbol_offset(symbol, &offset);
	address = err ? 0 : kallsyms_lookup_name(symbol);
	kfree(symbol);
	if (!address)
		return err ?: -ENOENT;
	WRITE_ONCE(code[1].immediate, address + offset);
	return 0;
}

/**
 * traceprobe_get_entry_data_size() - what a return probe's entry leaves for it
 * @tp:		the probe, whose arguments are parsed
 *
 * Return: bytes; 0 for most.
 */
int traceprobe_get_entry_data_size(struct trace_probe *tp)
{
	return tp->entry_arg ? tp->entry_arg->size : 0;
}
