"""Runs that an executor makes, on this machine or elsewhere."""

import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

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
    with Counting(2) as executor:
        same(experiment.run(executor=executor, shards=6, keep=tmp_path / "parts"), here)
    assert Counting.made == 6 - kept


def test_a_part_of_another_experiment_is_refused(experiment, tmp_path):
    with ThreadPoolExecutor(2) as executor:
        experiment.run(executor=executor, shards=2, keep=tmp_path)
        with pytest.raises(contend.Error, match="--set, --sweep, --seeds or --decide differs"):
            experiment.run(set={"wifi.slot": "20us"}, executor=executor, shards=2, keep=tmp_path)


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
