#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# trace-cmd with probe events, beside the function tracers, with filters,
# triggers and instances; see lib.sh.

# What $ begins is for the kernel.
# shellcheck source-path=SCRIPTDIR disable=SC2016
. "$(dirname "$0")/lib.sh"

record() # OPTION... COMMAND
{
	trace-cmd record -q -o "$work/trace.dat" "$@" >/dev/null
}

# What is asked of a report, without task, CPU, time and addresses.
report()
{
	trace-cmd report -q -i "$work/trace.dat" | plain
}

plain()
{
	sed -nE 's/^ *[^ ]+ +\[[0-9]+\] .*[0-9]+\.[0-9]+: +//p' |
		sed -E 's/\([^)]*\) ?//; s/ +$//; s/ +/ /g'
}

case_record()
{
	three_events
	record -e t:entry -e t:inside -e t:return call 100
	report >got
	is_of_100_calls got
	remove_events
}

case_record_filter()
{
	three_events
	record -e t:entry -f 'a >= 10 && a < 15' -e t:return -f 'ret == 7' \
		call 100
	report
	remove_events
}

# Only of the command and its children, while another calls as well.
case_record_task()
{
	three_events
	another_calls 30
	record -F -c -e t:entry -e t:return sh -c "call 25; $beside; call 25"
	is "events" 100 "$(report | wc -l)"
	is "hits" 80 "$(hits entry)"
	remove_events
}

case_record_pid()
{
	three_events
	mkfifo go
	(read -r _ <go; exec call 20) &
	record -P $! -e t:entry sh -c "call 5; echo >go
		while kill -0 $!; do sleep 0.1; done"
	is "events" 20 "$(report | wc -l)"
	is "hits" 25 "$(hits entry)"
	remove_events
}

# The tracer sees the function that is probed, each call once.
case_function()
{
	three_events
	record -p function -l kprobes_target_add -l kprobes_target_long \
		-e t:entry -e t:inside -e t:return call 3
	report
	remove_events
}

case_function_stack()
{
	three_events
	record -p function -l kprobes_target_add --func-stack -e t:entry call 1
	trace-cmd report -q -i trace.dat | stacks
	remove_events
}

case_function_graph()
{
	three_events
	record -p function_graph -l call_set -l 'kprobes_target_*' \
		-e t:entry -e t:return call 2
	report | sed -E 's/ *[+!#*]? ?[0-9.]+ us +\|/ |/'
	remove_events
}

# Its reset removes the events, too.
reset()
{
	trace-cmd reset
	is "events left" "" "$(cat $TRACING/kprobe_events)"
}

case_start_show()
{
	three_events
	trace-cmd start -e t:entry -e t:return
	call 2
	trace-cmd stop
	call 1
	trace-cmd show | plain
	is "of the events" 3 "$(trace-cmd stat | grep -c ':t/')"
	reset
}

# Each event's stack, and that of events for which a trigger is set.
case_stack()
{
	three_events
	record -T -e t:entry -e t:inside -e t:return call 1
	trace-cmd report -q -i trace.dat | stacks
	remove_events
}

case_stack_trigger()
{
	three_events
	trace-cmd start -e t:entry -R 'stacktrace if a == 3' \
		-e t:return -R 'stacktrace if ret == 4'
	call 6
	trace-cmd stop
	trace-cmd show | stacks
	echo '!stacktrace' >$TRACING/events/t/entry/trigger
	echo '!stacktrace' >$TRACING/events/t/return/trigger
	reset
}

# What stacks are of, and the kernel's part of them.  How the tracers come to be
# called is another thing in each kernel.
stacks()
{
	sed -nE -e 's/^ *=> ([a-zA-Z_][^ +]*).*/   \1/p' \
		-e 's/^.*: (entry|inside|return): .*\) ?(.*)/\1 \2/p' \
		-e 's/^.*: function: +(.*)/function \1/p' |
		awk '
			!/^ / { inside = 0 }
			/^   (kprobes_target_|call_set)/ { inside = 1 }
			inside || !/^ /'
}

case_hist()
{
	three_events
	trace-cmd start -e t:entry -R 'hist:keys=b:vals=a' \
		-e t:return -R 'hist:keys=ret:sort=ret' >&2
	call 5
	grep hitcount $TRACING/events/t/*/hist | sed 's,^.*/t/,,; s/ \+/ /g'
	echo '!hist:keys=b:vals=a' >$TRACING/events/t/entry/trigger
	echo '!hist:keys=ret:sort=ret' >$TRACING/events/t/return/trigger
	reset
}

case_instance()
{
	three_events
	trace-cmd start -B own -e t:entry
	trace-cmd start -e t:return
	call 2
	trace-cmd show -B own | plain
	trace-cmd show | plain
	trace-cmd reset -B own -d
	reset
}

# Probes of functions through the same hooks.
case_fprobe()
{
	three_events
	event 'f:t/fentry kprobes_target_add a:s32' \
		'f:t/fexit kprobes_target_add%return ret=$retval:s32'
	record -e t call 2
	report
	event -:t/fentry -:t/fexit
	remove_events
}

run_cases "$@"
