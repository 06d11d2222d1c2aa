"""Tables of results."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _contend

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    import xarray

    from ._results import Comparison, Results

# What names a row of each table, after the swept keys.
NAMES = {
    "summary": ("metric",),
    "runs": ("seed",),
    "flows": ("seed", "name"),
    "queues": ("seed", "name"),
    "air": ("seed",),
    "series": ("seed", "scope", "name", "time"),
    "differences": ("metric",),
}
# Rows that a notebook shows.
SHOWN = 20


class Table:
    """A table of results. pyarrow, pandas, polars and all that know Arrow's PyCapsule interface take it as it is;
    without any of them, `table["goodput"]` is a list and `table.rows()` are dictionaries."""

    def __init__(self, results: Results | Comparison, name: str, chosen: list[int] | None = None) -> None:
        self._results, self._name, self._chosen = results, name, chosen
        self._native: _contend.Table = getattr(results._native, name)

    @property
    def columns(self) -> list[str]:
        """The names of the columns: first the swept keys."""
        return self._native.columns

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one: s, bps, B, p (packets), or 1 (counts and shares)."""
        return self._native.units

    @property
    def keys(self) -> list[str]:
        """The columns that name a row: the swept keys, then what the table has a row for."""
        columns, names = self.columns, NAMES[self._name]
        return columns[: columns.index(names[0])] + [name for name in names if name in columns]

    def __len__(self) -> int:
        return len(self._native) if self._chosen is None else len(self._chosen)

    def __getitem__(self, column: str) -> list[Any]:
        """The values of a column."""
        values = self._native[column]
        return values if self._chosen is None else [values[i] for i in self._chosen]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, as dictionaries from column to value."""
        columns = self.columns
        for values in zip(*(self[column] for column in columns)):
            yield dict(zip(columns, values))

    def head(self, n: int = 5) -> Table:
        """The first `n` rows."""
        return self._of(list(range(min(n, len(self)))))

    def filter(
        self, where: Mapping[str, Any] | Callable[[dict[str, Any]], bool] | None = None, /, **equal: Any
    ) -> Table:
        """The rows with these values: `table.filter(name="up.1")`, `table.filter({"ap.queue.limit": "20p"})`, or those
        for which a function of the row is true: `table.filter(lambda row: row["goodput"] > 1e6)`."""
        test = where if callable(where) else None
        wanted = {**(where if isinstance(where, Mapping) else {}), **equal}
        for column in wanted:
            if column not in self.columns:
                raise KeyError(f"`{column}` is no column; the columns are {', '.join(self.columns)}")
        kept: Sequence[int] = range(len(self))
        for column, value in wanted.items():
            values = self[column]
            if isinstance(value, str) and values and not any(isinstance(v, str) for v in values):
                unit = self.units.get(column, "1")
                raise ValueError(f"{column}={value!r}: this column has numbers in {unit}, like {values[0]!r}")
            kept = [i for i in kept if values[i] == value]
        if test is not None:
            rows = list(self.rows())
            kept = [i for i in kept if test(rows[i])]
        return self._of(list(kept))

    def _of(self, places: list[int]) -> Table:
        chosen = places if self._chosen is None else [self._chosen[i] for i in places]
        return Table(self._results, self._name, chosen)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        if self._chosen is None:
            return self._native.__arrow_c_stream__(requested_schema)
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The table as a `pyarrow.Table`; needs pyarrow."""
        import pyarrow

        whole = pyarrow.table(self._native)
        return whole if self._chosen is None else whole.take(self._chosen)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a `pandas.DataFrame`; needs pandas and pyarrow."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The table as a `polars.DataFrame`; needs polars."""
        import polars

        return polars.DataFrame(self)

    def to_xarray(self) -> xarray.Dataset:
        """The table as an `xarray.Dataset` with a dimension for each of `keys`; needs xarray, pandas and pyarrow."""
        dataset: xarray.Dataset = self.to_pandas().set_index(self.keys).to_xarray()
        return dataset

    def __repr__(self) -> str:
        return f"<contend table {self._name}: {len(self)} rows; {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        units = self.units
        head = "".join(f"<th>{_cell(c)}<br><small>{_cell(units.get(c, ''))}</small></th>" for c in self.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>"
            for row in self.head(SHOWN).rows()
        )
        more = f"<caption>{len(self)} rows, the first {SHOWN} shown</caption>" if len(self) > SHOWN else ""
        return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self._results, self._name, self._chosen)


def _cell(value: object) -> str:
    """A value of an HTML table."""
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return html.escape(text)
