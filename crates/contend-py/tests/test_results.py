"""Results: tables, plots, pages, comparisons."""

import html
import json
import pickle
import re

import pandas
import polars
import pyarrow
import pytest

import contend


def test_every_library_takes_every_table(results):
    for name in ("summary", "runs", "flows", "queues", "air", "series"):
        table = getattr(results, name)
        arrow, frame = pyarrow.table(table), polars.DataFrame(table)
        assert len(table) == len(arrow) == len(frame) == len(table.to_pandas()) > 0, name
        assert arrow.column_names == frame.columns == table.columns
        assert arrow.schema.metadata[b"contend.schema"].startswith(b"contend/" + name.encode())
        for column in table.columns:
            assert arrow.column(column).to_pylist() == table[column], column


def test_numbers_are_in_base_units(results):
    flows = results.flows
    assert flows.units["goodput"] == "bps" and flows.units["rtt.p95"] == "s" and flows.units["sent"] == "p"
    assert pyarrow.table(flows).schema.field("goodput").metadata == {b"unit": b"bps"}
    assert all(1e6 < goodput < 54e6 for goodput in flows["goodput"])
    assert len(flows) == 2 * 2 * 2
    with pytest.raises(KeyError, match="goodput"):
        flows["goodputt"]


def test_the_summary_is_the_mean_over_seeds(results):
    runs, summary = results.runs.to_pandas(), results.summary.to_pandas()
    mean = runs.groupby("ap.queue.limit")["goodput.total"].mean()
    told = summary[summary["metric"] == "goodput.total"].set_index("ap.queue.limit")["mean"]
    pandas.testing.assert_series_equal(mean, told, check_names=False)


def test_the_ledger_of_the_air_sums_to_one(results):
    air = results.air.to_pandas()
    ledger = air[[c for c in air.columns if c.startswith("ledger.")]]
    assert ledger.sum(axis=1).sub(1).abs().max() < 1e-9


def test_results_show_themselves(results, tmp_path):
    assert "Two downloads" in repr(results) and "<table>" in results._repr_html_()
    page = results.report(tmp_path / "page.html").read_text()
    assert "Two downloads" in page and "contend run '&lt;text&gt;'" in page.replace("&#39;", "'")
    assert [c["verdict"] for c in results.claims] == ["reproduced"]
    assert results.checks == []


def test_a_comparison_is_paired_by_seed(small, results, tmp_path):
    other = small.run(set={"ap.queue.kind": "fq_codel"})
    c = contend.compare(results, other, "goodput.total")
    assert c.differences["n"] == [2, 2] and "B - A" in repr(c)
    assert "<html" in c.report(tmp_path / "c.html").read_text()
    with pytest.raises(contend.Error, match="nothing to compare"):
        contend.compare(results, other, ["no_such_metric"])


def test_differences_are_a_table(small, results):
    c = contend.compare(results, small.run(set={"ap.queue.kind": "fq_codel"}), ["goodput.total", "rtt.mean"])
    table = c.differences
    assert table.keys == ["ap.queue.limit", "metric"] and len(table) == 4
    frame = table.to_pandas().set_index(table.keys)
    assert list(frame.columns) == pyarrow.table(table).column_names[2:] == polars.DataFrame(table).columns[2:]
    assert (frame["difference"] - (frame["b"] - frame["a"])).abs().max() < 1
    rtt = frame.loc[(100, "rtt.mean")]
    assert rtt["unit"] == "s" and rtt["low"] < rtt["difference"] < rtt["high"] and rtt["b_has"]
    # The numbers are those that the command writes.
    told = [d["difference"] for d in c.to_dict()["differences"]]
    assert table["difference"] == told
    assert pickle.loads(pickle.dumps(table.filter(metric="rtt.mean")))["n"] == [2, 2]
    assert "<th>b_has" in table._repr_html_()


@pytest.fixture(scope="module")
def swept(small):
    sweep = {"ap.queue": ["fifo", "fq_codel", {"kind": "fifo", "limit": "20p"}], "flow.0.count": [1, 2]}
    keys = small.text.partition("[sweep]")[0]
    return contend.load(keys).run(seeds="1..3", set={"duration": "2s"}, sweep=sweep)


def test_points_of_a_sweep_are_compared_in_pairs(swept):
    c = swept.compare({"ap.queue": "fifo"}, {"ap.queue": "fq_codel"}, "goodput.total")
    table = c.differences
    assert table["flow.0.count"] == [1, 2] and table["ap.queue"] == ["fq_codel"] * 2 and table["n"] == [3, 3]
    runs = swept.runs.to_pandas().pivot_table(
        index=["flow.0.count", "seed"], columns="ap.queue", values="goodput.total"
    )
    expected = (runs["fq_codel"] - runs["fifo"]).groupby("flow.0.count").mean()
    assert table["difference"] == pytest.approx(list(expected))
    assert "ap.queue = fifo" in repr(c) and "ap.queue = fq_codel" in repr(c)
    assert repr(pickle.loads(pickle.dumps(c))) == repr(c)
    # Without the second side: every other value. A table of the file is written as there.
    others = swept.compare({"ap.queue": "fifo"}, metrics="goodput.total")
    assert len(others.differences) == 4 and "each of the points below" in repr(others)
    limited = swept.compare({"ap.queue": {"kind": "fifo", "limit": "20p"}}, {"ap.queue": "fifo"}, "goodput.total")
    assert len(limited.differences) == 2
    both = swept.compare({"ap.queue": "fifo", "flow.0.count": 1}, {"ap.queue": "fq_codel", "flow.0.count": 2})
    assert set(both.differences["flow.0.count"]) == {2}


