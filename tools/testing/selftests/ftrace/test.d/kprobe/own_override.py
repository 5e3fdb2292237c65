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

PROG_LOAD, TASK_FD_QUERY, KPROBE = 5, 20, 2
SYS_BPF, SYS_PERF_EVENT_OPEN = 321, 298
IOC_ENABLE, IOC_SET_BPF = 0x2400, 0x40042408
TRACEPOINT = 2
OVERRIDE_RETURN = 58

libc = ctypes.CDLL(None, use_errno=True)


def call(what, number, *args):
    got = libc.syscall(number, *args)
    if got < 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
    return got


def program(value):
    def insn(op, regs, imm):
        return struct.pack("<BBhi", op, regs, 0, imm)
    text = (insn(0xb7, 2, value) +			# r2 = value
            insn(0x85, 0, OVERRIDE_RETURN) +		# r1 is the context
            insn(0xb7, 0, 0) + insn(0x95, 0, 0))	# return 0
    code = ctypes.create_string_buffer(text, len(text))
    gpl = ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("<IIQQIIQII16s", KPROBE, len(text) // 8,
                       ctypes.addressof(code), ctypes.addressof(gpl),
                       0, 0, 0, 0, 0, b"own_override")
    attr = ctypes.create_string_buffer(attr, 128)
    return call("load", SYS_BPF, PROG_LOAD, attr, 128)


def perf_event(kind, name):
    """Of every task, on every CPU that is there."""
    config = config1 = 0
    if kind == "event":
        type_, config = TRACEPOINT, int(name)
    else:
        with open("/sys/bus/event_source/devices/kprobe/type") as f:
            type_ = int(f.read())
        func = ctypes.create_string_buffer(name.encode())
        config1 = ctypes.addressof(func)
    attr = struct.pack("<IIQQQQQIIQQ", type_, 112, config, 1, 0, 0, 0, 0, 0,
                       config1, 0)
    attr = ctypes.create_string_buffer(attr, 112)
    return call("perf_event_open", SYS_PERF_EVENT_OPEN, attr, -1, 0, -1, 8)


def query(pid):
    """Its perf event is one of its files."""
    name = ctypes.create_string_buffer(256)
    for fd in map(int, os.listdir(f"/proc/{pid}/fd")):
        attr = ctypes.create_string_buffer(
            struct.pack("<IIIIQ", pid, fd, 0, len(name),
                        ctypes.addressof(name)), 128)
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
    prog, event = program(int(value)), perf_event(kind, name)
    for request, arg in ((IOC_SET_BPF, prog), (IOC_ENABLE, 0)):
        if libc.ioctl(event, ctypes.c_ulong(request), ctypes.c_ulong(arg)) < 0:
            sys.exit(f"ioctl: {os.strerror(ctypes.get_errno())}")
    print("ready", flush=True)
    signal.pause()


main()
