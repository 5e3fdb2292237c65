#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bpftrace's probes of functions and of their returns, one by one and many at
# once, beside each other and beside its other kinds; see lib.sh.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# What it runs is named by its path, and is no script.  On one CPU, since the
# order of what it prints is that of each.
call="/usr/bin/taskset -c 0 /bin/sh $(command -v call)"

# Its own greeting is no result.
bpf() # PROGRAM OPTION...
{
	bpftrace -e "$1" "${@:2}" >out
	sed '/^Attaching/d; /^$/d' out
}

case_list()
{
	bpftrace -l 'kprobe:vfs_r*'
	bpftrace -l 'kprobe:kprobes_target_*'
}

case_arguments()
{
	bpf 'kprobe:kprobes_target_add { printf("%d %d\n", arg0, arg1); }
		kretprobe:kprobes_target_add { printf("= %d\n", retval); }' \
		-c "$call 5"
}

# Of the call that returns, each its own.
case_latency()
{
	bpf 'kprobe:kprobes_target_add { @start[tid] = nsecs; @calls = count(); }
		kretprobe:kprobes_target_add /@start[tid]/ {
			@sane = lhist(nsecs >= @start[tid], 0, 2, 1);
			delete(@start[tid]); }' \
		-c "$call 1000"
}

# One program for all: the hooks that fprobes share.
case_many()
{
	bpf 'kprobe:kprobes_target_* { @[func] = count(); }' -c "$call 10" |
		sort
	bpf 'kretprobe:kprobes_target_* { @ = count(); }' -c "$call 10"
}

# More calls at once than there are instances where their number is fixed, as it is
# on stock: most of these returns are lost there.
case_many_in_flight()
{
	cat >sleep_and_wake <<-END
		echo 200 >$TARGET/sleepers
		cat $PROBES >list
		echo 0 >$TARGET/sleepers
	END
	bpf 'kprobe:kprobes_target_s* { @entries = count(); }
		kretprobe:kprobes_target_* { @returns = count(); }' \
		-c "/bin/sh $PWD/sleep_and_wake" >got
	cat got >&2
	: "A hook for all, not a return probe for each"
	diff list /dev/null >&2
	is "entries" 200 "$(sed -n 's/^@entries: //p' got)"
	is "returns" 200 "$(sed -n 's/^@returns: //p' got)"
}

# A program for each, that is, a perf event for each.
case_one_by_one()
{
	bpf 'kprobe:kprobes_target_* { @[probe] = count(); }
		kretprobe:kprobes_target_add, kretprobe:kprobes_target_other
			{ @[probe] = count(); }' -c "$call 10" | sort
}

case_many_in_kernel()
{
	bpf 'kprobe:vfs_* /pid == cpid/ { @[func] = count(); }
		kretprobe:vfs_* /pid == cpid/ { @returns = count(); }
		kretprobe:vfs_read /pid == cpid/ { @read = count(); }' \
		-c '/bin/dd if=/proc/version of=/dev/null bs=16 count=3' >got
	cat got >&2
	is "reads" "$(sed -n 's/^@read: //p' got)" \
		"$(sed -n 's/^@.vfs_read.: //p' got)"
	is "returns" "$(sed -n 's/^@returns: //p' got)" \
		"$(awk '/^@.vfs_/ { n += $2 } END { print n }' got)"
	[ "$(sed -n 's/^@read: //p' got)" -ge 3 ]
}

# Unsafe, since this bpftrace cannot tell where instructions begin.
case_offset()
{
	bpf 'kprobe:kprobes_target_long+9 { @[func] = count(); }' --unsafe \
		-c "$call 7"
}

case_stack()
{
	{
		bpf 'kprobe:kprobes_target_add { printf("entry%s", kstack); }
			kprobe:kprobes_target_long+9 { printf("inside%s", kstack); }
			kretprobe:kprobes_target_add { printf("return%s", kstack); }' \
			--unsafe -c "$call 1"
		bpf 'kprobe:kprobes_target_a* { printf("entry%s", kstack); }' \
			-c "$call 1"
		bpf 'kretprobe:kprobes_target_a* { printf("return%s", kstack); }' \
			-c "$call 1"
	} | sed -E 's/^ +/   /; s/\+[0-9]+$//'
}

# The trampoline of the same function's BPF programs of another kind.
case_beside_trampoline()
{
	[ -e /sys/kernel/btf/vmlinux ] || skip "the kernel has no BTF"
	bpf 'kprobe:vfs_read /pid == cpid/ { @kprobe = count(); }
		kretprobe:vfs_read /pid == cpid/ { @kretprobe = sum(retval); }
		kfunc:vfs_read /pid == cpid/ { @kfunc = count(); }
		kretfunc:vfs_read /pid == cpid/ { @kretfunc = sum(retval); }' \
		-c '/bin/dd if=/proc/version of=/dev/null bs=16 count=3' >got
	cat got >&2
	is "calls" "$(sed -n 's/@kfunc: //p' got)" \
		"$(sed -n 's/@kprobe: //p' got)"
	is "bytes" "$(sed -n 's/@kretfunc: //p' got)" \
		"$(sed -n 's/@kretprobe: //p' got)"
	[ "$(sed -n 's/@kprobe: //p' got)" -ge 3 ]
}

# Whether a return probe sees the call whose result it is depends on which of
# them came first.
case_override()
{
	before=$(cat "$TARGET/failed")
	bpf 'kprobe:kprobes_target_add /arg0 == 3/ { override(-5); }
		kretprobe:kprobes_target_add { printf("%d\n", retval); }' \
		--unsafe -c "$call 5" | sed '/^-5$/d'
	is "calls that failed" 1 $(($(cat "$TARGET/failed") - before))
}

case_interval()
{
	bpf 'kprobe:kprobes_target_add { @ = count(); }
		interval:s:1 { exit(); }'
}

run_cases "$@"
