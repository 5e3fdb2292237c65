# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The return hook: its pools are a file of their own, nothing in either file may
# be traced or sanitized, and the architecture's half is for 64 bits.

# shellcheck disable=SC2016 # it is make's to expand
insert_after kernel/trace/Makefile 'obj-$(CONFIG_RETHOOK) += rethook.o' <<'END'
obj-$(CONFIG_RETHOOK) += rethook_pool.o
KASAN_SANITIZE_rethook.o := n
KASAN_SANITIZE_rethook_pool.o := n
KCSAN_SANITIZE_rethook.o := $(or $(KCSAN_HITS),n)
KCSAN_SANITIZE_rethook_pool.o := $(or $(KCSAN_HITS),n)
KCOV_INSTRUMENT_rethook.o := n
KCOV_INSTRUMENT_rethook_pool.o := n
UBSAN_SANITIZE_rethook.o := n
UBSAN_SANITIZE_rethook_pool.o := n
END
# shellcheck disable=SC2016
insert_after arch/x86/kernel/Makefile 'obj-$(CONFIG_RETHOOK)' <<'END'
obj-$(CONFIG_RETHOOK)		+= rethook_64.o
END
replace_line arch/x86/Kconfig 'select HAVE_RETHOOK' \
	'	select HAVE_RETHOOK			if X86_64'

# Instances are shared by all hooks: there is no number to be made up.
replace_line kernel/trace/fprobe.c 'num *= num_possible_cpus() * 2;' \
	'		num = num > 0 ? 0 : -EINVAL;	/* as many as there are calls */'
replace_line kernel/trace/fprobe.c '	if (num <= 0)' '	if (num < 0)'

# Of fprobe's hit: a cheaper guard against recursion, and one call less.
insert_after kernel/trace/fprobe.c '#include "trace.h"' <<'END'
#include "rethook_guard.h"
END
replace_line kernel/trace/fprobe.c \
	'bit = ftrace_test_recursion_trylock(fpr->entry_ip, fpr->entry_parent_ip);' \
	'	bit = rethook_guard_at_return(fpr->entry_ip, fpr->entry_parent_ip);'
replace_line kernel/trace/fprobe.c 'static inline void __fprobe_handler(' \
	'static __always_inline void __fprobe_handler(unsigned long ip, unsigned long parent_ip,'
