// SPDX-License-Identifier: GPL-2.0
/*
 * A direct caller on kprobes_target_add(): the function's fentry nop calls our
 * trampoline itself, as it does for a BPF trampoline.  Counts the calls.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

#include "kprobes_direct.h"
#include "kprobes_target.h"

static int calls;
module_param(calls, int, 0444);

void kprobes_direct_count(void)
{
	calls++;
}

/* Both arguments of the traced function must survive. */
asm(".pushsection .text, \"ax\", @progbits\n"
"	.type kprobes_direct_trampoline, @function\n"
"	.globl kprobes_direct_trampoline\n"
"kprobes_direct_trampoline:\n"
	ASM_ENDBR
"	push %rbp\n"
"	mov %rsp, %rbp\n"
	CALL_DEPTH_ACCOUNT
"	push %rdi\n"
"	push %rsi\n"
"	call kprobes_direct_count\n"
"	pop %rsi\n"
"	pop %rdi\n"
"	leave\n"
	ASM_RET
"	.size kprobes_direct_trampoline, .-kprobes_direct_trampoline\n"
"	.popsection\n");

static struct ftrace_ops direct;

static int __init kprobes_direct_init(void)
{
	int err = ftrace_set_filter_ip(&direct,
				       (unsigned long)kprobes_target_add, 0, 0);

	if (err)
		return err;
	return register_ftrace_direct(&direct,
				      (unsigned long)kprobes_direct_trampoline);
}

static void __exit kprobes_direct_exit(void)
{
	unregister_ftrace_direct(&direct,
				 (unsigned long)kprobes_direct_trampoline, true);
}

module_init(kprobes_direct_init);
module_exit(kprobes_direct_exit);
MODULE_DESCRIPTION("a direct caller on a probed function");
MODULE_LICENSE("GPL");
