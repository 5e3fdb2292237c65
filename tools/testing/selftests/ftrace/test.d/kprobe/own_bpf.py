#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# A BPF trampoline on a module's function, without any library: two programs
# that count, one at entry and one at exit.
#
# usage: own_bpf.py attach MODULE FUNCTION | count | detach
#
# What attach makes is pinned below /sys/fs/bpf; count prints both counts.

import ctypes
import os
import struct
import sys

# Nothing is left beside the source.
sys.dont_write_bytecode = True
from own_syscalls import (address, bpf, counted, counter, counting,  # noqa: E402
                          load)

PINS = "/sys/fs/bpf/own_"
KINDS = {"fentry": 24, "fexit": 25}	# enum bpf_attach_type
(OBJ_PIN, OBJ_GET, GET_INFO, RAW_TP_OPEN, BTF_FD_BY_ID,
 BTF_NEXT_ID) = (6, 7, 15, 17, 19, 23)
TRACING = 26


def pin(fd, name):
    path = ctypes.create_string_buffer((PINS + name).encode())
    bpf("pin", OBJ_PIN, struct.pack("<QII", address(path), fd, 0))


def unpin(name):
    path = ctypes.create_string_buffer((PINS + name).encode())
    return bpf("get", OBJ_GET, struct.pack("<QII", address(path), 0, 0))[0]


def read_btf(name):
    """The types' bytes and the strings of a module or of vmlinux."""
    with open("/sys/kernel/btf/" + name, "rb") as f:
        data = f.read()
    head, types, types_len, text, text_len = struct.unpack_from("<5I", data, 4)
    return (data[head + types:head + types + types_len],
            data[head + text:head + text + text_len])


def walk(types):
    """(kind, offset of the name) of each type, in the order of ids."""
    more = {1: 4, 3: 12, 14: 4, 17: 4}
    each = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
    at = 0
    while at < len(types):
        name, info, _ = struct.unpack_from("<3I", types, at)
        kind = info >> 24 & 31
        yield kind, name
        at += 12 + more.get(kind, 0) + each.get(kind, 0) * (info & 0xffff)


def function_id(module, function):
    """A module's types and strings are numbered on from those of vmlinux."""
    base_types, base_text = read_btf("vmlinux")
    types, text = read_btf(module)
    first = sum(1 for _ in walk(base_types)) + 1
    for i, (kind, name) in enumerate(walk(types)):
        at = name - len(base_text)
        if kind == 12 and at > 0 and \
                text[at:text.index(b"\0", at)].decode() == function:
            return first + i
    raise SystemExit(f"no BTF of {function}")


def module_btf(module):
    """A file descriptor for the module's BTF."""
    number = 0
    while True:
        _, raw = bpf("next BTF", BTF_NEXT_ID, struct.pack("<III", number, 0, 0))
        number = struct.unpack_from("<I", raw, 4)[0]
        fd, _ = bpf("BTF", BTF_FD_BY_ID, struct.pack("<I", number))
        name = ctypes.create_string_buffer(64)
        info = ctypes.create_string_buffer(
            struct.pack("<QIIQII", 0, 0, 0, address(name), 64, 0), 32)
        bpf("info", GET_INFO, struct.pack("<IIQ", fd, 32, address(info)))
        if name.value.decode() == module:
            return fd
        os.close(fd)


def attach(module, function):
    btf_id, btf_fd = function_id(module, function), module_btf(module)
    for kind, attach_type in KINDS.items():
        counts = counter()
        # What follows a name: a network interface, where it attaches; and 36
        # bytes further, to which type.
        program = load(TRACING, counting(counts, 0), b"own_count",
                       struct.pack("<II36xII", 0, attach_type, btf_id, btf_fd))
        link, _ = bpf("attach", RAW_TP_OPEN,
                      struct.pack("<QII", 0, program, 0))
        pin(counts, kind + "_counts")
        pin(link, kind + "_link")


def main():
    if sys.argv[1] == "attach":
        attach(*sys.argv[2:4])
    elif sys.argv[1] == "count":
        print(*(counted(unpin(kind + "_counts")) for kind in KINDS))
    else:
        for kind in KINDS:
            for what in ("_link", "_counts"):
                if os.path.exists(PINS + kind + what):
                    os.unlink(PINS + kind + what)


main()
