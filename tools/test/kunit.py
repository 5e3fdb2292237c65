# SPDX-License-Identifier: GPL-2.0
"""KUnit: boot with our suites (k*probes*) enabled, and collect what they say.

Twice: as the emulator's CPU has it, and on one that has the depth of calls
tracked, where calls and returns change flags that are live in what we patch.

The suites run at boot; their results are then read from debugfs.  Which ones
there must be is read from our sources: a suite that is not there has failed.
"""

import glob
import os
import re

from common import (ROOT, VM_DIED, VM_NOT_STARTED, VM_TIMED_OUT, VM_WARNED,
                    guest, heading)

SECONDS = {"ours": 600, "stock": 600, "debug": 1800, "framepointer": 600,
           "kcsan": 1800}
SOURCES = ("lib/test_kprobes*.c", "kernel/kprobes/test_*.c",
           "kernel/kprobes/*_test.c", "kernel/trace/*kprobe*test*.c")
READ = ("for d in /sys/kernel/debug/kunit/k*probes*/; do "
        "echo \"suite $(basename \"$d\")\"; cat \"$d/results\"; done")


def expected_suites():
    names = set()
    for pattern in SOURCES:
        for path in glob.glob(os.path.join(ROOT, pattern)):
            with open(path) as f:
                text = f.read()
            for suite in re.findall(r"struct kunit_suite \w+ = \{(.*?)\n\};",
                                    text, re.S):
                names.update(re.findall(r"\.name\s*=\s*\"([^\"]+)\"", suite))
    return names


def parse(output):
    """{suite: [(test, ok, note)]} of the KTAP in the results files."""
    suites, suite = {}, None
    for line in output.splitlines():
        if line.startswith("suite "):
            suite = suites.setdefault(line[6:].strip(), [])
        # A test is one level in; deeper are its parameters.
        m = re.match(r"    (not )?ok \d+ (?:- )?(\S+)(.*)", line)
        if m and suite is not None:
            suite.append((m[2], not m[1], m[3].strip()))
    return suites


def run(kernel, tally):
    run_once(kernel, tally, "kunit", "k*probes*", expected_suites(), "", [],
             READ)
    # But for what mostly waits, and does not depend on it: when jumps come, and
    # what is done without memory.
    run_once(kernel, tally, "kunit, calls counted", "k*probes_[!jf]*",
             expected_suites() - {"kprobes_jump", "kprobes_faults",
                                  "kretprobes_faults"},
             "spectre_v2=retpoline retbleed=stuff",
             ["--cpu-model", "Skylake-Client", "--accel", "tcg"],
             "grep -q Stuffing "
             "/sys/devices/system/cpu/vulnerabilities/retbleed && " + READ)


def run_once(kernel, tally, what, suites_glob, expected, append, options,
             command):
    heading(f"{what} on {kernel}")
    p = guest(kernel, [command], SECONDS[kernel], *options, "--append",
              f"kunit.enable=1 kunit.filter_glob={suites_glob} {append}")
    out, err = p.communicate()
    if p.returncode in (VM_DIED, VM_WARNED, VM_TIMED_OUT, VM_NOT_STARTED):
        tally.failed(what, "the guest: " + err.strip())
    suites = parse(out)
    for name in sorted(expected - set(suites)):
        tally.failed(f"{what} {name}", "the suite did not run")
    if not expected:
        tally.failed(what, "no suite is in our sources")
    for name, tests in sorted(suites.items()):
        if not tests:
            tally.failed(f"{what} {name}", "the suite has no tests")
        count = {"ok": 0, "skipped": 0, "not ok": 0}
        for test, ok, note in tests:
            full = f"{what} {name}.{test}"
            if "SKIP" in note:
                tally.skipped(full, note.lstrip("# "))
                count["skipped"] += 1
            elif ok:
                tally.passed(full)
                count["ok"] += 1
            else:
                tally.failed(full, "not ok")
                count["not ok"] += 1
        print(f"{name}: " + ", ".join(f"{v} {k}" for k, v in count.items()))
    if any(not ok for tests in suites.values() for _, ok, _ in tests):
        print(out)
