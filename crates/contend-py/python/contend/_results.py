"""Results: tables, verdicts, pages and plots."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _contend
from ._plot import SHOWN, Plots
from ._table import Table, _cell

if TYPE_CHECKING:
    import pyarrow

    from ._experiment import Experiment


class Results:
    """The results of an experiment. Its tables go into pyarrow, pandas and polars by Arrow's PyCapsule interface."""

    def __init__(self, experiment: Experiment, native: _contend.Results) -> None:
        self._experiment, self._native = experiment, native

    @property
    def experiment(self) -> Experiment:
        """The experiment with the settings of the call."""
        return self._experiment

    @property
    def summary(self) -> Table:
        """Mean and 95 % interval of each metric at each sweep point: columns `metric`, `unit`, `n` (seeds), `mean`,
        `ci95` (half width), `low`, `high`. Before them, in every table, one column for each swept key."""
        return Table(self, "summary")

    @property
    def runs(self) -> Table:
        """One row for each run: seed, digest, and all metrics."""
        return Table(self, "runs")

    @property
    def flows(self) -> Table:
        """One row for each run and flow: goodput (bps), round-trip times and delays (s), losses, ..."""
        return Table(self, "flows")

    @property
    def queues(self) -> Table:
        """One row for each run and queue: drops and marks (packets), length (packets), delay (s), ..."""
        return Table(self, "queues")

    @property
    def air(self) -> Table:
        """One row for each run: frames, collisions, and the ledger of the air in shares of time."""
        return Table(self, "air")

    @property
    def series(self) -> Table:
        """One row for each run, each flow or queue (column `scope`), and each instant `time` (s). Empty unless the
        file or the call sets `sample`, like `set={"sample": "100ms"}`."""
        return Table(self, "series")

    @property
    def notes(self) -> list[str]:
        """Reasons to doubt the results, and values that could not be measured."""
        return self._native.notes

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims of the file with their verdicts: a list of dictionaries."""
        claims: list[dict[str, Any]] = self._document["claims"]
        return claims

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The checks of the file with their answers: a list of dictionaries."""
        checks: list[dict[str, Any]] = self._document["checks"]
        return checks

    @cached_property
    def _document(self) -> dict[str, Any]:
        return self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Everything but series, as the command prints it with `--format json`; docs/json.md describes it."""
        document: dict[str, Any] = json.loads(self._native.json())
        return document

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report to `path`: one page that opens without a network. Returns the path."""
        self._native.report(os.fspath(path))
        return Path(path)

    @property
    def plot(self) -> Plots:
        """Figures with matplotlib: `metric`, `series`, `flows`, `air`. Each returns the axes."""
        return Plots(self)

    def __repr__(self) -> str:
        return self._native.text()

    def _repr_html_(self) -> str:
        shown = self._native.shown
        summary = self.summary
        keys = summary.keys[:-1]
        points: dict[tuple[Any, ...], dict[str, str]] = {}
        for row in summary.rows():
            scale, _ = SHOWN.get(row["unit"], (1.0, ""))
            text = "" if row["mean"] is None else f"{row['mean'] * scale:.4g}"
            text += "" if not row["ci95"] else f" ± {row['ci95'] * scale:.2g}"
            points.setdefault(tuple(row[key] for key in keys), {})[row["metric"]] = text
        units = {m: SHOWN.get(u, (1.0, ""))[1] for m, u in zip(summary["metric"], summary["unit"])}
        metrics = [metric for metric in shown if metric in units]
        head = "".join(f"<th>{_cell(key)}</th>" for key in keys)
        head += "".join(f"<th>{_cell(metric)}<br><small>{_cell(units[metric])}</small></th>" for metric in metrics)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{_cell(value)}</td>" for value in point)
            + "".join(f"<td>{_cell(cells.get(metric))}</td>" for metric in metrics)
            + "</tr>"
            for point, cells in points.items()
        )
        verdicts = "".join(
            f"<li>{_cell(claim['id'])}: {_cell(claim['verdict'])} ({_cell(claim['paper'])})</li>"
            for claim in self.claims
        )
        notes = "".join(f"<li>{_cell(note)}</li>" for note in self.notes)
        lists = "".join(f"<ul>{items}</ul>" for items in (verdicts, notes) if items)
        return (
            f"<p><b>{_cell(self._experiment.title)}</b></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{lists}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._experiment, self._native.journal())


def _unpickled(experiment: Experiment, journal: bytes) -> Results:
    # The runs are not made again; means and verdicts are computed from them.
    return Results(experiment, experiment._native.merge([journal]))


class Comparison:
    """The differences between two results. A positive difference: the second has more."""

    def __init__(self, a: Results, b: Results, metrics: list[str] | None) -> None:
        self._made_of = (a, b, metrics)
        self._native = _contend.compare(a._native, b._native, metrics)

    @cached_property
    def differences(self) -> list[dict[str, Any]]:
        """For each sweep point and metric: means of both sides, difference with `ci95`, number of pairs."""
        differences: list[dict[str, Any]] = json.loads(self._native.json())["differences"]
        return differences

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the comparison to `path` as one page. Returns the path."""
        self._native.report(os.fspath(path))
        return Path(path)

    def __repr__(self) -> str:
        return self._native.text()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._native.text())}</pre>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Comparison, self._made_of


def compare(a: Results, b: Results, metrics: str | Sequence[str] | None = None) -> Comparison:
    """Compares two results, paired by sweep point and seed: with the same seed, flows and stations draw the same random
    numbers, so the difference is more exact than either side.

    `metrics`: a list like `["goodput.up", "jain"]`; by default those that the table of `a` shows.
    """
    for side in (a, b):
        if not isinstance(side, Results):
            raise TypeError(f"compare takes two results, not {side!r}: write compare(a.run(), b.run())")
    chosen = [metrics] if isinstance(metrics, str) else None if metrics is None else list(metrics)
    return Comparison(a, b, chosen)


class Concatenation:
    """The tables of several results, one below the other, with a column that names them; needs pyarrow."""

    def __init__(self, results: dict[str, Results], column: str) -> None:
        self._results, self._column = results, column

    def _table(self, name: str) -> pyarrow.Table:
        import pyarrow

        parts = []
        for key, results in self._results.items():
            table = pyarrow.table(getattr(results, name)).replace_schema_metadata(None)
            parts.append(table.add_column(0, self._column, pyarrow.array([key] * len(table), pyarrow.string())))
        return pyarrow.concat_tables(parts, promote_options="permissive")

    @property
    def summary(self) -> pyarrow.Table:
        """As `Results.summary`."""
        return self._table("summary")

    @property
    def runs(self) -> pyarrow.Table:
        """As `Results.runs`."""
        return self._table("runs")

    @property
    def flows(self) -> pyarrow.Table:
        """As `Results.flows`."""
        return self._table("flows")

    @property
    def queues(self) -> pyarrow.Table:
        """As `Results.queues`."""
        return self._table("queues")

    @property
    def air(self) -> pyarrow.Table:
        """As `Results.air`."""
        return self._table("air")

    @property
    def series(self) -> pyarrow.Table:
        """As `Results.series`."""
        return self._table("series")


def concat(results: Mapping[str, Results] | Iterable[Results], column: str = "results") -> Concatenation:
    """The tables of several results as one: `concat({"fifo": a, "fq_codel": b}).flows.to_pandas()`. The first column
    names the results; without names they are numbered. A key that some results do not sweep is null there."""
    named = dict(results) if isinstance(results, Mapping) else {str(i): r for i, r in enumerate(results)}
    if not named:
        raise ValueError("concat needs results")
    return Concatenation(named, column)

