#!/usr/bin/env python3
"""An emulation with 50 stations must not grow: memory, file descriptors and namespaces after a fifth of the run are
those at its end, and nothing is left after it.

    ci/soak.py target/release/contend [SECONDS] [STANDARD]      (default 600 802.11ax, or 802.11g; needs what `contend
                                                                 emulate` needs)

The verdict of the run is printed and not judged: it depends on the machine.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

FILE = """
title = "Soak: 50 stations"
duration = "{seconds}s"
warmup = "2s"
sample = "1s"
[wifi]
{wifi}
[ap]
queue = {{ kind = "fq_codel" }}
[[flow]]
name = "downloads"
count = 40
from = "server"
to = "station"
tcp = "cubic"
delay = "10ms"
window = "44p"
[[flow]]
name = "uploads"
count = 10
from = "station"
to = "server"
tcp = "reno"
delay = "10ms"
window = "44p"
[[program]]
in = "sta0"
run = "while true; do ping -q -c 1 -W 1 server; done"
"""
WIFI = {
    "802.11g": 'standard = "802.11g"\nrate = "54Mbps"\nbasic = "6Mbps"',
    "802.11ax": 'standard = "802.11ax"\nwidth = "20MHz"\nstreams = 1\nmcs = 7\naccess = "edca"\nampdu = {}',
}
# A log of what entered is written by blocks, and samples grow with time: so much is no leak.
MEMORY_KB = 8192


def namespaces():
    """Network namespaces that some process or thread is in, or that some process holds open."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for folder in (f"/proc/{pid}/ns", f"/proc/{pid}/fd"):
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            for name in names:
                try:
                    link = os.readlink(f"{folder}/{name}")
                except OSError:
                    continue
                if link.startswith("net:"):
                    found.add(link)
    return found


def reading(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        rss = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    return {"rss_kb": rss, "fds": len(os.listdir(f"/proc/{pid}/fd")), "namespaces": len(namespaces())}


def main():
    contend, seconds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 600
    standard = sys.argv[3] if len(sys.argv) > 3 else "802.11ax"
    # Until then the ring for the bytes of packets is full.
    settled = max(seconds / 5, 60)
    if seconds < 2 * settled:
        sys.exit(f"{seconds} s are too short to see whether memory grows: write {2 * settled:.0f} or more")
    before = namespaces()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/soak.toml", "w", encoding="utf-8") as file:
            file.write(FILE.format(seconds=seconds, wifi=WIFI[standard]))
        call = [contend, "emulate", "soak.toml", "--format", "json"]
        with subprocess.Popen(call, cwd=folder, stdout=subprocess.PIPE, text=True) as run:
            time.sleep(settled)
            first = reading(run.pid)
            time.sleep(seconds * 0.95 - settled - 1)
            last = reading(run.pid)
            out = run.communicate()[0]
    print(f"after {settled:.0f} s: {first}\nnear the end: {last}")
    emulation = json.loads(out)["runs"][0]["emulation"]
    print(f"packets in: {emulation['entered']}; verdict: {emulation['late'] or 'faithful'}")
    time.sleep(1)
    left = namespaces() - before
    wrong = [what for what in ("fds", "namespaces") if last[what] > first[what]]
    if last["rss_kb"] > first["rss_kb"] + MEMORY_KB:
        wrong.append("rss_kb")
    if left:
        wrong.append(f"{len(left)} namespaces are left")
    if wrong:
        sys.exit(f"it grows: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
