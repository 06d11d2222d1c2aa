"""Runs that an executor makes, on this machine or elsewhere."""

import errno
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import pytest

import contend

from conftest import SMALL


@pytest.fixture(scope="module")
def experiment():
    return contend.load(SMALL).with_settings(seeds="1..6")


@pytest.fixture(scope="module")
def here(experiment):
    return experiment.run(jobs=1)


def same(a, b):
    assert a.runs["digest"] == b.runs["digest"]
    assert a.claims == b.claims
    assert str(a) == str(b)


ROWS = SMALL.replace(
    '"ap.queue.limit" = ["20p", "100p"]',
    """"wifi.slot" = ["9us", "20us"]
"flow.0.count" = [1, 2]
"ap.queue.limit" = { values = ["100p"], labels = ["deep"] }
zip = [{ keys = ["wifi.slot", "flow.0.count"], name = "home", labels = ["old", "new"] }]""",
)


def test_merged_and_pickled_results_have_the_order_of_columns_and_the_labels_of_one_call():
    experiment = contend.load(ROWS)
    here = experiment.run(jobs=1)
    keys = ["wifi.slot", "flow.0.count", "ap.queue.limit"]
    assert here.runs.columns[:3] == keys and set(here.runs["ap.queue.limit"]) == {"deep"}
    assert "home" in str(here) and "wifi.slot" not in str(here)
    with ThreadPoolExecutor(2) as executor:
        merged = experiment.run(executor=executor, shards=3)
    for other in merged, pickle.loads(pickle.dumps(here)):
        same(other, here)
        for table in "summary", "runs", "flows", "queues":
            a, b = getattr(other, table), getattr(here, table)
            assert a.columns == b.columns and [a[key] for key in keys] == [b[key] for key in keys]
        a, b = (json.loads(results._native.json()) for results in (other, here))
        assert a["keys"] == b["keys"] == keys
        assert a["labels"] == b["labels"] and set(a["labels"]) == {"home", "ap.queue.limit"}


class Dying(ProcessPoolExecutor):
    """Workers that end themselves at the third part."""

    def submit(self, part, experiment, number, of):
        return super().submit(_die if number == 3 else part, experiment, number, of)


def _die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


class Counting(ThreadPoolExecutor):
    made = 0

    def submit(self, *call):
        Counting.made += 1
        return super().submit(*call)


def test_threads_and_processes_give_the_results_of_one_call(experiment, here):
    with ThreadPoolExecutor(2) as executor:
        same(experiment.run(executor=executor), here)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        same(experiment.run(executor=executor, shards=3), here)


def test_parts_of_before_a_worker_was_killed_are_kept(experiment, here, tmp_path):
    with Dying(1, mp_context=get_context("spawn")) as executor, pytest.raises(BrokenProcessPool):
        experiment.run(executor=executor, shards=6, keep=tmp_path / "parts")
    kept = len(list((tmp_path / "parts").iterdir()))
    assert kept == 2
    Counting.made = 0
    with Counting(2) as executor:
        same(experiment.run(executor=executor, shards=6, keep=tmp_path / "parts"), here)
    assert Counting.made == 6 - kept


def test_parts_are_kept_as_they_end(experiment, here, tmp_path):
    """The first part is the last to end: the others are in the folder by then."""
    gate, kept = threading.Event(), tmp_path / "parts"

    def held(part, *call):
        gate.wait(60)
        return part(*call)

    class Gated(ThreadPoolExecutor):
        def submit(self, part, experiment, number, of):
            return super().submit(*((held, part) if number == 1 else (part,)), experiment, number, of)

    def watch():
        for _ in range(600):
            if kept.exists() and len(list(kept.glob("*.jsonl"))) == 3:
                break
            time.sleep(0.1)
        gate.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    with Gated(4) as executor:
        same(experiment.run(executor=executor, shards=4, keep=kept), here)
    watcher.join()
    assert len(list(kept.glob("*.jsonl"))) == 4


def test_a_scheduler_that_ends_loses_nothing_finished(experiment, here, tmp_path):
    """The program that hands out the parts is killed in the middle; the same call makes what is missing."""
    program = tmp_path / "study.py"
    program.write_text(
        "import os, sys, time, contend\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def end(*_):\n"
        "    time.sleep(2)\n"
        "    os._exit(9)\n"
        "class Ending(ThreadPoolExecutor):\n"
        "    def submit(self, part, experiment, number, of):\n"
        "        return super().submit(part if number < 4 else end, experiment, number, of)\n"
        "e = contend.load(open(sys.argv[1]).read()).with_settings(seeds='1..6')\n"
        "e.run(executor=Ending(1), shards=6, keep=sys.argv[2])\n"
    )
    (tmp_path / "small.toml").write_text(SMALL)
    call = [sys.executable, str(program), str(tmp_path / "small.toml"), str(tmp_path / "parts")]
    assert subprocess.run(call).returncode == 9
    kept = {path.name for path in (tmp_path / "parts").glob("*.jsonl")}
    assert 1 <= len(kept) <= 3
    Counting.made = 0
    with Counting(2) as executor:
        same(experiment.run(executor=executor, shards=6, keep=tmp_path / "parts"), here)
    assert Counting.made == 6 - len(kept)


