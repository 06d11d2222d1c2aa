#!/usr/bin/env python3
"""Opens report pages of several shapes in headless Chromium, 1280 and 390 pixels wide, and looks for faults.

    ci/pages.py target/release/contend                         the check
    ci/pages.py target/release/contend --keep DIR              keeps the pages in DIR
    ci/pages.py target/release/contend --picture FILE          only makes the picture of the README, docs/report.png

A fault is an error in the console (a violation of the Content-Security-Policy is one), a page that scrolls sideways, a
table that is cut off or, on the wide screen, does not fit, labels that overlap (ci/layout.js), or a control that does
not answer (ci/use.js).
"""

import argparse
import os
import subprocess
import sys
import tempfile

import needs
from browser import Browser, installed, picture

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
WIDTHS = {1280: False, 390: True}
MODEL = "papers/jersey-2005/c24-aiad-stability.toml"
SHORT = ["--set", "duration=8s", "--set", "warmup=2s"]

# Name of the page -> arguments of `contend`.
RUNS = {
    "one-seed": ["run", "experiments/hotspot.toml", "--seeds", "1", "--capture", "3s..3.2s", *SHORT],
    "sweep": ["run", "experiments/buffer-size.toml", "--seeds", "1..3", *SHORT],
    "many-points": ["run", "experiments/control-blocks.toml", "--seeds", "1..2", *SHORT],
    "office": ["run", "experiments/office.toml", "--seeds", "1..2", *SHORT],
    "flows-32": ["run", "experiments/hotspot.toml", "--seeds", "1..2", "--set", "flow.0.count=24",
                 "--set", "flow.1.count=8", *SHORT],
    "contention": ["run", "experiments/contention.toml", "--set", "contention.successes=5000"],
    "model": ["run", MODEL],
    "map": ["run", "experiments/hidden.toml", "--seeds", "1..2", *SHORT],
    "map-chain": ["run", "experiments/chain.toml", "--seeds", "1", *SHORT],
    "map-moves": ["run", "ci/moving.toml"],
}
COMPARISONS = {
    "compare": ["compare", "experiments/hotspot.toml", "--b", "ap.queue=fq_codel", "--seeds", "1..3", *SHORT],
    "compare-points": ["compare", "experiments/buffer-size.toml", "--seeds", "1..2", *SHORT],
}

# A paper whose claims have every verdict.
README = """# Doe, Roe 2001

J. Doe, R. Roe: *On `two` stations & their queue* (Proc. 1). It shows nothing, at some length.
"""
EXPERIMENT = """title = "Two stations, and a title that is long enough to need more than one line in its table"
cite = "Doe, Roe 2001, Fig. {n}"
duration = "3s"
warmup = "500ms"
seeds = "1..2"
[wifi]
standard = "802.11g"
[[flow]]
count = 2
from = "server"
to = "station"
tcp = "newreno"
[sweep]
"flow.0.count" = [1, 2]
[[claim]]
id = "E{n}"
paper = "both get something"
metric = "goodput.total"
expect = {{ at_least = "1kbps" }}
[[claim]]
id = "E{n}, a long name of a claim, as some papers have them"
paper = "one of them gets everything, whatever the other one does, and this is said in more words than needed"
metric = "jain.down"
when = {{ "flow.0.count" = 2 }}
expect = {{ at_most = 0.1 }}
verdict = "{verdict}"
reason = "they share; a reason has some lines in a report, so that this one goes on and on until its line is broken"
{more}"""
READINGS = 'reading = { printed = { "flow.0.window" = "9p" }, repaired = { "flow.0.window" = "8p" } }\n'


def call(contend, *args, cwd=ROOT):
    """Runs contend; a claim may differ from what its file records."""
    done = subprocess.run([os.path.abspath(contend), *args], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"contend {' '.join(args)}: status {done.returncode}\n{done.stderr}")


def report(folder):
    """The report page below `folder`."""
    return next(os.path.join(at, "report.html") for at, _, files in os.walk(folder) if "report.html" in files)


