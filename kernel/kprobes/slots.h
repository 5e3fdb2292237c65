/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executable memory for displaced instructions: slots.c.
 */
#ifndef _KERNEL_KPROBES_SLOTS_H
#define _KERNEL_KPROBES_SLOTS_H

/* Bytes of a slot, and its alignment. */
#define INSN_SLOT_SIZE	64

#ifndef __ASSEMBLY__
#include <linux/types.h>

void *insn_slot_alloc(unsigned long origin, unsigned int len, bool restarts);
void insn_slot_free(void *slot);

#endif /* __ASSEMBLY__ */

#endif /* _KERNEL_KPROBES_SLOTS_H */
