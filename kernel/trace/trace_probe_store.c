// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: as what an argument's value is stored.
 *
 * The one idea: "TYPE", "bW@O/C" and "TYPE[N]" are read before the value, since
 * what is wrong there is wrong with any value; what fits this value is decided by
 * the last instruction that made it.
 */
#include <linux/string.h>

#include "trace_probe_parse.h"

/*
 * What the type says
 */

/* "N]", behind the bracket */
static int parse_count(struct probe_span text, struct probe_cast *cast)
{
	struct probe_span number = probe_lex_until(&text, "]");
	int err;

	if (!probe_lex_take(&text, ']'))
		return probe_error(probe_span_end(&text), ARRAY_NO_CLOSE, -EINVAL);
	if (text.len)
		return probe_error(text.offset, BAD_ARRAY_SUFFIX, -EINVAL);
	err = probe_span_to_uint(&number, &cast->count);
	if (err || !cast->count)
		return probe_error(number.offset, BAD_ARRAY_NUM, -EINVAL);
	if (cast->count > MAX_ARRAY_LEN)
		return probe_error(number.offset, ARRAY_TOO_BIG, -EINVAL);
	return 0;
}

static const struct fetch_type *find_type(const struct probe_span *name)
{
	return trace_probe_find_type(name->text, name->len);
}

/* The type of a bit field's container, "WIDTH@OFFSET/BITS" behind the 'b'. */
static const struct fetch_type *parse_container(struct probe_span text, struct probe_cast *cast)
{
	char name[sizeof("u64")];
	unsigned int bits;

	cast->bitfield = probe_lex_until(&text, "/");
	if (!probe_lex_take(&text, '/') || probe_span_to_uint(&text, &bits) || bits > 64)
		return NULL;
	snprintf(name, sizeof(name), "u%u", bits);
	return trace_probe_find_type(name, strlen(name));
}

/* Names of the kernel's symbols are nothing to user space. */
static bool is_kernels(const struct probe_span *name)
{
	return probe_span_is(name, "symbol") || probe_span_is(name, "symstr");
}

static int parse_type(struct probe_span name, const struct traceprobe_parse_context *ctx,
		      struct probe_cast *cast)
{
	struct probe_span bitfield = name;

	cast->type = find_type(&name);
	if (!cast->type && probe_lex_take(&bitfield, 'b'))
		cast->type = parse_container(bitfield, cast);
	if (!cast->type || (ctx->flags & TPARG_FL_USER && is_kernels(&name)))
		return probe_error(name.offset, BAD_TYPE, -EINVAL);
	return 0;
}

/**
 * probe_parse_cast() - read the type of an argument
 * @text:	VALUE[:TYPE]; then VALUE
 * @ctx:	where the probe is
 * @cast:	what is asked for; if that is nothing: the type that such a value
 *		has, or NULL if only its parser can tell
 *
 * Return: 0 or an errno.
 */
int probe_parse_cast(struct probe_span *text, const struct traceprobe_parse_context *ctx,
		     struct probe_cast *cast)
{
	struct probe_span value, name, rest = *text;
	const char *preset;
	int err = 0;
	bool only;

	value = probe_lex_until(&rest, ":");
	*text = value;
	*cast = (struct probe_cast){ .offset = rest.offset };
	preset = probe_value_default_type(ctx, &value, &only);
	if (!probe_lex_take(&rest, ':')) {
		cast->type = preset ? trace_probe_find_type(preset, strlen(preset)) : NULL;
		return 0;
	}

	name = probe_lex_until(&rest, "[");
	cast->offset = name.offset;
	if (probe_lex_take(&rest, '['))
		err = parse_count(rest, cast);
	if (err)
		return err;
	if (only && (cast->count || !probe_span_is(&name, preset)))
		return probe_error(name.offset, NEED_STRING_TYPE, -EINVAL);
	return parse_type(name, ctx, cast);
}

/*
 * What it does to the value
 */
static struct fetch_insn *emit_store_insn(struct probe_parser *p, enum fetch_op op)
{
	struct fetch_insn *insn = probe_emit(p, op);

	if (!insn)
		trace_probe_log_err(p->ctx->offset, TOO_MANY_OPS);
	return insn;
}

