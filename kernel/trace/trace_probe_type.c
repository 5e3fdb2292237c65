// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: the types of arguments.
 *
 * The one idea: tables.  A new type is a line there, and a function that prints
 * it if there is none yet; how it looks in "format", in the trace and in a filter
 * follows from the line, and so does the instruction that stores it.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/string.h>
#include <linux/trace_seq.h>
#include <linux/unaligned.h>

#include "trace_probe_parse.h"

/*
 * An entry's fields stand one behind the other, aligned or not.  The printers
 * return whether the text fitted, as all that prints does.
 */
#define DEFINE_PRINT_TYPE(tname, ctype, fmt)					\
static int print_type_##tname(struct trace_seq *s, void *data, void *ent)	\
{										\
	ctype value;								\
										\
	value = get_unaligned((typeof(value) *)data);				\
	trace_seq_printf(s, fmt, value);					\
	return !trace_seq_has_overflowed(s);					\
}

/**
 * print_type_u8() - print an unsigned byte
 * @s:		where
 * @data:	the byte
 * @ent:	the entry it is in
 *
 * Return: 1, or 0 if @s is full.
 */
int print_type_u8(struct trace_seq *s, void *data, void *ent)
{
	trace_seq_printf(s, "%u", *(u8 *)data);
	return !trace_seq_has_overflowed(s);
}

DEFINE_PRINT_TYPE(u16, u16, "%u")
DEFINE_PRINT_TYPE(u32, u32, "%u")
DEFINE_PRINT_TYPE(u64, u64, "%llu")
DEFINE_PRINT_TYPE(s8, s8, "%d")
DEFINE_PRINT_TYPE(s16, s16, "%d")
DEFINE_PRINT_TYPE(s32, s32, "%d")
DEFINE_PRINT_TYPE(s64, s64, "%lld")
DEFINE_PRINT_TYPE(x8, u8, "0x%x")
DEFINE_PRINT_TYPE(x16, u16, "0x%x")
DEFINE_PRINT_TYPE(x32, u32, "0x%x")
DEFINE_PRINT_TYPE(x64, u64, "0x%llx")
DEFINE_PRINT_TYPE(char, u8, "'%c'")

static int print_type_symbol(struct trace_seq *s, void *data, void *ent)
{
	trace_seq_printf(s, "%pS", (void *)get_unaligned((unsigned long *)data));
	return !trace_seq_has_overflowed(s);
}

/**
 * print_type_string() - print a string, quoted
 * @s:		where
 * @data:	its __data_loc; one that is empty could not be read
 * @ent:	the entry it is in
 *
 * Return: 1, or 0 if @s is full.
 */
int print_type_string(struct trace_seq *s, void *data, void *ent)
{
	u32 loc = get_unaligned((u32 *)data);

	if (get_loc_len(loc))
		trace_seq_printf(s, "\"%s\"", (const char *)get_loc_data(&loc, ent));
	else
		trace_seq_puts(s, "(fault)");
	return !trace_seq_has_overflowed(s);
}

/* How a value becomes an element, by what the program's last instruction did. */
enum store_class {
	STORE_NUMBER,		/* the value, or the memory it was read from */
	STORE_STRING,		/* only what is in memory */
	STORE_USTRING,		/* ... of the user */
	STORE_SYMSTR,		/* only the value */
};

struct type_entry {
	struct fetch_type	type;
	enum store_class	store;
};