def test_a_quantity_of_a_sweep_is_written_as_there_or_as_in_the_tables(results):
    told = results.compare({"ap.queue.limit": "20p"}, {"ap.queue.limit": "100p"}).differences["difference"]
    assert told and told == results.compare({"ap.queue.limit": 20}, {"ap.queue.limit": 100.0}).differences["difference"]


@pytest.mark.parametrize(
    ("sides", "error", "text"),
    [
        (({"ap.queue": "pie"},), ValueError, "'ap.queue' is never 'pie' in this sweep; it is 'fifo', "),
        (({"ap.limit": "pie"},), ValueError, "'ap.limit' is no swept key of these results; they have ap.queue, flow.0"),
        (("ap.queue",), TypeError, "a must be a dictionary from swept keys to values, like {'ap.queue': 'fifo'}"),
        (({"ap.queue": "fifo"}, {"flow.0.count": 1}), ValueError, "both sides must name the same keys"),
        (({"ap.queue": "fifo"}, {"ap.queue": "fifo"}), ValueError, "no two points of this sweep differ in ap.queue"),
    ],
)
def test_points_that_cannot_be_compared(swept, sides, error, text):
    with pytest.raises(error, match=text):
        swept.compare(*sides)


def test_results_of_one_point_have_no_points_to_compare(small):
    one = contend.load(small.text.partition("[sweep]")[0]).run(seeds=1, set={"duration": "2s"})
    with pytest.raises(ValueError, match="one point: run\\(sweep=...\\) gives several"):
        one.compare({"ap.queue": "fifo"})


def test_a_plot_joins_numbers_and_no_names(swept, results):
    def style(axes):
        return {of.lines[0].get_linestyle() for of in axes.containers}

    names = swept.plot.metric("goodput.total", x="ap.queue", by="flow.0.count")
    assert style(names) == {"None"} and len(names.containers) == 2
    names.get_figure().draw_without_rendering()
    assert [t.get_text() for t in names.get_xticklabels()][:2] == ["fifo", "fq_codel"]
    # Points of two lines at the same name stand side by side, and all are seen.
    places = [of.lines[0].get_xydata() for of in names.containers]
    assert all(a < b < a + 0.5 for a, b in zip(places[0][:, 0], places[1][:, 0]))
    (left, right), (low, high) = names.get_xlim(), names.get_ylim()
    assert all(left < x < right and low < y < high for of in places for x, y in of)
    assert style(swept.plot.metric("goodput.total", x="flow.0.count", by="ap.queue")) == {"-"}
    assert style(results.plot.metric("goodput.total")) == {"-"}


def test_plots_have_axes_with_units(results):
    assert results.plot.metric("goodput.total").get_ylabel() == "goodput.total (Mb/s)"
    assert results.plot.series("srtt").get_ylabel() == "srtt (ms)"
    assert results.plot.series("queue.length", names=["ap"]).get_legend_handles_labels()[1] == ["ap"]
    assert results.plot.flows().get_xlabel() == "goodput (Mb/s)"
    assert len(results.plot.air().patches) > 5
    with pytest.raises(ValueError, match="goodput.total"):
        results.plot.metric("goodputt")


def test_a_plot_refuses_to_mix_points(small):
    swept = small.run(seeds=1, set={"duration": "2s"}, sweep={"flow.0.count": [1, 2], "flow.0.window": ["4p", "8p"]})
    with pytest.raises(ValueError, match="also vary"):
        swept.plot.metric("goodput.total")


def test_a_table_can_be_cut_and_searched(results):
    flows = results.flows
    assert len(flows.head(3)) == 3 and len(flows.head(10**6)) == len(flows)
    some = flows.filter({"ap.queue.limit": 20}, name="down.1")
    assert set(some["name"]) == {"down.1"} and len(some) == 2
    assert [row["seed"] for row in some.rows()] == some["seed"]
    fast = flows.filter(lambda row: row["goodput"] > 1e6).head(1)
    assert fast["goodput"][0] > 1e6
    assert pyarrow.table(some).num_rows == len(some.to_pandas()) == polars.DataFrame(some).height == 2
    assert flows.keys == ["ap.queue.limit", "seed", "name"]
    with pytest.raises(ValueError, match="has numbers in p, like 20"):
        flows.filter({"ap.queue.limit": "20p"})
    with pytest.raises(KeyError, match="the columns are ap.queue.limit"):
        flows.filter(nothing=1)


