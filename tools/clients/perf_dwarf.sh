#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf probe by lines of source and by names of variables, with the debug
# information of the kernel that runs; see lib.sh.

# What $ begins is for perf.
# shellcheck source-path=SCRIPTDIR disable=SC2016
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/perf_lib.sh"

readelf -S "$KERNEL_OBJECTS/vmlinux" | grep -q debug_info ||
	UNABLE="the kernel has no debug information"

kernel=(-k "$KERNEL_OBJECTS/vmlinux" -s "$KERNEL_SOURCE")
module=(-m kprobes_target)

# Which lines can be probed; their text is the base's own.
case_line()
{
	perf probe "${kernel[@]}" --line vfs_read |
		sed -nE '1p; s/^ +([0-9]+)  .*/\1/p' | sed '1s,@.*/fs/,@fs/,'
}

case_vars()
{
	perf probe "${kernel[@]}" --vars vfs_read:6
}

# Arguments of the kernel's function by their names, and members of what they
# point to, in a real call.
case_arguments()
{
	probe "${kernel[@]}" --add 'vfs_read count
		name=file->f_path.dentry->d_name.name:string'
	probe "${kernel[@]}" --add 'vfs_read%return $retval'
	record -e 'probe:*' dd if=/proc/version of=/dev/null bs=77 count=1
	samples | grep -A 1 'name="version"'
	probe --del '*'
}

case_local_variable()
{
	perf probe "${module[@]}" --line call_set | tail -n +2
	perf probe "${module[@]}" --vars call_set:5
	probe "${module[@]}" --add 'call_set:6 i n'
	record -e 'probe:*' -aR call 4
	samples
	probe --del '*'
}

case_return_value()
{
	probe "${module[@]}" --add 'kprobes_target_add a b' \
		--add 'kprobes_target_add%return $retval:s32'
	record -e 'probe:*' -aR call 3
	samples
	probe --del '*'
}

case_all_variables()
{
	probe "${module[@]}" --add 'kprobes_target_add $vars' \
		--add 'kprobes_target_other $params'
	record -e 'probe:*' -aR call 2
	samples
	probe --del '*'
}

# A module that is not loaded, by its object.
case_module_object()
{
	object=$(modinfo -n kprobes_target)
	rmmod kprobes_target
	probe -m "$object" --add 'kprobes_target_init_text a'
	record -e 'probe:*' -aR modprobe kprobes_target
	samples
	probe --del '*'
}

run_cases "$@"
