"""Figures of results, with matplotlib."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._results import Results

# The units in which numbers are shown: factor and name.
SHOWN = {"bps": (1e-6, "Mb/s"), "s": (1e3, "ms"), "B": (1e-3, "kB"), "p": (1.0, "packets")}


class Plots:
    """Figures of results. Each method draws into `ax`, or into new axes, and returns the axes."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def metric(self, metric: str, x: str | None = None, by: str | None = None, ax: Axes | None = None) -> Axes:
        """The mean of a metric with its 95 % interval along the swept key `x`, with one line for each value of the
        swept key `by`. By default the first and the second swept key. Names have no order: along them there are points
        without a line."""
        summary = self._results.summary
        keys = [c for c in summary.columns if c not in ("metric", "unit", "n", "mean", "ci95", "low", "high")]
        for key in (x, by):
            if key is not None and key not in keys:
                names = ", ".join(keys) or "none: run(sweep=...) adds one"
                raise ValueError(f"{key!r} is no swept key of these results; they have {names}")
        x = x or (keys[0] if keys else None)
        by = by or next((key for key in keys if key != x), None)
        others = [key for key in keys if key not in (x, by)]
        table = {name: summary[name] for name in summary.columns}
        rows = [i for i, name in enumerate(table["metric"]) if name == metric]
        if not rows:
            names = ", ".join(sorted(set(table["metric"])))
            raise ValueError(f"{metric!r} is no metric of these results; they have {names} (run(show=...) adds others)")
        varying = [key for key in others if len({table[key][i] for i in rows}) > 1]
        if varying:
            raise ValueError(f"the results also vary in {', '.join(varying)}: fix these keys with set=")
        scale, unit = SHOWN.get(table["unit"][rows[0]], (1.0, ""))
        ax = _axes(ax)
        lines: dict[Any, list[int]] = {}
        for i in rows:
            lines.setdefault(table[by][i] if by else metric, []).append(i)
        names_only = x is None or any(_is_name(table[x][i]) for i in rows)
        for number, (name, of) in enumerate(lines.items()):
            at = [table[x][i] if x else metric for i in of]
            # Words stand side by side, and so do the points of several lines at one of them.
            at = [str(value) if isinstance(value, (str, bool)) else value for value in at]
            mean = [_scaled(table["mean"][i], scale) for i in of]
            half = [_scaled(table["ci95"][i], scale) for i in of]
            if names_only:
                at = _beside(ax, at, number, len(lines))
            line = "none" if names_only else "-"
            ax.errorbar(at, mean, yerr=half, marker="o", linestyle=line, capsize=3, label=str(name))
        if names_only:
            ax.margins(x=0.15)
        if x:
            ax.set_xlabel(x)
        ax.set_ylabel(f"{metric} ({unit})" if unit else metric)
        if by:
            ax.legend(title=by)
        return ax

    def series(
        self,
        column: str = "goodput",
        names: Collection[str] | None = None,
        seed: int | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """A column of the time series of one run, with a line for each flow or queue that has it. `names` chooses some
        of them, `seed` the run; by default the first. Of a sweep, the first point is shown."""
        series = self._results.series
        if len(series) == 0:
            raise ValueError('the runs have no time series: run with set={"sample": "100ms"}')
        time, name, value, seeds = series["time"], series["name"], series[column], series["seed"]
        keys = [series[c] for c in series.columns[: series.columns.index("seed")]]
        seed = seeds[0] if seed is None else seed
        point = [key[0] for key in keys]
        lines: dict[str, list[tuple[float, float]]] = {}
        for i, v in enumerate(value):
            shown = seeds[i] == seed and [key[i] for key in keys] == point and (names is None or name[i] in names)
            if shown and v is not None:
                lines.setdefault(name[i], []).append((time[i], v))
        scale, unit = SHOWN.get(series.units.get(column, ""), (1.0, ""))
        ax = _axes(ax)
        for of, points in lines.items():
            ax.plot([t for t, _ in points], [v * scale for _, v in points], label=of)
        ax.set_xlabel("time (s)")
        ax.set_ylabel(f"{column} ({unit})" if unit else column)
        if len(lines) <= 12:
            ax.legend()
        return ax

    def flows(self, column: str = "goodput", ax: Axes | None = None) -> Axes:
        """A bar for each flow: the mean of a column over the runs of the first sweep point."""
        flows = self._results.flows
        keys = [flows[c] for c in flows.columns[: flows.columns.index("seed")]]
        names, values = flows["name"], flows[column]
        point = [key[0] for key in keys]
        bars: dict[str, list[float]] = {}
        for i, value in enumerate(values):
            if value is not None and [key[i] for key in keys] == point:
                bars.setdefault(names[i], []).append(value)
        scale, unit = SHOWN.get(flows.units.get(column, ""), (1.0, ""))
        ax = _axes(ax)
        ax.barh(list(bars), [sum(of) / len(of) * scale for of in bars.values()])
        ax.invert_yaxis()
        ax.set_xlabel(f"{column} ({unit})" if unit else column)
        return ax

    def air(self, ax: Axes | None = None) -> Axes:
        """The ledger of the air: a stacked bar for each sweep point, the mean over its runs, in shares of time."""
        air = self._results.air
        keys = air.columns[: air.columns.index("seed")]
        points = list(zip(*(air[key] for key in keys))) if keys else [()] * len(air)
        distinct = list(dict.fromkeys(points))
        label = [", ".join(f"{key} = {v}" for key, v in zip(keys, point)) or "all runs" for point in distinct]
        ax = _axes(ax)
        left = [0.0] * len(distinct)
        for account in (c for c in air.columns if c.startswith("ledger.")):
            values = air[account]
            shares = []
            for point in distinct:
                of = [v or 0.0 for v, p in zip(values, points) if p == point]
                shares.append(sum(of) / len(of))
            ax.barh(label, shares, left=left, label=account.removeprefix("ledger."))
            left = [a + b for a, b in zip(left, shares)]
        ax.invert_yaxis()
        ax.set_xlabel("share of time")
        ax.legend(ncols=2, fontsize="small")
        return ax


def _is_name(value: Any) -> bool:
    """True if the value has no place on a scale: "fifo", but not "20p", and no number."""
    return isinstance(value, bool) or (isinstance(value, str) and not re.match(r"[-+]?\.?\d", value))


def _beside(ax: Axes, names: list[Any], number: int, of: int) -> list[Any]:
    """The places of names on the axis, for line `number` of `of`: two names are 1 apart."""
    texts = [str(name) for name in names]
    # These methods of matplotlib have no types.
    untyped: Any = ax
    untyped.xaxis.update_units(texts)
    apart = min(0.15, 0.8 / of)
    return [at + apart * (number - (of - 1) / 2) for at in untyped.convert_xunits(texts)]


def _scaled(value: float | None, scale: float) -> float:
    return float("nan") if value is None else value * scale


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as err:
        raise ImportError("plots need matplotlib: pip install matplotlib") from err
    axes: Axes = pyplot.subplots(layout="constrained")[1]
    return axes
