// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: parameters, members and types by the kernel's own BTF.
 *
 * The one idea: a variable is a walk.  It starts at a value with a type; "->" and
 * "." each make a step to a member; a step that leaves through a pointer emits a
 * dereference, others only move the offset.
 */
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/string.h>

#include "trace_btf.h"
#include "trace_probe_parse.h"

/* How deep types are compared that are not the same one. */
#define MAX_TYPE_DEPTH	8

/* Functions of modules may be given with the module's name. */
static const char *plain_name(const char *func)
{
	const char *colon = strchr(func, ':');

	return colon ? colon + 1 : func;
}

/**
 * probe_btf_knows() - is there a prototype of the probed function?
 * @ctx:	the context; takes it in, until probe_btf_finish()
 *
 * Context: may sleep.
 * Return: whether there is.
 */
bool probe_btf_knows(struct traceprobe_parse_context *ctx)
{
	if (ctx->proto)
		return true;
	if (!ctx->funcname || !tparg_knows_params(ctx->flags))
		return false;

	ctx->proto = probe_btf_find_proto(plain_name(ctx->funcname), &ctx->btf);
	if (!ctx->proto) {
		ctx->btf = NULL;
		return false;
	}
	ctx->nr_params = 0;
	ctx->params = btf_get_func_param(ctx->proto, &ctx->nr_params);
	/* A tracepoint's functions are passed what they were registered with. */
	if (ctx->params && ctx->flags & TPARG_FL_TPOINT) {
		ctx->params++;
		ctx->nr_params--;
	}
	return true;
}

/**
 * probe_btf_finish() - let go of the prototype
 * @ctx:	the context
 */
void probe_btf_finish(struct traceprobe_parse_context *ctx)
{
	if (ctx->btf)
		btf_put(ctx->btf);
	ctx->last_bitsize = 0;
	ctx->last_type = NULL;
	ctx->nr_params = 0;
	ctx->params = NULL;
	ctx->proto = NULL;
	ctx->btf = NULL;
}

/**
 * probe_btf_param_name() - the name of a parameter
 * @ctx:	the context, of which probe_btf_knows()
 * @index:	which, from 0
 *
 * Return: the name, until probe_btf_finish(); NULL if it has none, as the "..."
 * of a variadic function, or there are not so many.
 */
const char *probe_btf_param_name(struct traceprobe_parse_context *ctx, unsigned int index)
{
	const char *name;

	if (index >= ctx->nr_params || !ctx->params[index].name_off)
		return NULL;
	name = btf_name_by_offset(ctx->btf, ctx->params[index].name_off);
	return name && *name ? name : NULL;
}

/*
 * Walks
 */
static const struct btf_type *plain_type(struct traceprobe_parse_context *ctx, u32 id)
{
	return btf_type_skip_modifiers(ctx->btf, id, NULL);
}

/* "->a.b": are these arrows, dots and what stands between?  @first: at a variable. */
static int check_fields(struct probe_span fields, bool first)
{
	for (; fields.len; first = false) {
		if (probe_lex_take(&fields, '-')) {
			if (!probe_lex_take(&fields, '>'))
				return probe_error(fields.offset - 1, BAD_HYPHEN, -EINVAL);
		} else if (probe_lex_take(&fields, '.') && first) {
			return probe_error(fields.offset, NOSUP_DAT_ARG, -EOPNOTSUPP);
		}
		probe_lex_until(&fields, "-.");
	}
	return 0;
}

static const struct btf_member *find_member(struct traceprobe_parse_context *ctx,
					    const struct btf_type *type,
					    const struct probe_span *name,
					    u32 *base, const struct btf_type **owner)
{
	const struct btf_member *member;
	char *copy;

	if (!name->len)
		return NULL;
	copy = probe_span_dup(name);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	member = btf_find_struct_member(ctx->btf, type, copy, base, owner);
	kfree(copy);
	return member;
}

/*
 * The member has a type, is at a number of bits from the structure's beginning,
 * and may be a field of bits.  A bit field is read as what it is declared to be:
 * within such a unit it always is.
 */
static int enter_member(struct traceprobe_parse_context *ctx, const struct btf_type *owner,
			const struct btf_member *member, u32 base, int at)
{
	u32 bits = base + __btf_member_bit_offset(owner, member);
	u32 unit = BITS_PER_BYTE;

	ctx->last_type = plain_type(ctx, member->type);
	if (!ctx->last_type)
		return probe_error(at, BAD_BTF_TID, -EINVAL);
	ctx->last_bitsize = __btf_member_bitfield_size(owner, member);
	if (ctx->last_bitsize)
		unit *= clamp(ctx->last_type->size, 1U, 8U);
	ctx->last_bitoffs = bits % unit;
	return (bits - ctx->last_bitoffs) / BITS_PER_BYTE;
}

