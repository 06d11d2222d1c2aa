"""Own algorithms: classes with the methods of contend's traits, used in files by their names."""

from __future__ import annotations

import inspect
import math
import re
import sys
from typing import Any, ClassVar, TypeVar

from . import _contend
from ._contend import (
    Ack,
    AirReport,
    Cell,
    Cx,
    Draw,
    Link,
    Needs,
    Packet,
    RateSample,
    Response,
    Seen,
    Signal,
    Sink,
    Window,
)

_T = TypeVar("_T", bool, int, float, str)


class _Param:
    """A declared parameter; the object has the value of the file in its place."""

    def __init__(self, default: bool | int | float | str, doc: str, low: float, high: float) -> None:
        self.default, self.doc, self.low, self.high = default, doc, low, high


def param(default: _T, doc: str = "", *, low: float = -math.inf, high: float = math.inf) -> _T:
    """A parameter of an own algorithm, which files and `set` can change: `beta = contend.param(0.7, "share kept")`.

    The default also says what the parameter is: True or False, a whole number, a number, or a text with a unit: a time
    ("15ms"), a rate ("5Mbps") or a share ("1%"). In the object it is a number in base units (s, bit/s, 1). `low` and
    `high` are the smallest and largest value in base units; without them there is no bound.
    """
    declared: Any = _Param(default, doc, low, high)
    return declared  # type: ignore[no-any-return]


_told = False


def tell_price(notes: list[str]) -> None:
    """Says once in a process what own algorithms cost."""
    global _told
    price = next((note for note in notes if note.startswith("Python was called ")), None)
    if price and not _told:
        _told = True
        print(f"contend: {price}", file=sys.stderr)


class _Own:
    """What the bases of own algorithms share."""

    _family: ClassVar[str]
    # The name in files.
    _name: ClassVar[str] = ""
    # The methods of the subclass that replace one of its base.
    _methods: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, name: str | None = None, **other: Any) -> None:
        super().__init_subclass__(**other)
        if cls.__module__ == __name__:
            return
        base = next(c for c in cls.__mro__ if issubclass(c, _Own) and c.__module__ == __name__)
        cls._methods = frozenset(n for n in vars(base) if getattr(cls, n) is not getattr(base, n))
        for method in base._required:
            if method not in cls._methods:
                raise TypeError(f"{cls.__name__} has no method {method}, which every {base.__name__} needs")
        declared = {n: v for c in reversed(cls.__mro__) for n, v in vars(c).items() if isinstance(v, _Param)}
        params = [(n, p.doc or n, p.default, float(p.low), float(p.high)) for n, p in declared.items()]
        text = inspect.cleandoc(cls.__doc__ or "An algorithm in Python.").split("\n\n")[0].replace("\n", " ")
        name = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        cls._name = name
        _contend.add(cls._family, name, text, f"{cls.__module__}.{cls.__qualname__}, in Python", params, cls)

    _required: ClassVar[tuple[str, ...]] = ()


class Controller(_Own):
    """The congestion control of a flow, in Python.

        class Gentle(contend.Controller):
            \"\"\"Reno that keeps a larger share of its window.\"\"\"

            beta = contend.param(0.8, "share of the window that a loss leaves", low=0.1, high=1)

            def on_ack(self, cx, w, ack):
                rest = w.slow_start(ack.acked)
                w.additive_increase(w.cwnd, rest)

            def on_congestion(self, cx, w, ack, why):
                n = int(w.cwnd * self.beta)
                return contend.Response.restart(n) if why.kind == "timeout" else contend.Response.to(n)

    From then on `tcp = "gentle"` is a value in files and in `set`; `tcp = { cc = { kind = "gentle", beta = 0.5 } }`
    sets a parameter. `class Gentle(contend.Controller, name="g")` gives another name. Units: segments, microseconds,
    bytes per second. The methods are those of contend's own controllers; `on_ack` and `on_congestion` must be there.
    """

    _family = "controllers"
    _required = ("on_ack", "on_congestion")

    def on_start(self, w: Window) -> None:
        """Called once, before the first segment."""

    def on_ack(self, cx: Cx, w: Window, ack: Ack) -> None:
        """Called when an acknowledgment covers new data (with `Needs(full_control=True)`: for every one)."""

    def on_every_ack(self, cx: Cx, w: Window, ack: Ack) -> None:
        """Called for every acknowledgment, duplicates included, before all other processing."""

    def on_lost(self, cx: Cx, w: Window, lost: RateSample) -> None:
        """Called for each segment newly taken as lost, with `Needs(rate=True)`."""

    def on_congestion(self, cx: Cx, w: Window, ack: Ack | None, why: Signal) -> Response:
        """Answers a congestion signal with the new threshold and window. Called once for each signal."""
        raise NotImplementedError

    def on_recovered(self, cx: Cx, w: Window) -> None:
        """Called at the end of a reduction without a timeout."""

    def on_undo(self, w: Window) -> None:
        """Called when the last reduction for a loss was proved spurious; window and threshold are restored."""

    def on_restart(self, w: Window, now: float, idle: float) -> None:
        """Called when sending starts again at `now` after `idle` seconds with nothing in flight."""

    def needs(self) -> Needs:
        """What this controller requires from the stack."""
        return Needs()


