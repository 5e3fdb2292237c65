/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel probes on x86: what the API and the trap code need to know.
 * The engine's own view of an instruction is private to kernel/kprobes/.
 */
#ifndef _ASM_X86_KPROBES_H
#define _ASM_X86_KPROBES_H

/* How much of a function's arguments on the stack a jprobe's handler is given. */
#define JPROBE_STACK_WORDS	8

#ifndef __ASSEMBLY__

#include <asm-generic/kprobes.h>

#ifdef CONFIG_KPROBES

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/insn.h>
#include <asm/text-patching.h>

typedef u8 kprobe_opcode_t;

/**
 * struct arch_specific_insn - the displaced instruction of a probe
 * @insn: its bytes as they stood in the text; NULL when nothing is displaced
 */
struct arch_specific_insn {
	const kprobe_opcode_t *insn;
};

/**
 * struct kprobe_ctlblk - what a handler may ask about the running hit
 * @kprobe_status: KPROBE_HIT_ACTIVE or KPROBE_HIT_SSDONE
 */
struct kprobe_ctlblk {
	unsigned long kprobe_status;
};

int kprobe_int3_handler(struct pt_regs *regs);
int kprobe_fault_handler(struct pt_regs *regs, int trapnr);

#endif /* CONFIG_KPROBES */
#endif /* __ASSEMBLY__ */
#endif /* _ASM_X86_KPROBES_H */
