"""The self-tests of the suites of `contend evaluate`.

    ci/evaluate.py PROGRAM [--full]

What is deployed everywhere passes: NewReno and CUBIC in cc-1, FQ-CoDel in ap-1. A failure there is a wrong bound. What
is bad fails where it should: a window that is never reduced, a window of one packet, BBRv1 in a shallow buffer and
beside Prague, Vegas beside calls, RED with its defaults, a FIFO of 10,000 packets. Each suite stays within its number
of events, which does not depend on the machine. With --full other seeds are tried too (101 to 105), one job is compared
with several, and all tiers run with CUBIC and FQ-CoDel.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# Events of a suite in its default tier, at most: about 80 seconds of one core; and of all tiers: about 20 minutes.
EVENTS = 5e8
ALL_EVENTS = 7e9
# What passes the suite of its kind, and the tests that it fails truly.
GOOD = [
    ("--cc", "newreno", []),
    ("--cc", "cubic", []),
    # It shares bytes among flows, and the air among stations only by chance: what `airtime` is for.
    ("--ap", "fq_codel", ["distances"]),
    ("--ap", "airtime", []),
]
# A window that is never reduced: after a loss CUBIC keeps 1023 of 1024.
NEVER = "cubic { beta_1024 = 1023 }"
# A window of one packet.
ONE = "hop_limit { reuse = 255 }"
DEEP = 'fifo { limit = "10000p" }'
# Subject, and the tests that it must fail.
BAD = [
    ("--cc", NEVER, ["bloat", "standard", "same-rtt", "media"]),
    ("--cc", ONE, ["standard", "tail-drop", "wireless-loss", "10x", "step"]),
    ("--cc", "bbr", ["shallow", "9743-l4s"]),
    ("--cc", "vegas", ["wifi-air"]),
    ("--ap", DEEP, ["7928-8.2", "7928-iw", "7928-aggressive", "7928-burst", "latency", "rrul-be", "call", "airtime"]),
    ("--ap", 'fifo { limit = "1000p" }', ["airtime"]),
    ("--ap", "red", ["7928-8.2"]),
]


class Program:
    def __init__(self, path):
        self.path = str(pathlib.Path(path).resolve())

    def evaluate(self, *words):
        """The scorecard as JSON."""
        with tempfile.TemporaryDirectory() as folder:
            call = [self.path, "evaluate", *words, "--format", "json", "--no-results"]
            done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=3600)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(call)}: status {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)


def told(card):
    """The checks of a scorecard that are not met, in words."""
    for test in card["tests"]:
        for check in test["checks"]:
            if check["verdict"] != "pass" and not check["informative"]:
                one = check["alternatives"][0]
                measured, bound = one["measured"], one["expected"]
                yield f"  {test['id']}/{check['id']}: {check['verdict']}, measured {measured}, bound {bound}"


def good(program, faults, *more):
    for option, name, known in GOOD:
        card = program.evaluate(option, name, *more)
        failed = [t["id"] for t in card["tests"] if t["verdict"] in ("fail", "not decided")]
        print(f"{name}: {card['counts']}, {card['events'] / 1e6:.0f} million events", flush=True)
        if sorted(failed) != sorted(known):
            faults.append(f"{name} {' '.join(more)}: {failed} instead of {known}\n" + "\n".join(told(card)))
        if card["events"] > EVENTS:
            faults.append(f"{name}: {card['events']:.3g} events, at most {EVENTS:.3g}")


def bad(program, faults):
    for option, name, tests in BAD:
        passed = []
        for test in tests:
            (result,) = program.evaluate(option, name, test)["tests"]
            if result["verdict"] != "fail":
                passed.append(f"{test} ({result['verdict']})")
        said = f"{name} does not fail {', '.join(passed)}" if passed else f"{name} fails {', '.join(tests)}"
        print(said, flush=True)
        if passed:
            faults.append(said)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, faults = Program(sys.argv[1]), []
    good(program, faults)
    bad(program, faults)
    if "--full" in sys.argv[2:]:
        good(program, faults, "--seeds", "101..105")
        one, several = (program.evaluate("--cc", "cubic", "--jobs", jobs) for jobs in ("1", "3"))
        if one["tests"] != several["tests"]:
            faults.append("the verdicts depend on --jobs")
        for option, name in (("--cc", "cubic"), ("--ap", "fq_codel")):
            card = program.evaluate(option, name, "--full")
            print(f"{name}, all tiers: {card['counts']}, {card['events'] / 1e6:.0f} million events", flush=True)
            if card["events"] > ALL_EVENTS:
                faults.append(f"{name}, all tiers: {card['events']:.3g} events, at most {ALL_EVENTS:.3g}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
