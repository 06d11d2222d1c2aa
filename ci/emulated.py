"""Runs every example of contend emulated and simulated, and prints a table: goodput, their quotient, the verdict.

    ci/emulated.py target/release/contend [SECONDS] [EXAMPLE ...]

Each example runs once with the first seed and Linux's TCP, at the first point of its sweep: emulated for SECONDS
(default: 20) of real time, and simulated for as long. An example with flows that the kernel cannot carry is named with
the reason. Senders at stations have no TCP Small Queues in the simulation either: a TUN device does not tell a socket
when a packet has left. It needs what `contend emulate` needs, and a machine with no other work.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib


def call(program, words, folder):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, timeout=900)
    return done.stdout, done.stderr


def examples(program, folder):
    listed, _ = call(program, ["new"], folder)
    return re.findall(r"^  ([a-z0-9-]+)  ", listed, re.M)


def first_values(file):
    """Settings that leave the first value of each swept key."""
    sweep = tomllib.loads(file.read_text()).get("sweep", {})
    keys = [key for key in sweep if key != "zip"]
    values = {key: sweep[key] if isinstance(sweep[key], list) else sweep[key].get("values", []) for key in keys}
    return [f"{key}={written(values[key][0])}" for key in keys if values[key]]


def simulated_without_small_queues(program, file, folder, common):
    """The run in which no sender at a station has small queues; contend refuses the setting for the other senders."""
    flows = tomllib.loads(file.read_text()).get("flow", [])
    settings = [f"flow.{i}.tcp.tsq=off" for i, flow in enumerate(flows) if "tcp" in flow]

    def simulated(settings):
        return run(program, ["run", *common, *(word for s in settings for word in ("--set", s))], folder)

    all_at_once = simulated(settings)
    if all_at_once[0] is not None:
        return all_at_once
    return simulated([s for s in settings if simulated([s])[0] is not None])


def written(value):
    """A value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {written(x)}" for key, x in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


def run(program, words, folder):
    out, err = call(program, words, folder)
    if not out.strip().startswith("{"):
        reason = [line for line in err.splitlines() if line.strip()]
        return None, reason[-2] if len(reason) > 1 else err.strip()
    return json.loads(out)["runs"][0], ""


def goodput(run):
    """Of all flows together, in Mb/s."""
    return sum(flow["goodput"] for flow in run["flows"]) / 1e6


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        names = sys.argv[3:] or examples(program, folder)
        print("| example | emulated | simulated | quotient | late, 99 % | verdict |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name in names:
            file = folder / f"{name}.toml"
            file.write_text(call(program, ["new", name], folder)[0])
            sweep = [word for s in first_values(file) for word in ("--sweep", s)]
            times = ["--set", f"duration={seconds}s", "--set", f"warmup={seconds / 4}s"]
            times += ["--set", "stack=linux"]
            common = [file.name, "--seeds", "1", *times, *sweep, "--no-results", "--format", "json"]
            simulated, why = simulated_without_small_queues(program, file, folder, common)
            emulated, refused = run(program, ["emulate", "--attempts", "3", *common], folder)
            if simulated is None or emulated is None:
                print(f"| `{name}` | | | | | {refused or why} |", flush=True)
                continue
            e = emulated["emulation"]
            there, here = goodput(emulated), goodput(simulated)
            quotient = there / here if here else float("nan")
            late = e["lateness_s"]["p99"] * 1e3
            verdict = e["late"] or "faithful"
            print(f"| `{name}` | {there:.2f} | {here:.2f} | {quotient:.3f} | {late:.2f} ms | {verdict} |", flush=True)


main()
