#!/usr/bin/env python3
"""Instructions of seven networks for each simulated second, beside those of vectors/golden/instructions.txt.

    benches/instructions.py [--program PROGRAM] [--bless]

Valgrind counts them: they are the same on every machine, whatever its load, but for what a compiler does. Two durations
are run and subtracted, so that start-up does not count. Without --program it is the one of the profile `release`.
Changes are printed and never an error; --bless writes them.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "vectors" / "golden" / "instructions.txt"
# Smallest change that is worth a word: the profile `release` varies by this with what it happens to inline.
WORTH = 0.01

# Name, file, settings, and the two durations in seconds.
NETWORKS = [
    ("a cell, 10 + 10 flows", "benchmark/race", ["flow.0.count=10", "flow.1.count=10"], 12, 17),
    ("a cell, 2,000 stations", "benchmark/equal-load", ["flow.0.count=1000", "flow.1.count=1000"], 12, 15),
    ("802.11ax with aggregates", "benchmark/aggregates", [], 5, 7),
    ("Linux's TCP and FQ-CoDel", "hotspot", ["ap.queue=fq_codel"], 16, 21),
    ("a lossy link", "lossy-last-hop", ["link.1.loss.p=1%", "flow.0.tcp.recovery=newreno"], 200, 700),
    ("7 hops of TCP", "validation/multihop-tcp",
     ["param.hops=7", "param.rts=1", "param.data=2Mbps", "param.window=32p"], 30, 60),
    ("a field of 144 stations", "benchmark/grid", ["warmup=1s"], 3, 5),
]


def instructions(program: str, file: str, settings: list[str], seconds: int) -> int:
    """Of the whole process."""
    sets = [word for setting in [*settings, f"duration={seconds}s"] for word in ("--set", setting)]
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    run = [program, "run", str(ROOT / "experiments" / f"{file}.toml"), "--no-results", "--quiet", "--jobs", "1"]
    done = subprocess.run([*tool, *run, "--seeds", "1", *sets], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found or done.returncode != 0:
        sys.exit(f"benches/instructions.py: {file}: no count\n{done.stderr}")
    return int(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "contend"))
    parser.add_argument("--bless", action="store_true", help="write the counts into vectors/golden/instructions.txt")
    args = parser.parse_args()
    before = {}
    if KEPT.exists():
        for line in KEPT.read_text().splitlines():
            name, count = line.rsplit(maxsplit=1)
            before[name] = int(count)

    def count(network):
        name, file, settings, short, long = network
        a, b = (instructions(args.program, file, settings, seconds) for seconds in (short, long))
        return name, (b - a) // (long - short)

    with ThreadPoolExecutor(2) as pool:
        counts = dict(pool.map(count, NETWORKS))
    for name, now in counts.items():
        change = f"{now / before[name] - 1:+8.1%}" if name in before else "     new"
        word = "  <- changed" if name in before and abs(now / before[name] - 1) > WORTH else ""
        print(f"{name:28} {now:>13,} for a simulated second {change}{word}")
    if args.bless:
        KEPT.write_text("".join(f"{name:28} {now}\n" for name, now in counts.items()))


if __name__ == "__main__":
    main()
