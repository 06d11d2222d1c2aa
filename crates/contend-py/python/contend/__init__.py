"""contend: what happens to TCP when it contends for the air, and what to change.

    import contend

    hotspot = contend.load("hotspot")                   # an example, a path, or the text of a file
    results = hotspot.run(seeds="1..5", set={"ap.queue": "fq_codel"})
    print(results)                                      # means with 95 % intervals
    results.flows.to_pandas()                           # also summary, runs, queues, air, series

The engine is that of the command `contend`: the same file, settings and seed give the same digest.
Numbers are in base units: seconds, bits per second, bytes, packets.
"""

from typing import TYPE_CHECKING, Any

from ._catalogue import explain
from ._catalogue import list as list
from ._contend import (
    Ack,
    AirReport,
    Cell,
    Cx,
    Draw,
    Error,
    Link,
    Needs,
    Packet,
    RateSample,
    Response,
    Seen,
    Signal,
    Sink,
    Window,
    __version__,
    examples,
)
from ._data_set import DataSet, scan
from ._evaluate import Scorecard, evaluate
from ._experiment import Experiment, load, reproduce
from ._own import Access, Controller, Qdisc, param
from ._results import Comparison, Concatenation, Figure, Page, Results, compare, concat
from ._table import Table

if TYPE_CHECKING:
    from . import model

# `list` is not among these names: `from contend import *` must not hide Python's.
__all__ = [
    "Access",
    "Ack",
    "AirReport",
    "Cell",
    "Comparison",
    "Concatenation",
    "Controller",
    "Cx",
    "DataSet",
    "Draw",
    "Error",
    "Experiment",
    "Figure",
    "Link",
    "Needs",
    "Packet",
    "Page",
    "Qdisc",
    "RateSample",
    "Response",
    "Results",
    "Scorecard",
    "Seen",
    "Signal",
    "Sink",
    "Table",
    "Window",
    "__version__",
    "compare",
    "concat",
    "evaluate",
    "explain",
    "load",
    "model",
    "param",
    "reproduce",
    "scan",
    "examples",
]


def __getattr__(name: str) -> Any:
    # The closed forms are made from a table; only those who use them wait for it.
    if name == "model":
        import importlib

        return importlib.import_module("contend.model")
    raise AttributeError(f"module 'contend' has no attribute {name!r}")
