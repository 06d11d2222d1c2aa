"""Results: tables, verdicts, pages and plots."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import _contend
from ._plot import SHOWN, Plots
from ._table import Table, _cell

if TYPE_CHECKING:
    import pyarrow

    from ._experiment import Experiment


def _points(text: str) -> float:
    """A length in points."""
    for unit, points in {"cm": 72 / 2.54, "mm": 7.2 / 2.54, "in": 72.0, "pt": 1.0}.items():
        number = text.strip().removesuffix(unit)
        if number != text.strip():
            try:
                value = float(number) * points
            except ValueError:
                break
            if 3 <= value <= 4000:
                return value
            break
    raise _contend.Error(f"{text!r} is no length from 3pt to 4000pt: write a length like \"8.5cm\" or \"8pt\"")


def _paper(
    width: str | None, height: str | None, size: str, font: str, palette: str
) -> tuple[float | None, float | None, float, str, bool]:
    """The looks of a figure."""
    if palette not in ("colour", "grey"):
        raise _contend.Error(f"there is no palette {palette!r}: write \"colour\" or \"grey\"")
    lengths = [None if text is None else _points(text) for text in (width, height)]
    return (lengths[0], lengths[1], _points(size), font, palette == "grey")


class Figure:
    """A figure of the report. A notebook shows it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg
        """The text of an SVG file."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the figure to `path` as SVG. Returns the path."""
        Path(path).write_text(self.svg, encoding="utf-8")
        return Path(path)

    def _repr_svg_(self) -> str:
        return self.svg


class Page:
    """A page of `Results.page`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"

    def _repr_html_(self) -> str:
        # The whole page: a notebook may be read where the file is not.
        text = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{text}" style="width:100%;height:48rem;border:0" title="contend"></iframe>'


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

    def compare(
        self,
        a: Mapping[str, Any],
        b: Mapping[str, Any] | None = None,
        metrics: str | Sequence[str] | None = None,
        *,
        control: bool = False,
    ) -> Comparison:
        """Compares points of this sweep, paired by seed: `results.compare({"ap.queue": "fifo"}, {"ap.queue": "pie"})`.
        Without `b`, each other value of the keys of `a` is compared with `a`.

        The points of a pair differ in these keys only: with further swept keys there is a pair for each of their
        values. A value is written as in `sweep`, or as in the tables. `metrics` and `control` are as in
        `contend.compare`.
        """
        points = _Points(self)
        side_a = points.side("a", a)
        side_b = None if b is None else points.side("b", b)
        if side_b is not None and set(a) != set(b or ()):
            raise ValueError(f"both sides must name the same keys, not {', '.join(a)} and {', '.join(b or ())}")
        pairs = points.pairs(side_a, side_b, set(a))
        if not pairs:
            others = [key for key in points.keys if key not in a]
            remedy = f"; name values of {', '.join(others)} too" if others else ""
            raise ValueError(f"no two points of this sweep differ in {', '.join(a)} alone{remedy}")
        names = _named(a), None if b is None else _named(b)
        return Comparison(self, self, _chosen(metrics), (pairs, *names), control)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report to `path`: one page that opens without a network. Returns the path."""
        self._native.report(os.fspath(path))
        return Path(path)

    def page(self, path: str | os.PathLike[str]) -> Page:
        """Writes a page to `path` that has the report, the experiment and contend in it: its readers turn dials and
        edit the file in a browser, without a network and without contend. A notebook shows it. See docs/page.md."""
        self._native.page(os.fspath(path))
        return Page(Path(path))

    @property
    def figures(self) -> list[str]:
        """The titles of the report's figures; `figure(1)` is the first."""
        return self._native.figures()

    def figure(
        self,
        number: int,
        *,
        width: str | None = None,
        height: str | None = None,
        size: str = "8pt",
        font: str = "",
        palette: str = "colour",
    ) -> Figure:
        """Figure `number` of the report, counted from 1, as `contend plot` draws it. A notebook shows it.

        `width`, `height`, `size` (of the letters): lengths like `"8.5cm"`, `"85mm"`, `"3.3in"` or `"240pt"`.
        `palette`: `"colour"` or `"grey"`."""
        paper = _paper(width, height, size, font, palette)
        svg = self._native.figure(number, paper) if number > 0 else None
        if svg is None:
            raise _contend.Error(f"there is no figure {number}: there are {len(self.figures)} (see `figures`)")
        return Figure(svg)

    def air_figure(
        self,
        interval: str,
        *,
        width: str | None = None,
        height: str | None = None,
        size: str = "8pt",
        font: str = "",
        palette: str = "colour",
    ) -> Figure:
        """The frames on the air in `interval` of the first run, like `"2s..2.003s"`, as `contend plot --air` draws
        them. The run is made again. The other arguments are those of `figure`."""
        return Figure(self._experiment._native.air(interval, _paper(width, height, size, font, palette)))

    def map_figure(
        self,
        *,
        width: str | None = None,
        height: str | None = None,
        size: str = "8pt",
        font: str = "",
        palette: str = "colour",
    ) -> Figure:
        """The map of the first run at its start, as `contend plot --map` draws it. The arguments are those of
        `figure`."""
        svg = self._native.map(_paper(width, height, size, font, palette))
        if svg is None:
            raise _contend.Error("there is no map: the stations have neither positions nor links")
        return Figure(svg)

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