class Qdisc(_Own):
    """A queue discipline, in Python: which packets wait at a transmitter, and in which order they leave.

        class Lifo(contend.Qdisc):
            \"\"\"Last in, first out.\"\"\"

            limit = contend.param(100, "packets that may wait", low=1)

            def __init__(self):
                self.stack = []

            def enqueue(self, cx, link, packet, sink):
                if len(self.stack) < self.limit:
                    self.stack.append(packet)
                else:
                    sink.drop(packet)

            def dequeue(self, cx, link, sink):
                return self.stack.pop() if self.stack else None

    From then on `queue = "lifo"` is a value in files and in `set`. Each packet leaves or is dropped once; contend
    counts what waits. Times are in seconds.
    """

    _family = "qdiscs"
    _required = ("enqueue", "dequeue")

    def enqueue(self, cx: Cx, link: Link, packet: Packet, sink: Sink) -> None:
        """Keeps `packet`, or drops it (or others) into `sink`."""

    def dequeue(self, cx: Cx, link: Link, sink: Sink) -> Packet | None:
        """The next packet to send; None if no packet waits, or (with `next_deadline`) none may leave yet."""
        raise NotImplementedError

    def next_deadline(self) -> float | None:
        """When to ask again after `dequeue` returned None although packets wait, in seconds; None: never."""
        return None

    def on_air(self, report: AirReport) -> None:
        """Called when an attempt to or from a station has ended; only at the access point."""


class Access(_Own):
    """A rule of medium access, in Python: how many slots a station waits before it tries to send.

        class Slow(contend.Access):
            \"\"\"A window that never doubles.\"\"\"

            window = contend.param(63, "slots to draw from", low=1)

            def draw(self, cx, why, seen):
                return cx.randrange(self.window + 1)

    From then on `access = "slow"` is a value in files and in `set`. `self.cell` has the windows of the standard, the
    number of stations and the like. What the methods below return is read once, when the rule is built.
    """

    _family = "access"
    _required = ("draw",)

    cell: Cell

    def draw(self, cx: Cx, why: Draw, seen: Seen) -> int:
        """The backoff, in slots, before the station's next attempt."""
        raise NotImplementedError

    def residue(self) -> str:
        """What happens to a backoff when another station was first: "keep", or "redraw"."""
        return "keep"

    def aifsn(self) -> int | None:
        """Slots after SIFS for which the medium must be idle (AIFSN); None for DIFS."""
        return None

    def txop(self) -> float:
        """How long a station may send after it has won the medium, in seconds; 0 for one frame."""
        return 0.0

    def busy(self) -> str:
        """Whether a busy slot counts as backoff: "cell" (as the file says), "frozen" or "boundary"."""
        return "cell"

    def reads(self) -> str:
        """What `draw` reads of `seen` besides the station's own attempts: "nothing", "contenders" or "channel"."""
        return "nothing"

    def whole_cell(self) -> bool:
        """True if the rule holds only where each station hears all others."""
        return False
