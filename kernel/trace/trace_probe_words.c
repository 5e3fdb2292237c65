// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: the words behind a '$'.
 *
 * The one idea: a table.  A line says what may stand behind the word, where a
 * probe knows it, and what the argument's type and name are by default; a new
 * word is a line and a function that emits its instruction.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/thread_info.h>

#include "trace_probe_parse.h"

/* The highest number of a stack entry or of an argument that makes sense. */
#define MAX_STACK_INDEX		(THREAD_SIZE / sizeof(unsigned long))

/* What a return probe's entry is to leave, and where: a program of its own. */

static bool same_value(const struct fetch_insn *a, const struct fetch_insn *b)
{
	return a->op == b->op && a->param == b->param;
}

static struct probe_entry_arg *entry_program(struct trace_probe *tp)
{
	struct probe_entry_arg *entry = tp->entry_arg;
	unsigned int max = 2 * tp->nr_args + 1;

	if (entry)
		return entry;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return NULL;
	/* An argument asks for one pair at most. */
	entry->code = kcalloc(max, sizeof(*entry->code), GFP_KERNEL);
	if (!entry->code) {
		kfree(entry);
		return NULL;
	}
	entry->code[0].op = FETCH_OP_END;
	tp->entry_arg = entry;
	return entry;
}

/* The offset at which the entry leaves @value, or -ENOMEM. */
static int entry_slot(struct trace_probe *tp, struct fetch_insn value)
{
	struct probe_entry_arg *entry = entry_program(tp);
	struct fetch_insn *code;

	if (!entry)
		return -ENOMEM;
	for (code = entry->code; code->op != FETCH_OP_END; code += 2)
		if (same_value(code, &value))
			return code[1].offset;

	code[0] = value;
	code[1] = (struct fetch_insn){
		.op = FETCH_OP_ST_EDATA,
		.size = sizeof(unsigned long),
		.offset = entry->size,
	};
	code[2].op = FETCH_OP_END;
	entry->size += sizeof(unsigned long);
	return code[1].offset;
}

/* @op takes its value from what the entry has left of @value. */
static int emit_from_entry(struct probe_parser *p, enum fetch_op op, struct fetch_insn value)
{
	int slot = entry_slot(p->tp, value);
	struct fetch_insn *insn;

	if (slot < 0)
		return slot;
	insn = probe_emit(p, op);
	insn->offset = slot;
	return 0;
}

/**
 * probe_emit_param() - append a parameter of the probed function
 * @p:		the parser
 * @index:	which of them, from 0, as the caller has passed them
 *
 * Return: 0 or -ENOMEM.
 */
int probe_emit_param(struct probe_parser *p, unsigned int index)
{
	struct fetch_insn value = { .op = FETCH_OP_ARG, .param = index };

	if (tparg_is_function_return(p->ctx->flags))
		return emit_from_entry(p, FETCH_OP_EDATA, value);
	*probe_emit(p, FETCH_OP_ARG) = value;
	return 0;
}

/* What may stand behind a word. */
enum word_suffix {
	WORD_ALONE,
	WORD_OR_NUMBER,		/* "stack", "stack3" */
	WORD_NUMBER,		/* "arg1" */
	WORD_FIELDS,		/* "retval", "retval->name" */
	WORD_ANYTHING,
};

/**
 * struct dollar_word - one of them
 * @name:	the word
 * @suffix:	what may stand behind it
 * @known:	is it known where the probe is?
 * @err:	... if it is not: TP_ERR_*
 * @type:	its type if none is asked for, NULL: a long in hexadecimal
 * @only:	... and no other is possible
 * @named:	its name is what the argument is called by default
 * @parse:	emit it; @suffix is what stands behind it, @at is where it begins
 */
struct dollar_word {
	const char		*name;
	enum word_suffix	suffix;
	bool			(*known)(unsigned int flags);
	int			err;
	const char		*type;
	bool			only;
	bool			named;
	int			(*parse)(struct probe_parser *p, struct probe_span suffix,
					 int at);
};

