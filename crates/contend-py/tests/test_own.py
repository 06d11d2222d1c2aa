"""Own algorithms: controllers, queue disciplines and access rules in Python."""

import re
import subprocess
import sys
import traceback

import pytest
from conftest import ROOT

import contend


class PyReno(contend.Controller):
    """Reno, as RFC 5681 has it. A second sentence."""

    def on_ack(self, cx, w, ack):
        rest = w.slow_start(ack.acked) if w.in_slow_start else ack.acked
        if rest:
            w.additive_increase(w.cwnd, rest)

    def on_congestion(self, cx, w, ack, why):
        half = w.reduce_from // 2
        if why.kind != "timeout":
            return contend.Response.clamp(half, w)
        return contend.Response.restart(half) if why.nth <= 1 else contend.Response(w.ssthresh, 1)


class PyFifo(contend.Qdisc):
    """First in, first out."""

    limit = contend.param(100, "packets that may wait", low=1)

    def __init__(self):
        self.waiting = []

    def enqueue(self, cx, link, packet, sink):
        if len(self.waiting) < self.limit:
            self.waiting.append(packet)
        else:
            sink.drop(packet)

    def dequeue(self, cx, link, sink):
        return self.waiting.pop(0) if self.waiting else None


class PyDcf(contend.Access):
    """DCF."""

    def __init__(self):
        self.cw = self.cell.cw_min

    def draw(self, cx, why, seen):
        if why.kind == "failure":
            self.cw = min(2 * self.cw + 1, self.cell.cw_max)
        elif why.kind in ("success", "dropped"):
            self.cw = self.cell.cw_min
        return cx.randrange(self.cw + 1)


hotspot = contend.load("hotspot").with_settings(seeds="1..2", set={"duration": "12s"})


def digests(**settings):
    return [run["digest"] for run in hotspot.run(set=settings).to_dict()["runs"]]


@pytest.mark.parametrize("stack", ["linux", "rfc"])
def test_reno_in_python_is_reno(stack):
    def with_cc(cc):
        flow = {"kind": "newreno", "cc": cc}
        return digests(stack=stack, **{"flow.0.tcp": flow, "flow.1.tcp": flow})

    assert with_cc("py_reno") == with_cc({"kind": "reno", "abc": 0})


def test_a_fifo_in_python_is_a_fifo_and_dcf_is_dcf():
    plain = digests()
    assert digests(**{"ap.queue": {"kind": "py_fifo", "limit": 100}}) == plain
    assert digests(**{"wifi.access": "py_dcf"}) == plain
    assert digests(**{"ap.queue": {"kind": "py_fifo", "limit": 20}}) != plain


def test_results_say_that_python_was_used_and_what_it_cost():
    results = hotspot.run(set={"flow.0.tcp": "py_reno"})
    marks = [note for note in results.notes if "algorithms in Python made these runs (py_reno)" in note]
    price = [note for note in results.notes if note.startswith("Python was called ")]
    assert len(marks) == len(price) == 1 and marks[0] in results.to_dict()["warnings"] and marks[0][:40] in str(results)
    assert not [note for note in hotspot.run().notes if "Python" in note]


def test_the_price_is_told_once(tmp_path):
    program = tmp_path / "twice.py"
    program.write_text(
        "import contend\n"
        "class Fixed(contend.Access):\n"
        "    def draw(self, cx, why, seen): return 9\n"
        "for _ in range(2): contend.load('hotspot').run(seeds='1', set={'duration': '6s', 'wifi.access': 'fixed'})\n"
    )
    told = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True).stderr
    assert told.count("contend: Python was called ") == 1, told


def test_the_guide_runs(monkeypatch):
    monkeypatch.setattr("builtins.print", lambda *_: None)
    names = {"__name__": "guide"}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs/own-algorithms.md").read_text(), re.S):
        exec(block, names)
    assert names["results"].flows.filter({"flow.down.tcp": "gentle"})


def test_own_names_are_listed_and_explained_with_their_parameters():
    assert contend.list("controllers")["py_reno"] == "Reno, as RFC 5681 has it"
    text = contend.explain("py_fifo")
    assert "packets that may wait" in text and "default 100" in text and "test_own.PyFifo, in Python" in text


def test_parameters_have_the_units_of_their_defaults():
    seen = []

    class Told(PyReno):
        share = contend.param("25%", "a share", low=0, high=1)
        wait = contend.param("15ms", "a time")
        speed = contend.param("5Mbps", "a rate")
        number = contend.param(0.5, "a number")
        on = contend.param(True, "a flag")

        def __init__(self):
            seen.append((self.share, self.wait, self.speed, self.number, self.on))

    hotspot.run(seeds="1", set={"flow.1.tcp": {"cc": {"kind": "told", "wait": "1s", "number": 2, "on": False}}})
    assert set(seen) == {(0.25, 1.0, 5_000_000, 2.0, False)}
    with pytest.raises(contend.Error, match="share"):
        hotspot.run(set={"flow.1.tcp": {"cc": {"kind": "told", "share": 2}}})
    with pytest.raises(contend.Error, match="the default of `wait` is 'soon'|the default of `wait` is \"soon\""):

        class Wrong(PyReno):
            wait = contend.param("soon", "a time")


def test_a_parameter_without_bounds_says_so():
    class Free(PyReno):
        """Bounds on one side, or on none."""

        any = contend.param(0.5, "any number")
        least = contend.param(3, "a number", low=1)
        most = contend.param("15ms", "a time", high=2)

    text = contend.explain(Free)
    assert text == contend.explain("free") and "Bounds on one side" in text
    for line in ("any value (number), default 0.5", "1 or more (whole number), default 3", "2 or less s, written like"):
        assert line in text, text

    def load(**values):
        return contend.load("hotspot", set={"flow.1.tcp": {"cc": {"kind": "free", **values}}})

    load(any=-1e300, least=10**15, most="1s")
    wrong_values = [({"least": 0}, "at least 1"), ({"most": "3s"}, "at most 2s"), ({"least": 1e17}, "at most 9007")]
    for wrong, remedy in wrong_values:
        with pytest.raises(contend.Error) as caught:
            load(**wrong)
        assert remedy in caught.value.remedy


