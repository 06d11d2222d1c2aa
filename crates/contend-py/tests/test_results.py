"""Results: tables, plots, pages, comparisons."""

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
    assert "Two downloads" in repr(results) and "<pre>" in results._repr_html_()
    page = results.report(tmp_path / "page.html").read_text()
    assert "Two downloads" in page and "contend run '&lt;text&gt;'" in page.replace("&#39;", "'")
    assert [c["verdict"] for c in results.claims] == ["reproduced"]
    assert results.checks == []


def test_a_comparison_is_paired_by_seed(small, results, tmp_path):
    other = small.run(set={"ap.queue.kind": "fq_codel"})
    c = contend.compare(results, other, "goodput.total")
    assert [d["n"] for d in c.differences] == [2, 2] and "B - A" in repr(c)
    assert "<html" in c.report(tmp_path / "c.html").read_text()
    with pytest.raises(contend.Error, match="nothing to compare"):
        contend.compare(results, other, ["no_such_metric"])


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
