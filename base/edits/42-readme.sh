# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What tracefs/README says of probe events: our additions, each beside its kin.

readme=kernel/trace/trace.c
insert_after $readme '"\t    place: [<module>:]<symbol>[+<offset>]|<memaddr>\n"' <<'END'
	"\t           [<module>:]<glob>: all functions that match\n"
END
# shellcheck disable=SC2016 # it is part of the text
insert_after $readme '"\t     kernel return probes support: $retval, $arg<N>, $comm\n"' <<'END'
#ifdef CONFIG_KPROBE_EVENTS
	"\t     kprobe events of returns also: $latency (ns from the entry)\n"
#endif
END
