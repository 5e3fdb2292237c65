# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A task in a slot, or in what a slot calls, has the stack of the text that the slot
# stands for.  Reliable it is not: the function's own address is not on it.  Of text
# that nothing is known about the stack is guessed, as it is in generated code.

insert_after arch/x86/kernel/unwind_orc.c '#include <linux/objtool.h>' <<'END'
#include <linux/kprobes.h>
END
insert_before arch/x86/kernel/unwind_orc.c 'bool unwind_next_frame(struct unwind_state *state)' <<'END'
static struct orc_entry *orc_kprobe_find(unsigned long ip)
{
	unsigned long text = kprobe_slot_text(ip);
	struct orc_entry *orc = text ? orc_find(text) : NULL;

	return orc && orc->sp_reg != ORC_REG_UNDEFINED ? orc : NULL;
}

END
insert_after arch/x86/kernel/unwind_orc.c '		orc = &orc_fp_entry;' <<'END'
		orc = orc_kprobe_find(state->signal ? state->ip : state->ip - 1) ?: orc;
END
