/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where entry_64.S finds what it needs, asserted in entry.c.
 */
#ifndef _ARCH_X86_KERNEL_KPROBES_ENTRY_H
#define _ARCH_X86_KERNEL_KPROBES_ENTRY_H

/* struct kprobe; its hlist is first */
#define KPROBE_PRE_HANDLER	64
#define KPROBE_POST_HANDLER	72
#define KPROBE_FLAGS		96
#define KPROBE_OFF		0x03	/* gone or disabled */

/* struct probe_site; addr is first */
#define SITE_PROBES		8
#define SITE_LANE_SIZE		8
#define SITE_WATCHED		32

/* From behind a breakpoint to behind a call or the nop: of one and five bytes. */
#define NOP_REST		4

/* kprobe_ctlblk.kprobe_status; the status is first */
#define STATUS_ACTIVE		0x01
#define STATUS_SSDONE		0x08

/* enum probe_lane */
#define OBSERVE			0
#define REDIRECT		1

/* What is where in a slot: see insn.h. */
#define SLOT_COPY		5
#define SLOT_COPY_POST		32
#define SLOT_SITE		56

#ifndef __ASSEMBLY__

struct pt_regs;

/* entry_64.S, for the text in slots */
void kprobe_entry_jump(void);
void kprobe_entry_resume(void);

/* entry.c, for entry_64.S */
void kprobe_entry_missed(unsigned long addr, unsigned int lanes);
void kprobe_entry_resumed(unsigned long slot_ip, struct pt_regs *regs);

#endif /* __ASSEMBLY__ */

#endif /* _ARCH_X86_KERNEL_KPROBES_ENTRY_H */
