// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: where an argument's value comes from.
 *
 * The one idea: a table.  The first character of a value says which kind it is;
 * a new kind is a line there and a function that emits its instructions.
 */
#include <linux/ctype.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_probe_parse.h"

/**
 * probe_emit() - append an instruction to a program
 * @p:	the parser
 * @op:	what it does; what it does it with is for the caller to fill in
 *
 * Return: the instruction; or NULL: there is only room for an END.
 */
struct fetch_insn *probe_emit(struct probe_parser *p, enum fetch_op op)
{
	if (p->nr == FETCH_INSN_MAX - 1)
		return NULL;
	p->code[p->nr] = (struct fetch_insn){ .op = op };
	return &p->code[p->nr++];
}

/**
 * probe_emit_value() - append an instruction of stage 1
 * @p:		the parser
 * @op:		what it does
 * @immediate:	with what, 0 if with nothing
 *
 * At most two of them stand before the first dereference: there is room.
 */
void probe_emit_value(struct probe_parser *p, enum fetch_op op, unsigned long immediate)
{
	struct fetch_insn *insn = probe_emit(p, op);

	if (!WARN_ON_ONCE(!insn))
		insn->immediate = immediate;
}

static int emit_data(struct probe_parser *p, enum fetch_op op, const struct probe_span *text)
{
	char *data = probe_span_dup(text);
	struct fetch_insn *insn;

	if (!data)
		return -ENOMEM;
	insn = probe_emit(p, op);
	insn->data = data;
	return 0;
}

/**
 * probe_emit_deref() - append a dereference
 * @p:		the parser
 * @op:		FETCH_OP_DEREF or FETCH_OP_UDEREF
 * @offset:	from the value so far
 *
 * Return: 0, or -EINVAL: there are too many.
 */
int probe_emit_deref(struct probe_parser *p, enum fetch_op op, long offset)
{
	struct fetch_insn *insn = probe_emit(p, op);

	if (!insn)
		return probe_error(p->ctx->offset, TOO_MANY_OPS, -EINVAL);
	insn->offset = offset;
	return 0;
}

static int parse_register(struct probe_parser *p, struct probe_span text)
{
	char name[16];
	int offset;

	if (p->ctx->flags & (TPARG_FL_TEVENT | TPARG_FL_FPROBE))
		return probe_error(text.offset, BAD_VAR, -EINVAL);
	if (text.len > sizeof(name))
		return probe_error(text.offset, BAD_REG_NAME, -EINVAL);
	memcpy(name, text.text + 1, text.len - 1);
	name[text.len - 1] = '\0';
	offset = regs_query_register_offset(name);
	if (offset < 0)
		return probe_error(text.offset, BAD_REG_NAME, -EINVAL);
	probe_emit(p, FETCH_OP_REG)->param = offset;
	return 0;
}

/* @+OFFSET, in the probed file */
static int parse_file_offset(struct probe_parser *p, struct probe_span number, int at)
{
	long offset;
	int err;

	if (!(p->ctx->flags & TPARG_FL_USER))
		return probe_error(at, FILE_ON_KPROBE, -EINVAL);
	err = probe_span_to_long(&number, &offset);
	if (err)
		return probe_error(at, BAD_FILE_OFFS, err);
	probe_emit_value(p, FETCH_OP_FOFFS, offset);
	return probe_emit_deref(p, FETCH_OP_DEREF, 0);
}

/* @ADDRESS */
static int parse_address(struct probe_parser *p, struct probe_span number, int at)
{
	unsigned long address;
	int err = probe_span_to_ulong(&number, 0, &address);

	if (err)
		return probe_error(at, BAD_MEM_ADDR, err);
	probe_emit_value(p, FETCH_OP_IMM, address);
	return probe_emit_deref(p, FETCH_OP_DEREF, 0);
}

static bool symbol_exists(const struct probe_span *name)
{
	char *symbol = probe_span_dup(name);
	/* Without memory, somebody else will find out. */
	bool exists = !symbol || kallsyms_lookup_name(symbol);

	kfree(symbol);
	return exists;
}

/* @SYMBOL[+-OFFSET]; it may be there only later, if that is when it is probed. */
static int parse_symbol(struct probe_parser *p, struct probe_span text, int at)
{
	struct probe_span offset = text;
	struct probe_span name = probe_lex_until(&offset, "+-");
	long value;
	int err;

	if (p->ctx->flags & TPARG_FL_USER)
		return probe_error(at, SYM_ON_UPROBE, -EINVAL);
	if (!name.len)
		return probe_error(at, BAD_MEM_ADDR, -EINVAL);
	err = offset.len ? probe_span_to_long(&offset, &value) : 0;
	if (err)
		return probe_error(offset.offset, BAD_MEM_ADDR, err);
	if (tparg_is_event_probe(p->ctx->flags) && !symbol_exists(&name))
		return probe_error(at, BAD_MEM_ADDR, -ENOENT);
	err = emit_data(p, FETCH_NOP_SYMBOL, &text);
	if (err)
		return err;
	probe_emit_value(p, FETCH_OP_IMM, 0);
	return probe_emit_deref(p, FETCH_OP_DEREF, 0);
}

