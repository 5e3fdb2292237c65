// SPDX-License-Identifier: GPL-2.0
/*
 * kprobe_stress: the kernel's whole text and our own, kept before the storm and
 * compared after it.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "stress.h"

/* From /proc/kallsyms: _stext and _etext. */
static unsigned long text_start, text_end;
module_param(text_start, ulong, 0400);
module_param(text_end, ulong, 0400);

#define NR_PARTS	2

static struct text_part {
	const char *name;
	const u8 *text;
	size_t size;
	u8 *kept;
} parts[NR_PARTS];

void stress_text_drop(void)
{
	int i;

	for (i = 0; i < NR_PARTS; i++) {
		vfree(parts[i].kept);
		parts[i].kept = NULL;
	}
}

int stress_text_keep(void)
{
	const struct module_memory *own = &THIS_MODULE->mem[MOD_TEXT];
	int i;

	parts[0] = (struct text_part) { "kernel", (void *)text_start, text_end - text_start };
	parts[1] = (struct text_part) { "module", own->base, own->size };
	for (i = 0; i < NR_PARTS; i++) {
		parts[i].kept = vmalloc(parts[i].size);
		if (!parts[i].kept) {
			stress_text_drop();
			return -ENOMEM;
		}
		memcpy(parts[i].kept, parts[i].text, parts[i].size);
	}
	return 0;
}

static void part_compare(const struct text_part *part)
{
	size_t i = 0, n;

	while (i < part->size) {
		if (part->kept[i] == part->text[i]) {
			i++;
			continue;
		}
		n = min_t(size_t, 8, part->size - i);
		stress_fail("text at %pS: %*ph, was %*ph", part->text + i, (int)n,
			    part->text + i, (int)n, part->kept + i);
		i += n;
	}
}

void stress_text_compare(void)
{
	int i;

	for (i = 0; i < NR_PARTS; i++)
		part_compare(&parts[i]);
}