static bool known_anywhere(unsigned int flags)
{
	return true;
}

static bool known_to_probes(unsigned int flags)
{
	return !tparg_is_event_probe(flags);
}

static bool known_at_return(unsigned int flags)
{
	return flags & TPARG_FL_RETURN;
}

static bool known_to_timers(unsigned int flags)
{
	return flags & TPARG_FL_RETURN && flags & TPARG_FL_KPROBE;
}

static int parse_retval(struct probe_parser *p, struct probe_span suffix, int at)
{
	/* Members that may differ in their prototypes have no common one. */
	if (suffix.len || (!(p->ctx->flags & TPARG_FL_GLOB) && probe_btf_knows(p->ctx)))
		return probe_btf_parse_retval(p, suffix);
	probe_emit_value(p, FETCH_OP_RETVAL, 0);
	return 0;
}

static int parse_stack(struct probe_parser *p, struct probe_span suffix, int at)
{
	unsigned long index;
	int err;

	if (!suffix.len) {
		probe_emit_value(p, FETCH_OP_STACKP, 0);
		return 0;
	}
	err = probe_span_to_ulong(&suffix, 10, &index);
	if (err || index > UINT_MAX ||
	    (p->ctx->flags & TPARG_FL_KERNEL && index > MAX_STACK_INDEX))
		return probe_error(at, BAD_STACK_NUM, -EINVAL);
	probe_emit(p, FETCH_OP_STACK)->param = index;
	return 0;
}

static int parse_param(struct probe_parser *p, struct probe_span suffix, int at)
{
	bool is_tracepoint = p->ctx->flags & TPARG_FL_TPOINT;
	unsigned long number;
	int err = probe_span_to_ulong(&suffix, 10, &number);

	if (err || !number || number > MAX_STACK_INDEX)
		return probe_error(at, BAD_ARG_NUM, -EINVAL);
	/* A tracepoint's functions have one that is not the tracepoint's before. */
	return probe_emit_param(p, number - 1 + is_tracepoint);
}

/* All that may be replaced by parameters is replaced already. */
static int parse_all_params(struct probe_parser *p, struct probe_span suffix, int at)
{
	return probe_error(at, BAD_VAR_ARGS, -EINVAL);
}

static int parse_comm(struct probe_parser *p, struct probe_span suffix, int at)
{
	probe_emit_value(p, FETCH_OP_COMM, 0);
	return 0;
}

static int parse_latency(struct probe_parser *p, struct probe_span suffix, int at)
{
	return emit_from_entry(p, FETCH_OP_LATENCY,
			       (struct fetch_insn){ .op = FETCH_OP_CLOCK });
}

/* One that is the beginning of another stands behind that. */
static const struct dollar_word dollar_words[] = {
	{ "retval", WORD_FIELDS, known_at_return, TP_ERR_RETVAL_ON_PROBE,
	  .parse = parse_retval },
	{ "stack", WORD_OR_NUMBER, known_to_probes, TP_ERR_BAD_VAR,
	  .parse = parse_stack },
	{ "arg", WORD_NUMBER, tparg_knows_params, TP_ERR_NOFENTRY_ARGS,
	  .parse = parse_param },
	{ "arg*", WORD_ANYTHING, tparg_knows_params, TP_ERR_NOFENTRY_ARGS,
	  .parse = parse_all_params },
	{ "comm", WORD_ALONE, known_anywhere,
	  .type = "string", .only = true, .parse = parse_comm },
	{ "COMM", WORD_ALONE, known_anywhere,
	  .type = "string", .only = true, .parse = parse_comm },
	{ "latency", WORD_ALONE, known_to_timers, TP_ERR_LATENCY_ON_PROBE,
	  .type = "u64", .named = true, .parse = parse_latency },
};

