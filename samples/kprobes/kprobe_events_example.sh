#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probe events by hand: what a command opens, what it gets and how long that takes.
#
# usage, as root: kprobe_events_example.sh [COMMAND [ARGUMENT...]]
#
# Nobody else's tracing is touched: the events have a group of their own and are
# recorded in an instance of their own, of this command alone.  The exit status is
# the command's.  See Documentation/trace/kprobetrace.rst.
set -eu

tracing=/sys/kernel/tracing
instance=$tracing/instances/kprobe_events_example
[ $# -gt 0 ] || set -- cat /proc/version

# The command ends by these, and then so do we, by the ordinary way.
trap : INT TERM HUP

mkdir "$instance"
trap 'rmdir "$instance"' EXIT
# x86-64 passes arguments in di, si, dx, cx, ...
cat >>$tracing/kprobe_events <<'END'
p:example/open do_sys_openat2 name=+0(%si):ustring
r:example/opened do_sys_openat2 fd=$retval:s32 $latency
END
# Without the instance, nobody has them enabled.
trap 'rmdir "$instance"
	printf "%s\n" -:example/open -:example/opened >>$tracing/kprobe_events' EXIT

status=0
# $$ is the task that becomes the command, $0 the instance.
# shellcheck disable=SC2016
sh -c '
	echo $$ >"$0/set_event_pid"
	echo 1 >"$0/events/example/enable"
	exec "$@"' "$instance" "$@" || status=$?
echo 0 >"$instance/events/example/enable"

echo "--- what it opened; latency in ns"
grep -v '^#' "$instance/trace" || echo "nothing"
exit $status
