# SPDX-License-Identifier: GPL-2.0
"""The programs that people use on kprobes, as Debian has them: tools/clients.

Each of their cases tells whether it is content, and prints what is the same at
every run.  That is compared with what it printed on stock, as recorded per base
version in tools/clients/stock-results: so what works there must work here.
"""

import os
import re
import subprocess
import threading

from common import ROOT, fail, guest, heading
import kselftest

CLIENTS = os.path.join(ROOT, "tools/clients")
# The scripts, and the packages without which they have nothing to run.
PACKAGES = {"perf": "linux-perf", "perf_dwarf": "linux-perf",
            "trace_cmd": "trace-cmd", "bpftrace": "bpftrace",
            "bcc": "bpfcc-tools"}
# Two guests, which take about the same time.
LANES = (("perf", "perf_dwarf", "trace_cmd"), ("bpftrace", "bcc"))
SECONDS = 1800


class Case:
    """What one case said: ok, FAIL or skip, why, and its output."""

    def __init__(self, result, why=""):
        self.result, self.why = result, why
        self.output, self.log = [], []


def parse(text):
    """{name: Case} of what the scripts print; see tools/clients/lib.sh."""
    cases, case = {}, None
    for line in text.splitlines():
        m = re.match(r"(ok|FAIL|skip) (\w+/\w+)(?: \d+)?(?: (.*))?$", line)
        if m:
            case = cases[m[2]] = Case(m[1], m[3] or "")
        elif case and line.startswith("|"):
            case.output.append(line)
        elif case and line.startswith("#"):
            case.log.append(line)
    return cases


def names(client):
    with open(os.path.join(CLIENTS, client + ".sh")) as f:
        found = re.findall(r"^case_(\w+)\(\)$", f.read(), re.M)
    return [f"{client}/{name}" for name in found]


def is_installed(package):
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Status}", package], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return "ok installed" in done.stdout


def run_guest(kernel, words, results, trouble):
    """Scripts, or one case of a script, in a guest of their own."""
    p = guest(kernel, [os.path.join(CLIENTS, "guest"), kernel, *words],
              SECONDS)
    errors = []
    reader = threading.Thread(target=lambda: errors.append(p.stderr.read()))
    reader.start()
    text = []
    for line in p.stdout:
        text.append(line)
        if re.match(r"(ok|FAIL|skip) ", line):
            print(line.rstrip())
    p.wait()
    reader.join()
    results.update(parse("".join(text)))
    if p.returncode:
        trouble.append(f"the guest of {', '.join(words)}: status "
                       f"{p.returncode}; {errors[0].strip()}")


def run_clients(kernel, clients):
    """{name: Case}, and what the guests themselves had to say."""
    results, trouble = {}, []
    threads = [threading.Thread(target=run_guest, args=(
        kernel, lane, results, trouble))
        for lane in ([c for c in lane if c in clients] for lane in LANES)
        if lane]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, trouble


# --- Ours, against stock ----------------------------------------------------

def stock_results():
    """(version, {name: Case}) of this base, or of the nearest."""
    version, path = kselftest.nearest_record(CLIENTS + "/stock-results/*.txt")
    if not path:
        fail("no results of stock are recorded; run: make stock-results")
    with open(path) as f:
        return version, parse(f.read())


def run(kernel, tally):
    version, stock = stock_results()
    heading(f"clients on {kernel}, against stock {version}")
    clients = []
    for client, package in PACKAGES.items():
        if kernel in kselftest.LACKING:
            for name in names(client):
                tally.skipped(name, f"{kernel} has neither debug information "
                                    "nor BTF")
        elif is_installed(package):
            clients.append(client)
        else:
            for name in names(client):
                tally.skipped(name, f"the package {package} is not installed")
    if not clients:
        return
    kselftest.build_modules(kernel)
    results, trouble = run_clients(kernel, clients)
    for what in trouble:
        tally.failed("clients", what)
    for name in [n for c in clients for n in names(c)]:
        case = results.get(name, Case("FAIL", "it was not run"))
        why = fault(kernel, case, stock.get(name))
        if why:
            tally.failed(name, why)
            print("\n".join(case.log))
        elif case.result == "skip":
            tally.skipped(name, case.why)
        else:
            tally.passed(name)


def fault(kernel, case, was):
    """Why it has failed; None when it has not."""
    if case.result == "FAIL":
        return case.why + (
            "" if was and was.result == "ok" else "; not on stock, either")
    if case.result == "skip":
        # Ours has all that they need.
        return None if kernel != "ours" else "skipped: " + case.why
    if not was:
        return "stock has no record of it; run: make stock-results"
    # Other configurations have other functions in a stack, and other lines.
    if kernel not in ("ours", "stock") or was.result != "ok":
        return None
    for mine, theirs in zip(case.output + ["| (end)"],
                            was.output + ["| (end)"]):
        if mine != theirs:
            return f"prints '{mine[2:]}', stock prints '{theirs[2:]}'"
    return None


# --- Recording --------------------------------------------------------------

def record_stock():
    heading("clients on stock")
    missing = {p for p in PACKAGES.values() if not is_installed(p)}
    if missing:
        fail("packages are missing: " + ", ".join(sorted(missing)))
    kselftest.build_modules("stock")
    results, trouble = run_clients("stock", PACKAGES)
    wanted = [n for c in PACKAGES for n in names(c)]
    lost = [n for n in wanted if n not in results]
    if trouble or lost:
        fail("; ".join(trouble + lost))
    path = f"{CLIENTS}/stock-results/{kselftest.base_version()}.txt"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write("# SPDX-License-Identifier: GPL-2.0\n"
                "# What tools/clients says on the unmodified base, by "
                "\"make stock-results\"\n")
        for name in wanted:
            case = results[name]
            f.write(f"{case.result} {name}\n")
            if case.result == "ok":
                f.writelines(line + "\n" for line in case.output)
    print(f"{len(wanted)} results: {os.path.relpath(path)}")
