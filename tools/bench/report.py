# SPDX-License-Identifier: GPL-2.0
"""What tools/bench/run found, as a table, and whether it suffices.

The idea: one list of rows says what there is to show, in what order and what
the most is that ours may take.
"""

# Heading, then the key, the label and the target (or None) of each row below.
ROWS = (
    ("Instructions for one hit, above the bare call", (
        ("hit.ftrace", "ftrace callback with registers", None),
        ("hit.entry", "kprobe at entry", 95),
        ("hit.entry.2", "two at one entry", 115),
        ("hit.entry.3", "three at one entry", 130),
        ("hit.entry.post", "kprobe at entry, post_handler", 105),
        ("hit.mid", "mid-function, breakpoint", 300),
        ("hit.mid.post", "mid-function, post_handler", 400),
        ("hit.mid.jump", "mid-function, jump", 88),
        ("hit.ret", "return probe", 200),
        ("hit.ret.entry", "return probe, entry handler and data", 215),
        ("hit.fprobe", "fprobe entry", None),
        ("hit.fprobe.exit", "fprobe entry and exit", 260))),
    ("Instructions for one hit of the oldest of so many", (
        ("hit.old.1", "1", 97),
        ("hit.old.100", "100", 97),
        ("hit.old.1000", "1,000", 97),
        ("hit.old.10000", "10,000", 97),
        ("hit.old.all", "all [1]", 97))),
    ("Calls that a return probe missed, default maxactive", (
        ("sleepers.missed", "of 2,000 tasks asleep", 0),
        ("sleepers.nmissed", "of those, counted", None),
        ("burst.missed", "of 1,024 nested, interrupts off", 0),
        ("burst.nmissed", "of those, counted", None))),
    ("Instructions for each of a set attached in one call", (
        ("attach.entry.1", "register_kprobes(), 1 at entry", None),
        ("attach.entry.100", "100", None),
        ("attach.entry.1000", "1,000", None),
        ("attach.entry.10000", "10,000", 60000),
        ("attach.entry.all", "all [1]", None),
        ("attach.mid.1000", "1,000 mid-function", None),
        ("attach.ret.1000", "register_kretprobes(), 1,000", None))),
    ("Instructions for each of a set detached in one call", (
        ("detach.entry.1", "unregister_kprobes(), 1 at entry", None),
        ("detach.entry.100", "100", None),
        ("detach.entry.1000", "1,000", None),
        ("detach.entry.10000", "10,000 [2]", 60000),
        ("detach.entry.all", "all [1]", None),
        ("detach.mid.1000", "1,000 mid-function", None),
        ("detach.ret.1000", "unregister_kretprobes(), 1,000", None))),
    ("Instructions for one more at entry, beside others", (
        ("attach.one.1", "register_kprobe(), 1 other", None),
        ("attach.one.100", "100 others", None),
        ("attach.one.1000", "1,000 others", None),
        ("attach.one.10000", "10,000 others", None),
        ("attach.one.all", "all others [1]", None),
        ("detach.one.1", "unregister_kprobe(), 1 other", None),
        ("detach.one.100", "100 others", None),
        ("detach.one.1000", "1,000 others", None),
        ("detach.one.10000", "10,000 others", None),
        ("detach.one.all", "all others [1]", None))),
    ("The same with waiting for grace periods, ns of guest time", (
        ("detach.entry.1000.elapsed", "unregister_kprobes(), 1,000, each", None),
        ("detach.one.1.elapsed", "unregister_kprobe(), 1 other", None),
        ("detach.one.1000.elapsed", "1,000 others", None))),
    ("Bytes for one of 4,000 [3], beside the caller's structure", (
        ("memory.entry.1", "kprobe at entry", 75),
        ("memory.mid.1", "mid-function, breakpoint", 292),
        ("memory.ret.1", "return probe, 1 CPU", 150),
        ("memory.ret.2", "return probe, 2 CPUs", 150))),
    ("Bytes for the first return probe, part of the above", (
        ("memory.first.1", "1 CPU", None),
        ("memory.first.2", "2 CPUs", None))),
    ("Of the guest", (
        ("traceable", "traceable functions", None),
        ("sites", "of those, can be probed", None))),
)

NOTES = (
    "[1] As many as can be probed; on stock all but the oldest are registered "
    "disabled, since arming them takes too long.",
    "[2] Not measured on stock: it takes too long.",
    "[3] Return probes on stock: of 1,000, since attaching them takes long.",
)


def verdict(key, target, ours):
    if target is None or ours is None:
        return ""
    return "met" if ours.get(key, target + 1) <= target else "not met"


def not_met(found):
    """The keys of the rows whose target is not met."""
    return [key for _, rows in ROWS for key, _, target in rows
            if verdict(key, target, found.get("ours")) == "not met"]


def number(n):
    return "-" if n is None else f"{n:,d}"


def cells(found, row):
    """A row as text: label, a cell for each kernel, target, verdict."""
    key, label, target = row
    return ([label] + [number(f.get(key)) for f in found.values()] +
            ["" if target is None else number(target),
             verdict(key, target, found.get("ours"))])


def as_text(found):
    out = []
    for heading, rows in ROWS:
        shown = [f"{heading:58}"] + [f"{k:>12}" for k in found] + ["    target"]
        out += ["", "".join(shown)]
        for row in rows:
            label, *values, target, word = cells(found, row)
            line = f"  {label:56}" + "".join(f"{v:>12}" for v in values)
            out.append(f"{line}{target:>10}  {word}".rstrip())
    return "\n".join(out[1:] + [""] + list(NOTES))
