#!/usr/bin/env python3
"""Are the runs of the module of pages those of the command? Compares their digests, in Node.

    ci/module.py target/release/contend            five experiments, a moment of each
    ci/module.py target/release/contend --all      all examples whole, and the first experiment of every paper
    ci/module.py ... --module FILE                 another module than that of the repository

One seed each. Files that are not run whole have a tenth of their time after the warm-up, on both sides.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import needs

ROOT = Path(__file__).parent.parent
MODULE = ROOT / "crates/contend-page/module/contend_web.wasm.gz"
# An access point with queues, 802.11ax with aggregates, several hops, contention without TCP, losses.
FEW = ["hotspot", "home-wifi6", "mesh", "contention", "lossy-last-hop"]


class Module:
    """The module in Node."""

    def __init__(self, path):
        call = ["node", str(ROOT / "ci/module.mjs"), str(path)]
        self.node = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        print(json.dumps(question), file=self.node.stdin, flush=True)
        return json.loads(self.node.stdout.readline())


def traces(path, text):
    """The files beside an experiment file that its text names."""
    found = {}
    for file in path.parent.rglob("*"):
        if file.suffix in (".csv", ".trace", ".tcl", ".ns_movements") and f'"{file.relative_to(path.parent)}"' in text:
            found[str(file)] = file.read_text()
    return found


def settings(text, whole):
    """One seed; if not `whole`, a tenth of the time after the warm-up, of a file whose times are in seconds."""
    sets = [["seeds", "1"]]
    file = tomllib.loads(text)
    duration, warmup = (re.fullmatch(r"([\d.]+)s", file.get(key, "0s")) for key in ("duration", "warmup"))
    if not whole and "duration" in file and duration and warmup:
        seconds, warm = float(duration[1]), float(warmup[1])
        sets.append(["duration", f"{min(seconds, warm + max(1.0, (seconds - warm) / 10)):g}s"])
    return sets


def compare(contend, module, path, whole):
    """What differs, in words; None if nothing does."""
    text = path.read_text()
    sets = settings(text, whole)
    options = [word for key, value in sets for word in
               (["--seeds", value] if key == "seeds" else ["--set", f"{key}={value}"])]
    call = [contend, "run", str(path), *options, "--no-results", "--no-claims", "--format", "json", "--quiet"]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode:
        return f"contend run: {done.stderr.strip()}"
    runs = json.loads(done.stdout)["runs"]
    given = {"name": str(path), "text": text, "files": traces(path, text)}
    answer = module.ask(ask="run", given=given, settings=sets)
    if "wrong" in answer:
        return answer["wrong"]
    of = lambda runs: [(r["point"], r["seed"], r["digest"]) for r in runs]
    mine = answer["answer"]["numbers"]["runs"]
    if of(runs) != of(mine):
        differ = sum(a != b for a, b in zip(of(runs), of(mine)))
        return f"{differ} of {len(runs)} digests differ, {len(mine)} in the module"
    # Every number too, but for the time that the run took. The module keeps series, from which it has more metrics, and
    # captures frames for the timeline.
    for one, other in zip(runs, mine):
        other["wall"], other["frames_missed"] = one["wall"], one["frames_missed"]
        other["metrics"] = {name: other["metrics"].get(name) for name in one["metrics"]}
    if runs != mine:
        return "the digests are equal, but other numbers differ"
    wall = sum(r["wall"] for r in runs)
    print(f"{path.relative_to(ROOT)}: {len(runs)} runs equal, {answer['seconds']:.1f} s (command {wall:.1f} s)")
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("contend")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--module", default=MODULE)
    args = parser.parse_args()
    try:
        subprocess.run(["node", "--version"], check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        needs.skip("node", "digests of the module of pages")
        return
    files = [ROOT / f"experiments/{name}.toml" for name in FEW]
    if args.all:
        files = sorted(ROOT.glob("experiments/*.toml"))
        files += [min(folder.glob("*.toml")) for folder in sorted(ROOT.glob("papers/*")) if any(folder.glob("*.toml"))]
    module = Module(args.module)
    wrong = 0
    for path in files:
        why = compare(args.contend, module, path, whole=args.all and "papers" not in path.parts)
        if why:
            wrong += 1
            print(f"{path.relative_to(ROOT)}: {why}")
    if wrong:
        sys.exit(f"ci/module.py: {wrong} of {len(files)} experiments differ; build the module anew with "
                 "crates/contend-web/build.sh")


if __name__ == "__main__":
    main()