#define NUMBER(tname, bytes, sign, format, ctype)			\
	{ { .name = #tname, .size = bytes, .is_signed = sign,		\
	    .print = print_type_##tname, .fmt = format, .fmttype = ctype }, \
	  STORE_NUMBER }

#define STRING(tname, class)						\
	{ { .name = tname, .size = sizeof(u32), .is_signed = true,	\
	    .is_string = true, .print = print_type_string,		\
	    .fmt = "\\\"%s\\\"", .fmttype = "__data_loc char[]" },	\
	  class }

/* What readers of "print fmt" know. */
#define FMT_64		"L"
#define SYMBOL_TYPE	__stringify(__PASTE(u, BITS_PER_LONG))

static const struct type_entry types[] = {
	STRING("string", STORE_STRING),
	STRING("ustring", STORE_USTRING),
	STRING("symstr", STORE_SYMSTR),
	NUMBER(u8, 1, false, "%u", "u8"),
	NUMBER(u16, 2, false, "%u", "u16"),
	NUMBER(u32, 4, false, "%u", "u32"),
	NUMBER(u64, 8, false, "%" FMT_64 "u", "u64"),
	NUMBER(s8, 1, true, "%d", "s8"),
	NUMBER(s16, 2, true, "%d", "s16"),
	NUMBER(s32, 4, true, "%d", "s32"),
	NUMBER(s64, 8, true, "%" FMT_64 "d", "s64"),
	NUMBER(x8, 1, false, "0x%x", "u8"),
	NUMBER(x16, 2, false, "0x%x", "u16"),
	NUMBER(x32, 4, false, "0x%x", "u32"),
	NUMBER(x64, 8, false, "0x%" FMT_64 "x", "u64"),
	NUMBER(char, 1, false, "'%c'", "u8"),
	NUMBER(symbol, sizeof(long), false, "%pS", SYMBOL_TYPE),
};

/**
 * trace_probe_find_type() - a type by its name
 * @name:	the name, which need not be terminated
 * @len:	its length
 *
 * Return: the type, or NULL if there is none of that name.
 */
const struct fetch_type *trace_probe_find_type(const char *name, size_t len)
{
	const struct type_entry *entry;

	for (entry = types; entry < types + ARRAY_SIZE(types); entry++)
		if (strlen(entry->type.name) == len && !memcmp(entry->type.name, name, len))
			return &entry->type;
	return NULL;
}

/* The name of a dentry and of a file. */
static const struct probe_type_alias aliases[] = {
	{ "%pd", "string", 2, { offsetof(struct dentry, d_name.name), 0 } },
	{ "%pD", "string", 3, { offsetof(struct file, f_path.dentry),
				offsetof(struct dentry, d_name.name), 0 } },
};

/**
 * trace_probe_find_alias() - what stands for a type of something behind a pointer
 * @name:	its name
 *
 * Return: the alias, or NULL if there is none of that name.
 */
const struct probe_type_alias *trace_probe_find_alias(const char *name)
{
	const struct probe_type_alias *alias;

	for (alias = aliases; alias < aliases + ARRAY_SIZE(aliases); alias++)
		if (!strcmp(alias->name, name))
			return alias;
	return NULL;
}

static bool is_address(enum fetch_op op)
{
	return op == FETCH_OP_COMM || op == FETCH_OP_DATA || op == FETCH_OP_IMM ||
	       op == FETCH_OP_TP_ARG;
}

static bool is_no_symbol(enum fetch_op op)
{
	return op == FETCH_OP_COMM || op == FETCH_OP_DATA || op == FETCH_OP_IMM ||
	       op == FETCH_OP_UDEREF;
}

static enum fetch_op store_number(enum fetch_op last)
{
	if (last == FETCH_OP_DEREF)
		return FETCH_OP_ST_MEM;
	return last == FETCH_OP_UDEREF ? FETCH_OP_ST_UMEM : FETCH_OP_ST_RAW;
}

/**
 * probe_type_store_op() - the instruction that stores a value as a type
 * @type:	the type
 * @last:	the instruction that it will stand behind, or take the place of
 *
 * Return: the instruction; or FETCH_OP_NOP: such a value is nothing of that type.
 */
enum fetch_op probe_type_store_op(const struct fetch_type *type, enum fetch_op last)
{
	switch (container_of(type, struct type_entry, type)->store) {
	case STORE_NUMBER:
		return store_number(last);
	case STORE_USTRING:
		if (last == FETCH_OP_DEREF || last == FETCH_OP_UDEREF || is_address(last))
			return FETCH_OP_ST_USTRING;
		break;
	case STORE_STRING:
		if (last == FETCH_OP_UDEREF)
			return FETCH_OP_ST_USTRING;
		if (last == FETCH_OP_DEREF || is_address(last))
			return FETCH_OP_ST_STRING;
		break;
	case STORE_SYMSTR:
		if (!is_no_symbol(last))
			return FETCH_OP_ST_SYMSTR;
		break;
	}
	return FETCH_OP_NOP;
}
