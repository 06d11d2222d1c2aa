"""Scorecards: a controller or an access point in the tests of the field."""

from __future__ import annotations

import datetime
import html
import json
import os
from pathlib import Path
from typing import Any

from . import _contend
from ._experiment import Seeds, _Bar, _seeds
from ._own import Controller, Qdisc


class Scorecard:
    """Which tests of a suite a subject passes. There is no total and no grade."""

    def __init__(self, native: _contend.Scorecard) -> None:
        self._native = native
        self._date = datetime.date.today().isoformat()
        self._object: dict[str, Any] = json.loads(native.json())

    @property
    def suite(self) -> str:
        """The name of the suite: "cc-1"."""
        suite: str = self._object["suite"]
        return suite

    @property
    def counts(self) -> dict[str, int]:
        """The number of tests with each verdict: "pass", "fail", "not decided", "shown", "not applicable" and "not
        simulated"."""
        counts: dict[str, int] = self._object["counts"]
        return counts

    @property
    def tests(self) -> list[dict[str, Any]]:
        """The tests as in the JSON object: `id`, `verdict`, `checks`, `cite`, ...; those that fail come first."""
        tests: list[dict[str, Any]] = self._object["tests"]
        return tests

    @property
    def passes(self) -> bool:
        """True if no test fails and none is not decided."""
        return self._native.is_clean

    @property
    def citation(self) -> str:
        """How to cite the scorecard, on one line."""
        return self._native.citation(self._date)

    @property
    def bibtex(self) -> str:
        """How to cite the scorecard, for BibTeX."""
        return self._native.bibtex(self._date)

    def json(self) -> dict[str, Any]:
        """The whole scorecard, schema `contend/evaluate/1`."""
        return self._object

    def markdown(self) -> str:
        """The scorecard as Markdown."""
        return self._native.markdown()

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the scorecard to `path` as one page that opens without a network. Returns the path."""
        self._native.page(os.fspath(path), self._date)
        return Path(path)

    def __str__(self) -> str:
        return self._native.table(100)

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {verdict}" for verdict, n in self.counts.items() if n)
        return f"<contend scorecard of {self._object['subject']['name']!r} under {self.suite}: {counts}>"

    def _repr_html_(self) -> str:
        text = html.escape(self._native.html(self._date))
        return f'<iframe srcdoc="{text}" style="width:100%;height:48rem;border:0" title="contend"></iframe>'


def evaluate(
    test: str | None = None,
    *,
    cc: str | type[Controller] | None = None,
    ap: str | type[Qdisc] | None = None,
    ap_file: str | os.PathLike[str] | None = None,
    suites: str | os.PathLike[str] | None = None,
    full: bool = False,
    strict: bool = False,
    seeds: Seeds | None = None,
    decide: int | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Scorecard:
    """Puts a congestion controller (`cc`), a queue discipline (`ap`) or the table [ap] of a file (`ap_file`) through
    the tests of the field, as `contend evaluate` does.

    `cc`, `ap`: a name, perhaps with parameters as in "cubic { beta_1024 = 600 }", or a class of yours.
    `test`: one test, "standard" or "cc-1/standard", or a suite, "cc-1"; by default all tests of the newest suite.
    `suites`: a folder of suites; by default those inside this package.
    `full`: the tests of every tier, with up to 100 seeds. `strict`: all checks together are judged with 95 %.
    `seeds`, `decide`, `jobs`, `progress`: as in `Experiment.run`.
    """
    given = [(kind, of) for kind, of in (("cc", cc), ("ap", ap), ("ap-file", ap_file)) if of is not None]
    if len(given) != 1:
        raise TypeError("a scorecard has one subject: give one of cc, ap and ap_file")
    if jobs is not None and not 1 <= jobs <= 1024:
        raise ValueError("jobs must be a whole number from 1 to 1024, the number of runs at the same time")
    ((kind, subject),) = given
    name = subject._name if isinstance(subject, type) else os.fspath(subject)
    bar = _Bar(f"evaluate {name}", progress)
    try:
        native = _contend.evaluate(
            kind,
            name,
            test,
            suites,
            full,
            strict,
            None if seeds is None else _seeds(seeds),
            None if decide is None else str(decide),
            jobs or 0,
            bar.show,
        )
    finally:
        bar.close()
    return Scorecard(native)
