# SPDX-License-Identifier: GPL-2.0
"""Handlers that do what a handler may not, each in a guest of its own.

What the kernel then is supposed to do is to die, or to complain and live on:
Documentation/trace/kprobes.rst, "Bad callers".
"""

from common import VM_DIED, VM_WARNED, heading
from kselftest import build_modules
from vm import INSMOD, run_case

# Name, command, status, what must be on stdout, what on stderr.
CASES = (
    ("handler oopses", INSMOD + "handler_oops; exit 0", VM_DIED, "", "Oops"),
    ("handler sleeps", INSMOD + "handler_sleep && echo lives", VM_WARNED,
     "lives", "scheduling while atomic"),
)


def run(kernel, tally):
    heading(f"handlers that may not do what they do, on {kernel}")
    modules = build_modules(kernel)
    for name, command, status, out, err in CASES:
        got = run_case(kernel, modules, command, ())
        print(f"{name:16} {got[0]:4}")
        if got[0] == status and out in got[1] and err in got[2]:
            tally.passed(f"callers {name}")
            continue
        tally.failed(f"callers {name}", f"status {got[0]}, wanted {status}, "
                                        f"'{out}' and '{err}'; it said:")
        print("\n".join(got[1:]))
