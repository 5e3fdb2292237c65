/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probe events: the interpreter of fetch instructions.
 *
 * The one idea: what is before the first stage and behind the memory accesses
 * differs from one kind of probe to the other, and nothing else.  So this is a
 * template: whoever includes it defines the functions that are declared first,
 * and gets them inlined.
 *
 * It runs when a probe hits, in any context.  What it fills in is never more
 * than was reserved, though strings may have grown since they were measured.
 */

#ifndef _TRACE_PROBE_TMPL_H
#define _TRACE_PROBE_TMPL_H

#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/unaligned.h>

#include "trace_probe.h"

/*
 * The includer's.  Memory is read with faults caught: 0, or an errno.  For a
 * string: its length with the NUL, at most MAX_STRING_SIZE, or an errno; it is
 * stored where the __data_loc at @dest says, from @base on, and clipped to it.
 */
static nokprobe_inline int probe_mem_read(void *dest, void *src, size_t size);
static nokprobe_inline int probe_mem_read_user(void *dest, void *src, size_t size);
static nokprobe_inline int fetch_store_strlen(unsigned long addr);
static nokprobe_inline int fetch_store_strlen_user(unsigned long addr);
static nokprobe_inline int fetch_store_string(unsigned long addr, void *dest, void *base);
static nokprobe_inline int fetch_store_string_user(unsigned long addr, void *dest, void *base);

/*
 * The includer's, too: the first stage, the rest of which is
 * process_common_fetch_insn(), then process_fetch_insn_bottom().
 */
static int process_fetch_insn(struct fetch_insn *code, void *rec, void *edata,
			      void *dest, void *base);

static nokprobe_inline u64 fetch_clock(void)
{
	/* Good in NMIs, and the same on every CPU. */
	return ktime_get_mono_fast_ns();
}

/* First stage: what has the same value wherever the probe is. */
static nokprobe_inline int
process_common_fetch_insn(const struct fetch_insn *code, unsigned long *val)
{
	if (code->op == FETCH_OP_IMM)
		*val = code->immediate;
	else if (code->op == FETCH_OP_DATA)
		*val = (unsigned long)code->data;
	else if (code->op == FETCH_OP_COMM)
		*val = (unsigned long)current->comm;
	else
		return -EILSEQ;
	return 0;
}

/* First stage: that, and what the registers of the kernel tell, and a clock. */
static nokprobe_inline int
process_regs_fetch_insn(const struct fetch_insn *code, struct pt_regs *regs, unsigned long *val)
{
	switch (code->op) {
	case FETCH_OP_REG:
		*val = regs_get_register(regs, code->param);
		return 0;
	case FETCH_OP_ARG:
		*val = regs_get_kernel_argument(regs, code->param);
		return 0;
	case FETCH_OP_RETVAL:
		*val = regs_return_value(regs);
		return 0;
	case FETCH_OP_STACKP:
		*val = kernel_stack_pointer(regs);
		return 0;
	case FETCH_OP_STACK:
		*val = regs_get_kernel_stack_nth(regs, code->param);
		return 0;
	case FETCH_OP_CLOCK:
		*val = fetch_clock();
		return 0;
	default:
		return process_common_fetch_insn(code, val);
	}
}

/*
 * Note at a function's entry, in the @tp->entry_arg->size bytes at @edata, what the
 * return will want to know.  @tp has an entry program.
 */
static nokprobe_inline void
store_trace_entry_data(void *edata, struct trace_probe *tp, struct pt_regs *regs)
{
	const struct fetch_insn *code;
	unsigned long val = 0;

	for (code = tp->entry_arg->code; code->op != FETCH_OP_END; code++) {
		if (code->op == FETCH_OP_ST_EDATA)
			*(unsigned long *)(edata + code->offset) = val;
		else if (process_regs_fetch_insn(code, regs, &val))
			val = 0;
	}
}

static nokprobe_inline int fetch_deref(const struct fetch_insn *code, unsigned long *val)
{
	void *src = (void *)(*val + code->offset);

	if (code->op == FETCH_OP_UDEREF)
		return probe_mem_read_user(val, src, sizeof(*val));
	return probe_mem_read(val, src, sizeof(*val));
}

static nokprobe_inline bool fetch_stores_string(const struct fetch_insn *code)
{
	return code->op == FETCH_OP_ST_STRING || code->op == FETCH_OP_ST_USTRING ||
	       code->op == FETCH_OP_ST_SYMSTR;
}

/* The name of what is at @addr; it takes a large frame, so nobody inlines it. */
static noinline int fetch_symbol_name(unsigned long addr, char *dest, int room)
{
	char name[KSYM_SYMBOL_LEN];
	int len = sprint_symbol(name, addr) + 1;

	if (dest) {
		len = min(len, room);
		memcpy(dest, name, len);
		dest[len - 1] = '\0';
	}
	return len;
}
NOKPROBE_SYMBOL(fetch_symbol_name);

