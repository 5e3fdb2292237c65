# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Until the jump method exists there is nothing to optimise, nor to switch off.

delete_line arch/x86/Kconfig 'select HAVE_OPTPROBES'
