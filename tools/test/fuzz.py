# SPDX-License-Identifier: GPL-2.0
"""Mutated definitions of probe events: some of tools/fuzz, for a minute.

Once from a seed that is always the same, once from a new one; and the beginnings
of runs of the past, as tools/fuzz/seeds has them.
"""

import os
import random
import re
import subprocess

from common import ROOT, heading

LINES = 10000
# Of a seed that is kept.
KEPT_LINES = 1000
SEEDS = os.path.join(ROOT, "tools/fuzz/seeds")
# No new lines after so long, and the end of it all.
SECONDS, TIMEOUT = 60, 300
FIXED_SEED = 6012


def run(kernel, tally):
    heading(f"fuzz on {kernel}: mutated definitions of probe events")
    for what, seed in (("fixed", FIXED_SEED),
                       ("random", random.randrange(10 ** 9))):
        run_once(kernel, tally, f"fuzz, {what} seed {seed}", seed, LINES)
    for seed, first in kept_seeds():
        run_once(kernel, tally, f"fuzz, kept seed {seed} from {first}", seed,
                 KEPT_LINES, first)


def kept_seeds():
    """The (seed, first line) of each."""
    with open(SEEDS) as f:
        return [tuple(map(int, line.split())) for line in f
                if line.strip() and not line.startswith("#")]


def run_once(kernel, tally, name, seed, lines, first=0):
    try:
        done = subprocess.run(
            [os.path.join(ROOT, "tools/fuzz/run"), "--kernel", kernel,
             "--seed", str(seed), "--lines", str(lines),
             "--first", str(first),
             "--seconds", str(SECONDS), "--timeout", str(TIMEOUT)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            check=False, timeout=TIMEOUT + 120)
    except (OSError, subprocess.TimeoutExpired) as e:
        tally.failed(name, str(e))
        return
    # What was counted is for who runs it alone.
    print("\n".join(line for line in done.stdout.splitlines()
                    if not re.match(r" +\d+  ", line)))
    count = re.search(r"^fuzz: in all (\d+) lines", done.stdout, re.M)
    if done.returncode:
        tally.failed(name, f"status {done.returncode}")
    elif not count or not int(count[1]):
        tally.failed(name, "nothing was executed")
    else:
        tally.passed(name, f"{count[1]} lines")