static bool suffix_fits(enum word_suffix kind, const struct probe_span *suffix)
{
	switch (kind) {
	case WORD_ALONE:
		return !suffix->len;
	case WORD_OR_NUMBER:
		return !suffix->len || probe_span_is_digits(suffix);
	case WORD_NUMBER:
		return probe_span_is_digits(suffix);
	case WORD_FIELDS:
		return !suffix->len || strchr("-.", suffix->text[0]);
	case WORD_ANYTHING:
		return true;
	}
	return false;
}

/* Which one @text, of a '$' and more, is; and what stands behind it. */
static const struct dollar_word *find_word(struct probe_span text, struct probe_span *suffix)
{
	const struct dollar_word *word;

	if (!probe_lex_take(&text, '$'))
		return NULL;
	for (word = dollar_words; word < dollar_words + ARRAY_SIZE(dollar_words); word++) {
		if (!probe_span_has_prefix(&text, word->name))
			continue;
		*suffix = text;
		probe_lex_skip(suffix, strlen(word->name));
		if (suffix_fits(word->suffix, suffix))
			return word;
	}
	return NULL;
}

/* The field of an event probe's event that @text, of a '$' and more, names. */
static struct ftrace_event_field *find_field(const struct traceprobe_parse_context *ctx,
					     struct probe_span text)
{
	struct ftrace_event_field *field;

	if (!tparg_is_event_probe(ctx->flags) || !ctx->event || !probe_lex_take(&text, '$'))
		return NULL;
	list_for_each_entry(field, trace_get_fields(ctx->event), link)
		if (probe_span_is(&text, field->name))
			return field;
	return NULL;
}

/**
 * probe_parse_word() - emit what a word behind a '$' stands for
 * @p:		the parser
 * @text:	the '$' and the rest of the value
 *
 * Return: 0 or an errno.
 */
int probe_parse_word(struct probe_parser *p, struct probe_span text)
{
	struct ftrace_event_field *field = find_field(p->ctx, text);
	const struct dollar_word *word;
	struct probe_span suffix;

	if (field) {
		probe_emit(p, FETCH_OP_TP_ARG)->data = field;
		return 0;
	}
	word = find_word(text, &suffix);
	/* An event has fields, and nothing else but what every context has. */
	if (!word || (tparg_is_event_probe(p->ctx->flags) && word->known != known_anywhere))
		return probe_error(text.offset, BAD_VAR, -EINVAL);
	if (!word->known(p->ctx->flags)) {
		__trace_probe_log_err(text.offset, word->err);
		return -EINVAL;
	}
	return word->parse(p, suffix, text.offset);
}

/**
 * probe_value_default_type() - the type of a value for which none is asked
 * @ctx:	where the probe is
 * @value:	the text
 * @only:	set if no other type is possible
 *
 * Return: the name of the type; or NULL: it depends on what the value turns out
 * to be.
 */
const char *probe_value_default_type(const struct traceprobe_parse_context *ctx,
				     const struct probe_span *value, bool *only)
{
	const struct dollar_word *word;
	struct probe_span suffix;

	*only = probe_span_has_prefix(value, "\\\"");
	if (*only)
		return "string";
	if (find_field(ctx, *value))
		return NULL;
	word = find_word(*value, &suffix);
	*only = word && word->only;
	return word ? word->type : NULL;
}

/**
 * probe_value_default_name() - what an argument is called that has no name
 * @value:	the text
 * @name:	set to the name
 *
 * Return: false: it is to be called by its number.
 */
bool probe_value_default_name(const struct probe_span *value, struct probe_span *name)
{
	const struct dollar_word *word;
	struct probe_span suffix;

	*name = *value;
	if (probe_span_is_name(value))
		return true;
	word = find_word(*value, &suffix);
	if (!word || !word->named)
		return false;
	probe_lex_take(name, '$');
	return true;
}