def test_a_table_has_a_dimension_for_each_key(results):
    xarray = pytest.importorskip("xarray")
    data = results.flows.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert dict(data.sizes) == {"ap.queue.limit": 2, "seed": 2, "name": 2}


def test_notebooks_show_tables(results):
    page = results._repr_html_()
    assert page.count("<tr>") == 3 and "goodput.down<br><small>Mb/s</small>" in page and "C1: reproduced" in page
    table = results.flows._repr_html_()
    assert "<th>goodput<br><small>bps</small></th>" in table and table.count("<tr>") == 9


def test_tables_and_comparisons_can_be_pickled(small, results):
    flows = results.flows.filter(name="down.1")
    again = pickle.loads(pickle.dumps(flows))
    assert list(again.rows()) == list(flows.rows())
    c = contend.compare(results, small.run(set={"wifi.slot": "20us"}))
    assert str(pickle.loads(pickle.dumps(c))) == str(c)


def test_results_stand_one_below_the_other(small, results):
    other = small.run(set={"ap.queue": "fq_codel"}, seeds="1..2")
    both = contend.concat({"fifo": results, "fq_codel": other}, column="queue").flows.to_pandas()
    assert list(both.groupby("queue").size()) == [len(results.flows), len(other.flows)]
    with pytest.raises(ValueError, match="needs results"):
        contend.concat([])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r: r.experiment.run(seeds=1.5), TypeError, 'write seeds="1..30"'),
        (lambda r: contend.compare(r, 42), TypeError, "compare takes two results, not 42"),
        (lambda r: r.plot.metric("goodput.down", x="nosuch"), ValueError, "they have ap.queue.limit"),
        (lambda r: r.report(__file__ + "/x.html"), contend.Error, "name a file in a folder that can be written"),
        (lambda r: contend.load(42), TypeError, "a name, a path or a text, not 42"),
    ],
)
def test_a_wrong_call_has_a_remedy(results, call, error, text):
    with pytest.raises(error, match=text):
        call(results)


def test_control_variates_shorten_the_intervals_over_lossy_links():
    sweep = {"link.1.loss.p": ["1%"], "flow.0.tcp.recovery": ["tahoe", "newreno"]}
    r = contend.load("lossy-last-hop").run(sweep=sweep, set={"duration": "60s"}, seeds="1..12", progress=False)
    sides = {"flow.0.tcp.recovery": "tahoe"}, {"flow.0.tcp.recovery": "newreno"}
    plain = r.compare(*sides, metrics="goodput.total").differences
    controlled = r.compare(*sides, metrics="goodput.total", control=True)
    assert plain["worth"][0] is None and controlled.differences["worth"][0] > 1.1
    assert controlled.differences["ci95"][0] < plain["ci95"][0]
    assert "times as many seeds" in repr(controlled)
    assert repr(pickle.loads(pickle.dumps(controlled))) == repr(controlled)


def test_a_page_has_the_experiment_and_the_results(results, tmp_path):
    page = results.page(tmp_path / "play.html")
    text = page.path.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
    (one,) = data["experiments"]
    assert one["text"] == results.experiment.text and one["made"]["runs"] == len(results.runs)
    assert one["made"]["digest"] == results.runs["digest"][0] and "<svg" in one["made"]["html"]
    # In a notebook the whole page is inside the frame.
    shown = page._repr_html_()
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', shown).group(1)) == text
    with pytest.raises(contend.Error, match="help: name a file"):
        results.page(tmp_path)


def test_a_figure_is_that_of_the_command(results, tmp_path):
    number = 1 + results.figures.index("Goodput of each flow, ap.queue.limit = 20p")
    figure = results.figure(number, width="8.5cm", palette="grey")
    assert figure._repr_svg_().startswith("<svg xmlns=") and 'width="240.94pt"' in figure.svg
    assert figure.save(tmp_path / "a.svg").read_text() == figure.svg
    for wrong in (
        lambda: results.figure(0),
        lambda: results.figure(99),
        lambda: results.figure(1, width="8"),
        lambda: results.figure(1, palette="pink"),
    ):
        with pytest.raises(contend.Error):
            wrong()


def test_the_air_and_the_map_are_those_of_the_command(results):
    frames = results.air_figure("2s..2.003s", width="12cm", palette="grey").svg
    assert frames.startswith("<svg xmlns=") and 'width="340.16pt"' in frames and ">access point</text>" in frames
    assert frames.count("<title>ACK to ") > 1 and "#0072b2" not in frames
    field = contend.load("hidden").run(set={"duration": "2s", "warmup": "1s"}, seeds="1", progress=False)
    assert "#d55e00" in field.map_figure().svg and "#d55e00" not in field.map_figure(palette="grey").svg
    for wrong, says in (
        (lambda: results.air_figure("2s"), "10s..10.5s"),
        (lambda: results.air_figure("9000s..9001s"), "the run ends at"),
        (lambda: results.map_figure(), "there is no map"),
    ):
        with pytest.raises(contend.Error, match=says):
            wrong()
