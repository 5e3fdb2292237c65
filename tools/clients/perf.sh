#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf probe and what becomes of its events in record, script, stat and the
# rest of perf, without debug information of the kernel; see lib.sh.

# What $ begins is for perf.
# shellcheck source-path=SCRIPTDIR disable=SC2016
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/perf_lib.sh"

# Definitions as the kernel gives them back, less the places in its text.
definitions()
{
	sed -E 's/^(.)[0-9]*:/\1:/; s/_text\+[0-9]+/_text+N/' \
		$TRACING/kprobe_events
}

# What was asked for is what kprobe_events and perf itself then tell.
case_probe_list()
{
	probe --add vfs_read --add 'mine=vfs_write %si %dx' \
		--add 'vfs_write+9' --add 'vfs_read%return $retval' \
		--add 'name=do_sys_openat2 +0(%si):ustring'
	definitions
	perf probe --list | sed 's/^ *//'
	probe --del 'probe:vfs_*'
	is "those left" 2 "$(wc -l <$TRACING/kprobe_events)"
	probe --del '*'
	is "those left" "" "$(cat $TRACING/kprobe_events)"
}

case_probe_refused()
{
	refused perf probe --add no_such_function
	refused perf probe --add vfs_read+1
	refused perf probe --add 'vfs_read+9%return'
	# A function that nobody may probe.
	refused perf probe --add exc_int3
	is "those left" "" "$(cat $TRACING/kprobe_events)"
}

case_probe_glob()
{
	probe --max-probes 100 --add 'vfs_r*'
	definitions | sort
	probe --del '*'
}

case_probe_funcs()
{
	perf probe --funcs='vfs_r*'
	perf probe -m kprobes_target --funcs | grep kprobes_target_
}

# Each call is a sample of each, with its values and in its order.
case_record()
{
	three_events
	record -e t:entry -e t:inside -e t:return -aR call 100
	samples >got
	is_of_100_calls got t:
	remove_events
}

# The argument is that of a comparison in the kernel, not in perf.
case_record_filter()
{
	three_events
	record -e t:entry --filter 'a >= 10 && a < 15' \
		-e t:return --filter 'ret == 7' -aR call 100
	samples
	remove_events
}

# Of one task and its children, not of another that calls meanwhile.
case_record_task()
{
	three_events
	another_calls 30
	record -e t:entry -e t:return sh -c "call 25; $beside; call 25"
	is "samples" 100 "$(samples | wc -l)"
	is "hits" 80 "$(hits entry)"
	remove_events
}

# Who called, through to the system call: of an entry, of an instruction, and
# of a return, where the hook has the return address.
case_callchain()
{
	three_events
	record -g -e t:entry -e t:inside -e t:return -aR call 1
	perf script -i perf.data -F event,ip,sym | awk '
		/t:/ { print $1 } !/t:/ && !out { print "  ", $2 }
		{ out = /do_syscall_64/ || (out && !/t:/) }' >got
	cat got
	for f in call_set param_attr_store vfs_write do_syscall_64; do
		is "$f" 3 "$(grep -c " $f$" got)"
	done
	remove_events
}

# No hit is lost without a word: samples and those said to be lost are as many
# as there were calls.
case_record_load()
{
	three_events
	record -m 4 -e t:entry -e t:return -aR sh -c '
		call 20000 & call 20000 & wait'
	perf report -i perf.data --stats >stats
	cat stats >&2
	for e in entry return; do
		is "hits of $e" 40000 "$(hits $e)"
		is "samples and lost of $e" 40000 "$(awk -v e="t:$e" '
			/ stats:$/ { mine = $1 == e }
			mine && /(SAMPLE|LOST_SAMPLES) events:/ { n += $3 }
			END { print n + 0 }' stats)"
	done
	remove_events
}

case_stat()
{
	three_events
	perf stat -x, -o stat -e t:entry,t:inside,t:return -a call 500
	awk -F, '/t:/ { print $3, $1 }' stat
	remove_events
}

# An event that is counted and recorded at once, and by ftrace besides.
case_shared()
{
	three_events
	echo 1 >$TRACING/events/t/enable
	record -e t:entry -aR perf stat -x, -o stat -e t:entry -a call 40
	echo 0 >$TRACING/events/t/enable
	is "samples" 40 "$(samples | wc -l)"
	is "count" 40 "$(awk -F, '/t:/ { print $1 }' stat)"
	is "trace" 40 "$(grep -c 'entry: ' $TRACING/trace)"
	is "hits" 40 "$(hits entry)"
	echo >$TRACING/trace
	remove_events
}

case_trace()
{
	three_events
	perf trace -e 't:*' -a -- call 2 2>&1 |
		sed -nE 's/^.*(t:[a-z]*)\(/\1(/p' |
		sed -E 's/__probe_[a-z_]*: -?[0-9]+(, )?//g'
	remove_events
}

case_ftrace()
{
	three_events
	perf stat -x, -o stat -e t:entry,t:return -a \
		perf ftrace trace -T kprobes_target_add call 5 >got
	is "calls seen by the tracer" 5 "$(grep -c 'kprobes_target_add <-' got)"
	awk -F, '/t:/ { print $3, $1 }' stat
	perf ftrace latency -T kprobes_target_add call 5 >got
	cat got >&2
	is "calls timed" 5 "$(awk -F'|' '{ n += $2 } END { print n + 0 }' got)"
	remove_events
}

# An event for what is not there yet, which is when it matters.
case_module()
{
	object=$(modinfo -n dummy)
	probe -m "$object" --add dummy_setup --add 'dummy_setup%return'
	definitions
	record -e 'probe:*' -aR modprobe dummy numdummies=2
	samples
	rmmod dummy
	record -e 'probe:*' -aR modprobe dummy numdummies=2
	samples
	probe --del '*'
	rmmod dummy
}

run_cases "$@"
