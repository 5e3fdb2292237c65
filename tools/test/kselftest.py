# SPDX-License-Identifier: GPL-2.0
"""The ftrace suite of kselftest: the base's cases, and ours beside them.

The suite is staged under build/test, so that it is the same whichever kernel
it runs on.  The cases are dealt to two guests by the time that they took on
stock.  A guest that dies or hangs takes down one case: the one it was at; the
rest go on in a new guest.

Ours is compared with what stock says, recorded per base version in
stock-results/.  A case must not be worse than on stock.
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import threading
import time

from common import (BUILD, ROOT, VM_DIED, VM_TIMED_OUT, fail, guest,
                    heading)

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = "tools/testing/selftests/ftrace"
STAGE = os.path.join(BUILD, "test")
GUESTS = 2
CASE_SECONDS = {"ours": 600, "stock": 600, "debug": 900, "framepointer": 300,
                "kcsan": 900}
TOTAL_SECONDS = {"ours": 3600, "stock": 3000, "debug": 5400,
                 "framepointer": 1800, "kcsan": 5400}
MOST_GUESTS = 40		# one after another, before we give up
MOST_STUMBLES = 3		# guests that end, and no case is to blame
MOST_AGAIN = 8			# cases that may be run once more; more are no accident
UNSOUND = 3			# the kernel complained; the rest want a new guest
UNKNOWN_SECONDS = 15
# What the cases need is in the others' configuration; these have no BTF.
LACKING = ("framepointer", "kcsan")

# These look closer than the others, and for what is seldom seen.
WATCHED = ("debug", "framepointer", "kcsan")

# From the best to the worst.  XFAIL is a failure that the case expects.
RANK = {r: i for i, r in enumerate((
    "PASS", "XFAIL", "UNSUPPORTED", "UNTESTED", "UNRESOLVED", "FAIL",
    "COMPLAINT", "BROKEN", "TIMEOUT", "DIED", "NOT RUN"))}
GOOD = ("PASS", "XFAIL")

Selection = collections.namedtuple("Selection", "base own")


def cases_in(directory):
    top = os.path.join(directory, "test.d")
    found = glob.glob(top + "/**/*.tc", recursive=True)
    return sorted(os.path.relpath(f, top) for f in found)


def own_cases():
    return cases_in(os.path.join(ROOT, SUITE))


def base_tree(kernel):
    return os.path.join(BUILD, "linux-stock" if kernel == "stock" else "linux")


def base_cases(kernel="ours"):
    tree = os.path.join(base_tree(kernel), SUITE)

    return [c for c in cases_in(tree) if c not in own_cases()]


def select(words):
    """The cases that the words name: directories, or cases, of the suite."""
    base, own = [], []
    for word in words:
        word = re.sub(r"^.*test\.d/", "", word).rstrip("/")
        n = len(base) + len(own)
        base += [c for c in base_cases() if c == word or
                 c.startswith(word + "/")]
        own += [c for c in own_cases() if c == word or
                c.startswith(word + "/")]
        if n == len(base) + len(own):
            fail(f"no part and no case is named '{word}'; "
                 "tools/test/run --help tells the parts")
    return Selection(base, own)


# --- Running ----------------------------------------------------------------

class Job:
    """A kernel, a staged suite, and the place where results go."""

    def __init__(self, kernel, name, with_own):
        self.kernel, self.name = kernel, name
        self.place = os.path.join(STAGE, f"{name}.{kernel}")
        self.suite = os.path.join(self.place, "suite")
        self.modules = None
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(os.path.join(base_tree(kernel), SUITE), self.suite)
        if with_own:
            shutil.copytree(os.path.join(ROOT, SUITE), self.suite,
                            dirs_exist_ok=True)
            self.modules = build_modules(kernel)

    def share(self, number):
        path = os.path.join(self.place, f"guest.{number}")
        os.makedirs(path, exist_ok=True)
        return path

    def log(self, name):
        """What a case that is not PASS has printed; None without a trace."""
        name = name.split("@")[0].replace("/", "__") + ".log"
        found = glob.glob(os.path.join(self.place, "guest.*", "logs", name))
        return os.path.relpath(found[0], ROOT) if found else None


def build_modules(kernel):
    """Ours in tools/test/modules, for the kernel as it is.

    Anew when that is newer: make would not see that its types (BTF) are others.
    """
    source = os.path.join(HERE, "modules")
    target = os.path.join(STAGE, "modules." + kernel)
    vmlinux = os.path.join(BUILD, kernel, "vmlinux")
    stamp = os.path.join(target, "stamp")
    newest = max(os.path.getmtime(f) for f in
                 [vmlinux, *glob.glob(source + "/*")])
    if os.path.exists(stamp) and os.path.getmtime(stamp) > newest:
        return target
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KERNEL", "T")}
    done = subprocess.run(
        ["make", "-C", os.path.join(BUILD, kernel), "M=" + target,
         f"-j{os.cpu_count()}", "modules"], env=env, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout)
        fail("the test modules do not build")
    with open(stamp, "w"):
        return target


def wants_alone(suite, case):
    """Does the case leave the kernel unfit for others?  Its head says so."""
    with open(os.path.join(suite, "test.d", case)) as f:
        return any(line.startswith("# alone: ") for line in f)


class Lane(threading.Thread):
    """One guest after another, until the cases dealt to it are done."""

    def __init__(self, job, number, cases, show):
        super().__init__()
        self.job, self.cases, self.show = job, list(cases), show
        self.share = job.share(number)
        self.results = {}		# name: (result, seconds)
        self.stumbles = 0

    def run(self):
        end = time.monotonic() + TOTAL_SECONDS[self.job.kernel]
        for _ in range(MOST_GUESTS):
            left = [c for c in self.cases if c not in self.results]
            seconds = end - time.monotonic()
            if not left or seconds < 60:
                break
            together = [c for c in left if not wants_alone(self.job.suite, c)]
            self.run_guest(together or left[:1], seconds)
        for case in self.cases:
            self.results.setdefault(case, ("NOT RUN", 0))

    def run_guest(self, cases, seconds):
        with open(self.share + "/list", "w") as f:
            f.write("\n".join(cases) + "\n")
        job = self.job
        p = guest(job.kernel,
                  [os.path.join(HERE, "guest/kselftest"), job.suite,
                   str(CASE_SECONDS[job.kernel]), "/mnt/share/list",
                   *([job.modules] if job.modules else [])],
                  seconds, "--share", self.share, "--allow-warn",
                  "--log", self.share + "/console.log")
        errors = []
        reader = threading.Thread(
            target=lambda: errors.append(p.stderr.read()))
        reader.start()
        started = time.monotonic()
        for line in p.stdout:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 3 and fields[1] in RANK:
                self.results[fields[0]] = (fields[1], int(fields[2]))
                self.show(*fields)
                started = time.monotonic()
        p.wait()
        reader.join()
        self.blame(cases, p.returncode, errors[0],
                   int(time.monotonic() - started))

    def blame(self, cases, status, errors, seconds):
        """The guest ended before its list: whose fault is it?"""
        left = [c for c in cases if c not in self.results]
        if not left or (status == UNSOUND and len(left) < len(cases)):
            return
        result = {VM_DIED: "DIED", VM_TIMED_OUT: "TIMEOUT"}.get(status)
        if not result:
            # Not a case's fault, as far as we know.
            self.stumbles += 1
            print(f"    the guest ended with status {status}; {errors}")
            if self.stumbles == MOST_STUMBLES:
                self.results.update({c: ("NOT RUN", 0) for c in left})
            return
        self.results[left[0]] = (result, seconds)
        self.show(left[0], result, str(seconds))
        self.keep_console(left[0])
        print("    " + errors.strip().replace("\n", "\n    "))

    def keep_console(self, case):
        """What the kernel said at its end is the log of the case."""
        logs = os.path.join(self.share, "logs")
        os.makedirs(logs, exist_ok=True)
        with open(os.path.join(self.share, "console.log"),
                  errors="replace") as f:
            text = f.read()
        at = re.search(r"WARNING: |BUG: |Oops|general protection", text)
        with open(os.path.join(logs, case.replace("/", "__") + ".log"),
                  "w") as f:
            f.write("".join(text[at.start():].splitlines(True)[:60])
                    if at else text[-4000:])


def deal(cases, seconds):
    """Into as many lists as there are guests, of about the same time each."""
    lists = [[] for _ in range(GUESTS)]
    load = [0] * GUESTS
    for case in sorted(cases, key=lambda c: -seconds.get(c, UNKNOWN_SECONDS)):
        i = load.index(min(load))
        lists[i].append(case)
        load[i] += seconds.get(case, UNKNOWN_SECONDS)
    return [sorted(x) for x in lists if x]


def run_cases(job, cases, seconds, show):
    """{case: (result, seconds)}; a case with an instance has two names."""
    lanes = [Lane(job, i, x, show)
             for i, x in enumerate(deal(cases, seconds))]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    results = {}
    for lane in lanes:
        results.update(lane.results)
    return results


# --- Our own cases ----------------------------------------------------------

def run_own(kernel, tally, cases=None):
    heading(f"our own cases on {kernel}")
    cases = own_cases() if cases is None else cases
    if not cases:
        tally.failed("own", "there are no cases of our own")
        return

    def show(name, result, seconds):
        print(f"{name:60} {result:12} {seconds:>4} s")

    job = Job(kernel, "own", True)
    results = run_cases(job, cases, recorded_seconds(), show)
    for name, (result, _) in sorted(results.items()):
        if result in GOOD:
            tally.passed(name)
            continue
        if result == "UNSUPPORTED" and kernel in LACKING:
            tally.skipped(name, f"{kernel} lacks what it needs")
            continue
        tally.failed(name, result)
        print(tail(job.log(name)))


def tail(log, lines=40):
    """The end of a log, as text to print."""
    if not log:
        return "    it left no log"
    with open(os.path.join(ROOT, log), errors="replace") as f:
        end = f.read().splitlines()[-lines:]
    return "\n    | ".join([f"    the end of {log}:", *end])


# --- The base's cases, against stock ----------------------------------------

def read_table(path):
    """Lines of tab-separated fields, by the first; comments left out."""
    with open(path) as f:
        rows = [line.rstrip("\n").split("\t") for line in f
                if line.strip() and not line.startswith("#")]
    return {r[0]: r[1:] for r in rows}


def base_version():
    """Of the base as unpacked: not every kernel need have been laid from it."""
    with open(os.path.join(BUILD, "linux-source-6.12", "Makefile")) as f:
        v = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$",
                            f.read(), re.M))
    return f"{v['VERSION']}.{v['PATCHLEVEL']}.{v['SUBLEVEL']}"


def nearest_record(pattern):
    """(version, file) of what matches, of this base or the nearest; or Nones."""
    files = {os.path.splitext(os.path.basename(f))[0]: f
             for f in glob.glob(pattern)}
    if not files:
        return None, None
    want = int(base_version().split(".")[2])
    best = min(sorted(files), key=lambda v: abs(int(v.split(".")[2]) - want))
    return best, files[best]


def stock_results():
    """(version, {case: (result, seconds)}) of this base or the nearest."""
    version, path = nearest_record(HERE + "/stock-results/*.tsv")
    if not path:
        return None, {}
    return version, {k: (v[0], int(v[1]))
                     for k, v in read_table(path).items()}


def recorded_seconds():
    """How long each case took: what the guests' shares are dealt by."""
    return {k: v[1] for k, v in stock_results()[1].items()}