/* From ctx->last_type, a structure, to a member.  Returns its offset in bytes. */
static int step_into(struct traceprobe_parse_context *ctx, const struct btf_type *type,
		     const struct probe_span *name)
{
	const struct btf_type *owner = type;
	const struct btf_member *member;
	u32 base = 0;

	if (!type || !btf_type_is_struct(type))
		return probe_error(name->offset, BAD_BTF_TID, -EINVAL);
	member = find_member(ctx, type, name, &base, &owner);
	if (IS_ERR(member))
		return PTR_ERR(member);
	if (!member)
		return probe_error(name->offset, NO_BTF_FIELD, -ENOENT);
	return enter_member(ctx, owner, member, base, name->offset);
}

static int step_through_pointer(struct traceprobe_parse_context *ctx,
				const struct probe_span *name)
{
	const struct btf_type *type = ctx->last_type;

	if (!btf_type_is_ptr(type))
		return probe_error(name->offset, NO_PTR_STRCT, -EINVAL);
	return step_into(ctx, plain_type(ctx, type->type), name);
}

/* From a value of ctx->last_type, along fields that check_fields() approves of. */
static int walk_fields(struct probe_parser *p, struct probe_span fields)
{
	struct traceprobe_parse_context *ctx = p->ctx;
	int offset = 0, step, err;
	bool moved = false;

	for (; fields.len; moved = true) {
		bool arrow = probe_lex_take(&fields, '-');
		struct probe_span name;

		probe_lex_skip(&fields, 1);
		name = probe_lex_until(&fields, "-.");
		/* The pointer is where the steps before have led. */
		err = arrow && moved ? probe_emit_deref(p, FETCH_OP_DEREF, offset) : 0;
		if (err)
			return err;
		if (arrow)
			offset = 0;
		step = arrow ? step_through_pointer(ctx, &name)
			     : step_into(ctx, ctx->last_type, &name);
		if (step < 0)
			return step;
		offset += step;
	}
	return moved ? probe_emit_deref(p, FETCH_OP_DEREF, offset) : 0;
}

static int find_param(struct traceprobe_parse_context *ctx, const struct probe_span *name)
{
	const char *param;
	int i;

	for (i = 0; i < ctx->nr_params; i++) {
		param = probe_btf_param_name(ctx, i);
		if (param && probe_span_is(name, param))
			return i;
	}
	return -ENOENT;
}

/**
 * probe_btf_parse_variable() - emit a parameter, or a member that it leads to
 * @p:		the parser, of a probe on a function
 * @text:	NAME[->NAME|.NAME...]
 *
 * Context: may sleep.
 * Return: 0 or an errno.
 */
int probe_btf_parse_variable(struct probe_parser *p, struct probe_span text)
{
	struct traceprobe_parse_context *ctx = p->ctx;
	struct probe_span fields = text;
	struct probe_span name = probe_lex_until(&fields, "-.");
	bool is_tracepoint = ctx->flags & TPARG_FL_TPOINT;
	int index, err;

	err = check_fields(fields, true);
	if (err)
		return err;
	if (!probe_btf_knows(ctx))
		return probe_error(text.offset, NO_BTF_ENTRY, -ENOENT);
	index = find_param(ctx, &name);
	if (index < 0)
		return probe_error(text.offset, NO_BTFARG, -ENOENT);
	err = probe_emit_param(p, index + is_tracepoint);
	if (err)
		return err;
	ctx->last_type = plain_type(ctx, ctx->params[index].type);
	return walk_fields(p, fields);
}

/**
 * probe_btf_parse_retval() - emit the return value, or a member that it leads to
 * @p:		the parser, at the value's first character, of a return probe
 * @fields:	[->NAME|.NAME...]
 *
 * Context: may sleep.
 * Return: 0 or an errno.
 */
int probe_btf_parse_retval(struct probe_parser *p, struct probe_span fields)
{
	struct traceprobe_parse_context *ctx = p->ctx;
	int err;

	if (!tparg_knows_params(ctx->flags) || !ctx->funcname)
		return probe_error(ctx->offset, NOSUP_BTFARG, -EINVAL);
	err = check_fields(fields, true);
	if (err)
		return err;
	if (!probe_btf_knows(ctx))
		return probe_error(ctx->offset, NO_BTF_ENTRY, -ENOENT);
	if (!ctx->proto->type)
		return probe_error(ctx->offset, NO_RETVAL, -ENOENT);
	probe_emit(p, FETCH_OP_RETVAL);
	ctx->last_type = plain_type(ctx, ctx->proto->type);
	return walk_fields(p, fields);
}

/*
 * What the type of the value means for how it is stored
 */
static bool is_char(const struct btf_type *type)
{
	return type && btf_type_is_int(type) && type->size == 1;
}

