"""Large sweeps into Parquet files."""

import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import polars
import pytest

import contend

from conftest import SMALL

SWEEP = {"ap.queue.limit": ["10p", "20p", "40p", "80p", "100p"], "flow.0.count": [1, 2]}


@pytest.fixture(scope="module")
def experiment():
    return contend.load(SMALL).with_settings(seeds="1..3")


@pytest.fixture(scope="module")
def here(experiment):
    return experiment.run(sweep=SWEEP, jobs=1)


def same(data, here):
    keys = ["ap.queue.limit", "flow.0.count", "seed"]
    for table in data.tables:
        order = keys if table == "runs" else [*keys, "name"] if table == "flows" else [*keys[:2], "metric"]
        made, plain = data.scan(table).collect().sort(order), getattr(here, table).to_polars().sort(order)
        # What the machine did differs.
        columns = [c for c in plain.columns if c not in ("wall", "cpu")]
        assert made.select(columns).equals(plain.select(columns)), table


def test_a_collected_sweep_has_the_rows_of_one_call(experiment, here, tmp_path):
    data = experiment.collect(tmp_path / "serial", sweep=SWEEP, parts=3)
    assert (data.parts, data.missing, len(data.files("flows"))) == (3, [], 3)
    same(data, here)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        same(experiment.collect(tmp_path / "two", sweep=SWEEP, executor=executor), here)
    again = contend.scan(tmp_path / "serial")
    assert again.scan("flows").filter(polars.col("ap.queue.limit") == 20).select("goodput").collect().height > 0
    assert again.dataset("runs").count_rows() == len(here.runs)


def test_the_same_call_makes_what_is_missing(experiment, here, tmp_path):
    class Failing(ThreadPoolExecutor):
        made = 0

        def submit(self, fn, experiment, number, *more):
            Failing.made += 1
            call = (lambda: 1 / 0) if number == 2 else lambda: fn(experiment, number, *more)
            return super().submit(call)

    with Failing(1) as executor, pytest.raises(ZeroDivisionError):
        experiment.collect(tmp_path, sweep=SWEEP, executor=executor, parts=4)
    data = contend.scan(tmp_path)
    assert data.missing == [2] and "3 of 4 parts" in repr(data)
    before = {path: path.stat().st_mtime_ns for path in data.files("runs")}
    data = experiment.collect(tmp_path, sweep=SWEEP, parts=4)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    same(data, here)


def test_wrong_calls(experiment, tmp_path):
    experiment.collect(tmp_path, sweep=SWEEP, parts=2)
    with pytest.raises(ValueError, match="results of another call"):
        experiment.collect(tmp_path, sweep=SWEEP, parts=2, seeds="1..4")
    with pytest.raises(ValueError, match="no table 'flow'; use some of summary, "):
        experiment.collect(tmp_path / "x", sweep=SWEEP, tables=["flow"])
    with pytest.raises(ValueError, match="from 1 to 10, the number of points"):
        experiment.collect(tmp_path / "x", sweep=SWEEP, parts=11)
    with pytest.raises(FileNotFoundError, match="no results of Experiment.collect"):
        contend.scan(tmp_path / "nothing")
    with pytest.raises(KeyError, match="this folder has summary, flows, runs"):
        contend.scan(tmp_path).files("air")
    with pytest.raises(contend.Error, match="ap.queue.limit"):
        experiment.collect(tmp_path / "y", sweep={"ap.queue.limit": ["10p", "many"]})


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the memory of a child process")
def test_memory_is_that_of_a_part(tmp_path):
    """Twenty parts need about as much memory as two of their size."""

    def peak(points):
        pid = os.fork()
        if pid == 0:
            sweep = {"ap.queue.limit": [f"{n}p" for n in range(1, points + 1)]}
            contend.load(SMALL).collect(tmp_path / str(points), seeds="1..10", sweep=sweep, parts=points // 10, jobs=1)
            os._exit(0)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0
        return usage.ru_maxrss

    assert peak(200) < 1.3 * peak(20)
