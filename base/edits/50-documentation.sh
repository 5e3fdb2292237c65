# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Our pages, beside the base's.

insert_after Documentation/trace/index.rst '   kprobes' <<'END'
   kprobes-design
   kprobes-bench/table
END
