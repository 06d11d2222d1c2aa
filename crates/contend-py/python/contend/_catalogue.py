"""What there is: the names of experiment files, and what each means."""

from __future__ import annotations

import builtins
from typing import overload

from . import _contend
from ._own import _Own


class Text(str):
    """A text that a notebook or the prompt shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def explain(name: str | type[_Own]) -> Text:
    """What `name` means: an algorithm, a metric, a key or table of experiment files, a function, a closed form. The
    same text as `contend explain NAME`. An own algorithm is also explained by its class."""
    asked = name if isinstance(name, str) else getattr(name, "_name", None)
    if not asked:
        raise TypeError(f"explain takes a name or the class of an own algorithm, not {name!r}")
    return Text(_contend.explain(asked))


@overload
def list(family: None = None) -> dict[str, builtins.list[str]]: ...
@overload
def list(family: str) -> dict[str, str]: ...
def list(family: str | None = None) -> dict[str, builtins.list[str]] | dict[str, str]:
    """The names of experiment files, as `contend list` has them.

    Without an argument: a dictionary from each family ("qdiscs", "metrics", ...) to its names. With a family: from its
    names to a phrase for each. `explain(name)` says more.
    """
    families = dict(_contend.catalogue())
    if family is None:
        return {of: [name for name, _ in names] for of, names in families.items()}
    if family not in families:
        raise ValueError(f"there is no family {family!r}; use one of {', '.join(families)}")
    return dict(families[family])
