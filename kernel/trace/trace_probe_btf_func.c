// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: the prototype of a function, by its name.
 *
 * The one idea: BTF can only be searched from end to end, which takes longer than
 * all the rest of a definition.  So whoever asks first has the kernel's functions
 * entered into a hash table, which stays.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_btf.h"
#include "trace_probe_parse.h"

/*
 * The numbers of the functions' types, each in the first place that was free from
 * where its name's hash leads to; a third of the places or more stay 0.  Of two
 * with one name the lower comes first, as when searching.
 */
static struct {
	struct btf	*btf;	/* of vmlinux, which is never freed */
	u32		*ids;
	u32		mask;
} functions;

/* For filling the table; what is in there does not change. */
static DEFINE_MUTEX(functions_mutex);

static const char *function_name(struct btf *btf, u32 id)
{
	const struct btf_type *type = btf_type_by_id(btf, id);

	return type && btf_type_is_func(type) ? btf_name_by_offset(btf, type->name_off) : NULL;
}

static u32 count_functions(struct btf *btf)
{
	u32 id, nr = 0;

	for (id = 1; id < btf_nr_types(btf); id++)
		nr += btf_type_is_func(btf_type_by_id(btf, id));
	return nr;
}

static u32 first_place(const char *name)
{
	return jhash(name, strlen(name), 0) & functions.mask;
}

static bool fill_functions(void)
{
	struct btf *btf = bpf_get_btf_vmlinux();
	u32 id, i, size, *ids;
	const char *name;

	if (IS_ERR_OR_NULL(btf))
		return false;
	size = count_functions(btf);
	size = roundup_pow_of_two(size + size / 2 + 1);
	ids = kvcalloc(size, sizeof(*ids), GFP_KERNEL);
	if (!ids)
		return false;
	functions.mask = size - 1;
	for (id = 1; id < btf_nr_types(btf); id++) {
		name = function_name(btf, id);
		if (!name)
			continue;
		for (i = first_place(name); ids[i]; i = (i + 1) & functions.mask)
			;
		ids[i] = id;
	}
	functions.btf = btf;
	functions.ids = ids;
	return true;
}

static bool have_functions(void)
{
	guard(mutex)(&functions_mutex);
	return functions.ids || fill_functions();
}

/* 0: there is none, or no memory for the table. */
static u32 find_function(const char *func)
{
	const char *name;
	u32 i;

	if (!have_functions())
		return 0;
	for (i = first_place(func); functions.ids[i]; i = (i + 1) & functions.mask) {
		name = function_name(functions.btf, functions.ids[i]);
		if (name && !strcmp(name, func))
			break;
	}
	return functions.ids[i];
}

/**
 * probe_btf_find_proto() - the prototype of a function
 * @func:	its name, without a module's
 * @btf:	set to the BTF that it is in; for btf_put()
 *
 * Context: may sleep.
 * Return: the prototype, or NULL.
 */
const struct btf_type *probe_btf_find_proto(const char *func, struct btf **btf)
{
	const struct btf_type *proto;
	u32 id = find_function(func);

	/* A module's functions are few. */
	if (!id)
		return btf_find_func_proto(func, btf);
	proto = btf_type_by_id(functions.btf, btf_type_by_id(functions.btf, id)->type);
	if (!proto || !btf_type_is_func_proto(proto))
		return NULL;
	btf_get(functions.btf);
	*btf = functions.btf;
	return proto;
}
