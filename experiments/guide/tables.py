#!/usr/bin/env python3
"""Tables of docs/guide-access-point.md from the files in experiments/guide.

    experiments/guide/tables.py [CONTEND [FILE...]]

Runs every file, or those named, and prints one Markdown table for each of its points, with one row for each way of
running the access point. Jain's index is over TCP flows only. A file with a flow called `slow` gets a column for its
goodput.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def scheme(point):
    queue, control = point["ap.queue"], point["ap.control"]
    control = control["kind"] if isinstance(control, dict) else control
    return control if control != "none" else queue["kind"]


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def cell(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def is_slow(flow):
    return flow["name"] == "slow"


def rows(runs):
    """For each scheme: mean over seeds of what a practitioner looks at."""
    by = {}
    for run in runs:
        by.setdefault(scheme(run["point"]), []).append(run)
    for name, all_runs in by.items():
        def flows(run, direction):
            return [f for f in run["flows"] if f["direction"] == direction]

        def slow(run):
            return [f["goodput"] / 1e6 for f in run["flows"] if is_slow(f)]

        def total(direction):
            return mean([sum(f["goodput"] for f in flows(r, direction)) / 1e6 for r in all_runs])

        def jain(r):
            x = [f["goodput"] for f in r["flows"] if f["tcp"] != "udp"]
            return sum(x) ** 2 / (len(x) * sum(v * v for v in x)) if x and any(x) else None

        def waits(r):
            return [q["queue"]["delay"]["p99"] * 1e3 for q in r["queues"] if q["name"] == "ap"][0]

        def delay(r):
            # A download of which nothing arrived has none.
            x = [f["delay"]["p99"] * 1e3 for f in flows(r, "down") if f["delay"]["p99"] is not None]
            return max(x) if x else None

        yield [
            name,
            cell(mean([sum(f["goodput"] for f in r["flows"]) / 1e6 for r in all_runs])),
            cell(total("down") if any(flows(r, "down") for r in all_runs) else None),
            cell(total("up") if any(flows(r, "up") for r in all_runs) else None),
            *([cell(mean([x for r in all_runs for x in slow(r)]))] if any(slow(r) for r in all_runs) else []),
            cell(mean([jain(r) for r in all_runs]), 2),
            cell(mean([waits(r) for r in all_runs]), 0),
            cell(mean([delay(r) for r in all_runs]), 0),
        ]


def main():
    contend = sys.argv[1] if len(sys.argv) > 1 else "contend"
    for file in map(pathlib.Path.resolve, map(pathlib.Path, sys.argv[2:] or sorted(HERE.glob("*.toml")))):
        call = [contend, "run", str(file), "--no-results", "--quiet", "--format", "json"]
        out = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout)
        print(f"### {out['title']}\n\n`{file.relative_to(HERE.parent.parent)}`\n")
        points = {}
        for run in out["runs"]:
            key = tuple((k, str(v)) for k, v in run["point"].items() if not k.startswith("ap."))
            points.setdefault(key, []).append(run)
        for key, runs in points.items():
            print(", ".join(f"`{k} = {v}`" for k, v in key) + "\n")
            slow = ["slow station"] if any(is_slow(f) for f in runs[0]["flows"]) else []
            head = ["access point", "total Mb/s", "down", "up", *slow, "Jain (TCP)", "queue p99 ms", "download p99 ms"]
            print("| " + " | ".join(head) + " |")
            print("| " + " | ".join(["---"] * len(head)) + " |")
            for row in rows(runs):
                print("| " + " | ".join(row) + " |")
            print()


if __name__ == "__main__":
    main()
