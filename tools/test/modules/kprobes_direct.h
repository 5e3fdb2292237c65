/* SPDX-License-Identifier: GPL-2.0 */
/* The trampoline of kprobes_direct.c, which is assembly, and what it calls. */
#ifndef KPROBES_DIRECT_H
#define KPROBES_DIRECT_H

void kprobes_direct_count(void);
void kprobes_direct_trampoline(void);

#endif
