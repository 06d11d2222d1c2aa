#!/usr/bin/env python3
"""Tables of docs/guide-wifi-6.md from experiments/wifi-6/networks.toml.

    experiments/wifi-6/tables.py [CONTEND]     runs the file and prints a Markdown table for each network

Each row is compared with the first one seed by seed. A value gets a tilde if the 95 % interval of the difference
includes zero: the runs show no difference.
"""
import json
import math
import pathlib
import subprocess
import sys
import tomllib

FILE = pathlib.Path(__file__).resolve().parent / "networks.toml"
# Metric -> heading, and the unit in which it is shown.
COLUMNS = {
    "goodput.total": ("total", 1e6),
    "goodput.down": ("down", 1e6),
    "goodput.up": ("up", 1e6),
    "jain": ("Jain", 1),
    "delay.p95.call": ("call p95 ms", 1e-3),
    "packet_loss.call": ("call lost %", 1e-2),
}
# Student's t for 95 %, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def differs(ours, base):
    """True if the mean of the paired differences is not zero, at 95 %."""
    d = [a - b for a, b in zip(ours, base)]
    mean = sum(d) / len(d)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in d) / (len(d) - 1))
    return abs(mean) > STUDENT.get(len(d) - 1, 2) * deviation / math.sqrt(len(d))


def cell(metric, runs, base):
    unit = COLUMNS[metric][1]
    values = [r[metric] for r in runs]
    mean = sum(values) / len(values) / unit
    text = f"{mean:.2f}" if unit == 1 else f"{mean:.1f}" if mean < 99.95 else f"{mean:.0f}"
    return text + ("" if runs is base or differs(values, [r[metric] for r in base]) else " ~")


def results(contend, network):
    """The results of the schemes in `network`. Each network is a call of its own, which needs less memory."""
    shown = ", ".join(COLUMNS)
    call = [contend, "run", str(FILE), "--no-results", "--format", "json", "--show", shown]
    call += ["--set", f"network={network}"]
    return json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)


def main():
    contend = sys.argv[1] if len(sys.argv) > 1 else "contend"
    zips = tomllib.loads(FILE.read_text())["sweep"]["zip"]
    names = {z["name"]: z["labels"] for z in zips}
    for network in names["network"]:
        schemes = {}
        for run in results(contend, network)["runs"]:
            schemes.setdefault(run["point"]["param.scheme"], []).append(run["metrics"])
        print(f"### {network}\n")
        print("| scheme | " + " | ".join(heading for heading, _ in COLUMNS.values()) + " |")
        print("| --- " * (len(COLUMNS) + 1) + "|")
        base = schemes[min(schemes)]
        for scheme, runs in sorted(schemes.items()):
            cells = [cell(metric, runs, base) for metric in COLUMNS]
            print(f"| {names['scheme'][scheme]} | " + " | ".join(cells) + " |")
        print()


if __name__ == "__main__":
    main()
