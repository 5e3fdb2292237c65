# SPDX-License-Identifier: GPL-2.0
"""What hits share with those who change probes, raced as a program: tools/races.

Not in a guest: an emulator may run one CPU at a time.
"""

import os
import re
import subprocess

from common import ROOT, heading

TIMEOUT = 900


def run(tally):
    heading("races: pools, index and sites, on true CPUs")
    try:
        done = subprocess.run(
            [os.path.join(ROOT, "tools/races/run")], cwd=ROOT, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=TIMEOUT)
    except (OSError, subprocess.TimeoutExpired) as e:
        tally.failed("races", str(e))
        return
    print(done.stdout.rstrip())
    runs = re.findall(r"^races: (FAILED: )?\S*/(\S+) (\S+) \d+ (\d+)",
                      done.stdout, re.M)
    for failed, program, scenario, seed in runs:
        name = f"races {program} {scenario}"
        if failed:
            tally.failed(name, f"with --seed {seed}")
        else:
            tally.passed(name)
    if not runs or bool(done.returncode) != any(r[0] for r in runs):
        tally.failed("races", f"status {done.returncode}, {len(runs)} runs")
