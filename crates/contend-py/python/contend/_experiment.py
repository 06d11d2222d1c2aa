"""Experiments: from a name, a path or a text to runs."""

from __future__ import annotations

import json
import operator
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Union

from . import _contend
from ._data_set import DataSet, whole
from ._own import tell_price
from ._results import Results

# What a key of a file may have: a quantity is a text with its unit, like "400p".
Value = Union[str, bool, int, float, Mapping[str, Any], Sequence[Any]]
# What seeds may be: "1..30", one number, several numbers, or a table of the file.
Seeds = Union[str, int, Iterable[int], Mapping[str, Any]]


class Executor(Protocol):
    """What makes tasks: the executors of `concurrent.futures`, Dask's `get_executor()`, those of submitit."""

    def submit(self, fn: Any, /, *args: Any) -> Any:
        """Begins a task that calls `fn`. What it returns has `result`, which waits for what `fn` returned."""


def load(
    source: str | os.PathLike[str],
    set: Mapping[str, Value] | None = None,
    sweep: Mapping[str, str | Iterable[Value]] | None = None,
) -> Experiment:
    """Reads an experiment.

    `source`: the name of an example (`contend.examples()` lists them), the path of a file, or the text of a file (a
    string with a line break or an equals sign). `set` and `sweep` are as in `Experiment.run`.

    Raises `contend.Error`, with the place and the remedy, if there is no such file or if it is wrong.
    """
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return Experiment("<text>", source, _settings(set, sweep))
    try:
        path = os.fspath(source)
    except TypeError:
        raise TypeError(f"load takes a name, a path or a text, not {source!r}") from None
    return Experiment(path, _contend.read(path), _settings(set, sweep))


