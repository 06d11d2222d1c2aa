"""Searches over the keys of a file."""

import pytest

import contend
from conftest import SMALL
from contend.search import Search, choice, number, whole


def small(**more):
    file = contend.load(SMALL.replace('[sweep]\n"ap.queue.limit" = ["20p", "100p"]\n', ""))
    options = dict(
        keys={"ap.queue.limit": whole(2, 200, unit="p", log=True)},
        minimize="queue.length[ap]",
        within={"goodput.total": (18e6, None)},
        seeds="1..2",
    )
    return Search(file, **{**options, **more})


def test_the_least_queue_that_carries_enough_is_found():
    search = small().run(trials=25)
    best = search.best
    limit = int(best["settings"]["ap.queue.limit"].removesuffix("p"))
    assert best["means"]["goodput.total"] >= 18e6 and 2 <= limit < 100
    # Fewer packets do not do: the bound is close.
    fewer = search.experiment.run(set={"ap.queue.limit": f"{max(2, limit // 3)}p"})
    rows = {row["metric"]: row["mean"] for row in fewer.summary.rows()}
    assert rows["goodput.total"] < best["means"]["goodput.total"]
    assert "25 trials" in repr(search)


def test_a_search_goes_on_where_it_was_stopped_and_is_repeatable(tmp_path):
    storage = f"sqlite:///{tmp_path / 's.db'}"
    first = [trial.params for trial in small(storage=storage).run(trials=6).study.trials]
    again = [trial.params for trial in small(storage=storage).run(trials=9).study.trials]
    assert (len(first), len(again), again[:6]) == (6, 9, first)
    assert [trial.params for trial in small().run(trials=6).study.trials] == first


def test_two_objectives_have_a_front():
    search = small(minimize="queue.length[ap]", maximize="goodput.total", within={}).run(trials=15)
    front = sorted(search.front, key=lambda t: t["means"]["queue.length[ap]"])
    goodput = [t["means"]["goodput.total"] for t in front]
    assert len(front) >= 2 and goodput == sorted(goodput)


def test_choices_and_numbers_are_settings():
    search = small(
        keys={
            "ap.queue": choice(["fifo", {"kind": "codel", "target": "5ms"}]),
            "flow.0.delay": number(5, 20, unit="ms"),
        },
        within=None,
    ).run(trials=6)
    assert {str(t.user_attrs["settings"]["ap.queue"]) for t in search.study.trials if "settings" in t.user_attrs}


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(minimize=()), "something to minimize"),
        (dict(keys={}), "needs keys"),
        (dict(minimize="nosuch"), "nosuch"),
    ],
)
def test_wrong_searches(change, message):
    with pytest.raises(ValueError, match=message):
        small(**change)


def test_bounds_that_nothing_keeps():
    with pytest.raises(ValueError, match="no trial keeps the bounds"):
        small(within={"goodput.total": (1e9, None)}).run(trials=3).best
    with pytest.raises(ValueError, match="has 2 points"):
        Search(contend.load(SMALL), {"flow.0.count": whole(1, 3)}, minimize="queue.length[ap]")
