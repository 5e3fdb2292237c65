# SPDX-License-Identifier: GPL-2.0
"""What the parts of the tests share: where things are, and counting."""

import ctypes
import os
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build")

# Exit statuses of tools/vm/run that are not the command's own.
VM_DIED, VM_WARNED, VM_TIMED_OUT, VM_NOT_STARTED = 121, 122, 124, 125


def fail(text):
    print(f"test: {text}", file=sys.stderr)
    sys.exit(2)


def heading(text):
    print(f"\n== {text}")


def die_with_parent():
    """In the child: no guest outlives the tests, even when they are killed."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def guest(kernel, command, timeout, *options):
    """A guest that runs one command; the caller reads its stdout."""
    return subprocess.Popen(
        [os.path.join(ROOT, "tools/vm/run"), "--kernel", kernel,
         "--timeout", str(int(timeout)), *options, "--", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace",
        preexec_fn=die_with_parent)


class Tally:
    """Counts, and the names behind those that are not passed."""

    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}
        self.notes = []

    def add(self, passed, failed, skipped):
        self.counts["passed"] += passed
        self.counts["failed"] += failed
        self.counts["skipped"] += skipped

    def passed(self, name, note=None):
        self.add(1, 0, 0)
        if note:
            self.notes.append(f"passed: {name}: {note}")

    def failed(self, name, why):
        self.add(0, 1, 0)
        self.notes.append(f"FAILED: {name}: {why}")
        print(f"FAILED: {name}: {why}")

    def skipped(self, name, why):
        self.add(0, 0, 1)
        self.notes.append(f"skipped: {name}: {why}")

    def close(self):
        """Say it all once more, and the closing line; the exit status."""
        for note in self.notes:
            print(note)
        c = self.counts
        print(f"{c['passed']} passed, {c['failed']} failed, "
              f"{c['skipped']} skipped")
        return 1 if c["failed"] or not c["passed"] else 0