/**
 * probe_btf_to_string() - make a variable one of which a string can be stored
 * @p:		the parser, behind the value; if it is no variable all is well
 *
 * Return: 0, or -EINVAL: it is no array of characters nor a pointer to them.
 */
int probe_btf_to_string(struct probe_parser *p)
{
	struct traceprobe_parse_context *ctx = p->ctx;
	const struct btf_type *type = ctx->last_type;

	if (!type)
		return 0;
	if (btf_type_is_ptr(type) && is_char(plain_type(ctx, type->type)))
		return probe_emit_deref(p, FETCH_OP_DEREF, 0);
	if (btf_type_is_array(type) && is_char(plain_type(ctx, btf_array(type)->type)))
		return 0;
	return probe_error(ctx->offset, BAD_TYPE4STR, -EINVAL);
}

/**
 * probe_btf_default_type() - the type of a variable for which none is asked
 * @ctx:	the context, behind the value
 *
 * Return: the name of the type; or NULL: any number in hexadecimal will do.
 */
const char *probe_btf_default_type(struct traceprobe_parse_context *ctx)
{
	static const char * const names[][4] = {
		{ "u8", "u16", "u32", "u64" },
		{ "s8", "s16", "s32", "s64" },
	};
	const struct btf_type *type = ctx->last_type;
	bool is_signed;

	if (!type)
		return NULL;
	if (btf_type_is_int(type))
		is_signed = btf_type_is_signed_int(type);
	else if (btf_is_any_enum(type))
		is_signed = true;
	else
		return NULL;
	if (!is_power_of_2(type->size) || type->size > sizeof(u64))
		return NULL;
	return names[is_signed][ilog2(type->size)];
}

/*
 * Are two prototypes one?
 */
struct btf_ref {
	struct btf	*btf;
	u32		id;
};

/* Types below these numbers are vmlinux's in every BTF. */
static u32 nr_common_types(const struct btf *btf)
{
	struct btf *base = btf_base_btf(btf);

	return btf_nr_types(base ?: btf);
}

static bool same_ref(const struct btf_ref *a, const struct btf_ref *b)
{
	return a->id == b->id && (a->btf == b->btf || a->id < nr_common_types(a->btf));
}

static bool same_names(struct btf *a, u32 a_off, struct btf *b, u32 b_off)
{
	const char *name = btf_name_by_offset(a, a_off), *other = btf_name_by_offset(b, b_off);

	return name && other && !strcmp(name, other);
}

/* Of one kind, size and name, and so is what they point to. */
static bool same_type(struct btf_ref a, struct btf_ref b)
{
	int depth;

	for (depth = 0; depth < MAX_TYPE_DEPTH; depth++) {
		const struct btf_type *type, *other;

		if (same_ref(&a, &b))
			return true;
		type = btf_type_skip_modifiers(a.btf, a.id, &a.id);
		other = btf_type_skip_modifiers(b.btf, b.id, &b.id);
		if (!type || !other || btf_kind(type) != btf_kind(other))
			return false;
		if (!btf_type_is_ptr(type))
			return type->size == other->size &&
			       same_names(a.btf, type->name_off, b.btf, other->name_off);
		a.id = type->type;
		b.id = other->type;
	}
	return false;
}

static bool same_params(struct btf *btf, const struct btf_type *proto,
			struct btf *other_btf, const struct btf_type *other)
{
	const struct btf_param *param = btf_params(proto), *with = btf_params(other);
	int i;

	if (btf_type_vlen(proto) != btf_type_vlen(other))
		return false;
	for (i = 0; i < btf_type_vlen(proto); i++, param++, with++)
		if (!same_names(btf, param->name_off, other_btf, with->name_off) ||
		    !same_type((struct btf_ref){ btf, param->type },
			       (struct btf_ref){ other_btf, with->type }))
			return false;
	return true;
}

/**
 * trace_probe_same_prototype() - can the one function be probed as the other?
 * @func:	a function, [MODULE:]NAME
 * @other:	and another
 *
 * Context: may sleep.
 * Return: whether both have a prototype in BTF, with the same number, names and
 * types of parameters and the same type of return value.
 */
bool trace_probe_same_prototype(const char *func, const char *other)
{
	const struct btf_type *proto, *with;
	struct btf *btf, *other_btf;
	bool same = false;

	proto = probe_btf_find_proto(plain_name(func), &btf);
	if (!proto)
		return false;
	with = probe_btf_find_proto(plain_name(other), &other_btf);
	if (with) {
		same = same_params(btf, proto, other_btf, with) &&
		       same_type((struct btf_ref){ btf, proto->type },
				 (struct btf_ref){ other_btf, with->type });
		btf_put(other_btf);
	}
	btf_put(btf);
	return same;
}