/* Bytes that a string will take behind the fixed part, or an errno. */
static nokprobe_inline int fetch_string_size(const struct fetch_insn *store, unsigned long val)
{
	switch (store->op) {
	case FETCH_OP_ST_STRING:
		return fetch_store_strlen(val + store->offset);
	case FETCH_OP_ST_USTRING:
		return fetch_store_strlen_user(val + store->offset);
	default:
		return fetch_symbol_name(val, NULL, 0);
	}
}

/* The same, for a string that is now stored where the __data_loc at @dest says. */
static nokprobe_inline int fetch_string(const struct fetch_insn *store, unsigned long val,
					void *dest, void *base)
{
	switch (store->op) {
	case FETCH_OP_ST_STRING:
		return fetch_store_string(val + store->offset, dest, base);
	case FETCH_OP_ST_USTRING:
		return fetch_store_string_user(val + store->offset, dest, base);
	default:
		return fetch_symbol_name(val, get_loc_data(dest, base),
					 get_loc_len(*(u32 *)dest));
	}
}

/*
 * One string, unless there is an @err; @room is a __data_loc of what is free, and
 * becomes one of what is left.  What cannot be read is empty, which shows as a
 * fault.
 */
static nokprobe_inline int fetch_string_into(const struct fetch_insn *store, unsigned long val,
					     int err, void *dest, void *base, u32 *room)
{
	int len = 0, free = get_loc_len(*room), offs = get_loc_offs(*room);

	if (free && !err) {
		put_unaligned(*room, (u32 *)dest);
		len = clamp(fetch_string(store, val, dest, base), 0, free);
	}
	put_unaligned(make_data_loc(len, offs), (u32 *)dest);
	*room = make_data_loc(free - len, offs + len);
	return len;
}

/*
 * Store strings, one or @count of them, @code being the store.  @deref is the
 * dereference that led to the first one, or NULL; @from what it started from.
 * Returns the bytes behind the fixed part.
 */
static int fetch_strings(const struct fetch_insn *code, const struct fetch_insn *deref,
			 unsigned long from, unsigned long val, unsigned int count,
			 void *dest, void *base)
{
	u32 room = dest ? get_unaligned((u32 *)dest) : 0;
	int total = 0, err = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (i && deref) {
			val = from + i * sizeof(val);
			err = fetch_deref(deref, &val);
		}
		if (dest)
			total += fetch_string_into(code, val, err, (u32 *)dest + i, base, &room);
		else if (!err)
			total += max(fetch_string_size(code, val), 0);
	}
	return total;
}
NOKPROBE_SYMBOL(fetch_strings);

/* One element that is no string. */
static nokprobe_inline int fetch_store_one(const struct fetch_insn *store, unsigned long val,
					   void *dest)
{
	void *src = (void *)(val + store->offset);

	switch (store->op) {
	case FETCH_OP_ST_RAW:
		/* The low bytes. */
		memcpy(dest, &val, min_t(size_t, store->size, sizeof(val)));
		return 0;
	case FETCH_OP_ST_MEM:
		return probe_mem_read(dest, src, store->size);
	case FETCH_OP_ST_UMEM:
		return probe_mem_read_user(dest, src, store->size);
	default:
		return -EILSEQ;
	}
}

/* Of the integer at @data, what is left between two shifts. */
static nokprobe_inline void fetch_bitfield(const struct fetch_insn *code, void *data)
{
	switch (code->basesize) {
	case 1:
		*(u8 *)data = (u8)(*(u8 *)data << code->lshift) >> code->rshift;
		break;
	case 2:
		put_unaligned((u16)(get_unaligned((u16 *)data) << code->lshift) >> code->rshift,
			      (u16 *)data);
		break;
	case 4:
		put_unaligned(get_unaligned((u32 *)data) << code->lshift >> code->rshift,
			      (u32 *)data);
		break;
	case 8:
		put_unaligned(get_unaligned((u64 *)data) << code->lshift >> code->rshift,
			      (u64 *)data);
		break;
	}
}

/* What cannot be read is 0. */
static nokprobe_inline void fetch_numbers(const struct fetch_insn *store,
					  const struct fetch_insn *bitfield,
					  unsigned long val, unsigned int count, void *dest)
{
	unsigned int size = store->size;

	for (; count; count--, dest += size, val += size) {
		if (fetch_store_one(store, val, dest) < 0)
			memset(dest, 0, size);
		else if (bitfield)
			fetch_bitfield(bitfield, dest);
	}
}

