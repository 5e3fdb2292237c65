# SPDX-License-Identifier: GPL-2.0
#
# What the programs here ask the kernel for, without any library: bpf(2) and
# perf_event_open(2), and a BPF program that counts its runs.

import ctypes
import os
import struct
import sys

MAP_CREATE, MAP_LOOKUP, PROG_LOAD = 0, 1, 5
ARRAY, KPROBE = 2, 2
SYS_BPF, SYS_PERF_EVENT_OPEN = 321, 298
IOC_ENABLE = 0x2400
TRACEPOINT = 2
KPROBE_TYPE = "/sys/bus/event_source/devices/kprobe/type"

libc = ctypes.CDLL(None, use_errno=True)
address = ctypes.addressof


def check(what, got):
    if got < 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
    return got


def bpf(what, command, attr):
    """The value, and the attributes as the kernel left them."""
    attr = ctypes.create_string_buffer(attr, 128)
    return check(what, libc.syscall(SYS_BPF, command, attr, 128)), attr.raw


def insn(op, regs, off, imm):
    return struct.pack("<BBhi", op, regs, off, imm)


def load(kind, text, name, rest=b""):
    """A program; what more there is to say of it begins behind its name."""
    code = ctypes.create_string_buffer(text, len(text))
    gpl = ctypes.create_string_buffer(b"GPL")
    return bpf("load", PROG_LOAD, struct.pack(
        "<IIQQIIQII16s", kind, len(text) // 8, address(code), address(gpl),
        0, 0, 0, 0, 0, name) + rest)[0]


def counter():
    return bpf("map", MAP_CREATE, struct.pack("<IIII", ARRAY, 4, 8, 1))[0]


def counting(counts, value):
    """The text of a program that adds one to a counter and returns the value."""
    return (insn(0x18, 0x21, 0, counts) + insn(0, 0, 0, 0) +	# r1 = &count
            insn(0xb7, 2, 0, 1) +				# r2 = 1
            insn(0xdb, 0x21, 0, 0) +				# *r1 += r2
            insn(0xb7, 0, 0, value) + insn(0x95, 0, 0, 0))	# return value


def counted(counts):
    key, value = ctypes.create_string_buffer(4), ctypes.create_string_buffer(8)
    bpf("lookup", MAP_LOOKUP, struct.pack(
        "<IIQQQ", counts, 0, address(key), address(value), 0))
    return struct.unpack("<Q", value.raw)[0]


def kprobe_type():
    """Of the events that perf makes itself."""
    with open(KPROBE_TYPE) as f:
        return int(f.read())


def perf_event(type_, config, config1, config2, period, disabled, pid, cpu):
    attr = ctypes.create_string_buffer(struct.pack(
        "<IIQQQQQIIQQ", type_, 112, config, period, 0, 0, disabled, 0, 0,
        config1, config2), 112)
    return check("perf_event_open", libc.syscall(
        SYS_PERF_EVENT_OPEN, attr, pid, cpu, -1, 8))


def ioctl(event, request, arg=0):
    check("ioctl", libc.ioctl(event, ctypes.c_ulong(request),
                              ctypes.c_ulong(arg)))
