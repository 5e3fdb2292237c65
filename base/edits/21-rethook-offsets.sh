# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The return hook's trampoline and the entry stub look at these; the layout of
# task_struct is the configuration's.

insert_before arch/x86/kernel/asm-offsets.c '	OFFSET(X86_top_of_stack, pcpu_hot, top_of_stack);' <<'END'
	OFFSET(X86_preempt_count, pcpu_hot, preempt_count);
#ifdef CONFIG_RETHOOK
	OFFSET(TASK_rethooks, task_struct, rethooks);
#endif
END
