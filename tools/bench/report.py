# SPDX-License-Identifier: GPL-2.0
"""What tools/bench/run found, as tables and plots, and whether it suffices.

The idea: one list of rows says what there is to show, in what order and what
the most is that ours may take; the tables are its renderings, and the plots
take their figures by the same keys.  What is written depends on nothing but the
figures, so that the same ones make the same files.
"""

import os
import re
import shutil
import subprocess

HERE = "Documentation/trace/kprobes-bench"

# Heading, then the key, the label and the target (or None) of each row below.
# A target that is a key: that figure of ours, and a few percent.
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
    ("Instructions for one hit of an event, ring buffer on", (
        ("hit.event.none", "kprobe event", None),
        ("hit.event.args.2", "two registers", 780),
        ("hit.event.args.each", "each further register, of eight", 25),
        ("hit.event.retval", "return event, $retval", 860),
        ("hit.event.filter", "a register, and a filter that rejects all",
         None))),
    ("Million instructions for 1,000 events", (
        ("events.create", "create, one write", 900),
        ("events.enable", "enable, events/GROUP/enable", 150),
        ("events.disable", "disable, the same", 150),
        ("events.delete", "delete, one write that clears", 500),
        ("events.delete.lines", "delete, one write, a line each", 500))),
    ("The same with waiting for grace periods, ms of guest time", (
        ("events.create.elapsed", "create", 900),
        ("events.enable.elapsed", "enable", 150),
        ("events.disable.elapsed", "disable", 150),
        ("events.delete.elapsed", "delete, a write that clears", 500),
        ("events.delete.lines.elapsed", "delete, a line each", 500))),
    ("Instructions to create one event, beside others", (
        ("events.one.0", "no others", None),
        ("events.one.1000", "1,000 others", "events.one.0"),
        ("events.one.5000", "5,000 others", "events.one.0"))),
    ("Bytes for one of 4,000 [3], beside the caller's structure", (
        ("memory.entry.1", "kprobe at entry", 75),
        ("memory.mid.1", "mid-function, breakpoint", 292),
        ("memory.ret.1", "return probe, 1 CPU", 150),
        ("memory.ret.2", "return probe, 2 CPUs", 150),
        ("memory.event", "kprobe event, disabled, of 5,000", None))),
    ("Bytes for the first return probe, part of the above", (
        ("memory.first.1", "1 CPU", None),
        ("memory.first.2", "2 CPUs", None))),
    ("Bytes for one return instance, of 2,000 calls in flight [4]", (
        ("memory.instance.1", "1 CPU", None),
        ("memory.instance.2", "2 CPUs", None))),
    ("Of the guest", (
        ("traceable", "traceable functions", None),
        ("sites", "of those, can be probed", None))),
)

NOTES = (
    "[1] As many as can be probed; on stock all but the oldest are registered "
    "disabled, since arming them takes too long.",
    "[2] Not measured on stock: it takes too long.",
    "[3] Return probes on stock: of 1,000, since attaching them takes long.",
    "[4] Of one probe with a maxactive of 2,000, registered when the tasks are "
    "there; beside those of the rows above, whose free instances ours shares.",
)

INTRO = """\
Measured where one tick of the guest's clock is one instruction.  A target is
the most that ours may take.  Regenerated by "make bench"."""


FEW_PERCENT = 3


def derived(figures):
    """The figures, and those that follow from them."""
    two, eight = (figures.get(f"hit.event.args.{n}") for n in (2, 8))
    if two is None or eight is None:
        return figures
    return {**figures, "hit.event.args.each": round((eight - two) / 6)}


def limit(target, ours):
    """A row's target as a number, or None."""
    if not isinstance(target, str):
        return target
    beside = (ours or {}).get(target)
    return None if beside is None else beside * (100 + FEW_PERCENT) // 100


def verdict(key, target, ours):
    target = limit(target, ours)
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
    target = limit(target, found.get("ours"))
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


