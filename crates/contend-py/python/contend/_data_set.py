"""Results of a large sweep: Parquet files in a folder, read as far as they are needed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars
    import pyarrow.dataset

# What a folder may hold: the tables of `Results`.
TABLES = ("summary", "runs", "flows", "queues", "air", "series")
_ABOUT = "data-set.json"


def whole(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all."""
    beside = path.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(path)


class DataSet:
    """The results of `Experiment.collect`: for each table a folder of Parquet files, one for each part of the points.

    `data.scan("flows")` is a lazy frame of polars, `data.dataset("flows")` a data set of pyarrow; both read what a
    query needs. Anything that reads Parquet takes the files: `data.files("flows")`.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            about = json.loads((self.folder / _ABOUT).read_text())
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.folder} holds no results of Experiment.collect: there is no {_ABOUT}"
            ) from None
        self.title: str = about["title"]
        self.parts: int = about["parts"]
        self.tables: tuple[str, ...] = tuple(about["tables"])
        self._digest: str = about["experiment"]

    @classmethod
    def begin(
        cls,
        folder: Path,
        title: str,
        experiment: tuple[str, str, list[tuple[str, str]]],
        parts: int,
        tables: Iterable[str],
    ) -> DataSet:
        """The folder for the results of this experiment, with what an earlier call has made."""
        # The rows of "runs" are written last: they tell that a part is whole.
        chosen = tuple(dict.fromkeys([*(name for name in tables if name != "runs"), "runs"]))
        for name in chosen:
            if name not in TABLES:
                raise ValueError(f"there is no table {name!r}; use some of {', '.join(TABLES)}")
        digest = hashlib.sha256(json.dumps(experiment).encode()).hexdigest()
        if (folder / _ABOUT).exists():
            data = cls(folder)
            if (data._digest, data.parts, data.tables) != (digest, parts, chosen):
                raise ValueError(f"{folder} holds the results of another call; give another folder, or remove it")
            return data
        for name in chosen:
            (folder / name).mkdir(parents=True, exist_ok=True)
        about = {"title": title, "parts": parts, "tables": chosen, "experiment": digest}
        whole(folder / _ABOUT, json.dumps(about, indent=2).encode())
        return cls(folder)

    def _path(self, table: str, number: int) -> Path:
        return self.folder / table / f"part-{number:05}.parquet"

    def put(self, number: int, made: Mapping[str, bytes]) -> None:
        """Keeps the tables of part `number`."""
        for table in self.tables:
            if table in made:
                whole(self._path(table, number), made[table])

    @property
    def missing(self) -> list[int]:
        """The numbers of the parts that were not made yet."""
        return [n for n in range(1, self.parts + 1) if not self._path("runs", n).exists()]

    def files(self, table: str) -> list[Path]:
        """The Parquet files of a table, in the order of the parts."""
        if table not in self.tables:
            raise KeyError(f"there is no table {table!r}; this folder has {', '.join(self.tables)}")
        # A part that was stopped may have files, too; only whole parts count.
        whole = (n for n in range(1, self.parts + 1) if self._path("runs", n).exists())
        return [path for path in (self._path(table, n) for n in whole) if path.exists()]

    def scan(self, table: str) -> polars.LazyFrame:
        """A table as a `polars.LazyFrame`, which reads the columns and rows that a query needs; needs polars."""
        import polars

        return polars.concat([polars.scan_parquet(path) for path in self.files(table)], how="diagonal_relaxed")

    def dataset(self, table: str) -> pyarrow.dataset.Dataset:
        """A table as a `pyarrow.dataset.Dataset`; needs pyarrow."""
        import pyarrow
        import pyarrow.dataset
        import pyarrow.parquet

        files = self.files(table)
        schemas = [pyarrow.parquet.read_schema(path) for path in files]
        schema = pyarrow.unify_schemas(schemas, promote_options="permissive").remove_metadata()
        return pyarrow.dataset.dataset([str(path) for path in files], format="parquet", schema=schema)

    def __repr__(self) -> str:
        made = self.parts - len(self.missing)
        return f"<contend data set {self.title!r}: {made} of {self.parts} parts; {', '.join(self.tables)}>"


def scan(folder: str | os.PathLike[str]) -> DataSet:
    """The results that `Experiment.collect` has made in `folder`."""
    return DataSet(folder)
