// SPDX-License-Identifier: GPL-2.0
/*
 * The blacklist: ranges of text that must not be probed, because a probe's own
 * handling runs through them.
 *
 * One sorted array, replaced as a whole when a module brings or takes ranges.
 * Ranges may overlap and nest (a section, and functions in it), so each entry
 * also keeps the furthest end up to itself: an address is in some range exactly
 * when that end, at the last entry that starts no later, lies beyond it.
 */
#include <linux/kallsyms.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <asm/sections.h>

#include "internal.h"

/**
 * struct black_range - text that is not probed
 * @start:	first address
 * @end:	first address behind it
 * @reach:	largest @end among this entry and those before it
 */
struct black_range {
	unsigned long start;
	unsigned long end;
	unsigned long reach;
};

/**
 * struct blacklist - one generation of the array
 * @rcu:	for the old generation
 * @nr:		entries in use
 * @range:	sorted by start
 */
struct blacklist {
	struct rcu_head		rcu;
	unsigned int		nr;
	struct black_range	range[] __counted_by(nr);
};

/* Read under RCU; replaced under kprobe_mutex. */
static struct blacklist __rcu *blacklist;

static struct blacklist *blacklist_locked(void)
{
	return rcu_dereference_protected(blacklist, lockdep_is_held(&kprobe_mutex));
}

static struct blacklist *blacklist_alloc(unsigned int nr)
{
	struct blacklist *list = kvzalloc(struct_size(list, range, nr), GFP_KERNEL);

	if (list)
		list->nr = nr;
	return list;
}

static int cmp_range(const void *a, const void *b)
{
	const struct black_range *l = a, *r = b;

	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->end < r->end ? -1 : l->end > r->end;
}

static void blacklist_publish(struct blacklist *list)
{
	struct blacklist *old = blacklist_locked();
	unsigned long reach = 0;
	unsigned int i;

	sort(list->range, list->nr, sizeof(list->range[0]), cmp_range, NULL);
	for (i = 0; i < list->nr; i++) {
		reach = max(reach, list->range[i].end);
		list->range[i].reach = reach;
	}
	rcu_assign_pointer(blacklist, list);
	if (old)
		kvfree_rcu(old, rcu);
}

/* Publish the present ranges and @nr more. */
static int blacklist_add(const struct black_range *add, unsigned int nr)
{
	struct blacklist *old, *list;
	unsigned int nr_old;

	lockdep_assert_held(&kprobe_mutex);

	if (!nr)
		return 0;
	old = blacklist_locked();
	nr_old = old ? old->nr : 0;
	list = blacklist_alloc(nr_old + nr);
	if (!list)
		return -ENOMEM;
	if (old)
		memcpy(list->range, old->range, nr_old * sizeof(*add));
	memcpy(list->range + nr_old, add, nr * sizeof(*add));
	blacklist_publish(list);
	return 0;
}

/* The function at @entry as a range; false when there is none. */
static bool function_range(unsigned long entry, struct black_range *range)
{
	unsigned long size = 0, offset = 0;

	if (!kernel_text_address(entry) ||
	    !kallsyms_lookup_size_offset(entry, &size, &offset))
		return false;
	range->start = entry - offset;
	/* A symbol of no size, as assembly code may leave it. */
	range->end = range->start + (size ?: 1);
	return true;
}

/**
 * kprobe_add_ksym_blacklist() - forbid probes in a function
 * @entry: its address
 *
 * Context: may sleep; kprobe_mutex held, or early boot.
 * Return: the size of the function; -EINVAL when there is none at @entry;
 * -ENOMEM.
 */
int kprobe_add_ksym_blacklist(unsigned long entry)
{
	struct black_range range = {};
	int err;

	if (!function_range(entry, &range))
		return -EINVAL;
	err = blacklist_add(&range, 1);
	return err ?: (int)(range.end - range.start);
}

/**
 * kprobe_add_area_blacklist() - forbid probes in a stretch of text
 * @start: first address
 * @end:   first address behind it
 *
 * Context: may sleep; kprobe_mutex held, or early boot.
 * Return: 0; -EINVAL for an empty stretch; -ENOMEM.
 */
int kprobe_add_area_blacklist(unsigned long start, unsigned long end)
{
	struct black_range range = { .start = start, .end = end };

	if (start >= end)
		return -EINVAL;
	return blacklist_add(&range, 1);
}

/* The ranges of functions listed in a _kprobe_blacklist section. */
static unsigned int functions_to_ranges(const unsigned long *func, unsigned int nr,
					struct black_range *range)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		if (function_range(func[i], &range[n]))
			n++;
	return n;
}

static unsigned int area_to_range(const struct text_area *area, struct black_range *range)
{
	if (!area->size)
		return 0;
	range->start = (unsigned long)area->start;
	range->end = range->start + area->size;
	return 1;
}

