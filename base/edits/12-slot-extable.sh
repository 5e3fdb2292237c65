# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A displaced instruction that faults in its slot has the exception table entry
# of the instruction that it stands for.

insert_before kernel/extable.c '	e = search_kernel_exception_table(addr);' <<'END'
	addr = kprobe_slot_origin(addr);
END
