/* SPDX-License-Identifier: GPL-2.0 */
/* What kprobes_nmi.c probes. */
#ifndef KPROBES_NMI_H
#define KPROBES_NMI_H

int kprobes_nmi_entry(void);
int kprobes_nmi_jump(void);
int kprobes_nmi_trap(void);
int kprobes_nmi_return(void);
void kprobes_nmi_fill(void);

/* In bytes from the function. */
extern const u32 kprobes_nmi_jump_at, kprobes_nmi_trap_at, kprobes_nmi_fill_at;

#endif
