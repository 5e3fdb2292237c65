# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Our sample of a typed entry probe, beside the base's two.

# shellcheck disable=SC2016 # it is make's to expand
insert_after samples/kprobes/Makefile 'obj-$(CONFIG_SAMPLE_KRETPROBES)' <<'END'
obj-$(CONFIG_SAMPLE_KRETPROBES) += jrprobe_example.o
END
