# SPDX-License-Identifier: GPL-2.0
"""tools/vm/run itself: does each end of a guest have its own exit status?

All other tests take the statuses of a guest at their word.  The trouble is real
where it can be: a module of ours warns, oopses and panics to order.
"""

import concurrent.futures

from common import (VM_DIED, VM_NOT_STARTED, VM_TIMED_OUT, VM_WARNED, guest,
                    heading)
from kselftest import build_modules

SECONDS = 240
GUESTS = 2

INSMOD = "insmod {modules}/kprobes_trouble.ko what="
# Name, command, options, status, what must be on stdout, what on stderr.
CASES = (
    ("status", "echo said; exit 7", (), 7, "said", ""),
    ("warning", INSMOD + "warn; echo said; exit 7", (), VM_WARNED, "said",
     "WARNING: "),
    ("allow-warn", INSMOD + "warn; exit 7", ("--allow-warn",), 7, "",
     "WARNING: "),
    ("oops", INSMOD + "oops; exit 0", (), VM_DIED, "", "Oops"),
    ("panic", INSMOD + "panic; exit 0", (), VM_DIED, "", "that was ordered"),
    ("sysrq", "echo c >/proc/sysrq-trigger; exit 0", (), VM_DIED, "",
     "sysrq triggered crash"),
    ("no word", "reboot -f", (), VM_DIED, "", "without a status"),
    ("timeout", "echo said; sleep 1000", ("--timeout", "25"), VM_TIMED_OUT, "",
     "timeout after 25 s"),
    ("no kernel", "true", ("--kernel", "/no/such/kernel"), VM_NOT_STARTED, "",
     "no kernel at"),
    ("no guest", "true", ("--mem", "none"), VM_NOT_STARTED, "",
     "QEMU did not start"),
)


# Where the kernel watches for races.
RACE = ("race", INSMOD + "race; exit 7", (), VM_WARNED, "", "trouble_race [")


def run_case(kernel, modules, command, options):
    p = guest(kernel, [command.format(modules=modules)], SECONDS, *options)
    out, err = p.communicate()
    return p.returncode, out, err


def run(kernel, tally):
    heading(f"tools/vm/run on {kernel}: how a guest ends, and its status")
    modules = build_modules(kernel)
    with concurrent.futures.ThreadPoolExecutor(GUESTS) as pool:
        cases = CASES + ((RACE,) if kernel == "kcsan" else ())
        ends = [pool.submit(run_case, kernel, modules, *case[1:3])
                for case in cases]
        for (name, _, _, status, out, err), end in zip(cases, ends):
            got = end.result()
            print(f"{name:12} {got[0]:4}")
            if got[0] == status and out in got[1] and err in got[2]:
                tally.passed(f"vm {name}")
                continue
            tally.failed(f"vm {name}", f"status {got[0]}, wanted {status}, "
                                       f"'{out}' and '{err}'; it said:")
            print("\n".join(got[1:]))
