#!/usr/bin/env python3
"""CPU time per frame on the air at 20 stations for each discipline and control block of the access point, beside the FIFO.

    benches/disciplines.py [CONTEND]

Ten downloads and ten uploads (experiments/benchmark/race.toml), 70 against 270 simulated seconds so that building does not count, least of five. Frames, not
delivered packets, because a fair access point has more acknowledgments for each of them on the air.
"""
import json
import resource
import subprocess
import sys

CONTEND = sys.argv[1] if len(sys.argv) > 1 else "target/release/contend"
QUEUES = ["fifo", "ack_filter", "airtime", "codel", "directions", "elf", "fq_codel", "pie", "red", "vfq", "wf2q"]
CONTROLS = ["pilosof", "fcwa", "accf", "ack_thinning", "rate_limiter"]


def run(settings, seconds):
    """CPU seconds of one call, and data frames sent in it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [CONTEND, "run", "experiments/benchmark/race.toml", "--no-results", "--quiet", "--jobs", "1", "--format", "json"]
    for s in settings + [f"duration={seconds}s", "warmup=0s"]:
        call += ["--set", s]
    out = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out["runs"][0]["air"]["frames"]


def cost(settings):
    runs = {s: [run(settings, s) for _ in range(5)] for s in (70, 270)}
    cpu = {s: min(c for c, _ in r) for s, r in runs.items()}
    return (cpu[270] - cpu[70]) / (runs[270][0][1] - runs[70][0][1]) * 1e6


def main():
    fifo = cost(['ap.queue="fifo"'])
    print(f"{'access point':14} {'us per frame':>14} {'of fifo':>8}")
    for name, settings in [(q, [f'ap.queue="{q}"']) for q in QUEUES] + [(c, ['ap.queue="fifo"', f'ap.control="{c}"']) for c in CONTROLS]:
        us = fifo if name == "fifo" else cost(settings)
        print(f"{name:14} {us:14.3f} {us / fifo:8.2f}")


if __name__ == "__main__":
    main()