def as_markdown(found):
    out = [INTRO, ""]
    for heading, rows in ROWS:
        out += [f"| {heading} | " + " | ".join(found) + " | target | |",
                "| --- |" + " ---: |" * (len(found) + 1) + " --- |"]
        out += ["| " + " | ".join(cells(found, row)) + " |" for row in rows]
        out.append("")
    out += [line for note in NOTES for line in (note, "")]
    return "\n".join(out[:-1]) + "\n"


def as_rst(found):
    """A page of the kernel's documentation: plots and tables."""
    out = [".. SPDX-License-Identifier: GPL-2.0", "", ":orphan:", "",
           "==============", "Cost of probes", "==============", "", INTRO, ""]
    for name, _, _ in PLOTS:
        out += [f".. kernel-figure:: {name}.svg", "   :alt: " + ALT[name], ""]
    for heading, rows in ROWS:
        lines = [["", *found, "target", ""]] + [cells(found, r) for r in rows]
        # An empty first cell would continue the row above.
        lines[0][0] = "\\"
        widths = [max(2, *(len(x[i]) for x in lines))
                  for i in range(len(lines[0]))]
        rule = "  ".join("=" * w for w in widths)
        rendered = ["  ".join(
            x.rjust(w) if 0 < i < len(widths) - 1 else x.ljust(w)
            for i, (x, w) in enumerate(zip(line, widths))).rstrip()
            for line in lines]
        out += [heading, "-" * len(heading), "", rule, rendered[0], rule,
                *rendered[1:], rule, ""]
    out += [line for note in NOTES for line in (note, "")]
    return "\n".join(out[:-1]) + "\n"


# ---- plots

COLOUR = {"ours": "#0072b2", "stock": "#e69f00"}

SETUP = """
set terminal svg noenhanced size {width},{height} font 'DejaVu Sans,13' \
  background '#ffffff'
set border 3 linecolor '#444444'
set tics nomirror
set key top {key} reverse Left samplen 2
set grid {grid} linecolor '#dddddd' linewidth 1
set title "{title}"
set xlabel "{xlabel}"
set ylabel "{ylabel}"
"""


