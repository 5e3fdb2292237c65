#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# What becomes of a write to the event files, or of perf's system call, when its
# first, second, ... allocation fails: /proc/self/fail-nth does that to this task's
# next system call.
#
# After each failure the caller has its errno and everything is as it was; and the
# same call, made again, succeeds.  One more call to try is one more line in CALLS.
#
# usage: own_fault_injection.py     (in tracefs, with the module kprobes_target)

import ctypes
import errno
import os
import struct
import sys

DEBUGFS = "/sys/kernel/debug"
CALL_TARGET = "/sys/module/kprobes_target/parameters/call"
MOST_STEPS = 1000
SYS_PERF_EVENT_OPEN = 298
TRACEPOINT = 2

libc = ctypes.CDLL(None, use_errno=True)
wrong = 0
formats = {}		# of events of a name, within one row of CALLS


def complain(text):
    global wrong
    wrong += 1
    print("WRONG: " + text)


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def append(text):
    fd = os.open("kprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def no_events():
    for directory in ("events/own", "events/own2"):
        if os.path.isdir(directory):
            write(directory + "/enable", "0")
    os.close(os.open("kprobe_events", os.O_WRONLY | os.O_TRUNC))


def state():
    """All that a call that has failed might have left behind."""
    on = []
    for top, _, names in os.walk("events/own"):
        if "enable" in names:
            on.append((top, read(top + "/enable")))
    traced = sorted(line.split()[0] for line in
                    read("enabled_functions").splitlines()
                    if line[:1].isalpha() or line[:1] == "_")
    return (read("kprobe_events"), sorted(on), traced,
            read(DEBUGFS + "/kprobes/list"),
            read(DEBUGFS + "/kprobes/enabled"),
            read(DEBUGFS + "/kprobes/count"))


# --- The calls: each is one system call, as far as the allocations go --------

class Write:
    """A write to a file that was opened before."""

    def __init__(self, path, text, flags=os.O_WRONLY | os.O_APPEND):
        self.path, self.text, self.flags = path, text, flags

    def open(self):
        self.fd = os.open(self.path, self.flags)

    def call(self):
        os.write(self.fd, self.text.encode())

    def close(self):
        os.close(self.fd)


class Truncate:
    """What deletes all events: to open their file so."""

    def open(self):
        pass

    def call(self):
        os.close(os.open("kprobe_events", os.O_WRONLY | os.O_TRUNC))

    def close(self):
        pass


class Perf:
    """An event of perf's own, or one of tracefs."""

    def __init__(self, function=None, event=None, is_return=False):
        self.function = function
        self.event, self.is_return = event, is_return

    def open(self):
        config = int(self.is_return)
        config1 = 0
        if self.event:
            type_, config = TRACEPOINT, int(read(f"events/{self.event}/id"))
        else:
            type_ = int(read("/sys/bus/event_source/devices/kprobe/type"))
            self.name = ctypes.create_string_buffer(self.function.encode())
            config1 = ctypes.addressof(self.name)
        self.attr = ctypes.create_string_buffer(struct.pack(
            "<IIQQQQQIIQQ", type_, 112, config, 0, 0, 0, 0, 0, 0, config1,
            0), 112)

    def call(self):
        fd = libc.syscall(SYS_PERF_EVENT_OPEN, self.attr, -1, 0, -1, 8)
        if fd < 0:
            raise OSError(ctypes.get_errno(), "perf_event_open")
        self.fd = fd

    def close(self):
        """Of an event that is there: it counts, and then it goes."""
        if not hasattr(self, "fd"):
            return
        write(CALL_TARGET, "10")
        count, = struct.unpack("<Q", os.read(self.fd, 8))
        if not self.is_return and count % 10:
            complain(f"perf counted {count}")
        os.close(self.fd)
        del self.fd


def definitions(*lines):
    return lambda: append("".join(line + "\n" for line in lines))


def nothing():
    pass


def switched_on(*events):
    """Were they to be hit, and are they?"""
    def check():
        write("trace", "\n")
        write(CALL_TARGET, "10")
        seen = read("trace")
        for event in events:
            if seen.count(f" {event}: ") != 10:
                complain(f"{event} was hit {seen.count(f' {event}: ')} times")
    return check


def defined(n):
    def check():
        if len(read("kprobe_events").splitlines()) != n:
            complain(f"not {n} events: " + read("kprobe_events"))
        for line in read("kprobe_events").splitlines():
            event = line.split()[0].split(":")[1]
            if not os.path.exists(f"events/{event}/enable"):
                complain(f"{event} has no files")
                continue
            text = read(f"events/{event}/format").splitlines()
            formats.setdefault(event, set()).add("\n".join(
                line for line in text if not line.startswith("ID:")))
    return check


def rearmed():
    write(DEBUGFS + "/kprobes/enabled", "1")
    write(DEBUGFS + "/kprobes/count", "0")


ADD, OTHER = "kprobes_target_add", "kprobes_target_other"
BEHIND = ADD + "+9"
EVENTS = "kprobe_events"


def create(text):
    return Write(EVENTS, text + "\n")


def enable(path):
    return Write(f"events/{path}/enable", "1", os.O_WRONLY)


# Of a group's events, those are enabled that can be.
PARTIAL = ("enable, a group",)

# Name, what has to be there, the call, what it must have done, more to undo.
CALLS = (
    ("create", nothing, create(f"p:own/e {ADD}"), defined(1), nothing),
    ("create, arguments", nothing,
     create(f"p:own/e {BEHIND} a=%di:s32 b=@jiffies c=$comm d=+0(%si):string "
            "e=+0(+8(%sp)):x8[4] f=%ax:b3@2/8"), defined(1), nothing),
    ("create, a return", nothing, create(f"r:own/e {ADD} $retval"),
     defined(1), nothing),
    ("create, maxactive", nothing, create(f"r7:own/e {ADD}"), defined(1),
     nothing),
    ("create, a pattern", nothing,
     create("p:own/e kprobes_target:kprobes_target_[ao]*"), defined(1),
     nothing),
    ("create, a pattern's returns", nothing,
     create("r:own/e kprobes_target:kprobes_target_[ao]*"), defined(1),
     nothing),
    ("create, a module to come", nothing, create("p:own/e no_such:symbol"),
     defined(1), nothing),
    ("create, one more place", definitions(f"p:own/e {ADD}"),
     create(f"p:own/e {OTHER}"), defined(2), nothing),
    ("create, to an enabled one",
     lambda: (append(f"p:own/e {ADD}\n"), write("events/own/e/enable", "1")),
     create(f"p:own/e {OTHER}"), defined(2), nothing),
    ("enable", definitions(f"p:own/e {ADD}"), enable("own/e"),
     switched_on("e"), nothing),
    ("enable, a breakpoint", definitions(f"p:own/e {BEHIND}"),
     enable("own/e"), switched_on("e"), nothing),
    ("enable, a return", definitions(f"r:own/e {ADD}"), enable("own/e"),
     switched_on("e"), nothing),
    ("enable, a group",
     definitions(f"p:own/e {ADD}", f"p:own/f {BEHIND}", f"r:own/g {ADD}"),
     enable("own"), switched_on("e", "f", "g"), nothing),
    ("disable", lambda: (append(f"p:own/e {ADD}\n"),
                         write("events/own/e/enable", "1")),
     Write("events/own/e/enable", "0", os.O_WRONLY), nothing, nothing),
    ("delete", definitions(f"p:own/e {ADD}"), create("-:own/e"), defined(0),
     nothing),
    ("delete all", definitions(f"p:own/e {ADD}", f"r:own/f {ADD}"),
     Truncate(), defined(0), nothing),
    ("perf, a function", nothing, Perf(function=ADD), nothing, nothing),
    ("perf, a return", nothing, Perf(function=ADD, is_return=True), nothing,
     nothing),
    ("perf, an event", definitions(f"p:own/e {ADD}"), Perf(event="own/e"),
     nothing, nothing),
    ("arm all",
     lambda: (append(f"p:own/e {ADD}\np:own/f {BEHIND}\n"),
              write("events/own/enable", "1"),
              write(DEBUGFS + "/kprobes/enabled", "0")),
     Write(DEBUGFS + "/kprobes/enabled", "1", os.O_WRONLY),
     switched_on("e", "f"), rearmed),
    ("count", definitions(f"p:own/e {ADD}", f"p:own/f {BEHIND}"),
     Write(DEBUGFS + "/kprobes/count", "1", os.O_WRONLY), nothing, rearmed),
)


def fail_nth(n):
    os.pwrite(nth, str(n).encode(), 0)


def attempt(what, n):
    """The errno, or 0; and whether an allocation was made to fail."""
    err = 0
    fail_nth(n)
    try:
        what.call()
    except OSError as e:
        err = e.errno
    left = int(os.pread(nth, 16, 0))
    fail_nth(0)
    return err, left == 0


def try_steps(name, before, what, check, undo):
    """The call, again and again, until it makes no n-th allocation."""
    failed = 0
    formats.clear()
    for n in range(1, MOST_STEPS):
        pristine = state()
        before()
        what.open()
        there = state()
        err, injected = attempt(what, n)
        if err:
            failed += 1
            if not injected or err != errno.ENOMEM:
                complain(f"{name}, step {n}: {errno.errorcode[err]}")
            if state() != there and name not in PARTIAL:
                complain(f"{name}, step {n}: it has changed\n"
                         f"{there}\n{state()}")
            err, _ = attempt(what, 0)
            if err:
                complain(f"{name}, again, step {n}: {errno.errorcode[err]}")
        check()
        what.close()
        undo()
        no_events()
        if state() != pristine:
            complain(f"{name}, step {n}: something is left\n"
                     f"{pristine}\n{state()}")
        if not injected:
            for event, texts in formats.items():
                if len(texts) != 1:
                    complain(f"{event} had {len(texts)} formats")
            print(f"{name}: {n - 1} allocations, {failed} of them fail it",
                  flush=True)
            return
    complain(f"{name}: there is no end")


def main():
    global nth
    nth = os.open("/proc/self/fail-nth", os.O_RDWR)
    for which, knobs in (("failslab", ("ignore-gfp-wait",)),
                         ("fail_page_alloc", ("ignore-gfp-wait",
                                              "ignore-gfp-highmem"))):
        for knob in knobs:
            write(f"{DEBUGFS}/{which}/{knob}", "N")
        write(f"{DEBUGFS}/{which}/verbose", "0")
    write(DEBUGFS + "/fail_page_alloc/min-order", "0")
    chosen = sys.argv[1:]
    for call in CALLS:
        if not chosen or call[0] in chosen:
            try_steps(*call)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