static bool stores_value(enum fetch_op op)
{
	return op == FETCH_OP_ST_RAW || op == FETCH_OP_ST_SYMSTR;
}

/*
 * The last dereference and the store may be one access, unless there are several
 * strings: then the former reads pointers, and the latter what they point to.
 */
static bool is_one_access(const struct fetch_insn *last, enum fetch_op op,
			  const struct probe_cast *cast)
{
	return fetch_is_deref(last) && !stores_value(op) &&
	       !(cast->type->is_string && cast->count);
}

static int emit_store(struct probe_parser *p, const struct probe_cast *cast)
{
	struct fetch_insn *last = probe_last_insn(p);
	enum fetch_op op = probe_type_store_op(cast->type, last->op);

	if (cast->count && (op == FETCH_OP_NOP || stores_value(op)))
		return probe_error(cast->offset, BAD_STRING, -EINVAL);
	if (op == FETCH_OP_NOP && !strcmp(cast->type->name, "symstr"))
		return probe_error(cast->offset, BAD_SYMSTRING, -EINVAL);
	if (op == FETCH_OP_NOP)
		return probe_error(cast->offset, BAD_STRING, -EINVAL);

	if (is_one_access(last, op, cast))
		last->op = op;
	else
		last = emit_store_insn(p, op);
	if (!last)
		return -E2BIG;
	last->size = cast->type->size;
	return 0;
}

static int emit_bits(struct probe_parser *p, const struct probe_cast *cast,
		     unsigned int width, unsigned int shift)
{
	unsigned int size = cast->type->size, bits = size * BITS_PER_BYTE;
	struct fetch_insn *insn;

	if (!width || width > bits || shift > bits - width)
		return probe_error(cast->offset, BAD_BITFIELD, -EINVAL);
	insn = emit_store_insn(p, FETCH_OP_MOD_BF);
	if (!insn)
		return -E2BIG;
	insn->basesize = size;
	insn->lshift = bits - width - shift;
	insn->rshift = bits - width;
	return 0;
}

/* WIDTH@OFFSET */
static int emit_bitfield(struct probe_parser *p, const struct probe_cast *cast)
{
	struct probe_span offset = cast->bitfield;
	struct probe_span width = probe_lex_until(&offset, "@");
	unsigned int bits, shift;

	if (!probe_lex_take(&offset, '@') || probe_span_to_uint(&width, &bits) ||
	    probe_span_to_uint(&offset, &shift))
		return probe_error(cast->offset, BAD_BITFIELD, -EINVAL);
	return emit_bits(p, cast, bits, shift);
}

/* One that is a member: it may begin behind the first bytes of a small type. */
static int emit_member_bits(struct probe_parser *p, const struct probe_cast *cast)
{
	unsigned int width = p->ctx->last_bitsize, shift = p->ctx->last_bitoffs;

	if (width + shift > cast->type->size * BITS_PER_BYTE) {
		probe_last_insn(p)->offset += shift / BITS_PER_BYTE;
		shift %= BITS_PER_BYTE;
	}
	return emit_bits(p, cast, width, shift);
}

static int emit_loop(struct probe_parser *p, const struct probe_cast *cast)
{
	struct fetch_insn *insn = emit_store_insn(p, FETCH_OP_LP_ARRAY);

	if (!insn)
		return -E2BIG;
	insn->param = cast->count;
	return 0;
}

static bool is_text(const struct fetch_type *type)
{
	return type->is_string && strcmp(type->name, "symstr");
}

/**
 * probe_parse_store() - emit stages 3 to 5 of a program, and its end
 * @p:		the parser, behind stage 2
 * @cast:	what is asked for, with a type
 *
 * Return: 0 or an errno.
 */
int probe_parse_store(struct probe_parser *p, const struct probe_cast *cast)
{
	int err = is_text(cast->type) ? probe_btf_to_string(p) : 0;

	err = err ?: emit_store(p, cast);
	if (!err && cast->bitfield.len)
		err = emit_bitfield(p, cast);
	else if (!err && p->ctx->last_bitsize && !cast->type->is_string)
		err = emit_member_bits(p, cast);
	if (!err && cast->count)
		err = emit_loop(p, cast);
	/* probe_emit() leaves room for it. */
	if (!err)
		p->code[p->nr++] = (struct fetch_insn){ .op = FETCH_OP_END };
	return err;
}