def data(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def bars(found, title, xlabel, rows):
    """Horizontal bars from zero, a pair for each of rows (key, label)."""
    most = max(f.get(k, 0) for f in found.values() for k, _ in rows)
    text = SETUP.format(width=860, height=110 + 46 * len(rows), grid="x",
                        key="right", title=title, xlabel=xlabel, ylabel="")
    tics = ", ".join(f'"{label}" {-i}' for i, (_, label) in enumerate(rows))
    text += f"set ytics ({tics}) scale 0\nset style fill solid noborder\n"
    text += f"set xrange [0:{most * 1.12}]\n"
    text += f"set yrange [{0.4 - len(rows)}:1.4]\nset format x '%.0f'\n"
    plots = []
    for n, (kernel, f) in enumerate(found.items()):
        low = [-i + 0.02 - 0.37 * n for i in range(len(rows))]
        text += data(kernel, [f"{f[k]} {y} {y + 0.35} \"{f[k]:,d}\""
                              for (k, _), y in zip(rows, low) if k in f])
        plots.append(f"${kernel} using 1:2:(0):1:2:3 with boxxyerror "
                     f"linecolor '{COLOUR[kernel]}' title '{kernel}'")
        plots.append(f"${kernel} using 1:(($2+$3)/2):4 with labels left "
                     f"offset 0.5,0 font ',11' notitle")
    return text + "plot " + ", \\\n  ".join(plots) + "\n"


def powers(first, last):
    """Tics at powers of ten."""
    return ", ".join(f"'{10 ** n:,d}' {10 ** n}"
                     for n in range(first, last + 1))


COUNTS = ("1", "100", "1000", "10000", "all")


def series(found, kernel, prefix):
    """Lines "number cost" of one curve."""
    f = found[kernel]
    return [f"{f['sites'] if n == 'all' else n} {f[prefix + n]}"
            for n in COUNTS if prefix + n in f]


def curves(found, title, ylabel, kinds, log):
    """Cost against the number of probes; kinds: (prefix, label, dash, point)."""
    text = SETUP.format(
        width=860, height=500, title=title, ylabel=ylabel, grid="x y",
        key="left" if not log else "left maxrows 2",
        xlabel="Number of probes (logarithmic)")
    text += "set logscale x\nset xrange [0.8:40000]\n"
    text += f"set xtics ({powers(0, 4)})\n"
    if log:
        text += "set logscale y\nset yrange [1e3:1e9]\n"
        text += f"set ytics ({powers(3, 9)})\n"
    else:
        most = max(int(line.split()[1]) for k in found
                   for line in series(found, k, kinds[0][0]))
        text += f"set yrange [0:{most * 1.25}]\nset format y '%.0f'\n"
    plots = []
    for kernel in found:
        for n, (prefix, label, dash, point) in enumerate(kinds):
            name = f"{kernel}{n}"
            text += data(name, series(found, kernel, prefix))
            plots.append(f"${name} using 1:2 with linespoints dashtype {dash} "
                         f"pointtype {point} linewidth 2 pointsize 0.8 "
                         f"linecolor '{COLOUR[kernel]}' "
                         f"title '{kernel}{label}'")
    return text + "plot " + ", \\\n  ".join(plots) + "\n"


def beside(key):
    """(key, label) of the rows below the heading that this key is below."""
    return next([row[:2] for row in rows] for _, rows in ROWS
                if key in (row[0] for row in rows))


def plot_hits(found):
    return bars(found, "Cost of one hit, by kind of probe",
                "Guest instructions above the bare call", beside("hit.entry"))


def plot_old(found):
    return curves(found, "Cost of one hit of the oldest probe",
                  "Guest instructions above the bare call",
                  (("hit.old.", "", 1, 7),), log=False)


def plot_attach(found):
    return curves(found, "Cost of attaching a probe at entry",
                  "Guest instructions a probe (logarithmic)",
                  (("attach.entry.", ": so many in one call, each", 1, 7),
                   ("attach.one.", ": one more beside so many", 2, 5)),
                  log=True)


def plot_events(found):
    return bars(found, "1,000 kprobe events on distinct functions",
                "Millions of guest instructions", beside("events.create"))


def plot_event_hits(found):
    return bars(found, "Cost of one hit of an event, ring buffer on",
                "Guest instructions above the bare call",
                beside("hit.event.none"))


def plot_memory(found):
    return bars(found, "Memory of one probe of 4,000",
                "Bytes beside the caller's structure", beside("memory.entry.1"))


# Name, function, and what is to be seen.
PLOTS = (
    ("hits", plot_hits, "cost of one hit, by kind of probe"),
    ("hits-by-number", plot_old, "cost of one hit, by number of probes"),
    ("attach", plot_attach, "cost of attaching, by number of probes"),
    ("event-hits", plot_event_hits, "cost of one hit of an event"),
    ("events", plot_events, "cost of changing 1,000 events"),
    ("memory", plot_memory, "memory of one probe"),
)
ALT = {name: alt for name, _, alt in PLOTS}


def as_svg(script, alt):
    # Its version of gnuplot and the locale are no part of a picture.
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    svg = subprocess.run(["gnuplot"], input=script, stdout=subprocess.PIPE,
                         text=True, check=True, env=env).stdout
    svg = re.sub(r"<desc>.*?</desc>", f"<desc>{alt}</desc>", svg,
                 flags=re.DOTALL)
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE).replace(
        "?>\n", "?>\n<!-- SPDX-License-Identifier: GPL-2.0 -->\n", 1)


BEGIN = "<!-- bench: begin -->\n"
END = "<!-- bench: end -->\n"


def write(root, found):
    """The plots, the page and the table in the README."""
    where = os.path.join(root, HERE)
    os.makedirs(where, exist_ok=True)
    files = {os.path.join(where, "table.rst"): as_rst(found)}
    if shutil.which("gnuplot"):
        for name, plot, alt in PLOTS:
            files[os.path.join(where, name + ".svg")] = as_svg(plot(found), alt)
    else:
        print("bench: no plots: gnuplot-nox is needed; run: make packages")
    readme = os.path.join(root, "README.md")
    with open(readme, encoding="utf-8") as f:
        before, begin, rest = f.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        files[readme] = before + BEGIN + as_markdown(found) + END + after
    for name, text in files.items():
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
