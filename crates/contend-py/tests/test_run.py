"""Experiments: reading, running, errors, the same digests as the command."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import ROOT, SMALL

import contend

COMMAND = os.environ.get("CONTEND") or str(ROOT / "target/release/contend")


@pytest.mark.skipif(not os.path.exists(COMMAND), reason="the command is not built")
@pytest.mark.parametrize("name", [name for name, _ in contend.examples()])
def test_each_example_has_the_digests_of_the_command(name):
    call = [COMMAND, "run", name, "--seeds", "1", "--no-results", "--format", "json", "--quiet"]
    done = subprocess.run(call, capture_output=True, text=True, cwd="/")
    assert done.returncode in (0, 1), done.stderr
    theirs = json.loads(done.stdout)["runs"]
    ours = contend.load(name).run(seeds=1).runs
    assert [(run["seed"], run["digest"]) for run in theirs] == list(zip(ours["seed"], ours["digest"]))
    assert len(ours) > 0


def test_a_source_is_a_name_a_path_or_a_text(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(SMALL)
    titles = [contend.load(source).title for source in (path, str(path), SMALL)]
    assert titles == ["Two downloads"] * 3
    assert contend.load("hotspot").points >= 1


@pytest.mark.parametrize(
    ("set", "sweep", "points"),
    [
        ({"ap.queue": "fq_codel"}, None, 2),
        ({"ap.queue": {"kind": "fifo", "limit": "50p"}}, None, 2),
        ({"flow.0.count": 1, "flow.0.window": "20p"}, None, 2),
        (None, {"flow.0.count": [1, 2]}, 4),
        (None, {"flow.0.count": "1..3"}, 6),
        (None, {"ap.queue": ["fifo", {"kind": "fifo", "limit": "50p"}]}, 4),
    ],
)
def test_settings_are_python_values(small, set, sweep, points):
    e = small.with_settings(set={"duration": "2s", **(set or {})}, sweep=sweep, seeds=[1, 3])
    assert e.seeds == [1, 3]
    assert e.points == points


def test_an_error_has_its_place_and_the_remedy():
    with pytest.raises(contend.Error, match="<text>:3:1: .*durration.*\n  help: ") as caught:
        contend.load(SMALL.replace("duration", "durration", 1))
    e = caught.value
    assert (e.file, e.line, e.column) == ("<text>", 3, 1)
    assert "duration" in e.remedy and "durration" in e.message
    assert isinstance(e, ValueError)
    assert pickle.loads(pickle.dumps(e)).remedy == e.remedy
    with pytest.raises(contend.Error, match="hotspot"):
        contend.load("hotspott")
    with pytest.raises(contend.Error, match="there is no paper|no experiment") as caught:
        contend.reproduce(papers="/nothing")
    assert caught.value.remedy


def test_a_setting_that_is_wrong_is_named(small):
    with pytest.raises(contend.Error, match="--set") as caught:
        small.run(set={"ap.queue.limt": "20p"})
    assert "limit" in caught.value.remedy


def test_a_remedy_has_the_arguments_of_python(small):
    with pytest.raises(contend.Error, match="takes one value, not a list") as caught:
        small.run(set={"wifi.slot": ["9us", "20us"]})
    assert "to try several, give them with sweep=" in caught.value.remedy in str(caught.value)
    with pytest.raises(contend.Error, match="<text>:.* not a list") as caught:
        contend.load(SMALL.replace('standard = "802.11g"', 'standard = "802.11g"\nslot = ["9us", "20us"]'))
    assert "under [sweep]" in caught.value.remedy


def test_a_metric_of_queues_has_no_direction(small):
    with pytest.raises(contend.Error, match="`lost` is a metric of queues, which have no direction") as caught:
        small.run(show="lost.down")
    assert "`drops[ap]`" in caught.value.remedy and "`packet_loss.down`" in caught.value.remedy


def test_the_number_of_jobs_changes_no_digest(small, results):
    assert small.run(jobs=1).runs["digest"] == results.runs["digest"]
    with pytest.raises(ValueError, match="1024"):
        small.run(jobs=0)


def test_other_threads_run_meanwhile(small):
    ticks = []
    go = threading.Event()

    def tick():
        while not go.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    small.run(set={"duration": "20s"})
    go.set()
    thread.join()
    assert len(ticks) > 5


def test_progress_counts_all_runs(small):
    seen = []
    small._native.run(1, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (4, 4)


def test_an_error_in_the_progress_function_stops_the_runs(small):
    def fail(done, total):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        small._native.run(1, fail)


def test_ctrl_c_stops_the_runs_at_once():
    program = (
        "import contend\n"
        "print('go', flush=True)\n"
        "contend.load('hotspot').run(seeds='1..200', set={'duration': '600s'}, progress=False)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdout.readline()
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    started = time.monotonic()
    _, errors = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert time.monotonic() - started < 20


def test_experiments_and_results_can_be_pickled(small, results):
    again = pickle.loads(pickle.dumps(small.with_settings(seeds="1")))
    assert again.seeds == [1] and again.title == small.title
    copy = pickle.loads(pickle.dumps(results))
    for table in ("summary", "runs", "flows", "queues", "air", "series"):
        assert getattr(copy, table).to_arrow().equals(getattr(results, table).to_arrow()), table
    assert copy.claims == results.claims


def test_reproduce_judges_the_claims_of_a_folder(tmp_path):
    paper = tmp_path / "somebody-2026"
    paper.mkdir()
    (paper / "a.toml").write_text(SMALL.replace('"1..2"', '"1..5"'))
    found = contend.reproduce(papers=tmp_path, short=True)
    assert list(found) == ["somebody-2026/a"]
    assert [c["verdict"] for c in found["somebody-2026/a"].claims] == ["reproduced"]
    assert set(found["somebody-2026/a"].runs["seed"]) == {1, 2, 3}
