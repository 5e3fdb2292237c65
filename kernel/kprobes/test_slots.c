// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: slots are no help to an attacker.
 *
 * Whatever is displaced, a slot is never writable, holds no place where an
 * indirect branch may land, and no return: each would be text of a kind that the
 * compiler and the linker have been careful not to make.
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/ibt.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

#include "../../arch/x86/kernel/kprobes/entry.h"
#include "jump.h"
#include "slots.h"
#include "test_common.h"
#include "test_x86.h"

#define OPCODE_RET_IMM16	0xc2

/* Probes on every case of test_x86.S at once, jumps where there is room. */
static void displace_all(struct kunit *test)
{
	unsigned int i, num = kprobes_test_insns_end - kprobes_test_insns;
	struct kprobe *kp = kunit_kcalloc(test, num, sizeof(*kp), GFP_KERNEL);
	struct kprobe **kps = kunit_kcalloc(test, num, sizeof(*kps), GFP_KERNEL);
	const struct insn_case *c;

	KUNIT_ASSERT_NOT_NULL(test, kp);
	KUNIT_ASSERT_NOT_NULL(test, kps);
	for (i = 0; i < num; i++) {
		c = &kprobes_test_insns[i];
		kp[i].addr = (void *)c->fn + c->at;
		kp[i].pre_handler = no_pre;
		kps[i] = &kp[i];
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, num), 0);
	wait_for_kprobe_optimizer();
	test->priv = kps;
}

static void replace_all(struct kunit *test)
{
	unregister_kprobes(test->priv, kprobes_test_insns_end - kprobes_test_insns);
}

/* The page of slots number @n, or NULL. */
static u8 *slot_page(unsigned int n)
{
	char type, name[KSYM_NAME_LEN];
	unsigned long addr;

	return kprobe_get_kallsym(n, &addr, &type, name) ? NULL : (u8 *)addr;
}

/* Is there a return among the instructions of a slot? */
static bool has_return(const u8 *slot)
{
	u8 text[SLOT_SITE + MAX_INSN_SIZE] = {};
	const u8 *at = text;
	struct insn insn;

	memcpy(text, slot, SLOT_SITE);
	while (at < text + SLOT_SITE) {
		if (insn_decode_kernel(&insn, at))
			return true;
		if (insn.opcode.bytes[0] == RET_INSN_OPCODE ||
		    insn.opcode.bytes[0] == OPCODE_RET_IMM16)
			return true;
		at += insn.length;
	}
	return false;
}

/* A place where an indirect branch lands; those that were sealed are nops. */
static bool is_landing_pad(const u8 *at)
{
	return is_endbr(get_unaligned((u32 *)at)) && at[0] != 0x66;
}

static unsigned int pads_in(const u8 *from, size_t size)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i + ENDBR_INSN_SIZE <= size; i++)
		n += is_landing_pad(from + i);
	return n;
}

static void test_text(struct kunit *test)
{
	unsigned int n, i, pages = 0;
	u8 *page;

	displace_all(test);
	for (n = 0; (page = slot_page(n)); n++, pages++) {
		KUNIT_EXPECT_EQ(test, pads_in(page, PAGE_SIZE), 0);
		for (i = 0; i < PAGE_SIZE; i += INSN_SLOT_SIZE)
			KUNIT_EXPECT_FALSE_MSG(test, has_return(page + i), "%*ph\n",
					       INSN_SLOT_SIZE, page + i);
	}
	KUNIT_EXPECT_GT(test, pages, 1);
	replace_all(test);
}

static void expect_protected(struct kunit *test, const void *text)
{
	unsigned int level;
	pte_t *pte = lookup_address((unsigned long)text, &level);
	pte_t *alias = lookup_address((unsigned long)page_address(vmalloc_to_page(text)),
				      &level);

	KUNIT_ASSERT_NOT_NULL(test, pte);
	KUNIT_EXPECT_FALSE(test, pte_write(*pte));
	KUNIT_EXPECT_TRUE(test, pte_exec(*pte));
	KUNIT_ASSERT_NOT_NULL(test, alias);
	KUNIT_EXPECT_FALSE(test, pte_write(*alias));
	KUNIT_EXPECT_FALSE(test, pte_exec(*alias));
}

static void test_pages(struct kunit *test)
{
	unsigned int n;
	u8 *page;

	displace_all(test);
	for (n = 0; (page = slot_page(n)); n++)
		expect_protected(test, page);
	replace_all(test);
}

/* An instruction that must stay where it is. */
static void test_landing_pad(struct kunit *test)
{
	struct kprobe p = { .pre_handler = no_pre };
	const u8 *jmp = test_insn_named("jmp_reg"), *at = jmp;

	if (!IS_ENABLED(CONFIG_X86_KERNEL_IBT))
		kunit_skip(test, "no landing pads without CONFIG_X86_KERNEL_IBT");
	KUNIT_ASSERT_NOT_NULL(test, jmp);
	while (!is_landing_pad(at))
		KUNIT_ASSERT_TRUE(test, ++at < jmp + INSN_SLOT_SIZE);

	p.addr = (kprobe_opcode_t *)at;
	KUNIT_EXPECT_EQ(test, register_kprobe(&p), -EINVAL);
}

static struct kunit_case slot_cases[] = {
	KUNIT_CASE(test_text),
	KUNIT_CASE(test_pages),
	KUNIT_CASE(test_landing_pad),
	{}
};

static struct kunit_suite slot_suite = {
	.name = "kprobes_slots",
	.test_cases = slot_cases,
};

kunit_test_suites(&slot_suite);