def test_a_full_disk_is_an_error_and_keeps_what_is_whole(experiment, here, tmp_path, monkeypatch):
    """`write_bytes` of the third part fails as on a full disk. What was kept before is whole and is used again."""
    written, write = [], Path.write_bytes

    def full(path, data):
        written.append(path)
        if len(written) == 3:
            write(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with ThreadPoolExecutor(1) as executor, pytest.raises(OSError, match="No space left"):
        experiment.run(executor=executor, shards=6, keep=tmp_path)
    monkeypatch.undo()
    kept = len(list(tmp_path.glob("*.jsonl")))
    assert kept == 2
    Counting.made = 0
    with Counting(2) as executor:
        same(experiment.run(executor=executor, shards=6, keep=tmp_path), here)
    assert Counting.made == 6 - kept


def test_a_folder_with_parts_of_another_call_is_refused_with_what_differs(experiment, tmp_path):
    folder = tmp_path / "parts"

    def refused(e=experiment, **settings):
        with pytest.raises(contend.Error) as caught:
            e.run(executor=executor, keep=folder, **settings)
        assert str(folder) in str(caught.value) and "keep=" in caught.value.remedy
        return caught.value.message

    with Counting(2) as executor:
        experiment.run(executor=executor, shards=2, keep=folder)
        Counting.made = 0
        assert "it has the values of the file, and this call has wifi.slot=20us" in refused(set={"wifi.slot": "20us"})
        assert "it has seeds=1..6, and this call has seeds=1..8" in refused(contend.load(SMALL), seeds="1..8")
        assert "the text of the experiment differs" in refused(contend.load(SMALL + "\n"), seeds="1..6")
        assert "keeps 2 of 2 parts, and shards=3 asks for another number" in refused(shards=3)
        (folder / "part-1-of-2.jsonl").write_text("nothing")
        assert "part-1-of-2.jsonl: it is damaged" in refused()
        assert Counting.made == 0


def test_the_number_of_parts_is_that_of_the_folder(experiment, here, tmp_path):
    with Counting(2) as executor:
        experiment.run(executor=executor, shards=5, keep=tmp_path)
        (tmp_path / "part-3-of-5.jsonl").unlink()
        Counting.made = 0
        same(experiment.run(executor=executor, keep=tmp_path), here)
    assert Counting.made == 1 and len(list(tmp_path.iterdir())) == 5


def test_an_error_of_a_task_is_that_of_the_call(experiment):
    class Failing:
        def submit(self, *_):
            task = Future()
            task.set_exception(OSError("no node"))
            return task

    with pytest.raises(OSError, match="no node"):
        experiment.run(executor=Failing())


@pytest.mark.parametrize("wrong", [{"shards": 3}, {"keep": "parts"}, {"executor": ThreadPoolExecutor(1), "shards": 0}])
def test_wrong_arguments(experiment, wrong):
    with pytest.raises(ValueError, match="executor|shards"):
        experiment.run(**wrong)


def test_more_seeds_are_made_here():
    e = contend.load(SMALL).with_settings(seeds="1..3", decide=12)
    with ThreadPoolExecutor(2) as executor:
        same(e.run(executor=executor), e.run())


def test_dask(experiment, here):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        same(experiment.run(executor=client.get_executor(), shards=4), here)


def test_submitit(experiment, here, tmp_path):
    submitit = pytest.importorskip("submitit")
    executor = submitit.LocalExecutor(folder=tmp_path / "logs")
    executor.update_parameters(timeout_min=5)
    same(experiment.run(executor=executor, shards=3, keep=tmp_path / "parts"), here)


def test_ray(experiment, here):
    """The class of docs/python.md. Ray is large, so that it is not among the packages of the tests."""
    ray = pytest.importorskip("ray")

    class Ray(Executor):
        def submit(self, fn, /, *args):
            return ray.remote(fn).remote(*args).future()

    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", runtime_env={"env_vars": paths})
    try:
        same(experiment.run(executor=Ray(), shards=4), here)
    finally:
        ray.shutdown()
