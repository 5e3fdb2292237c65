// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobe events: what a symbol or a pattern means among the kernel's symbols.
 *
 * The one idea: a name is looked up, which costs the same however many symbols there
 * are; only a pattern has them all walked through.  What is given back are addresses:
 * nothing of a symbol is held on to, and its module may go at any time.
 */
#include <linux/ftrace.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <asm/sections.h>

#include "trace_kprobe.h"

/* "[MOD:]NAME", taken apart. */
struct place {
	char		module[MODULE_NAME_LEN];	/* empty: there is none */
	const char	*name;
};

/* -ENOENT when no module has a name as long as that. */
static int place_split(struct place *to, const char *symbol)
{
	const char *colon = strchr(symbol, ':');
	size_t len = colon ? colon - symbol : 0;

	if (len >= sizeof(to->module))
		return -ENOENT;
	memcpy(to->module, symbol, len);
	to->module[len] = '\0';
	to->name = colon ? colon + 1 : symbol;
	return 0;
}

/**
 * trace_kprobe_awaits_module() - does a symbol name a module that is not loaded?
 * @symbol:	"[MOD:]SYM" or "[MOD:]PATTERN"
 *
 * Context: may sleep.
 * Return: true when it does.
 */
bool trace_kprobe_awaits_module(const char *symbol)
{
	struct place at;

	return symbol && !place_split(&at, symbol) && at.module[0] &&
	       trace_kprobe_may_load(at.module);
}

/* Names */

struct namesakes {
	const char	*name;
	unsigned int	nr;
};

/* One more than one is too many already. */
static int count_match(void *data, unsigned long addr)
{
	struct namesakes *same = data;

	return ++same->nr > 1;
}

static int count_module_symbol(void *data, const char *name, unsigned long addr)
{
	struct namesakes *same = data;

	return strcmp(name, same->name) ? 0 : count_match(data, addr);
}

/**
 * trace_kprobe_count_symbols() - how many symbols have a name?
 * @symbol:	"[MOD:]SYM"; without a module all modules are looked through, too
 *
 * Context: may sleep.
 * Return: 0, 1, or 2 if there are more than one.
 */
unsigned int trace_kprobe_count_symbols(const char *symbol)
{
	struct namesakes same = {};
	struct place at;

	if (place_split(&at, symbol))
		return 0;
	same.name = at.name;
	if (!at.module[0])
		kallsyms_on_each_match_symbol(count_match, at.name, &same);
	if (same.nr < 2)
		module_kallsyms_on_each_symbol(at.module[0] ? at.module : NULL,
					       count_module_symbol, &same);
	return same.nr;
}

/* Patterns */

/**
 * struct matches - the functions that match a pattern
 * @pattern:	without a module
 * @name:	room for the name of the first; then no other is looked for
 * @addr:	where they may be probed
 * @nr:		how many
 * @room:	for how many there is memory
 */
struct matches {
	const char	*pattern;
	char		*name;
	unsigned long	*addr;
	unsigned int	nr;
	unsigned int	room;
};

static int matches_add(struct matches *found, unsigned long addr)
{
	if (found->nr == found->room) {
		unsigned int room = max(2 * found->room, 64U);
		void *more = kvrealloc(found->addr, room * sizeof(*found->addr), GFP_KERNEL);

		if (!more)
			return -ENOMEM;
		found->addr = more;
		found->room = room;
	}
	found->addr[found->nr++] = addr;
	return 0;
}

/* Text that is freed when the kernel, or its module, is up. */
static bool is_init_text(unsigned long addr)
{
	struct module *mod;
	bool is_init;

	if (is_kernel_inittext(addr))
		return true;
	preempt_disable();
	mod = __module_text_address(addr);
	is_init = mod && within_module_init(addr, mod);
	preempt_enable();
	return is_init;
}

/* Non-zero ends the search: 1 when nothing else is wanted, or an error. */
static int match_symbol(void *data, const char *name, unsigned long addr)
{
	struct matches *found = data;

	if (!glob_match(found->pattern, name))
		return 0;
	addr = ftrace_location(addr);
	if (!addr || is_init_text(addr))
		return 0;
	if (!found->name)
		return matches_add(found, addr);
	if (within_kprobe_blacklist(addr))
		return 0;
	strscpy(found->name, name, KSYM_NAME_LEN);
	found->nr = 1;
	return 1;
}

/* Collect what matches @symbol; -ENOENT when nothing does. */
static int find_matches(struct matches *found, const char *symbol)
{
	struct place at;
	int err;

	err = place_split(&at, symbol);
	if (err)
		return err;
	found->pattern = at.name;
	if (at.module[0])
		err = module_kallsyms_on_each_symbol(at.module, match_symbol, found);
	else
		err = kallsyms_on_each_symbol(match_symbol, found);
	if (err < 0)
		return err;
	return found->nr ? 0 : -ENOENT;
}

/**
 * trace_kprobe_first_match() - one of the functions that a pattern means
 * @symbol:	"[MOD:]PATTERN"
 * @name:	the answer: KSYM_NAME_LEN bytes
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: there is none that may be probed.
 */
int trace_kprobe_first_match(const char *symbol, char *name)
{
	struct matches found = { .name = name };

	return find_matches(&found, symbol);
}

static int compare_addresses(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a;
	unsigned long y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* Every address once, whatever names it has; none that is blacklisted. */
static void matches_tidy(struct matches *found, unsigned int *left_out)
{
	unsigned long last = 0;
	unsigned int i, nr = 0;

	sort(found->addr, found->nr, sizeof(*found->addr), compare_addresses, NULL);
	for (i = 0; i < found->nr; i++) {
		unsigned long addr = found->addr[i];

		if (addr == last)
			continue;
		last = addr;
		if (within_kprobe_blacklist(addr))
			++*left_out;
		else
			found->addr[nr++] = addr;
		cond_resched();
	}
	found->nr = nr;
}

/**
 * trace_kprobe_find_matches() - all the functions that a pattern means
 * @symbol:	"[MOD:]PATTERN"
 * @addrs:	the answer: where they may be probed, ascending; for kvfree()
 * @left_out:	how many more match that may not be probed
 *
 * Context: may sleep.
 * Return: how many, or -ENOENT: none; -ENOMEM.
 */
int trace_kprobe_find_matches(const char *symbol, unsigned long **addrs,
			      unsigned int *left_out)
{
	struct matches found = {};
	int err = find_matches(&found, symbol);

	*left_out = 0;
	if (!err)
		matches_tidy(&found, left_out);
	if (!err && !found.nr)
		err = -ENOENT;
	if (err) {
		kvfree(found.addr);
		return err;
	}
	*addrs = found.addr;
	return found.nr;
}