class _Points:
    """The points of a sweep: their keys and values, as in the file and as in the tables."""

    def __init__(self, results: Results) -> None:
        runs = results.runs
        self.keys = runs.keys[:-1]
        if not self.keys:
            raise ValueError(
                "these results have one point: run(sweep=...) gives several; contend.compare(a, b) compares two results"
            )
        self._runs = [run for run, _ in results._native.points]
        self._points: list[dict[str, Any]] = [json.loads(text) for _, text in results._native.points]
        self._shown = {key: [runs[key][run] for run in self._runs] for key in self.keys}

    def side(self, name: str, values: Mapping[str, Any]) -> list[int]:
        """The places of the points with these values."""
        if not isinstance(values, Mapping) or not values:
            raise TypeError(f"{name} must be a dictionary from swept keys to values, like {self._example()}")
        places = list(range(len(self._points)))
        for key, value in values.items():
            if key not in self.keys:
                raise ValueError(f"{key!r} is no swept key of these results; they have {', '.join(self.keys)}")
            shown = self._shown[key]
            if not any(self._has(i, key, value) for i in range(len(self._points))):
                of = ", ".join(map(repr, dict.fromkeys(shown)))
                raise ValueError(f"{key!r} is never {value!r} in this sweep; it is {of}")
            places = [i for i in places if self._has(i, key, value)]
        if not places:
            raise ValueError(f"no point of this sweep has {_named(values)}")
        return places

    def _has(self, i: int, key: str, value: Any) -> bool:
        # Numbers of NumPy have `item`.
        value = value.item() if hasattr(value, "item") else value
        return bool(self._points[i].get(key) == value or self._shown[key][i] == value)

    def _example(self) -> str:
        return repr({self.keys[0]: self._shown[self.keys[0]][0]})

    def pairs(self, a: list[int], b: list[int] | None, along: set[str]) -> list[tuple[int, int]]:
        """Pairs of points that differ in the keys `along` only, each as the number of a run. Without `b`, the second
        point is any that is not in `a`."""
        rest = [[point.get(key) for key in self.keys if key not in along] for point in self._points]
        others = [i for i in range(len(rest)) if i not in a] if b is None else b
        found = [(i, j) for j in others for i in a if rest[i] == rest[j] and i != j]
        return [(self._runs[i], self._runs[j]) for i, j in found]


def _named(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in values.items())


def _chosen(metrics: str | Sequence[str] | None) -> list[str] | None:
    return [metrics] if isinstance(metrics, str) else None if metrics is None else list(metrics)


def _unpickled(experiment: Experiment, journal: bytes) -> Results:
    # The runs are not made again; means and verdicts are computed from them.
    return Results(experiment, experiment._native.merge([journal]))


# Points of a sweep to compare: the points of both sides, each as the number of a run, and the names of the sides.
_Sides = tuple[list[tuple[int, int]], str, Union[str, None]]


class Comparison:
    """The differences between two results, or between points of one sweep. A positive difference: the second has
    more."""

    def __init__(
        self, a: Results, b: Results, metrics: list[str] | None, sides: _Sides | None = None, control: bool = False
    ) -> None:
        self._made_of = (a, b, metrics, sides, control)
        self._native = _contend.compare(a._native, b._native, metrics, sides, control)

    @property
    def differences(self) -> Table:
        """One row for each sweep point and metric: the means `a` and `b` of the sides over `n` pairs, their
        `difference` with its 95 % interval (`ci95`, `low`, `high`), the difference as a share of `a` (`relative`), and
        what the interval says of the second side (`b_has`). The swept keys before them are those of the second side.
        `worth`: with `control`, how many times as many pairs this interval needs without it. `unpaired` seeds are on
        one side only; `missing` says why there is no pair."""
        return Table(self, "differences")

    def to_dict(self) -> dict[str, Any]:
        """The comparison as the command prints it with `--format json`; docs/json.md describes it."""
        document: dict[str, Any] = json.loads(self._native.json())
        return document

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


def compare(
    a: Results, b: Results, metrics: str | Sequence[str] | None = None, *, control: bool = False
) -> Comparison:
    """Compares two results, paired by sweep point and seed: with the same seed, flows and stations draw the same random
    numbers, so the difference is more exact than either side. `Results.compare` compares points of one sweep.

    `metrics`: a list like `["goodput.up", "jain"]`; by default those that the table of `a` shows.

    `control`: removes what the luck of lossy channels explains, so that the intervals are shorter with the same seeds
    (docs/points-and-seeds.md). It changes nothing if no channel loses at random.
    """
    for side in (a, b):
        if not isinstance(side, Results):
            raise TypeError(f"compare takes two results, not {side!r}: write compare(a.run(), b.run())")
    return Comparison(a, b, _chosen(metrics), None, control)


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