def run_base(kernel, tally, cases=None):
    version, stock = stock_results()
    if not stock:
        fail("no results of stock are recorded; run: make stock-results")
    heading(f"kselftest ftrace on {kernel}, against stock {version}")
    if version != base_version():
        warning = (f"WARNING: the base is {base_version()}, but the nearest "
                   f"results of stock are of {version}; run: "
                   "make stock-results")
        print(warning)
        # And once more at the end, where it is seen.
        tally.notes.append(warning)
    whole = cases is None
    cases = base_cases() if whole else cases
    job = Job(kernel, "base", False)
    print(f"{'case':60} {'stock':12} {kernel:12}")

    def show(name, result, seconds):
        was = stock.get(name, ("-",))[0]
        print(f"{name:60} {was:12} {result:12} {seconds:>4} s")

    results = run_cases(job, cases, recorded_seconds(), show)
    # A case of which only the part in an instance is missing, too.
    for name in stock:
        if (whole and name.split("@")[0] in cases) or \
                name.split("@")[0] in results:
            results.setdefault(name, ("NOT RUN", 0))
    judge(job, tally, results, stock)


def is_worse(result, was):
    return RANK[result] > RANK[was] and result not in GOOD


def judge(job, tally, results, stock):
    exceptions = read_table(HERE + "/exceptions.tsv")
    reasons = read_table(HERE + "/stock-reasons.tsv")
    worse = []
    for name, (result, _) in sorted(results.items()):
        was = stock.get(name, ("PASS", 0))[0]
        if result in GOOD:
            tally.passed(name)
        elif name in exceptions:
            tally.skipped(name, f"{result}: {exceptions[name][0]}")
        elif result == "UNSUPPORTED" and job.kernel in LACKING:
            tally.skipped(name, f"{job.kernel} lacks what it needs")
        elif is_worse(result, was):
            worse.append(name)
        elif name not in reasons:
            tally.failed(name, f"{result}, on stock too, but stock-reasons.tsv "
                               "does not say why")
        else:
            tally.skipped(name, f"{result}, as on stock: {reasons[name][0]}")
    if len(worse) > MOST_AGAIN:
        for name in worse:
            tally.failed(name, f"{results[name][0]}; stock: "
                               f"{stock.get(name, ('no record of it',))[0]}")
        return
    for name in worse:
        first = results[name][0]
        # What such a kernel has seen once, it need not see again.
        if job.kernel in WATCHED and first in ("COMPLAINT", "DIED"):
            tally.failed(name, first)
            print(tail(job.log(name)))
        else:
            again(job, tally, name, first, stock)


