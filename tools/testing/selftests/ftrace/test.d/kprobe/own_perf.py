#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# A perf event of a probe with a BPF program, without any library: what the kernel
# tells of it, and what it counts.
#
# usage: own_perf.py [--drop] FILE event ID
#        own_perf.py [--drop] FILE function NAME OFFSET | return NAME | address ADDR
#
# ID is of an event in tracefs; the others have perf make one of its own.  10 is
# written to FILE, which calls what is probed.  Printed is what BPF_TASK_FD_QUERY
# and the link say: kind, symbol, offset, address; then the perf event's count, the
# program's runs, and the misses that the link tells.  --drop has the program
# return 0, so that no hit becomes a record.

import ctypes
import os
import struct
import sys

MAP_CREATE, MAP_LOOKUP, PROG_LOAD = 0, 1, 5
GET_INFO, TASK_FD_QUERY, LINK_CREATE = 15, 20, 28
ARRAY, KPROBE, PERF_EVENT = 2, 2, 41
SYS_BPF, SYS_PERF_EVENT_OPEN = 321, 298
IOC_ENABLE = 0x2400
TRACEPOINT = 2
FD_TYPES = ("raw_tracepoint", "tracepoint", "kprobe", "kretprobe")
EVENT_TYPES = ("-", "uprobe", "uretprobe", "kprobe", "kretprobe", "tracepoint")
PMU = "/sys/bus/event_source/devices/kprobe/"

libc = ctypes.CDLL(None, use_errno=True)


def call(what, number, *args):
    got = libc.syscall(number, *args)
    if got < 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
    return got


def bpf(what, command, attr):
    """The value, and the attributes as the kernel left them."""
    attr = ctypes.create_string_buffer(attr, 128)
    return call(what, SYS_BPF, command, attr, 128), attr.raw


def program(counts, keep):
    """Adds one to the map's only value."""
    def insn(op, regs, off, imm):
        return struct.pack("<BBhi", op, regs, off, imm)
    text = (insn(0x18, 0x21, 0, counts) + insn(0, 0, 0, 0) +	# r1 = &value
            insn(0xb7, 2, 0, 1) +				# r2 = 1
            insn(0xdb, 0x21, 0, 0) +				# *r1 += r2
            insn(0xb7, 0, 0, keep) + insn(0x95, 0, 0, 0))	# return keep
    code = ctypes.create_string_buffer(text, len(text))
    gpl = ctypes.create_string_buffer(b"GPL")
    return bpf("load", PROG_LOAD, struct.pack(
        "<IIQQIIQII16s", KPROBE, len(text) // 8, ctypes.addressof(code),
        ctypes.addressof(gpl), 0, 0, 0, 0, 0, b"own_perf"))[0]


def perf_event(kind, name, offset=0):
    """Of this task."""
    config = config1 = 0
    config2 = int(offset)
    if kind == "event":
        type_, config = TRACEPOINT, int(name)
    else:
        with open(PMU + "type") as f:
            type_ = int(f.read())
    if kind in ("function", "return"):
        func = ctypes.create_string_buffer(name.encode())
        config1 = ctypes.addressof(func)
        config = int(kind == "return")
    elif kind == "address":
        config2 = int(name, 16)
    # Disabled, until there is a program.
    attr = ctypes.create_string_buffer(struct.pack(
        "<IIQQQQQIIQQ", type_, 112, config, 0, 0, 0, 1, 0, 0,
        config1, config2), 112)
    return call("perf_event_open", SYS_PERF_EVENT_OPEN, attr, 0, -1, -1, 8)


def query(fd):
    name = ctypes.create_string_buffer(256)
    _, got = bpf("query", TASK_FD_QUERY, struct.pack(
        "<IIIIQ", os.getpid(), fd, 0, len(name), ctypes.addressof(name)))
    kind, offset, addr = struct.unpack_from("<IQQ", got[28:], 0)
    return FD_TYPES[kind], name.value.decode() or "-", offset, hex(addr)


def link_info(link):
    name = ctypes.create_string_buffer(256)
    info = ctypes.create_string_buffer(struct.pack(
        "<24xQI", ctypes.addressof(name), len(name)), 64)
    bpf("info", GET_INFO, struct.pack("<IIQ", link, 64, ctypes.addressof(info)))
    kind, = struct.unpack_from("<I", info, 16)
    offset, addr, missed = struct.unpack_from("<IQQ", info.raw[36:])
    return (EVENT_TYPES[kind], name.value.decode() or "-", offset,
            hex(addr)), missed


def runs(counts):
    key, value = ctypes.create_string_buffer(4), ctypes.create_string_buffer(8)
    bpf("lookup", MAP_LOOKUP, struct.pack(
        "<IIQQQ", counts, 0, ctypes.addressof(key), ctypes.addressof(value), 0))
    return struct.unpack("<Q", value.raw)[0]


def main():
    args = sys.argv[1:]
    keep = args[0] != "--drop"
    args = args[not keep:]
    counts, _ = bpf("map", MAP_CREATE, struct.pack("<IIII", ARRAY, 4, 8, 1))
    event = perf_event(*args[1:])
    link, _ = bpf("link", LINK_CREATE, struct.pack(
        "<IIII", program(counts, keep), event, PERF_EVENT, 0))
    if libc.ioctl(event, ctypes.c_ulong(IOC_ENABLE), ctypes.c_ulong(0)) < 0:
        sys.exit(f"ioctl: {os.strerror(ctypes.get_errno())}")
    with open(args[0], "w") as f:
        f.write("10")
    count = struct.unpack("<Q", os.read(event, 8))[0]
    print("query", *query(event))
    place, missed = link_info(link)
    print("link", *place)
    print("count", count, "runs", runs(counts), "missed", missed)


main()
