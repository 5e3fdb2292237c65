#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# A BPF program on a kprobe event, without any library, that sends the probed
# function back to its caller with a value.
#
# usage: own_override.py event ID VALUE | own_override.py function NAME VALUE
#        own_override.py query PID
#
# ID is of an event in tracefs; NAME has perf make an event of its own.  It says
# "ready", works until it is killed, and fails when the kernel refuses.
#
# PID is another one that does that: of what it probes the symbol, the offset and
# the address are told, as the kernel tells who asks.

import ctypes
import os
import signal
import struct
import sys

# Nothing is left beside the source.
sys.dont_write_bytecode = True
from own_syscalls import (IOC_ENABLE, KPROBE, SYS_BPF, TRACEPOINT,  # noqa: E402
                          address, insn, ioctl, kprobe_type, libc, load,
                          perf_event)

TASK_FD_QUERY = 20
IOC_SET_BPF = 0x40042408
OVERRIDE_RETURN = 58


def program(value):
    return load(KPROBE,
                insn(0xb7, 2, 0, value) +			# r2 = value
                insn(0x85, 0, 0, OVERRIDE_RETURN) +		# r1 is the context
                insn(0xb7, 0, 0, 0) + insn(0x95, 0, 0, 0),	# return 0
                b"own_override")


def event_of(kind, name):
    """Of every task, on every CPU that is there."""
    type_, config, config1 = TRACEPOINT, 0, 0
    if kind == "event":
        config = int(name)
    else:
        type_ = kprobe_type()
        func = ctypes.create_string_buffer(name.encode())
        config1 = address(func)
    return perf_event(type_, config, config1, 0, period=1, disabled=0,
                      pid=-1, cpu=0)


def query(pid):
    """Its perf event is one of its files."""
    name = ctypes.create_string_buffer(256)
    for fd in map(int, os.listdir(f"/proc/{pid}/fd")):
        attr = ctypes.create_string_buffer(
            struct.pack("<IIIIQ", pid, fd, 0, len(name),
                        address(name)), 128)
        if libc.syscall(SYS_BPF, TASK_FD_QUERY, attr, 128) == 0:
            offset, addr = struct.unpack_from("<QQ", attr.raw, 32)
            print(name.value.decode() or "-", offset, hex(addr))
            return
    sys.exit(f"process {pid} has no perf event")


def main():
    if sys.argv[1] == "query":
        query(int(sys.argv[2]))
        return
    kind, name, value = sys.argv[1:4]
    prog, event = program(int(value)), event_of(kind, name)
    ioctl(event, IOC_SET_BPF, prog)
    ioctl(event, IOC_ENABLE)
    print("ready", flush=True)
    signal.pause()


main()
