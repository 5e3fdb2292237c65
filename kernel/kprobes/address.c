// SPDX-License-Identifier: GPL-2.0
/*
 * From what a caller names to the address that is probed; or why it is not.
 *
 * The checks here are those that every method needs.  What the bytes at the
 * address must fulfil is the method's to say: an fentry nop, which most probes
 * are on, is known to ftrace and needs no look at its surroundings.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/kallsyms.h>
#include <linux/kernel.h>
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

/**
 * complain_of() - tell why a probe cannot be registered
 * @p:	 the probe
 * @err: the errno that its caller is given
 * @why: in words
 *
 * Context: any but NMI.
 * Return: @err.
 */
int complain_of(const struct kprobe *p, int err, const char *why)
{
	if (err == -ENOMEM)
		why = "no memory";
	if (p->symbol_name)
		complain("cannot probe %s+%#x: %s (%pe)\n", p->symbol_name, p->offset, why,
			 ERR_PTR(err));
	else
		complain("cannot probe %pS: %s (%pe)\n", (void *)p->addr + p->offset, why,
			 ERR_PTR(err));
	return err;
}

/* The address that @addr or @sym, plus @offset, means; the entry's prologue skipped. */
static int resolve(const void *addr, const char *sym, unsigned long offset,
		   struct probe_target *to)
{
	unsigned long func, entry, size, into = 0;

	if (!addr == !sym)
		return refuse(to, -EINVAL, addr ? "both addr and symbol_name are set" :
						  "neither addr nor symbol_name is set");

	if (sym) {
		addr = kprobe_lookup_name(sym, 0);
		if (!addr)
			return refuse(to, -ENOENT, "no such symbol");
	}
	to->addr = (unsigned long)addr + offset;

	/* A symbol's own address starts a function, and costs no search. */
	func = to->addr;
	if (!sym || offset) {
		if (!kallsyms_lookup_size_offset(to->addr, &size, &into))
			return refuse(to, -EINVAL, "no kernel text");
		func -= into;
	}

	entry = arch_skip_entry_prologue(func);
	to->on_entry = to->addr == func || to->addr == entry;
	if (to->on_entry)
		to->addr = entry;
	return 0;
}

/* Text that exists, and will while kprobe_mutex is held. */
static int check_text(struct probe_target *to)
{
	return core_kernel_text(to->addr) ? 0 : check_module_text(to);
}

static int check_fentry(struct probe_target *to)
{
	/* Where the nop starts that covers the address. */
	unsigned long nop = ftrace_location_range(to->addr, to->addr);

	if (!nop)
		return 0;
	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		return refuse(to, -EINVAL, "ftrace's, and kprobes are built without it");
	/* In the middle of the nop, or of the call that it may be. */
	if (nop != to->addr)
		return refuse(to, -EILSEQ, "no instruction starts there");
	to->fentry = true;
	return 0;
}

/**
 * probe_resolve() - where a probe is to stand
 * @p:  the probe, as its caller filled it in
 * @to: the answer
 *
 * Context: may sleep; kprobe_mutex held, which also keeps the text in place.
 * Return: 0; or an errno, and @to says why in words:
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
	err = check_text(to);
	if (err)
		return err;
	if (within_kprobe_blacklist(to->addr))
		return refuse(to, -EINVAL, "blacklisted");
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

/**
 * probe_check_entry() - does a probe stand at a function's entry?
 * @p: the probe, as its caller filled it in
 *
 * Context: may sleep.
 * Return: 0; or as kprobe_on_func_entry(), and the log says why.
 */
int probe_check_entry(const struct kprobe *p)
{
	struct probe_target to = {};
	int err = resolve(p->addr, p->symbol_name, p->offset, &to);

	if (err)
		return complain_of(p, err, to.why_not);
	return to.on_entry ? 0 : complain_of(p, -EINVAL, "not a function's entry");
}
