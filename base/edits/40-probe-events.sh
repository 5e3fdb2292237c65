# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Probe events are several files each.

# shellcheck disable=SC2016 # it is make's to expand
insert_after kernel/trace/Makefile 'obj-$(CONFIG_KPROBE_EVENTS) += trace_kprobe.o' <<'END'
obj-$(CONFIG_KPROBE_EVENTS) += trace_kprobe_files.o trace_kprobe_def.o
obj-$(CONFIG_KPROBE_EVENTS) += trace_kprobe_symbols.o trace_kprobe_members.o
obj-$(CONFIG_KPROBE_EVENTS) += trace_kprobe_arm.o trace_kprobe_hit.o
obj-$(CONFIG_KPROBE_EVENTS) += trace_kprobe_perf.o trace_kprobe_cmd.o
obj-$(CONFIG_KPROBE_EVENTS) += trace_kprobe_write.o trace_kprobe_set.o
obj-$(CONFIG_KPROBE_EVENTS) += trace_kprobe_reset.o
obj-$(and $(CONFIG_KPROBE_EVENTS),$(CONFIG_MODULES)) += trace_kprobe_module.o
END
# shellcheck disable=SC2016
insert_after kernel/trace/Makefile 'obj-$(CONFIG_PROBE_EVENTS) += trace_probe.o' <<'END'
obj-$(CONFIG_PROBE_EVENTS) += trace_probe_parse.o trace_probe_lex.o
obj-$(CONFIG_PROBE_EVENTS) += trace_probe_value.o trace_probe_words.o trace_probe_store.o
obj-$(CONFIG_PROBE_EVENTS) += trace_probe_type.o trace_probe_expand.o
obj-$(CONFIG_PROBE_EVENTS) += trace_probe_print.o trace_probe_log.o
obj-$(CONFIG_PROBE_EVENTS_BTF_ARGS) += trace_probe_btf.o trace_probe_btf_func.o
$(foreach obj,$(filter trace_kprobe% trace_probe%,$(obj-y)),$(eval KCSAN_SANITIZE_$(obj) := $(KCSAN_HITS)))
END
