// SPDX-License-Identifier: GPL-2.0
/*
 * Executable slots: where displaced instructions run.
 *
 * Pages of 64-byte slots, never writable while executable.  A free slot is full
 * of breakpoints, so that a stray jump into one is caught.  Every slot knows which
 * text it stands for: a fault in a slot is looked up in the exception tables under
 * that address, and an unwinder finds the stack as it is there.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "internal.h"
#include "slots.h"

#define SLOTS_PER_PAGE	(PAGE_SIZE / INSN_SLOT_SIZE)
#define SLOT_PAGE_SYM	"kprobe_insn_page"

/**
 * struct slot_page - one page of slots
 * @node:	in slot_pages; read under RCU, changed under slot_mutex
 * @text:	the executable page
 * @used:	slots in use; slot_mutex
 * @restarts:	slots whose instruction may be started again in the text
 * @rcu:	for the release
 * @origin:	the address that each slot in use stands for
 * @len:	the bytes there
 *
 * @restarts, @origin and @len are set before the slot is used.
 */
struct slot_page {
	struct list_head	node;
	void			*text;
	DECLARE_BITMAP(used, SLOTS_PER_PAGE);
	DECLARE_BITMAP(restarts, SLOTS_PER_PAGE);
	struct rcu_head		rcu;
	unsigned long		origin[SLOTS_PER_PAGE];
	u8			len[SLOTS_PER_PAGE];
};

static LIST_HEAD(slot_pages);
static DEFINE_MUTEX(slot_mutex);

static struct slot_page *slot_page_alloc(void)
{
	struct slot_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

	if (!page)
		return NULL;
	page->text = execmem_alloc(EXECMEM_KPROBES, PAGE_SIZE);
	if (!page->text) {
		kfree(page);
		return NULL;
	}
	arch_slot_page_seal(page->text);
	list_add_tail_rcu(&page->node, &slot_pages);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page->text,
			   PAGE_SIZE, false, SLOT_PAGE_SYM);
	return page;
}

static void slot_page_free(struct slot_page *page)
{
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page->text,
			   PAGE_SIZE, true, SLOT_PAGE_SYM);
	list_del_rcu(&page->node);
	execmem_free(page->text);
	kfree_rcu(page, rcu);
}

static struct slot_page *slot_page_of(unsigned long addr)
{
	struct slot_page *page;

	list_for_each_entry_rcu(page, &slot_pages, node, lockdep_is_held(&slot_mutex))
		if (addr - (unsigned long)page->text < PAGE_SIZE)
			return page;
	return NULL;
}

static unsigned int slot_number(const struct slot_page *page, unsigned long addr)
{
	return (addr - (unsigned long)page->text) / INSN_SLOT_SIZE;
}

/**
 * insn_slot_alloc() - a free slot of INSN_SLOT_SIZE bytes
 * @origin: address of the instructions that will run there
 * @len: their bytes in the text
 * @restarts: there is one, which may be started again in the text
 *
 * Context: may sleep.
 * Return: the slot, full of breakpoints, or NULL when memory is short.
 */
void *insn_slot_alloc(unsigned long origin, unsigned int len, bool restarts)
{
	struct slot_page *page;
	void *slot = NULL;
	unsigned int i;

	mutex_lock(&slot_mutex);
	list_for_each_entry(page, &slot_pages, node)
		if (!bitmap_full(page->used, SLOTS_PER_PAGE))
			goto found;
	page = slot_page_alloc();
	if (!page)
		goto out;
found:
	i = find_first_zero_bit(page->used, SLOTS_PER_PAGE);
	__set_bit(i, page->used);
	WRITE_ONCE(page->origin[i], origin);
	WRITE_ONCE(page->len[i], len);
	assign_bit(i, page->restarts, restarts);
	slot = page->text + i * INSN_SLOT_SIZE;
out:
	mutex_unlock(&slot_mutex);
	return slot;
}

/**
 * insn_slot_free() - give a slot back
 * @slot: from insn_slot_alloc(); no task can be in it any more
 *
 * Context: may sleep.
 */
void insn_slot_free(void *slot)
{
	struct slot_page *page;
	unsigned int i;

	mutex_lock(&slot_mutex);
	page = slot_page_of((unsigned long)slot);
	if (WARN_ON_ONCE(!page))
		goto out;
	i = slot_number(page, (unsigned long)slot);
	arch_slot_fill(slot);
	__clear_bit(i, page->used);
	if (bitmap_empty(page->used, SLOTS_PER_PAGE))
		slot_page_free(page);
out:
	mutex_unlock(&slot_mutex);
}

/**
 * is_kprobe_insn_slot() - is there a slot page at an address?
 * @addr: where
 *
 * Context: any in which RCU is watching.
 * Return: true when @addr is in a page of slots.
 */
bool is_kprobe_insn_slot(unsigned long addr)
{
	bool found;

	/* Asked at the end of every stack trace, of an address that is the user's. */
	if (list_empty(&slot_pages))
		return false;

	rcu_read_lock();
	found = slot_page_of(addr);
	rcu_read_unlock();
	return found;
}

/**
 * kprobe_slot_origin() - where to start an instruction again
 * @addr: an instruction pointer, in a slot or not
 *
 * Context: any in which RCU is watching.
 * Return: for an address in the slot of one instruction, where that is in the text;
 * else @addr itself.
 */
unsigned long kprobe_slot_origin(unsigned long addr)
{
	unsigned long origin = 0;
	struct slot_page *page;
	unsigned int i;

	if (list_empty(&slot_pages))
		return addr;

	rcu_read_lock();
	page = slot_page_of(addr);
	i = page ? slot_number(page, addr) : 0;
	if (page && test_bit(i, page->restarts))
		origin = READ_ONCE(page->origin[i]);
	rcu_read_unlock();
	return origin ?: addr;
}

/**
 * kprobe_slot_text() - the text where the stack is as it is in a slot
 * @addr: an instruction pointer, in a slot or not
 *
 * For unwinders.  A function that is in a slot is not to be told by that: its own
 * address is on no stack.
 *
 * Context: any in which RCU is watching.
 * Return: an address of the displaced instructions or the one behind them; 0 if
 * @addr is in no slot.
 */
unsigned long kprobe_slot_text(unsigned long addr)
{
	unsigned long text = 0;
	struct slot_page *page;
	unsigned int i;

	if (list_empty(&slot_pages))
		return 0;

	rcu_read_lock();
	page = slot_page_of(addr);
	if (page) {
		i = slot_number(page, addr);
		text = READ_ONCE(page->origin[i]);
		if (text)
			text += arch_slot_progress(addr % INSN_SLOT_SIZE,
						   READ_ONCE(page->len[i]));
	}
	rcu_read_unlock();
	return text;
}

/**
 * kprobe_get_kallsym() - the slot pages as symbols, for /proc/kallsyms
 * @symnum: which, counted from zero
 * @value:  where to put its address
 * @type:   where to put its type letter
 * @sym:    where to put its name, KSYM_NAME_LEN bytes
 *
 * Context: any in which RCU is watching.
 * Return: 0, or -ERANGE when there are not that many.
 */
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type, char *sym)
{
	struct slot_page *page;
	int err = -ERANGE;

	rcu_read_lock();
	list_for_each_entry_rcu(page, &slot_pages, node) {
		if (symnum--)
			continue;
		strscpy(sym, SLOT_PAGE_SYM, KSYM_NAME_LEN);
		*type = 't';
		*value = (unsigned long)page->text;
		err = 0;
		break;
	}
	rcu_read_unlock();
	return err;
}
