// SPDX-License-Identifier: GPL-2.0
/*
 * From what a caller names to the address that is probed; or why it is not.
 *
 * The checks here are those that every method needs.  What the bytes at the
 * address must fulfil is the method's to say: an fentry nop, which most probes
 * are on, is known to ftrace and needs no look at its surroundings.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/sections.h>

#include "internal.h"

/**
 * kprobe_lookup_name() - the address of a symbol
 * @name:   "function" or "module:function"
 * @offset: ignored; for architectures with function descriptors
 *
 * Context: may not be called from a handler.
 * Return: the address, or NULL.
 */
kprobe_opcode_t *kprobe_lookup_name(const char *name, unsigned int offset)
{
	return (kprobe_opcode_t *)kallsyms_lookup_name(name);
}

/* The address that @addr or @sym, plus @offset, means; the entry's prologue skipped. */
static int resolve(const void *addr, const char *sym, unsigned long offset,
		   struct probe_target *to)
{
	unsigned long func, entry, size, into = 0;

	if (!addr == !sym)
		return -EINVAL;

	if (sym) {
		addr = kprobe_lookup_name(sym, 0);
		if (!addr)
			return -ENOENT;
	}
	to->addr = (unsigned long)addr + offset;

	/* A symbol's own address starts a function, and costs no search. */
	func = to->addr;
	if (!sym || offset) {
		if (!kallsyms_lookup_size_offset(to->addr, &size, &into))
			return -EINVAL;
		func -= into;
	}

	entry = arch_skip_entry_prologue(func);
	to->on_entry = to->addr == func || to->addr == entry;
	if (to->on_entry)
		to->addr = entry;
	return 0;
}

/* Text that exists, and will while kprobe_mutex is held. */
static int check_text(unsigned long addr)
{
	struct module *mod;
	int err = 0;

	if (core_kernel_text(addr))
		return 0;

	preempt_disable();
	mod = __module_text_address(addr);
	if (!mod)
		err = -EINVAL;
	else if (mod->state == MODULE_STATE_GOING)
		err = -ENOENT;
	else if (within_module_init(addr, mod) && mod->state != MODULE_STATE_COMING)
		err = -ENOENT;
	preempt_enable();
	return err;
}

static int check_fentry(struct probe_target *to)
{
	/* Where the nop starts that covers the address. */
	unsigned long nop = ftrace_location_range(to->addr, to->addr);

	if (!nop)
		return 0;
	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		return -EINVAL;
	/* In the middle of the nop, or of the call that it may be. */
	if (nop != to->addr)
		return -EILSEQ;
	to->fentry = true;
	return 0;
}

/**
 * probe_resolve() - where a probe is to stand
 * @p:  the probe, as its caller filled it in
 * @to: the answer
 *
 * Context: may sleep; kprobe_mutex held, which also keeps the text in place.
 * Return: 0;
 * -EINVAL: both or neither of addr and symbol_name, no kernel text, blacklisted;
 * -ENOENT: no such symbol, or its module is leaving, or its init text is freed;
 * -EILSEQ: in the middle of an fentry nop.
 */
int probe_resolve(const struct kprobe *p, struct probe_target *to)
{
	int err;

	*to = (struct probe_target){};
	err = resolve(p->addr, p->symbol_name, p->offset, to);
	if (err)
		return err;
	err = check_text(to->addr);
	if (err)
		return err;
	if (within_kprobe_blacklist(to->addr))
		return -EINVAL;
	return check_fentry(to);
}

/**
 * kprobe_on_func_entry() - does a place count as a function's entry?
 * @addr:   an address, or NULL
 * @sym:    a symbol, or NULL: one of the two
 * @offset: bytes from it
 *
 * Context: may sleep.
 * Return: 0 when it does; -EINVAL when not; -ENOENT when there is no such symbol.
 */
int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym, unsigned long offset)
{
	struct probe_target to = {};
	int err = resolve(addr, sym, offset, &to);

	if (err)
		return err;
	return to.on_entry ? 0 : -EINVAL;
}