static int parse_memory(struct probe_parser *p, struct probe_span text)
{
	int at = text.offset;

	probe_lex_take(&text, '@');
	if (probe_lex_take(&text, '+'))
		return parse_file_offset(p, text, at);
	if (isdigit(probe_span_first(&text)))
		return parse_address(p, text, at);
	return parse_symbol(p, text, at);
}

/* The value between the braces of a dereference, which are there. */
static int parse_inner(struct probe_parser *p, struct probe_span inner)
{
	int err;

	p->ctx->last_type = NULL;
	p->ctx->last_bitsize = 0;
	err = probe_parse_value(p, inner);
	if (err)
		return err;

	p->ctx->offset = inner.offset;
	if (probe_last_insn(p)->op == FETCH_OP_COMM || probe_last_insn(p)->op == FETCH_OP_DATA)
		return probe_error(inner.offset, COMM_CANT_DEREF, -EINVAL);
	/* A bit field is cut out only when it is stored. */
	if (p->ctx->last_bitsize)
		return probe_error(inner.offset, BAD_BITFIELD, -EINVAL);
	p->ctx->last_type = NULL;
	return 0;
}

/* +|-[u]OFFSET(VALUE) */
static int parse_deref(struct probe_parser *p, struct probe_span text)
{
	int at = text.offset, offset, err;
	enum fetch_op op = FETCH_OP_DEREF;
	struct probe_span number, inner;
	bool negative;

	negative = probe_lex_take(&text, '-');
	if (!negative)
		probe_lex_take(&text, '+');
	if (probe_lex_take(&text, 'u'))
		op = FETCH_OP_UDEREF;

	number = probe_lex_until(&text, "(");
	if (!probe_lex_take(&text, '('))
		return probe_error(at, DEREF_NEED_BRACE, -EINVAL);
	err = probe_span_to_offset(&number, negative, &offset);
	if (err)
		return probe_error(at, BAD_DEREF_OFFS, err);

	inner = probe_lex_through_last(&text, ')');
	if (!probe_lex_close(&inner, ')'))
		return probe_error(probe_span_end(&text), DEREF_OPEN_BRACE, -EINVAL);
	if (text.len)
		return probe_error(text.offset, BAD_FETCH_ARG, -EINVAL);
	return parse_inner(p, inner) ?: probe_emit_deref(p, op, offset);
}

/* "TEXT" */
static int parse_text(struct probe_parser *p, struct probe_span text)
{
	int end = probe_span_end(&text);

	probe_lex_take(&text, '"');
	if (!probe_lex_close(&text, '"'))
		return probe_error(end, IMMSTR_NO_CLOSE, -EINVAL);
	return emit_data(p, FETCH_OP_DATA, &text);
}

static int parse_immediate(struct probe_parser *p, struct probe_span text)
{
	unsigned long value;
	int err;

	probe_lex_take(&text, '\\');
	if (probe_span_first(&text) == '"')
		return parse_text(p, text);
	if (probe_span_first(&text) == '-')
		err = probe_span_to_long(&text, (long *)&value);
	else
		err = probe_span_to_ulong(&text, 0, &value);
	if (err)
		return probe_error(text.offset, BAD_IMM, err);
	probe_emit_value(p, FETCH_OP_IMM, value);
	return 0;
}

static int parse_name(struct probe_parser *p, struct probe_span text)
{
	if (!tparg_knows_params(p->ctx->flags) || !p->ctx->funcname)
		return probe_error(text.offset, NOSUP_BTFARG, -EINVAL);
	return probe_btf_parse_variable(p, text);
}

/* By their first characters. */
static const struct {
	const char	*first;
	int		(*parse)(struct probe_parser *p, struct probe_span text);
} value_kinds[] = {
	{ "$", probe_parse_word },
	{ "%", parse_register },
	{ "@", parse_memory },
	{ "+-", parse_deref },
	{ "\\", parse_immediate },
	{ "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", parse_name },
};

/**
 * probe_parse_value() - emit stages 1 and 2 of a program
 * @p:		the parser
 * @value:	the text
 *
 * It recurses once for each brace, of which 63 characters hold few.
 *
 * Return: 0 or an errno.
 */
int probe_parse_value(struct probe_parser *p, struct probe_span value)
{
	char first = probe_span_first(&value);
	int i;

	p->ctx->offset = value.offset;
	for (i = 0; first && i < ARRAY_SIZE(value_kinds); i++)
		if (strchr(value_kinds[i].first, first))
			return value_kinds[i].parse(p, value);
	return probe_error(value.offset, BAD_FETCH_ARG, -EINVAL);
}
