# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2016
#
# What the clients' scripts share; sourced by them, in the guest.
#
# The idea: a case is a function case_NAME.  It fails at its first command that
# does, so an expectation is a plain test; what it prints is compared with what
# the same case printed on stock, so it prints nothing that chance decides.
# Each case runs in a process of its own, with a timeout, and leaves no probe.
#
# A script's last line is run_cases "$@": all of its cases in their order, or
# those named.  For each that prints, with its output behind "| " and, when it
# failed, what it said of that behind "# ":
#	ok CLIENT/CASE SECONDS
#	FAIL CLIENT/CASE SECONDS WHY
#	skip CLIENT/CASE SECONDS WHY

TRACING=/sys/kernel/tracing
PROBES=/sys/kernel/debug/kprobes/list
# shellcheck disable=SC2034	# for the scripts
TARGET=/sys/module/kprobes_target/parameters
CASE_SECONDS=${CASE_SECONDS:-120}
SKIPPED=77

client=$(basename "$0" .sh)
PATH=$(cd "$(dirname "$0")" && pwd):$PATH

skip() # WHY
{
	echo "$*" >&2
	exit $SKIPPED
}

is() # WHAT WANT GOT
{
	[ "$2" = "$3" ] || fail "$1: want '$2', got '$3'"
}

fail() # WHY
{
	echo "$*" >&2
	exit 1
}

# "! command" would not do: set -e overlooks it.
refused() # COMMAND...
{
	! "$@" >&2 || fail "not refused: $*"
}

# Events by hand.
event() # DEFINITION...
{
	printf '%s\n' "$@" >>$TRACING/dynamic_events
}

# An entry, an instruction, which is a jump's to take, and a return: each hit
# once for each call.
three_events()
{
	event 'p:t/entry kprobes_target_add a=%di:s32 b=%si:s32' \
		'p:t/inside kprobes_target_long+9' \
		'r:t/return kprobes_target_add ret=$retval:s32'
}

remove_events()
{
	event -:t/entry -:t/inside -:t/return
}

# Hits of an event, of kprobe_profile.
hits() # EVENT
{
	awk -v event="$1" '$1 == event { print $2 }' $TRACING/kprobe_profile
}

# Of 100 calls a recorder has told these in FILE: each, with its values, in its order.
is_of_100_calls() # FILE [PREFIX of their names]
{
	local i e prefix=${2:-}

	for ((i = 0; i < 100; i++)); do
		echo "${prefix}entry: a=$i b=2"
		echo "${prefix}return: ret=$((i + 2))"
		echo "${prefix}inside:"
	done >want
	diff want "$1" >&2
	for e in entry inside return; do
		is "hits of $e" 100 "$(hits $e)"
	done
}

# Another task's calls, N of each function, between two of a recorder's own: at
# "$beside" in its command, which goes on when they have been made.
# shellcheck disable=SC2034	# for the scripts
beside='echo >go; read -r _ <gone'

another_calls() # N
{
	mkfifo go gone
	(read -r _ <go; call "$1"; echo >gone) &
}

# Until the condition holds, or so long.
wait_until() # SECONDS COMMAND...
{
	local end=$((SECONDS + $1))

	while [ $SECONDS -lt $end ]; do
		"${@:2}" && return
		sleep 0.1
	done
	fail "waited in vain for: ${*:2}"
}

# --- Running ----------------------------------------------------------------

nothing_is_left()
{
	! grep -q . $TRACING/dynamic_events &&
		! grep -q . $PROBES &&
		[ "$(cat $TRACING/current_tracer)" = nop ] &&
		! grep -q . $TRACING/enabled_functions
}

what_is_left()
{
	head -5 $TRACING/dynamic_events $PROBES $TRACING/current_tracer \
		$TRACING/enabled_functions
}

# So that the next case finds a kernel as this one did.
clean_up()
{
	local i

	for i in "$TRACING"/instances/*/; do
		[ ! -d "$i" ] || rmdir "$i"
	done
	echo nop >$TRACING/current_tracer
	echo 0 >$TRACING/events/enable
	grep -rlsv '^#' $TRACING/events --include=trigger | while read -r i; do
		sed 's/^/!/' "$i" | while read -r trigger; do
			echo "$trigger" >"$i"
		done
	done
	echo >$TRACING/dynamic_events
	echo >$TRACING/set_ftrace_filter
	echo 1 >$TRACING/tracing_on
} 2>/dev/null

run_case() # NAME
{
	local start=$SECONDS out why="" result status=0

	out=$(mktemp -d)
	echo "clients: $client/$1" >/dev/kmsg
	timeout -k 5 "$CASE_SECONDS" "$0" --case "$1" >"$out/out" 2>"$out/err" \
		</dev/null || status=$?
	case $status in
	0)	result=ok ;;
	"$SKIPPED") result=skip ;;
	124 | 137)
		result=FAIL
		echo "timeout after $CASE_SECONDS s" >>"$out/err"
		;;
	*)	result=FAIL ;;
	esac
	[ $result != FAIL ] || clean_up
	# What is freed by and by may be late.
	if ! (wait_until 20 nothing_is_left) 2>/dev/null; then
		result=FAIL
		{
			what_is_left
			echo "something is left"
		} >>"$out/err"
		clean_up
	fi
	[ $result = ok ] || why=" $(tail -1 "$out/err")"
	echo "$result $client/$1 $((SECONDS - start))$why"
	[ $result = skip ] || sed 's/^/| /' "$out/out"
	[ $result != FAIL ] || tail -30 "$out/err" | sed 's/^/# /'
	rm -rf "$out"
}

run_cases() # [NAME...]
{
	local name

	if [ "${1:-}" = --case ]; then
		# Inherited by functions, and by what is in their parentheses.
		set -eEu -o pipefail
		shopt -s inherit_errexit
		trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
		work=$(mktemp -d)
		trap 'rm -rf "$work"' EXIT
		cd "$work"
		[ -z "${UNABLE:-}" ] || skip "$UNABLE"
		"case_$2"
		return
	fi
	[ $# -gt 0 ] ||
		mapfile -t all < <(sed -n 's/^case_\([a-z0-9_]*\)()$/\1/p' "$0")
	for name in "${@:-${all[@]}}"; do
		run_case "$name"
	done
}
