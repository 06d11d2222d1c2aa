#!/usr/bin/env python3
"""Builds the test programs of the workspace once and runs them, two at a time.

    ci/tests.py                    all of them
    ci/tests.py CRATE...           those of these crates and of the crates that depend on them
    ci/tests.py --only NAME...     programs of these names (suite, golden, command, ...)
    ci/tests.py --profile NAME     built with this profile instead of `release`
    ci/tests.py --beside STEP...   runs these steps of ci.sh, too, beside the programs that compute

Programs that wait for real time or for other processes run beside those that compute. Each says how long it took. With
CONTEND_SAMPLE=n long tests try every n-th case, and the files in CONTEND_CHANGED; those in LONG are left out.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time

# Programs that mostly wait: real networks, and processes that are started and stopped.
WAITING = {("contend", "command"), ("contend-emu", "border"), ("contend-live", "page"), ("contend-tools", "suite")}
# Programs that use all cores by themselves, and the longest first.
FIRST = ["golden", "memory"]
# Parts of names: tests of four seconds and more whose cases cannot be sampled. Golden values show most of it.
LONG = ["monte_carlo", "finite_retry_model", "draw_for_draw", "thompson_sampling_reaches", "whichever_change_fails",
        "at_a_million", "as_the_significance_level_says", "bursts_find_the_queue", "a_call_that_was_stopped",
        "resumes_after_a_kill", "a_hundred_calls_at_the_same_time", "can_be_explained_within_100_columns",
        "has_the_digest_of_the_emulation", "has_the_windows_of_the_kernel", "keeps_nobody_out"]


def built(profile):
    """(crate, name, program, folder) of every test program."""
    call = ["cargo", "test", "--workspace", "--profile", profile, "--lib", "--bins", "--tests", "--no-run", "--quiet",
            "--message-format=json-render-diagnostics"]
    done = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    found = []
    for line in done.stdout.splitlines():
        m = json.loads(line)
        if m["reason"] == "compiler-artifact" and m["executable"] and m["profile"]["test"]:
            folder = os.path.dirname(m["manifest_path"])
            kind = m["target"]["kind"][0]
            name = m["target"]["name"] if kind == "test" else kind
            found.append((os.path.basename(folder), name, m["executable"], folder))
    return sorted(found, key=lambda f: (FIRST.index(f[1]) if f[1] in FIRST else len(FIRST), f))


def dependents(crates):
    """These crates of the workspace and those that depend on them, development dependencies included."""
    text = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], stdout=subprocess.PIPE,
                          check=True).stdout
    needs = {p["name"]: {d["name"] for d in p["dependencies"]} for p in json.loads(text)["packages"]}
    if unknown := set(crates) - set(needs):
        sys.exit(f"ci/tests.py: no crate is called {', '.join(sorted(unknown))}")
    out = set(crates)
    while more := {p for p, of in needs.items() if of & out} - out:
        out |= more
    return out


def run(lane, steps, failed, lock):
    if steps:
        done = subprocess.run(["./ci.sh", *steps], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        with lock:
            print(done.stdout, flush=True)
            if done.returncode:
                failed.append(f"./ci.sh {' '.join(steps)}")
    for crate, name, program, folder in lane:
        began = time.monotonic()
        # What cargo itself sets.
        env = {**os.environ, "CARGO_MANIFEST_DIR": folder, "CARGO_PKG_NAME": crate}
        left_out = [word for name in LONG for word in ("--skip", name)] if "CONTEND_SAMPLE" in os.environ else []
        done = subprocess.run([program, "--quiet", *left_out], cwd=folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        with lock:
            print(f"{crate} {name}: {time.monotonic() - began:.0f} s", flush=True)
            # What was skipped, and the result; everything if a test failed.
            short = [line for line in done.stdout.splitlines() if line.startswith(("SKIPPED", "test result"))]
            print(done.stdout if done.returncode else "\n".join(short), flush=True)
            if done.returncode:
                failed.append(f"{crate} {name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("crates", nargs="*", metavar="CRATE")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--profile", default="release")
    parser.add_argument("--beside", nargs="+", default=[], metavar="STEP")
    args = parser.parse_args()
    programs = built(args.profile)
    if args.crates:
        wanted = dependents(args.crates)
        programs = [p for p in programs if p[0] in wanted]
    if args.only:
        programs = [p for p in programs if p[1] in args.only]
    waits = [p for p in programs if p[:2] in WAITING]
    computes = [p for p in programs if p[:2] not in WAITING]
    failed, lock = [], threading.Lock()
    lanes = [threading.Thread(target=run, args=(lane, steps, failed, lock))
             for lane, steps in ((waits, args.beside), (computes, []))]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(programs)} test programs, {used.ru_utime + used.ru_stime:.0f} s of CPU time with their build")
    if failed:
        sys.exit(f"ci/tests.py: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
