/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probe events: what the files of the parser share.
 *
 *	trace_probe_lex.c	tokens
 *	trace_probe_parse.c	[NAME=]VALUE[:TYPE], and from text to a probe_arg
 *	trace_probe_value.c	VALUE: stages 1 and 2 of a program
 *	trace_probe_words.c	$WORD, which is one kind of value
 *	trace_probe_store.c	TYPE: stages 3 to 5
 *	trace_probe_type.c	the types
 *	trace_probe_btf.c	what the kernel's own debug information says
 *	trace_probe_btf_func.c	... of a function, found by its name
 *	trace_probe_expand.c	words that are replaced before all that
 *
 * A function that returns an errno has logged the error, unless it is -ENOMEM.
 */

#ifndef _TRACE_PROBE_PARSE_H
#define _TRACE_PROBE_PARSE_H

#include "trace_probe.h"
#include "trace_probe_lex.h"

/**
 * struct probe_parser - one argument, being parsed
 * @ctx:	what the probe's arguments share
 * @tp:		the probe
 * @code:	its program, so far
 * @nr:		how long it is
 */
struct probe_parser {
	struct traceprobe_parse_context	*ctx;
	struct trace_probe		*tp;
	struct fetch_insn		code[FETCH_INSN_MAX];
	unsigned int			nr;
};

/**
 * struct probe_cast - what the text behind the colon asks for
 * @type:	the type of an element, NULL if there was no colon
 * @count:	elements, 0 if it is no array
 * @bitfield:	"WIDTH@OFFSET" of a bit field, empty if it is none
 * @offset:	where it stands in the word
 */
struct probe_cast {
	const struct fetch_type	*type;
	unsigned int		count;
	struct probe_span	bitfield;
	int			offset;
};

/* Log @err at @offset; @errno_ is the value. */
#define probe_error(offset, err, errno_)				\
	({ trace_probe_log_err(offset, err); (errno_); })

static inline struct fetch_insn *probe_last_insn(struct probe_parser *p)
{
	return &p->code[p->nr - 1];
}

/* Where parameters are known by number and by name. */
static inline bool tparg_knows_params(unsigned int flags)
{
	return tparg_is_function_entry(flags) || tparg_is_function_return(flags);
}

/*
 * Where the first stage's value is one field of pt_regs, or -1: such arguments
 * are copied, not interpreted.
 */
#ifdef CONFIG_X86_64
static inline int probe_insn_regs_offset(const struct fetch_insn *insn)
{
	static const u16 params[] = {
		offsetof(struct pt_regs, di), offsetof(struct pt_regs, si),
		offsetof(struct pt_regs, dx), offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
	};

	if (insn->op == FETCH_OP_REG)
		return insn->param;
	if (insn->op == FETCH_OP_RETVAL)
		return offsetof(struct pt_regs, ax);
	if (insn->op == FETCH_OP_ARG && insn->param < ARRAY_SIZE(params))
		return params[insn->param];
	return -1;
}
#else
static inline int probe_insn_regs_offset(const struct fetch_insn *insn)
{
	return -1;
}
#endif

/* trace_probe_value.c */
struct fetch_insn *probe_emit(struct probe_parser *p, enum fetch_op op);
int probe_emit_deref(struct probe_parser *p, enum fetch_op op, long offset);
void probe_emit_value(struct probe_parser *p, enum fetch_op op, unsigned long immediate);
int probe_parse_value(struct probe_parser *p, struct probe_span value);

/* trace_probe_words.c */
int probe_emit_param(struct probe_parser *p, unsigned int index);
int probe_parse_word(struct probe_parser *p, struct probe_span text);
const char *probe_value_default_type(const struct traceprobe_parse_context *ctx,
				     const struct probe_span *value, bool *only);
bool probe_value_default_name(const struct probe_span *value, struct probe_span *name);

/* trace_probe_store.c */
int probe_parse_cast(struct probe_span *text, const struct traceprobe_parse_context *ctx,
		     struct probe_cast *cast);
int probe_parse_store(struct probe_parser *p, const struct probe_cast *cast);

/**
 * struct probe_type_alias - a name for a type and the way there
 * @name:	as it is given behind the colon
 * @type:	what is found there
 * @nr_steps:	pointers to be followed
 * @steps:	offsets, the first that of the value itself
 */
struct probe_type_alias {
	const char	*name;
	const char	*type;
	unsigned int	nr_steps;
	unsigned int	steps[4];
};

/* trace_probe_type.c */
const struct probe_type_alias *trace_probe_find_alias(const char *name);
enum fetch_op probe_type_store_op(const struct fetch_type *type, enum fetch_op last);

/* trace_probe_btf.c */
#ifdef CONFIG_PROBE_EVENTS_BTF_ARGS
bool probe_btf_knows(struct traceprobe_parse_context *ctx);
const char *probe_btf_param_name(struct traceprobe_parse_context *ctx, unsigned int index);
int probe_btf_parse_variable(struct probe_parser *p, struct probe_span text);
int probe_btf_parse_retval(struct probe_parser *p, struct probe_span fields);
int probe_btf_to_string(struct probe_parser *p);
const char *probe_btf_default_type(struct traceprobe_parse_context *ctx);
void probe_btf_finish(struct traceprobe_parse_context *ctx);
const struct btf_type *probe_btf_find_proto(const char *func, struct btf **btf);
#else
static inline bool probe_btf_knows(struct traceprobe_parse_context *ctx)
{
	return false;
}

static inline const char *
probe_btf_param_name(struct traceprobe_parse_context *ctx, unsigned int index)
{
	return NULL;
}

static inline int probe_btf_parse_variable(struct probe_parser *p, struct probe_span text)
{
	return probe_error(text.offset, NOSUP_BTFARG, -EOPNOTSUPP);
}

static inline int probe_btf_parse_retval(struct probe_parser *p, struct probe_span fields)
{
	return probe_error(fields.offset, NOSUP_BTFARG, -EOPNOTSUPP);
}

static inline int probe_btf_to_string(struct probe_parser *p)
{
	return 0;
}

static inline const char *probe_btf_default_type(struct traceprobe_parse_context *ctx)
{
	return NULL;
}

static inline void probe_btf_finish(struct traceprobe_parse_context *ctx)
{
}
#endif

#endif /* _TRACE_PROBE_PARSE_H */
