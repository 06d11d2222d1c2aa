"""Results: tables, verdicts, pages and plots."""

from __future__ import annotations

import html
import json
import os

from . import _contend


class Results:
    """The results of an experiment. Its tables go into pyarrow, pandas and polars by Arrow's PyCapsule interface."""

    def __init__(self, experiment, native):
        self._experiment, self._native = experiment, native

    @property
    def experiment(self):
        """The experiment with the settings of the call."""
        return self._experiment

    @property
    def summary(self):
        """Mean and 95 % interval of each metric at each sweep point: columns `metric`, `unit`, `n` (seeds), `mean`,
        `ci95` (half width), `low`, `high`. Before them, in every table, one column for each swept key."""
        return self._native.summary

    @property
    def runs(self):
        """One row for each run: seed, digest, and all metrics."""
        return self._native.runs

    @property
    def flows(self):
        """One row for each run and flow: goodput (bps), round-trip times and delays (s), losses, ..."""
        return self._native.flows

    @property
    def queues(self):
        """One row for each run and queue: drops and marks (packets), length (packets), delay (s), ..."""
        return self._native.queues

    @property
    def air(self):
        """One row for each run: frames, collisions, and the ledger of the air in shares of time."""
        return self._native.air

    @property
    def series(self):
        """One row for each run, each flow or queue (column `scope`), and each instant `time` (s). Empty unless the
        file or the call sets `sample`, like `set={"sample": "100ms"}`."""
        return self._native.series

    @property
    def notes(self):
        """Reasons to doubt the results, and values that could not be measured."""
        return self._native.notes

    @property
    def claims(self):
        """The claims of the file with their verdicts: a list of dictionaries."""
        return self.to_dict()["claims"]

    @property
    def checks(self):
        """The checks of the file with their answers: a list of dictionaries."""
        return self.to_dict()["checks"]

    def to_dict(self):
        """Everything but series, as the command prints it with `--format json`; docs/json.md describes it."""
        return json.loads(self._native.json())

    def report(self, path):
        """Writes the report to `path`: one page that opens without a network. Returns the path."""
        self._native.report(os.fspath(path))
        return path

    @property
    def plot(self):
        """Figures with matplotlib: `metric`, `series`, `flows`, `air`. Each returns the axes."""
        from ._plot import Plots

        return Plots(self)

    def __repr__(self):
        return self._native.text()

    def _repr_html_(self):
        return f"<pre>{html.escape(self._native.text())}</pre>"

    def __reduce__(self):
        return _unpickled, (self._experiment, self._native.journal())


def _unpickled(experiment, journal):
    # The runs are not made again; means and verdicts are computed from them.
    return Results(experiment, experiment._native.merge([journal]))


class Comparison:
    """The differences between two results. A positive difference: the second has more."""

    def __init__(self, native):
        self._native = native

    @property
    def differences(self):
        """For each sweep point and metric: means of both sides, difference with `ci95`, number of pairs."""
        return json.loads(self._native.json())["differences"]

    def report(self, path):
        """Writes the comparison to `path` as one page. Returns the path."""
        self._native.report(os.fspath(path))
        return path

    def __repr__(self):
        return self._native.text()

    def _repr_html_(self):
        return f"<pre>{html.escape(self._native.text())}</pre>"


def compare(a, b, metrics=None):
    """Compares two results, paired by sweep point and seed: with the same seed, flows and stations draw the same random
    numbers, so the difference is more exact than either side.

    `metrics`: a list like `["goodput.up", "jain"]`; by default those that the table of `a` shows.
    """
    metrics = [metrics] if isinstance(metrics, str) else metrics
    return Comparison(_contend.compare(a._native, b._native, None if metrics is None else list(metrics)))
