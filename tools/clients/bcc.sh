#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tools of bcc; see lib.sh.  They compile their programs with the headers of
# the kernel that runs, which takes most of the time.

CASE_SECONDS=300
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

add='kprobes_target_add(int a, int b)'

headers()
{
	local modules

	modules=/lib/modules/$(uname -r)
	ln -sfn "$KERNEL_OBJECTS" "$modules/build"
	ln -sfn "$KERNEL_SOURCE" "$modules/source"
}

# Calls the functions when the tool says by BEGUN, in what it prints, that it
# counts; and ends it, as a person would, when CONDITION says that it has told.
run() # BEGUN CONDITION CALLS TOOL...
{
	local pid

	headers
	# Without job control, it would be deaf to the signal.
	set -m
	PYTHONUNBUFFERED=1 "${@:4}" >out 2>err &
	pid=$!
	(wait_until "$CASE_SECONDS" grep -q "$1" out) || cat err >&2
	taskset -c 0 call "$3"
	wait_until "$CASE_SECONDS" "$2"
	kill -INT $pid 2>/dev/null || :
	wait $pid || :
	cat err out >&2
}

# Counted in the kernel, told at the end.
at_its_end=true

case_funccount()
{
	run ^Tracing $at_its_end 25 funccount-bpfcc 'kprobes_target_[al]*'
	awk '/^kprobes_target/ { print $1, $2 }' out | sort
}

hits_are_told()
{
	[ "$(grep -c kprobes_target_add out)" -eq 10 ]
}

case_trace()
{
	run ^PID hits_are_told 5 \
		trace-bpfcc "p::$add \"%d %d\", a, b" "r::$add \"%d\", retval"
	# Each probe's hits come in order, but not those of both.
	sed -nE 's/.*kprobes_target_add *//p' out | sort
}

is_last_told()
{
	grep -q 'retval = 7' out && grep -qE '\<6 +b = 2' out
}

# Cumulative, and told each second: of each value what was told last.
case_argdist()
{
	run '^\[' is_last_told 6 \
		argdist-bpfcc -c -i 1 -C "p::$add:int:b" -C "r::$add:int:\$retval"
	grep ' = ' out | sort -k2 -k1,1nr | sort -su -k2
}

case_stackcount()
{
	run ^Tracing $at_its_end 7 stackcount-bpfcc -K kprobes_target_add
	grep '^  ' out
}

run_cases "$@"