/**
 * blacklist_add_text() - the kernel or a module has code that must not be probed
 * @func:  entries of functions
 * @nr:    how many
 * @areas: sections; of no size if they are not there
 *
 * Context: may sleep; kprobe_mutex held.
 * Return: 0, or -ENOMEM: then nothing of it may be probed safely.
 */
int blacklist_add_text(const unsigned long *func, unsigned int nr,
		       const struct text_area areas[2])
{
	struct black_range *range;
	unsigned int n;
	int err;

	range = kvcalloc(nr + 2, sizeof(*range), GFP_KERNEL);
	if (!range)
		return -ENOMEM;
	n = functions_to_ranges(func, nr, range);
	n += area_to_range(&areas[0], range + n);
	n += area_to_range(&areas[1], range + n);
	err = blacklist_add(range, n);
	kvfree(range);
	return err;
}

/**
 * blacklist_remove_text() - a module's text goes away
 * @start: where it starts
 * @size:  in bytes
 *
 * Context: may sleep; kprobe_mutex held.
 */
void blacklist_remove_text(unsigned long start, unsigned long size)
{
	struct blacklist *old = blacklist_locked(), *list;
	unsigned int i, n = 0;

	if (!old)
		return;
	for (i = 0; i < old->nr; i++)
		n += old->range[i].start - start < size;
	if (!n)
		return;

	/* Without memory they stay, and forbid text that is not there. */
	list = blacklist_alloc(old->nr - n);
	if (!list)
		return;
	for (i = 0, n = 0; i < old->nr; i++)
		if (old->range[i].start - start >= size)
			list->range[n++] = old->range[i];
	blacklist_publish(list);
}

/**
 * blacklist_init() - what the kernel itself forbids
 *
 * Context: early boot; kprobe_mutex held.
 * Return: 0, or an errno.
 */
int __init blacklist_init(void)
{
	const struct text_area areas[] = {
		{ __kprobes_text_start, __kprobes_text_end - __kprobes_text_start },
		{ __noinstr_text_start, __noinstr_text_end - __noinstr_text_start },
	};

	return blacklist_add_text(__start_kprobe_blacklist,
				  __stop_kprobe_blacklist - __start_kprobe_blacklist, areas) ?:
	       arch_populate_kprobe_blacklist();
}

static bool blacklisted(unsigned long addr)
{
	unsigned int lo = 0, hi, mid;
	const struct blacklist *list;
	bool found;

	rcu_read_lock();
	list = rcu_dereference(blacklist);
	hi = list ? list->nr : 0;
	/* lo: how many entries start at or before addr */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (list->range[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	found = lo && addr < list->range[lo - 1].reach;
	rcu_read_unlock();
	return found;
}

/**
 * within_kprobe_blacklist() - must an address not be probed?
 * @addr: where
 *
 * The compiler's clones of a function ("name.isra.0") share its fate, though
 * NOKPROBE_SYMBOL() names only the original.
 *
 * Context: any that may look up symbols.
 * Return: true when it must not.
 */
bool within_kprobe_blacklist(unsigned long addr)
{
	char name[KSYM_NAME_LEN], *dot;
	unsigned long original;

	if (blacklisted(addr))
		return true;
	if (lookup_symbol_name(addr, name))
		return false;
	dot = strchr(name, '.');
	if (!dot)
		return false;
	*dot = '\0';
	original = (unsigned long)kprobe_lookup_name(name, 0);
	return original && blacklisted(original);
}

/* debugfs: kprobes/blacklist */

static void *blacklist_seq_start(struct seq_file *m, loff_t *pos)
{
	const struct blacklist *list;

	mutex_lock(&kprobe_mutex);
	list = blacklist_locked();
	return list && *pos < list->nr ? (void *)&list->range[*pos] : NULL;
}

static void *blacklist_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	const struct blacklist *list = blacklist_locked();

	++*pos;
	return *pos < list->nr ? (void *)&list->range[*pos] : NULL;
}

static void blacklist_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&kprobe_mutex);
}

/* A line for each function in the range: tools look for names here. */
static int blacklist_seq_show(struct seq_file *m, void *v)
{
	const struct black_range *range = v;
	bool show = kallsyms_show_value(m->file->f_cred);
	unsigned long at, end, size, offset;

	for (at = range->start; at < range->end; at = end) {
		end = range->end;
		if (kallsyms_lookup_size_offset(at, &size, &offset) && size > offset)
			end = min(end, at - offset + size);
		seq_printf(m, "0x%px-0x%px\t%ps\n", show ? (void *)at : NULL,
			   show ? (void *)end : NULL, (void *)at);
	}
	return 0;
}

const struct seq_operations blacklist_sops = {
	.start	= blacklist_seq_start,
	.next	= blacklist_seq_next,
	.stop	= blacklist_seq_stop,
	.show	= blacklist_seq_show,
};
