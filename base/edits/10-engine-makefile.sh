# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The engine is one file with the API and a directory behind it.

# shellcheck disable=SC2016 # it is make's to expand
insert_after kernel/Makefile 'obj-$(CONFIG_KPROBES) += kprobes.o' <<'END'
obj-$(CONFIG_KPROBES) += kprobes/
END
