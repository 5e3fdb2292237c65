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

# Nothing is left beside the source.
sys.dont_write_bytecode = True
from own_syscalls import (IOC_ENABLE, KPROBE, TRACEPOINT, address, bpf,  # noqa: E402
                          counted, counter, counting, ioctl, kprobe_type,
                          load, perf_event)

GET_INFO, TASK_FD_QUERY, LINK_CREATE = 15, 20, 28
PERF_EVENT = 41
FD_TYPES = ("raw_tracepoint", "tracepoint", "kprobe", "kretprobe")
EVENT_TYPES = ("-", "uprobe", "uretprobe", "kprobe", "kretprobe", "tracepoint")


def event_of(kind, name, offset=0):
    """Of this task; disabled, until there is a program."""
    config = config1 = 0
    config2 = int(offset)
    if kind == "event":
        type_, config = TRACEPOINT, int(name)
    else:
        type_ = kprobe_type()
    if kind in ("function", "return"):
        func = ctypes.create_string_buffer(name.encode())
        config1 = address(func)
        config = int(kind == "return")
    elif kind == "address":
        config2 = int(name, 16)
    return perf_event(type_, config, config1, config2, period=0, disabled=1,
                      pid=0, cpu=-1)


def query(fd):
    name = ctypes.create_string_buffer(256)
    _, got = bpf("query", TASK_FD_QUERY, struct.pack(
        "<IIIIQ", os.getpid(), fd, 0, len(name), address(name)))
    kind, offset, addr = struct.unpack_from("<IQQ", got[28:], 0)
    return FD_TYPES[kind], name.value.decode() or "-", offset, hex(addr)


def link_info(link):
    name = ctypes.create_string_buffer(256)
    info = ctypes.create_string_buffer(struct.pack(
        "<24xQI", address(name), len(name)), 64)
    bpf("info", GET_INFO, struct.pack("<IIQ", link, 64, address(info)))
    kind, = struct.unpack_from("<I", info, 16)
    offset, addr, missed = struct.unpack_from("<IQQ", info.raw[36:])
    return (EVENT_TYPES[kind], name.value.decode() or "-", offset,
            hex(addr)), missed


def main():
    args = sys.argv[1:]
    keep = args[0] != "--drop"
    args = args[not keep:]
    counts = counter()
    event = event_of(*args[1:])
    program = load(KPROBE, counting(counts, keep), b"own_perf")
    link, _ = bpf("link", LINK_CREATE, struct.pack(
        "<IIII", program, event, PERF_EVENT, 0))
    ioctl(event, IOC_ENABLE)
    with open(args[0], "w") as f:
        f.write("10")
    count = struct.unpack("<Q", os.read(event, 8))[0]
    print("query", *query(event))
    place, missed = link_info(link)
    print("link", *place)
    print("count", count, "runs", counted(counts), "missed", missed)


main()