def pages(contend, folder):
    """Name and path of every page."""
    for name, args in RUNS.items():
        out = os.path.join(folder, name)
        call(contend, *args, "--quiet", "--out", out)
        yield name, report(out)
    for name, args in COMPARISONS.items():
        path = os.path.join(folder, name + ".html")
        call(contend, *args, "--html", path)
        yield name, path
    paper = os.path.join(folder, "papers", "doe-2001")
    os.makedirs(paper, exist_ok=True)
    files = {"README.md": README}
    for n, verdict in enumerate(["not reproduced", "contradiction", "undecided"], 1):
        more = READINGS if verdict == "contradiction" else ""
        files[f"e{n}-some-experiment.toml"] = EXPERIMENT.format(n=n, verdict=verdict, more=more)
    for name, text in files.items():
        with open(os.path.join(paper, name), "w", encoding="utf-8") as f:
            f.write(text)
    call(contend, "reproduce", "doe-2001", "--quiet", "--papers", os.path.dirname(paper), "--out", folder)
    yield "paper", os.path.join(folder, "doe-2001", "report.html")


# A page with one fault of each kind: the check must find them all.
BAD = """<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'"></head><body>
<p style="color: red">a style that is not allowed</p>
<div style="overflow-x: auto"><table><tr>{cells}</tr></table></div>
<figure><div><svg width="300" height="100"><text x="10" y="50">one label</text><text x="30" y="52">another</text>
<g class="s0"></g><g class="s1"></g></svg></div><h3>A figure</h3><button data-only="s0">a</button>
<button data-only="s1">b</button></figure></body></html>"""
FAULTS = ["Content Security Policy", "scrolls sideways", "table is cut off", "labels overlap", "line alone"]


def script(name):
    """A file beside this one, without its comments: the text of a function."""
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return "\n".join(line for line in f.read().splitlines() if not line.lstrip().startswith("//"))


def faults(browser, path, width):
    """What is wrong with a page, as it opens and with all its parts unfolded, and after it was used."""
    layout, wide = script("layout.js"), str(width >= 1000).lower()
    browser.open(path, width, mobile=WIDTHS[width])
    found = browser.run(f"{layout}({wide})")
    found += browser.run(f"{script('use.js')}()")
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    found += browser.run(f"{layout}({wide})")
    # Each key of the timeline is pressed.
    browser.run("for (const b of document.querySelectorAll('button')) b.click()")
    browser.draw()
    return sorted(set(found + browser.logged()))


def check(contend, folder):
    """The number of faults of all pages, which are printed."""
    count = 0
    with Browser() as browser:
        bad = os.path.join(folder, "bad.html")
        with open(bad, "w", encoding="utf-8") as f:
            f.write(BAD.format(cells="<td>" + "wide" * 300 + "</td>"))
        found = faults(browser, bad, 390)
        for kind in FAULTS:
            if not any(kind in fault for fault in found):
                sys.exit(f"ci/pages.py: the check does not find `{kind}` in a page that has it: {found}")
        for name, path in pages(contend, folder):
            for width in WIDTHS:
                found = faults(browser, path, width)
                for fault in found:
                    print(f"{name}, {width} px: {fault}")
                count += len(found)
    readme_picture(contend, os.path.join(folder, "report.png"))
    return count


def readme_picture(contend, path):
    """The top of the report of the example that the README shows."""
    with tempfile.TemporaryDirectory() as folder:
        call(contend, "run", "experiments/hotspot.toml", "--capture", "10s..10.2s", "--quiet", "--out", folder)
        picture(report(folder), path, 1280, 1600)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("contend")
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--picture", metavar="FILE")
    args = parser.parse_args()
    if not installed():
        needs.skip("chromium", "ci/pages.py, report pages")
        return
    if args.picture:
        readme_picture(args.contend, args.picture)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(args.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        count = check(args.contend, folder)
    if count:
        sys.exit(f"ci/pages.py: {count} faults")


if __name__ == "__main__":
    main()