def test_a_name_is_explained_as_the_class_before_all_else():
    class Gentle(PyReno):
        """Reno that keeps a larger share of its window."""

    text = contend.explain("gentle")
    assert text.startswith("gentle (controllers)\n\n  Reno that keeps a larger share")
    assert "also a parameter of red (qdiscs)\n" in text and "max_p" not in text
    with pytest.raises(TypeError, match="the class of an own algorithm, not 42"):
        contend.explain(42)
    # Where the name is a parameter's alone, its meaning is there.
    assert "a parameter of pie (qdiscs): " in contend.explain("target")


def test_a_class_may_be_declared_again():
    def declared(slots):
        class Fixed(contend.Access):
            def draw(self, cx, why, seen):
                return slots

        return digests(**{"wifi.access": "fixed"})

    assert declared(5) == declared(5) != declared(9)


def test_an_exception_stops_the_run_with_the_users_line():
    class Fails(PyReno):
        def on_ack(self, cx, w, ack):
            if cx.now > 2:
                self.nosuch += 1
            super().on_ack(cx, w, ack)

    with pytest.raises(AttributeError, match="nosuch") as caught:
        hotspot.run(set={"flow.0.tcp": "fails", "duration": "10000s"})
    text = "".join(traceback.format_exception(caught.value))
    assert "self.nosuch += 1" in text and "test_own.py" in text
    assert any("s of the simulation" in note for note in getattr(caught.value, "__notes__", ["s of the simulation"]))
    # What comes after is not touched.
    assert len(digests()) == 2


@pytest.mark.parametrize(
    "method, body, message",
    [
        ("on_congestion", lambda self, cx, w, ack, why: None, "must return a contend.Response, not None"),
        ("on_ack", lambda self, cx, w, ack: setattr(w, "cwnd", 0), "a window has at least 1 segment"),
        ("on_ack", lambda self, cx, w, ack: setattr(w, "cwnd", -3), None),
        ("on_ack", lambda self, cx, w, ack: setattr(w, "cwn", 3), None),
        ("needs", lambda self: 5, None),
    ],
)
def test_wrong_answers_of_a_controller(method, body, message):
    type("Odd", (PyReno,), {method: body})
    with pytest.raises((TypeError, ValueError, OverflowError, AttributeError), match=message):
        hotspot.run(set={"flow.0.tcp": "odd"})


@pytest.mark.parametrize(
    "method, body, message",
    [
        ("enqueue", lambda self, cx, link, packet, sink: None, "returned None although 1 packets wait"),
        ("dequeue", lambda self, cx, link, sink: 5, "must return a packet or None, not 5"),
        ("dequeue", lambda self, cx, link, sink: (self.waiting or [None])[0], "leaves or is dropped once"),
        ("enqueue", lambda self, cx, link, packet, sink: [sink.drop(packet), sink.drop(packet)], "dropped once"),
        ("enqueue", lambda self, cx, link, packet, sink: sink.drop(packet, "late"), "use \"full\", \"early\""),
    ],
)
def test_wrong_answers_of_a_discipline(method, body, message):
    type("OddQueue", (PyFifo,), {method: body})
    with pytest.raises((TypeError, ValueError), match=message):
        hotspot.run(set={"ap.queue": "odd_queue"})


def test_wrong_answers_of_an_access_rule():
    for name, method, body in [
        ("Far", "draw", lambda self, cx, why, seen: 2_000_000),
        ("Odd1", "residue", lambda self: "never"),
        ("Odd2", "draw", lambda self, cx, why, seen: -1),
    ]:
        type(name, (PyDcf,), {method: body})
        with pytest.raises((ValueError, OverflowError)):
            hotspot.run(set={"wifi.access": name.lower()})


def test_a_discipline_that_holds_packets_back_hears_the_air_and_marks():
    heard = []

    class Late(PyFifo):
        """Each packet waits 5 ms."""

        def dequeue(self, cx, link, sink):
            due = self.waiting and self.waiting[0].queued + 0.005 <= cx.now + 1e-9
            self.at = None if due or not self.waiting else self.waiting[0].queued + 0.005
            return self.waiting.pop(0) if due else None

        at = None

        def next_deadline(self):
            return self.at

        def enqueue(self, cx, link, packet, sink):
            assert packet.size >= 40 and packet.neighbour >= 1 and packet.exchange > 0 and link.slot > 0
            sink.mark(packet)
            super().enqueue(cx, link, packet, sink)

        def on_air(self, report):
            heard.append(report.airtime)

    slow = hotspot.run(seeds="1", set={"ap.queue": "late"})
    rows = list(slow.queues.filter(name="ap").rows())
    assert heard and all(row["delay.p50"] >= 0.005 for row in rows if "delay.p50" in row)


def test_names_of_contend_are_refused():
    for name in ("reno", "newreno", "Reno2", "my-cc"):
        with pytest.raises(contend.Error):

            class Named(PyReno, name=name):
                pass

    # A name that was refused takes none of the 64 places.
    for i in range(70):
        with pytest.raises(contend.Error, match="cannot be the name"):

            class Refused(PyReno, name=f"my-{i}"):
                pass

    with pytest.raises(TypeError, match="has no method on_congestion, which every Controller needs"):

        class Half(contend.Controller):
            def on_ack(self, cx, w, ack):
                pass
