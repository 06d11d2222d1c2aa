"""Searches over the keys of a file, by Optuna.

    from contend.search import Search, whole, choice

    search = Search(
        "hotspot",
        keys={"ap.queue.limit": whole(5, 500, unit="p", log=True), "ap.control": choice(["none", "fcwa"])},
        minimize="queue.length[ap]",
        within={"goodput.total": (20e6, None)},
        seeds="1..5",
    )
    search.run(trials=40)
    print(search.best)

Each trial is judged with the same seeds, so settings are compared and not luck. A trial that falls behind with its
first seeds is given up. With `storage` a search goes on where it was stopped. Needs optuna. The command searches for a
threshold of one key: `[search]` in a file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Union

import optuna

from ._experiment import Experiment, Seeds, Value, load

optuna.logging.set_verbosity(optuna.logging.WARNING)


class Range:
    """What a key may have."""

    def __init__(self, kind: str, values: tuple[Any, ...], unit: str, log: bool) -> None:
        self.kind, self.values, self.unit, self.log = kind, values, unit, log

    def suggest(self, trial: optuna.Trial, key: str) -> Value:
        """A value for this trial."""
        if self.kind == "choice":
            texts = [json.dumps(value) for value in self.values]
            chosen: Value = json.loads(trial.suggest_categorical(key, texts))
            return chosen
        low, high = self.values
        if self.kind == "whole":
            return self.text(trial.suggest_int(key, low, high, log=self.log))
        return self.text(trial.suggest_float(key, low, high, log=self.log))

    def text(self, number: float) -> Value:
        """A number with its unit, as a file has it."""
        return f"{number}{self.unit}" if self.unit else number

    def __repr__(self) -> str:
        return f"{self.kind}{self.values}{self.unit}{' log' if self.log else ''}"


def whole(low: int, high: int, *, unit: str = "", log: bool = False) -> Range:
    """A whole number from `low` to `high`, in this unit: `whole(5, 500, unit="p")`. `log`: on a logarithmic scale."""
    return Range("whole", (low, high), unit, log)


def number(low: float, high: float, *, unit: str = "", log: bool = False) -> Range:
    """A number from `low` to `high`: `number(1, 20, unit="ms")`."""
    return Range("number", (low, high), unit, log)


def choice(values: Iterable[Value]) -> Range:
    """One of these values: `choice(["fifo", "fq_codel", {"kind": "codel", "target": "5ms"}])`."""
    return Range("choice", tuple(values), "", False)


class Search:
    """A search for the best values of some keys.

    `keys`: from key to `whole`, `number` or `choice`. `minimize`, `maximize`: a metric or several; with several
    objectives `front` has the trials that none beats in all of them. `within`: from a metric to the least and the
    largest mean that is allowed, in base units; None for no bound. `seeds`: those of every trial. `storage`: a database
    of Optuna, like "sqlite:///search.db"; the same search goes on there. `sampler_seed` decides what is tried.
    """

    def __init__(
        self,
        experiment: Experiment | str | os.PathLike[str],
        keys: Mapping[str, Range],
        minimize: Union[str, Iterable[str]] = (),
        maximize: Union[str, Iterable[str]] = (),
        within: Mapping[str, tuple[float | None, float | None]] | None = None,
        seeds: Seeds = "1..5",
        set: Mapping[str, Value] | None = None,
        storage: str | None = None,
        prune: bool = True,
        sampler_seed: int = 1,
    ) -> None:
        least = [minimize] if isinstance(minimize, str) else list(minimize)
        most = [maximize] if isinstance(maximize, str) else list(maximize)
        self.objectives: list[tuple[str, Literal["minimize", "maximize"]]] = [
            *((metric, "minimize") for metric in least),
            *((metric, "maximize") for metric in most),
        ]
        if not self.objectives:
            raise ValueError("a search needs something to minimize or to maximize, like minimize=\"delay.p95\"")
        if not keys:
            raise ValueError("a search needs keys, like {\"ap.queue.limit\": whole(5, 500, unit=\"p\")}")
        self.keys, self.within = dict(keys), dict(within or {})
        self.metrics = list(dict.fromkeys([*(metric for metric, _ in self.objectives), *self.within]))
        base = experiment if isinstance(experiment, Experiment) else load(experiment)
        self.experiment = base.with_settings(seeds=seeds, set=set, show=self.metrics)
        if self.experiment.points != 1:
            raise ValueError(f"the experiment has {self.experiment.points} points; set its swept keys, or search them")
        self._prune = prune and len(self.objectives) == 1
        about = [self.experiment._text, self.experiment._settings, repr(self.keys), self.objectives, repr(self.within)]
        self.study = optuna.create_study(
            study_name=hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16],
            storage=storage,
            load_if_exists=True,
            directions=[direction for _, direction in self.objectives],
            sampler=_sampler(sampler_seed),
            pruner=optuna.pruners.MedianPruner(n_startup_trials=5) if self._prune else optuna.pruners.NopPruner(),
        )
        done = len(self.study.trials)
        if done:
            # What is tried depends on chance: a search that goes on must not repeat its beginning.
            self.study.sampler = _sampler(sampler_seed + done)

    def run(self, trials: int = 40) -> Search:
        """Makes trials until there are `trials`, those of an earlier call included."""
        left = trials - len(self.study.trials)
        if left > 0:
            self.study.optimize(self._tried, n_trials=left)
        return self

    def _tried(self, trial: optuna.Trial) -> tuple[float, ...]:
        settings = {key: of.suggest(trial, key) for key, of in self.keys.items()}
        means = self._known(settings)
        if not means:
            means = self._measured(trial, settings)
        trial.set_user_attr("means", means)
        trial.set_user_attr("settings", settings)
        for metric, (low, high) in self.within.items():
            if low is not None:
                trial.set_constraint(f"{metric} at least", low - means[metric])
            if high is not None:
                trial.set_constraint(f"{metric} at most", means[metric] - high)
        return tuple(means[metric] for metric, _ in self.objectives)

    def _known(self, settings: dict[str, Value]) -> dict[str, float]:
        """The means of a finished trial with these settings: the same seeds would give the same again."""
        for trial in self.study.trials:
            if trial.values and trial.user_attrs.get("settings") == settings:
                means: dict[str, float] = trial.user_attrs["means"]
                return means
        return {}

    def _measured(self, trial: optuna.Trial, settings: dict[str, Value]) -> dict[str, float]:
        """The mean of each metric over the seeds. A trial that falls behind is given up."""
        seeds, means = self.experiment.seeds, dict[str, float]()
        at_once = os.cpu_count() or 1
        for done in range(0, len(seeds), at_once):
            some = seeds[done : done + at_once]
            results = self.experiment.run(seeds=some, set=settings, progress=False)
            for metric in self.metrics:
                values = [v for v in results.runs[metric] if v is not None]
                if len(values) < len(some):
                    raise ValueError(f"`{metric}` has no value in a run with {settings}")
                share = done / (done + len(some))
                means[metric] = means.get(metric, 0.0) * share + sum(values) / len(values) * (1 - share)
            if self._prune:
                trial.report(means[self.objectives[0][0]], done)
                if done + at_once < len(seeds) and trial.should_prune():
                    trial.set_user_attr("means", means)
                    raise optuna.TrialPruned()
        return means

    @property
    def front(self) -> list[dict[str, Any]]:
        """The trials that keep the bounds and that none beats in all objectives: their settings and means."""
        kept = [t for t in self.study.trials if t.state.is_finished() and t.values and _keeps(t)]
        sign = [1 if direction == "minimize" else -1 for _, direction in self.objectives]

        def beats(a: optuna.trial.FrozenTrial, b: optuna.trial.FrozenTrial) -> bool:
            pairs = [(s * x, s * y) for s, x, y in zip(sign, a.values, b.values)]
            return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)

        front = [t for t in kept if not any(beats(other, t) for other in kept)]
        each = {str(t.user_attrs["settings"]): t.user_attrs for t in front}
        return [{"settings": attrs["settings"], "means": attrs["means"]} for attrs in each.values()]

    @property
    def best(self) -> dict[str, Any]:
        """The settings and means of the best trial that keeps the bounds. Of several objectives, the first decides."""
        front = self.front
        if not front:
            raise ValueError("no trial keeps the bounds of `within`; make more trials, or give wider bounds")
        metric, direction = self.objectives[0]
        choose = min if direction == "minimize" else max
        return choose(front, key=lambda trial: trial["means"][metric])

    def __repr__(self) -> str:
        states = [trial.state.name for trial in self.study.trials]
        gone = states.count("PRUNED")
        return f"<contend search over {', '.join(self.keys)}: {len(states)} trials, {gone} given up early>"


def _sampler(seed: int) -> optuna.samplers.BaseSampler:
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=10, multivariate=True)


def _keeps(trial: optuna.trial.FrozenTrial) -> bool:
    return all(v <= 0 for v in trial.constraints.values())