class Experiment:
    """An experiment: the text of a file, and settings that replace its keys. It never changes."""

    def __init__(self, name: str, text: str, settings: Iterable[tuple[str, str]] = ()) -> None:
        self._name, self._text, self._settings = name, text, list(settings)
        self._native = _contend.Experiment(name, text, self._settings)

    @property
    def title(self) -> str:
        """The title of the file."""
        return self._native.title

    @property
    def cite(self) -> str:
        """The source of the experiment; may be empty."""
        return self._native.cite

    @property
    def notes(self) -> str:
        """The author's notes; may be empty."""
        return self._native.notes

    @property
    def text(self) -> str:
        """The text of the file, without settings."""
        return self._text

    @property
    def seeds(self) -> list[int]:
        """The seeds with which the runs of each sweep point begin."""
        return self._native.seeds

    @property
    def points(self) -> int:
        """The number of sweep points."""
        return self._native.points

    @property
    def command(self) -> str:
        """The call of the command that makes the same runs."""
        return self._native.command

    def with_settings(
        self,
        seeds: Seeds | None = None,
        set: Mapping[str, Value] | None = None,
        sweep: Mapping[str, str | Iterable[Value]] | None = None,
        show: str | Iterable[str] | None = None,
        decide: int | None = None,
    ) -> Experiment:
        """The same experiment with further settings; the arguments are those of `run`."""
        more = _changes(seeds, set, sweep, show, decide)
        return Experiment(self._name, self._text, self._settings + more) if more else self

    def run(
        self,
        seeds: Seeds | None = None,
        set: Mapping[str, Value] | None = None,
        sweep: Mapping[str, str | Iterable[Value]] | None = None,
        show: str | Iterable[str] | None = None,
        decide: int | None = None,
        jobs: int | None = None,
        progress: bool | None = None,
        executor: Executor | None = None,
        shards: int | None = None,
        keep: str | os.PathLike[str] | None = None,
    ) -> Results:
        """Runs every sweep point with every seed, and judges the claims and checks of the file.

        `seeds`: "1..30", one number, or several numbers, instead of those of the file.
        `set`: keys and values, as `{"ap.queue.limit": "400p", "flow.1.count": 4}`. Quantities have a unit.
        `sweep`: keys with several values, as `{"ap.queue": ["fifo", "fq_codel"]}`; all combinations are run.
        `show`: the metrics that tables show, as `["goodput.up", "delay.p99[call]"]`.
        `decide`: more seeds for undecided claims and checks, up to this number at each point.
        `jobs`: runs at the same time, 1 to 1024; by default one on each core.
        `progress`: True or False for a progress bar (with tqdm); by default in terminals and notebooks.
        `executor`: makes the runs elsewhere: anything with `submit` whose tasks have `result`, as the executors of
        `concurrent.futures`, `dask.distributed.Client(...).get_executor()`, and those of submitit. Each task makes one
        of `shards` parts of the runs (64, but no more than there are runs), on one core. What depends on all runs, like
        further seeds of `decide`, is made here afterwards, with `jobs`.
        `keep`: a folder in which finished parts are kept. The same call again makes only those that are missing. A
        folder with parts of another call is refused; without `shards` their number is that of the folder.

        Other Python threads run meanwhile. Ctrl-C stops the runs and raises `KeyboardInterrupt`. Raises
        `contend.Error` if a setting is wrong or the experiment is too large.
        """
        if jobs is not None and not 1 <= jobs <= 1024:
            raise ValueError("jobs must be a whole number from 1 to 1024, the number of runs at the same time")
        if executor is None and (shards is not None or keep is not None):
            raise ValueError("shards and keep need an executor")
        e = self.with_settings(seeds, set, sweep, show, decide)
        bar = _Bar(e.title, progress)
        try:
            if executor is None:
                native = e._native.run(jobs or 0, bar.show)
            else:
                native = e._native.merge(_parts(e, executor, shards, keep, bar), jobs or 0)
            tell_price(native.notes)
            return Results(e, native)
        finally:
            bar.close()

    def collect(
        self,
        folder: str | os.PathLike[str],
        seeds: Seeds | None = None,
        set: Mapping[str, Value] | None = None,
        sweep: Mapping[str, str | Iterable[Value]] | None = None,
        show: str | Iterable[str] | None = None,
        tables: Iterable[str] = ("summary", "runs", "flows"),
        executor: Executor | None = None,
        parts: int | None = None,
        jobs: int | None = None,
        progress: bool | None = None,
    ) -> DataSet:
        """Runs a sweep of any size into Parquet files, part by part, in the memory of one part.

        Each part has some of the points, all their seeds, and files of its own: `folder/flows/part-00001.parquet`. The
        same call again makes the parts that are missing. Claims and checks are not judged.

        `tables`: which tables of `Results` are kept; "runs" always is. `parts`: their number; by default about 1000
        runs in each. The other arguments are those of `run`. Without an executor the parts follow one after the other,
        each on all cores.
        """
        experiment = self._name, self._text, self._settings + _changes(seeds, set, sweep, show, None)
        points = _contend.Experiment.count(*experiment)
        of = parts if parts is not None else min(points, max(8, -(-points * len(self.seeds) // 1000)))
        if not 1 <= of <= points:
            raise ValueError(f"parts must be a whole number from 1 to {points}, the number of points")
        data = DataSet.begin(Path(folder), self.title, experiment, of, tables)
        bar = _Bar(self.title, progress)
        try:
            missing = data.missing
            arguments = [(experiment, number, of, data.tables) for number in missing]
            if executor is None:
                for done, (number, these) in enumerate(zip(missing, arguments), of - len(missing) + 1):
                    data.put(number, _collected(*these, jobs or 0))
                    bar.show(done, of)
            else:
                tasks = [executor.submit(_collected, *these) for these in arguments]
                _taken(tasks, lambda i, part: data.put(missing[i], part), bar)
        finally:
            bar.close()
        return data

    def __repr__(self) -> str:
        return f"<contend experiment {self.title!r}: {self.points} points, {len(self.seeds)} seeds>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Experiment, (self._name, self._text, self._settings)


def reproduce(
    what: str | None = None,
    papers: str | os.PathLike[str] | None = None,
    short: bool = False,
    set: Mapping[str, Value] | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> dict[str, Results]:
    """Runs the experiments of the papers and judges their claims. Returns a dictionary from names to results;
    `Results.claims` has the verdicts.

    `what`: a paper ("keceli-2008"), an experiment ("keceli-2008/m2-uploads"), or None for all. `papers`: their folder;
    None: the folder `papers` if it is here, else the papers inside this package. `short`: three seeds at most. The
    other arguments are those of `Experiment.run`.
    """
    found: dict[str, Experiment] = {}
    for name, path in _contend.experiments(papers, what):
        e = load(path, set=set)
        found[name] = e.with_settings(seeds=_contend.SHORT_SEEDS if short and e._native.is_shortened else None)
    return {name: e.run(jobs=jobs, progress=progress) for name, e in found.items()}


# How long to wait before tasks are asked again whether they have ended, in seconds.
_ASK = 0.05


def _ended(tasks: Sequence[Any]) -> Iterator[int]:
    """The numbers of the tasks in the order in which they end; None has ended. A task without `done` is waited for when
    all others have ended."""
    left = [(i, getattr(task, "done", None)) for i, task in enumerate(tasks)]
    while left:
        ended = [i for i, done in left if tasks[i] is None or (done is not None and done())]
        if not ended and not any(done for _, done in left):
            ended = [left[0][0]]
        yield from ended
        left = [(i, done) for i, done in left if i not in ended]
        if left and not ended:
            time.sleep(_ASK)


def _changes(
    seeds: Seeds | None,
    set: Mapping[str, Value] | None,
    sweep: Mapping[str, str | Iterable[Value]] | None,
    show: str | Iterable[str] | None,
    decide: int | None,
) -> list[tuple[str, str]]:
    """The settings of a call."""
    more = _settings(set, sweep)
    if seeds is not None:
        more.append(("seeds", _seeds(seeds)))
    if show is not None:
        shown = [show] if isinstance(show, str) else list(show)
        more.append(("show", json.dumps(shown)))
    if decide is not None:
        more.append(("decide", str(decide)))
    return more


def _taken(tasks: Sequence[Any], take: Callable[[int, Any], None], bar: _Bar) -> None:
    """Takes what tasks return, each as it ends; a task that is None has nothing to return. If one fails the others
    are taken nevertheless; then its error is raised."""
    failure: Exception | None = None
    place = None
    try:
        for done, i in enumerate(_ended(tasks), 1):
            if tasks[i] is not None:
                try:
                    take(i, tasks[i].result())
                except OSError:
                    # What was made cannot be kept: a full disk.
                    raise
                except Exception as error:
                    # A broken pool has the same error for each task; its traceback would grow with each.
                    if failure is None:
                        failure, place = error, error.__traceback__
            bar.show(done, len(tasks))
    except BaseException:
        for task in tasks:
            if hasattr(task, "cancel"):
                task.cancel()
        raise
    if failure:
        raise failure.with_traceback(place)


def _collected(
    experiment: tuple[str, str, list[tuple[str, str]]], number: int, of: int, tables: Sequence[str], jobs: int = 1
) -> dict[str, bytes]:
    """The tables of one part, as Parquet files."""
    results = _contend.Experiment.part(*experiment, number, of).run(jobs)
    made = {name: results.parquet(name) for name in tables}
    return {name: data for name, data in made.items() if data is not None}


def _parts(
    e: Experiment, executor: Executor, shards: int | None, keep: str | os.PathLike[str] | None, bar: _Bar
) -> list[bytes]:
    """The journals of all parts of the runs of `e`, made by `executor`."""
    runs = e.points * len(e.seeds)
    if shards is not None and not 1 <= int(shards) <= 1_000_000:
        raise ValueError("shards must be a whole number from 1 to 1000000")
    folder = None if keep is None else Path(keep)
    earlier = None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        earlier = _earlier(e, folder, shards)
    of = earlier or (min(runs, 64) if shards is None else int(shards))
    paths = [folder / f"part-{number}-of-{of}.jsonl" if folder else None for number in range(1, of + 1)]
    kept = [path.read_bytes() if path and path.exists() else b"" for path in paths]
    tasks: list[Any] = [
        None if part else executor.submit(_part, (e._name, e._text, e._settings), number, of)
        for number, part in enumerate(kept, 1)
    ]

    def take(i: int, part: bytes) -> None:
        kept[i], path = part, paths[i]
        if path:
            whole(path, part)

    _taken(tasks, take, bar)
    return kept


def _earlier(e: Experiment, folder: Path, shards: int | None) -> int | None:
    """Into how many parts an earlier call has split the runs of `e`, if `folder` has some of them. Raises
    `contend.Error` if they are those of another call."""
    parts: dict[int, int] = {}
    for path in sorted(folder.glob("part-*-of-*.jsonl")):
        of = path.stem.rpartition("-")[2]
        if not of.isdecimal():
            continue
        with path.open("rb") as file:
            unlike = e._native.unlike(file.readline())
        if unlike:
            raise _refused(
                f"{folder} keeps parts of another call: {path.name}: {unlike}",
                "give another folder with keep=, or remove this one",
            )
        parts[int(of)] = parts.get(int(of), 0) + 1
    if not parts or shards in parts:
        return shards if parts else None
    of_most = max(parts, key=lambda of: parts[of])
    if shards is None:
        return of_most
    raise _refused(
        f"{folder} keeps {parts[of_most]} of {of_most} parts, and shards={shards} asks for another number",
        f"leave shards out, or write shards={of_most}, to go on with them; else give another folder with keep=",
    )


def _refused(message: str, remedy: str) -> _contend.Error:
    error = _contend.Error(f"{message}\n  help: {remedy}")
    error.message, error.remedy = message, remedy
    error.file = error.line = error.column = None
    return error


def _part(experiment: tuple[str, str, list[tuple[str, str]]], number: int, of: int) -> bytes:
    """One part of the runs, as a task makes it."""
    return Experiment(*experiment)._native.shard(number, of, 1)


def _settings(
    set: Mapping[str, Value] | None, sweep: Mapping[str, str | Iterable[Value]] | None
) -> list[tuple[str, str]]:
    """Settings and sweeps as the command takes them: pairs of key and text."""
    pairs = [(f"sweep.{key}", _several(values)) for key, values in (sweep or {}).items()]
    return pairs + [(key, _value(value)) for key, value in (set or {}).items()]


def _several(values: str | Iterable[Value]) -> str:
    """The values of a sweep: a text like "1..5" or "fifo,fq_codel", or anything that can be iterated."""
    if isinstance(values, str):
        return values
    return ",".join(_quoted(value) if isinstance(value, str) and "," in value else _value(value) for value in values)


def _value(value: Any) -> str:
    """A value as `--set` takes it: a text is used as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_quoted(str(k))} = {_inner(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(_inner(v) for v in value) + "]"
    # Numbers of NumPy have `item`.
    return repr(value.item() if hasattr(value, "item") else value)


def _inner(value: Any) -> str:
    """A value inside a list or a table, where a text needs quotes."""
    return _quoted(value) if isinstance(value, str) else _value(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _seeds(seeds: Seeds) -> str:
    if isinstance(seeds, (str, Mapping)):
        return _value(seeds)
    return _value([_seed(seed) for seed in seeds]) if isinstance(seeds, Iterable) else str(_seed(seeds))


def _seed(seed: Any) -> int:
    try:
        # Whole numbers of NumPy, too.
        return operator.index(seed)
    except TypeError:
        remedy = 'write seeds="1..30", one whole number, or several'
        raise TypeError(f"seeds={seed!r}: a seed is a whole number; {remedy}") from None


class _Bar:
    """A progress bar of tqdm, if it is wanted and tqdm is there."""

    def __init__(self, title: str, wanted: bool | None) -> None:
        self._bar: Any = None
        if wanted is None:
            wanted = "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())
        if not wanted:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=0, desc=title, unit="run")

    def show(self, done: int, total: int) -> None:
        """Called with the numbers of finished and of all runs."""
        if self._bar is not None and (done, total) != (self._bar.n, self._bar.total):
            self._bar.n, self._bar.total = done, total
            self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
