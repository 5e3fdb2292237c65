/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of slot_insn.S, and where in them the probes go. */
#ifndef SLOT_H
#define SLOT_H

#include <linux/compiler.h>
#include <linux/types.h>

void slot_fill(char *to, size_t bytes);
int slot_load(const int __user *from);
int slot_eaters(const int *from);

extern const u32 slot_fill_offset;
extern const u32 slot_load_offset;
extern const u32 slot_eaters_offset;

#endif
