"""Writes docs/scorecards.md: every controller and every discipline of contend in the suites, and two figures.

    ci/scorecards.py PROGRAM [cc|ap] [--kept]

It takes about an hour of one core for all. Scorecards are kept in target/scorecards/ with the digest of their suite, so
that a call that was stopped goes on, and a changed suite is judged anew. With --kept only these are on the page.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "target" / "scorecards"
SIGNS = {"pass": "✓", "fail": "✗", "not decided": "?", "shown": "·", "not applicable": "–"}
UNITS = {"Mbps": 1e6, "kbps": 1e3, "ms": 1e-3, "": 1}
KINDS = {
    "cc": ("variants", "cc-1", "controllers", "variants.md"),
    "ap": ("qdiscs", "ap-1", "queue disciplines", "qdiscs.md"),
}
# The values of the figures' key; a setting takes the label `subject` from the value of the file that has it.
CONTROLLERS = "newreno,cubic,vegas,veno,westwood+,jersey,bbr,bbr3"
DISCIPLINES = "fifo,red,codel,pie,fq_codel,cake"
FIGURES = {
    "cc": (
        ["cc-1/standard", "--set", "subject=tahoe", "--sweep", f"flow.subject.tcp={CONTROLLERS}"],
        "scorecard-cc.svg",
        "Goodput of four subjects and of four NewReno flows beside them (cc-1/standard)",
    ),
    "ap": (
        ["ap-1/7928-8.2", "--set", "subject=wf2q", "--sweep", f"link.neck.queue={DISCIPLINES}"],
        "scorecard-ap.svg",
        "Goodput over the time in the queue with mild congestion (ap-1/7928-8.2)",
    ),
}


def call(program, *words):
    done = subprocess.run([program, *words], cwd=ROOT / "target", capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def names(program, family):
    listed = call(program, "list", family).splitlines()
    return [line.split()[0] for line in listed if line.startswith("  ") and not line.startswith("   ")]


def kept(kind, name):
    """The file with the scorecard of an earlier call; None without one."""
    file = KEPT / f"{kind}-{name}.json"
    return file if file.exists() else None


def card(program, kind, name, digest):
    if (file := kept(kind, name)) is not None:
        known = json.loads(file.read_text())
        if known["suite_digest"] == digest:
            return known
    found = json.loads(call(program, "evaluate", f"--{kind}", name, "--no-results", "--format", "json"))
    for test in found["tests"]:
        test["experiment"] = None
    (KEPT / f"{kind}-{name}.json").write_text(json.dumps(found))
    print(name, found["counts"], flush=True)
    return found


def value(check):
    """The measured value in the unit of its bound, and the bound."""
    one = check["alternatives"][0]
    if one["measured"] is None:
        return "–"
    unit = re.search(r"(?<=\d)(Mbps|kbps|ms)\b", one["expected"])
    name = unit[1] if unit else ""
    return f"{one['measured'] / UNITS[name]:.3g}{name} ({one['expected']})"


def section(program, kind, only_kept):
    family, suite, what, page = KINDS[kind]
    listed = json.loads(call(program, "evaluate", "--list", suite, "--format", "json"))["suites"][0]
    tests = [t["id"] for t in listed["tests"] if t["missing"] is None and t["tier"] == "default"]
    subjects = [name for name in names(program, family) if not only_kept or kept(kind, name)]
    cards = [card(program, kind, name, listed["suite_digest"]) for name in subjects]
    out = [f"## {what.capitalize()} in {suite}", "", f"Suite {suite}, SHA-256 `{listed['suite_digest']}`.", ""]
    numbers = {test: i for i, test in enumerate(tests, 1)}
    links = (f"{i}: [{t}](reference/suites.md#{suite}{t.replace('.', '')})" for t, i in numbers.items())
    out += [", ".join(links) + ".", ""]
    out += ["| subject | " + " | ".join(str(i) for i in numbers.values()) + " | pass | fail |"]
    out += ["| --- |" + " --- |" * (len(tests) + 2)]
    for c in cards:
        verdicts = {t["id"]: t["verdict"] for t in c["tests"]}
        cells = [SIGNS[verdicts[test]] for test in tests]
        counts = [str(c["counts"][v]) for v in ("pass", "fail")]
        out.append(f"| [{c['subject']['name']}](reference/{page}) | " + " | ".join(cells + counts) + " |")
    out += ["", "What fails, measured (bound):", ""]
    for c in cards:
        failed = [
            f"{t['id']}/{check['id']} {value(check)}"
            for t in c["tests"]
            for check in t["checks"]
            if check["verdict"] == "fail" and not check["informative"]
        ]
        if failed:
            out.append(f"- {c['subject']['name']}: " + ", ".join(failed))
    words, name, title = FIGURES[kind]
    call(program, "plot", *words, "--figure", "1", "-o", str(ROOT / "docs" / "plots" / name))
    return out + ["", f"![{title}](plots/{name})", "", f"{title}.", ""]


def wrapped(line, width=120):
    """A list item or sentence on several lines; tables and pictures stay."""
    if line.startswith(("|", "!", "#")) or len(line) <= width:
        return line
    indent = "  " if line.startswith("- ") else ""
    lines, now = [], ""
    for word in line.split(" "):
        if now and len(now) + 1 + len(word) > width:
            lines.append(now)
            now = indent + word
        else:
            now = f"{now} {word}" if now else word
    return "\n".join([*lines, now])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    KEPT.mkdir(parents=True, exist_ok=True)
    out = [
        "# Scorecards",
        "",
        "Every congestion controller and every queue discipline of contend in the tests of the field: what "
        "[`contend evaluate`](evaluate.md) says. `ci/scorecards.py` wrote this page.",
        "",
        "✓ pass, ✗ fail, ? not decided with 20 seeds, · shown only, – not applicable. The numbers of passes and "
        "failures are no grade: the tests weigh differently, and many algorithms here were never meant for all of "
        "them. Most bounds are ours, with their reasons in the [reference](reference/suites.md).",
        "",
    ]
    only_kept = "--kept" in sys.argv
    for kind in [kind for kind in KINDS if kind in sys.argv] or KINDS:
        out += section(program, kind, only_kept)
    text = "\n".join(map(wrapped, out)).rstrip("\n") + "\n"
    (ROOT / "docs" / "scorecards.md").write_text(text)


if __name__ == "__main__":
    main()