def again(job, tally, name, first, stock):
    """Worse than stock: once more, alone."""
    end = tail(job.log(name))
    results = run_cases(job, [name.split("@")[0]], {}, lambda *_: None)
    result = results.get(name, ("NOT RUN", 0))[0]
    was = stock.get(name, ("no record of it",))[0]
    if result in GOOD:
        tally.passed(name, f"flaky: {first} among the others, {result} alone")
    else:
        tally.failed(name, f"{first}, and {result} alone; stock: {was}")
    print(end)


# --- Recording --------------------------------------------------------------

def record_stock():
    heading("kselftest ftrace on stock")

    def show(name, result, seconds):
        print(f"{name:60} {result:12} {seconds:>4} s")

    results = run_cases(Job("stock", "base", False), base_cases("stock"),
                        recorded_seconds(), show)
    if any(r == "NOT RUN" for r, _ in results.values()):
        fail("not all cases were run; nothing is recorded")
    path = f"{HERE}/stock-results/{base_version()}.tsv"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write("# SPDX-License-Identifier: GPL-2.0\n"
                "# What the ftrace suite says on the unmodified base, by "
                "\"make stock-results\":\n# case, result, seconds\n")
        for name, (result, seconds) in sorted(results.items()):
            f.write(f"{name}\t{result}\t{seconds}\n")
    bad = [f"{n}: {r}" for n, (r, _) in sorted(results.items())
           if r not in GOOD]
    print("\n".join(["", *bad, "", f"{len(results)} results, {len(bad)} of "
                     f"them not PASS: {os.path.relpath(path)}"]))
