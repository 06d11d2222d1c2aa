#!/usr/bin/env python3
"""What each queue discipline and control block of the access point costs at 20 stations, compared with the FIFO.

    benches/disciplines.py [CONTEND]

Instructions of the whole program, counted by valgrind: the same on every machine, whatever its load. Ten downloads and
ten uploads (experiments/benchmark/race.toml). Simulations of 10 s and of 20 s are subtracted, so that start-up does not
count. Per frame: instructions divided by data frames on the air (TCP's data and its acknowledgments, with retries). Per
packet: instructions divided by delivered data packets (goodput over 1460 bytes).

The FIFO drops most acknowledgments of uploads, so few of its frames carry one. An access point that shares the air
evenly delivers most acknowledgments and needs an exchange for each. So it needs more frames for each packet, whatever
the discipline itself costs. The last columns show how many; compare disciplines by the cost per frame. With a scheme
that filters acknowledgments the effect is the opposite.
"""
import json
import re
import subprocess
import sys

CONTEND = sys.argv[1] if len(sys.argv) > 1 else "target/dist/contend"


def names(family):
    """What CONTEND has of a family."""
    listed = subprocess.run([CONTEND, "list", family], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"^  (\w+)", listed, re.M)


def run(settings, seconds):
    """Instructions of one call; data frames sent and data packets delivered in it."""
    call = ["valgrind", "--tool=callgrind", "--cache-sim=no", "--callgrind-out-file=/dev/null"]
    call += [CONTEND, "run", "experiments/benchmark/race.toml", "--no-results", "--quiet", "--jobs", "1"]
    call += ["--format", "json"]
    for s in settings + [f"duration={seconds}s", "warmup=0s"]:
        call += ["--set", s]
    done = subprocess.run(call, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    result = json.loads(done.stdout)["runs"][0]
    instructions = int(re.search(r"Collected : (\d+)", done.stderr)[1])
    return instructions, result["air"]["frames"], sum(f["goodput"] for f in result["flows"]) * seconds / 8 / 1460


def cost(settings):
    """Instructions per frame and per packet, and frames per packet, once started."""
    (i, f, p), (i2, f2, p2) = run(settings, 10), run(settings, 20)
    return (i2 - i) / (f2 - f), (i2 - i) / (p2 - p), (f2 - f) / (p2 - p)


def main():
    fifo = cost(['ap.queue="fifo"'])
    of = "of fifo"
    print(f"{'access point':14} {'per frame':>10} {of:>8} {'per packet':>11} {of:>8} {'frames/packet':>14} {of:>8}")
    queues = [(q, [f'ap.queue="{q}"']) for q in names("qdiscs")]
    for name, settings in queues + [(c, ['ap.queue="fifo"', f'ap.control="{c}"']) for c in names("controls")]:
        frame, packet, frames = fifo if name == "fifo" else cost(settings)
        a, b, c = frame / fifo[0], packet / fifo[1], frames / fifo[2]
        print(f"{name:14} {frame:10.0f} {a:8.2f} {packet:11.0f} {b:8.2f} {frames:14.2f} {c:8.2f}", flush=True)


if __name__ == "__main__":
    main()
