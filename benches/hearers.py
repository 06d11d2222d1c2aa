#!/usr/bin/env python3
"""What a frame costs at each station that hears it, in fields of 16, 144 and 1,600 stations.

    benches/hearers.py [--program PROGRAM]

A grid of stations 200 m apart, sensed over 550 m; every fourth station sends datagrams to its neighbour, as many as the
air takes. CPU time of whole processes, the smallest of three runs, for each frame (data and acknowledgments) and each
station that senses it. Set-up is measured with a run of a second and subtracted. Without --program it is the one of the
profile `dist`.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRID = ROOT / "experiments" / "benchmark" / "grid.toml"
# Stations in a row, and the simulated seconds.
GRIDS = [(4, 2000), (12, 200), (40, 20)]
SPACING, SENSE = 200, 550


def experiment(columns: int, seconds: int) -> tuple[str, list[tuple[int, int]]]:
    """The text of a file, and its flows as pairs of stations, numbered from 0."""
    flows = [
        (row * columns + column, row * columns + column + 1)
        for row in range(columns)
        for column in range(0, columns - 1, 2)
        if (row + column // 2) % 2 == 0
    ]
    head, _ = GRID.read_text().split("[[flow]]")
    head = head.replace('duration = "20s"', f'duration = "{seconds}s"').replace('warmup = "10s"', 'warmup = "0s"')
    head = head.replace("count = 144", f"count = {columns**2}").replace("columns = 12", f"columns = {columns}")
    ends = [", ".join(f'"n[{flow[i] + 1}]"' for flow in flows) for i in (0, 1)]
    return (
        f"{head}[[flow]]\ncount = {len(flows)}\nfrom = [{ends[0]}]\nto = [{ends[1]}]\n"
        'udp = { rate = "2Mbps", packet = "500B" }\nstart = "uniform(0s, 500ms)"\n',
        flows,
    )


def hearers(columns: int, station: int) -> int:
    """How many others sense a frame of `station`."""
    row, column = divmod(station, columns)
    others = (divmod(other, columns) for other in range(columns**2))
    squares = ((SPACING * (row - i)) ** 2 + (SPACING * (column - j)) ** 2 for i, j in others)
    return sum(square <= SENSE**2 for square in squares) - 1


def cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target" / "dist" / "contend"))
    args = parser.parse_args()
    first = None
    print("stations  hearers  CPU for each frame  for each frame and hearer")
    for columns, seconds in GRIDS:
        with tempfile.TemporaryDirectory() as folder:
            times = []
            for duration in (1, seconds):
                text, flows = experiment(columns, duration)
                file = Path(folder) / f"{duration}.toml"
                file.write_text(text)
                run = [args.program, "run", str(file), "--no-results", "--quiet", "--jobs", "1"]
                times.append(min(cpu(run) for _ in range(3)))
            done = subprocess.run([*run, "--format", "json"], check=True, capture_output=True, text=True)
        result = json.loads(done.stdout)["runs"][0]
        # Retransmissions are spread as what is delivered is.
        share = [flow["throughput"] for flow in result["flows"]]
        near = [
            sum(s * hearers(columns, flow[end]) for s, flow in zip(share, flows, strict=True)) / sum(share)
            for end in (0, 1)
        ]
        data, acknowledgments = result["air"]["frames"], result["air"]["successes"]
        time = (times[1] - times[0]) * seconds / (seconds - 1)
        each = time / (data * near[0] + acknowledgments * near[1])
        first = first or each
        print(
            f"{columns**2:8,}  {sum(near) / 2:7.1f}  {time / (data + acknowledgments) * 1e9:15.0f} ns"
            f"  {each * 1e9:8.1f} ns, {each / first:.2f} times"
        )


if __name__ == "__main__":
    main()
