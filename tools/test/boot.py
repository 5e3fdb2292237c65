# SPDX-License-Identifier: GPL-2.0
"""Probe events that are there before anything runs in user space: from the
kernel's command line, and from a boot configuration.

vfs_open() is called when the initial RAM disk is unpacked, by a worker and before
there is an init; the events must have seen that.
"""

from common import guest, heading

SECONDS = 240
TRACING = "/sys/kernel/tracing"

# Whoever reads the trace opens and reads: so that has to end first.
SEEN = r"""
cd {tracing}
echo 0 > tracing_on
same() {{ # text file
	[ "$1" = "$(cat "$2")" ] || {{ echo "$2: $(cat "$2")"; bad=1; }}
}}
seen() {{ # pattern
	grep -qE "$1" trace || {{ echo "not in trace: $1"; bad=1; }}
}}
bad=
""".format(tracing=TRACING)

COMMAND_LINE = SEEN + r"""
same 'p:kprobes/boot_in vfs_open path=%di
r:kprobes/boot_out vfs_open ret=$retval
p:kprobes/boot_two vfs_open
p:kprobes/boot_two vfs_read' kprobe_events
for e in boot_in boot_out boot_two; do
	same 1 events/kprobes/$e/enable
done
seen 'kworker/.* boot_in: \(vfs_open.* path=0x[0-9a-f]+'
seen 'kworker/.* boot_out: \(.* <- vfs_open\) ret=(0x)?0'
seen ' boot_two: \(vfs_read'
dmesg | grep -q 'Failed to add event(-22): p:wrong no_such_symbol' || bad=1
grep -q 'vfs_open.*FTRACE' /sys/kernel/debug/kprobes/list || bad=1
echo 0 > events/kprobes/enable
echo > kprobe_events || bad=1
[ -z "$(cat /sys/kernel/debug/kprobes/list)" ] || bad=1
[ -z "$bad" ]
"""

BOOT_CONFIG = SEEN + r"""
same 'p:kprobes/conf vfs_open path=%di
p:kprobes/conf vfs_read path=%di
r:kprobes/confret vfs_open $retval' /dev/fd/3 3<<X
$(sed 's/arg1=\$retval/$retval/' kprobe_events | sort)
X
same 1 events/kprobes/conf/enable
same 0 events/kprobes/confret/enable
seen 'kworker/.* conf: \(vfs_open.* path=0x[0-9a-f]+'
seen ' conf: \(vfs_read.* path='
[ -z "$bad" ]
"""

CONFIG = """
ftrace.event.kprobes {
	conf {
		probes = "vfs_open path=%di", "vfs_read path=%di"
		enable
	}
	confret.probes = "vfs_open%return $retval"
}
"""

CASES = (
    ("command line", COMMAND_LINE,
     ("--append", "trace_buf_size=4M kprobe_event=p:boot_in,vfs_open,path=%di;"
      "r:boot_out,vfs_open,ret=$retval;p:wrong,no_such_symbol;"
      "p:boot_two,vfs_open;p:boot_two,vfs_read")),
    ("boot configuration", BOOT_CONFIG,
     ("--append", "trace_buf_size=4M", "--bootconfig", CONFIG)),
)


def run(kernel, tally):
    heading(f"probe events from the boot, on {kernel}")
    for name, script, options in CASES:
        p = guest(kernel, [script], SECONDS, *options)
        out, err = p.communicate()
        print(f"{name:20} {p.returncode:4}")
        if p.returncode == 0:
            tally.passed(f"boot {name}")
            continue
        tally.failed(f"boot {name}", f"status {p.returncode}; it said:")
        print(out + err)