/*
 * All stages behind the first: @code is the second's, @val what the first came
 * to.  @dest and @base are where to store it and the entry it is in; without a
 * @dest nothing is stored.  Returns the bytes that are, or will be, behind the
 * fixed part; or an errno, and nothing is stored.
 */
static nokprobe_inline int
process_fetch_insn_bottom(struct fetch_insn *code, unsigned long val,
			  void *dest, void *base)
{
	struct fetch_insn *deref = NULL, *bitfield = NULL, *store;
	unsigned long from = 0;
	unsigned int count = 1;
	int err;

	for (; fetch_is_deref(code); code++) {
		deref = code;
		from = val;
		err = fetch_deref(code, &val);
		if (err < 0)
			return err;
	}

	store = code++;
	if (code->op == FETCH_OP_MOD_BF)
		bitfield = code++;
	if (code->op == FETCH_OP_LP_ARRAY)
		count = code->param;

	if (fetch_stores_string(store))
		return fetch_strings(store, deref, from, val, count, dest, base);
	if (dest)
		fetch_numbers(store, bitfield, val, count, dest);
	return 0;
}

/* The arguments of which only a program knows the size, which is most rare. */
static noinline int fetch_dynamic_size(struct trace_probe *tp, void *rec, void *edata)
{
	struct probe_arg *arg;
	int size = 0;

	for (arg = tp->args; arg < tp->args + tp->nr_args; arg++) {
		if (arg->dynamic)
			size += max(process_fetch_insn(arg->code, rec, edata, NULL, NULL), 0);
	}
	return size;
}
NOKPROBE_SYMBOL(fetch_dynamic_size);

/* Bytes that an entry needs behind its fixed part; they are for store_trace_args(). */
static nokprobe_inline int
__get_data_size(struct trace_probe *tp, void *rec, void *edata)
{
	if (likely(!tp->nr_dynamic))
		return 0;
	return fetch_dynamic_size(tp, rec, edata);
}

/* A __data_loc of what is free from @data on, in the entry at @base: it knows 64k. */
static nokprobe_inline u32 fetch_room(void *base, void *data, void *end)
{
	long offs = data - base;

	if (offs > U16_MAX)
		return 0;
	return make_data_loc(min3(end - data, U16_MAX - offs, (long)U16_MAX), offs);
}

/* As it would be had nothing been readable. */
static nokprobe_inline void fetch_clear_arg(struct probe_arg *arg, void *dest, u32 room)
{
	unsigned int i, count = max(arg->count, 1U);

	if (!arg->dynamic) {
		memset(dest, 0, count * arg->type->size);
		return;
	}
	for (i = 0; i < count; i++)
		put_unaligned(make_data_loc(0, get_loc_offs(room)), (u32 *)dest + i);
}

/* An argument that takes a program; returns what it has used of @data to @end. */
static noinline int fetch_arg(struct probe_arg *arg, void *rec, void *edata,
			      void *dest, void *base, void *data, void *end)
{
	u32 room = arg->dynamic ? fetch_room(base, data, end) : 0;
	int used;

	if (arg->dynamic)
		put_unaligned(room, (u32 *)dest);
	used = process_fetch_insn(arg->code, rec, edata, dest, base);
	if (used < 0)
		fetch_clear_arg(arg, dest, room);
	return max(used, 0);
}
NOKPROBE_SYMBOL(fetch_arg);

/* An argument that is part of @rec; constant sizes, so that each is one mov. */
static nokprobe_inline void fetch_copy(void *dest, const void *src, unsigned int size)
{
	if (likely(size == 8))
		memcpy(dest, src, 8);
	else if (size == 4)
		memcpy(dest, src, 4);
	else if (size == 2)
		memcpy(dest, src, 2);
	else
		memcpy(dest, src, 1);
}

/*
 * Store all arguments at @data, which is @header_size behind the beginning of the
 * entry; and behind them what is dynamic of them, in @maxlen bytes that
 * __get_data_size() has asked for.  @rec and @edata are process_fetch_insn()'s.
 */
static nokprobe_inline void
store_trace_args(void *data, struct trace_probe *tp, void *rec, void *edata,
		 int header_size, int maxlen)
{
	void *base = data - header_size;
	void *dynamic = data + tp->size;
	void *end = dynamic + maxlen;
	struct probe_arg *arg = tp->args;
	struct probe_arg *last = arg + tp->nr_args;

	for (; arg < last; arg++) {
		if (likely(arg->copy_size))
			fetch_copy(data + arg->offset, rec + arg->copy_from, arg->copy_size);
		else
			dynamic += fetch_arg(arg, rec, edata, data + arg->offset, base,
					     dynamic, end);
	}
}

#endif /* _TRACE_PROBE_TMPL_H */
