"""The package: stub, closed forms, import time."""

import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import contend


def test_the_stub_is_that_of_the_module():
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "contend._contend"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def mypy(*arguments):
    folder = pathlib.Path(contend.__file__).parent.parent
    call = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *arguments]
    return subprocess.run(call, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(folder)})


def test_the_package_is_typed():
    done = mypy("-p", "contend")
    assert done.returncode == 0, done.stdout + done.stderr


def test_own_algorithms_can_be_annotated(tmp_path):
    (tmp_path / "own.py").write_text(
        "import contend\n"
        "class C(contend.Controller):\n"
        "    def on_ack(self, cx: contend.Cx, w: contend.Window, ack: contend.Ack) -> None: ...\n"
        "    def on_lost(self, cx: contend.Cx, w: contend.Window, lost: contend.RateSample) -> None: ...\n"
        "    def on_congestion(\n"
        "        self, cx: contend.Cx, w: contend.Window, ack: contend.Ack | None, why: contend.Signal\n"
        "    ) -> contend.Response:\n"
        "        return contend.Response.to(2)\n"
        "    def needs(self) -> contend.Needs:\n"
        "        return contend.Needs(rate=True)\n"
        "class Q(contend.Qdisc):\n"
        "    def enqueue(\n"
        "        self, cx: contend.Cx, link: contend.Link, packet: contend.Packet, sink: contend.Sink\n"
        "    ) -> None: ...\n"
        "    def dequeue(self, cx: contend.Cx, link: contend.Link, sink: contend.Sink) -> contend.Packet | None: ...\n"
        "    def on_air(self, report: contend.AirReport) -> None: ...\n"
        "class A(contend.Access):\n"
        "    def draw(self, cx: contend.Cx, why: contend.Draw, seen: contend.Seen) -> int:\n"
        "        cell: contend.Cell = self.cell\n"
        "        return cell.cw_min\n"
    )
    done = mypy("--strict", str(tmp_path / "own.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run([sys.executable, str(tmp_path / "own.py")], check=True)


def test_a_type_checker_finds_mistakes():
    file = pathlib.Path(__file__).with_name("mistakes.py")
    wrong = {n for n, line in enumerate(file.read_text().splitlines(), 1) if line.endswith("# wrong")}
    done = mypy(str(file))
    found = {int(n) for n in re.findall(r":(\d+): error:", done.stdout)}
    assert found == wrong and len(wrong) == 12, done.stdout + done.stderr


def test_the_types_of_closed_forms_are_those_of_the_table():
    call = [sys.executable, str(ROOT / "ci/model_stub.py")]
    made = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    assert made == (ROOT / "crates/contend-py/python/contend/model.pyi").read_text()


def test_the_import_loads_no_other_package():
    # Every script, and every process of a pool, waits for the import.
    program = """
import sys
before = set(sys.modules)
import contend
loaded = {name.split(".")[0] for name in set(sys.modules) - before}
print(sorted(loaded - sys.stdlib_module_names), sorted(loaded & {"asyncio", "unittest", "multiprocessing", "http"}))
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "['contend'] []"


def test_closed_forms_have_values_and_descriptions():
    # Padhye et al. 1998, eq. 32, with b = 1: below the window's limit.
    rate = contend.model.padhye.rate
    assert rate(p=0.01, rtt="100ms", t0="1s") == pytest.approx(rate(p="1%", rtt=0.1, t0=1.0))
    assert rate(p=0.04, rtt=0.1, t0=1) < rate(p=0.01, rtt=0.1, t0=1)
    assert "Source: " in rate.__doc__ and list(inspect.signature(rate).parameters)[:1] == ["p"]


def test_every_closed_form_is_a_function():
    for name, doc, *_ in contend._contend.models():
        of = contend.model
        for part in name.split("."):
            of = getattr(of, part)
        assert of.__doc__.startswith(doc)


def test_a_closed_form_refuses_wrong_arguments():
    rate = contend.model.padhye.rate
    with pytest.raises(TypeError, match="needs p"):
        rate(rtt=0.1, t0=1)
    with pytest.raises(contend.Error, match="p is out of range"):
        rate(p=2, rtt=0.1, t0=1)
    with pytest.raises(contend.Error, match="must be a duration"):
        rate(p=0.1, rtt="5Mbps", t0=1)
    with pytest.raises(contend.Error, match="no parameter `q`"):
        rate(p=0.1, rtt=0.1, t0=1, q=1)
    with pytest.raises(AttributeError):
        contend.nothing


def test_tables_of_closed_forms_are_those_of_the_command():
    tables = contend.model.tables
    asked = dict(stations=[1, 5], standard="802.11b", set={"slot": "9us", "cwmin": 15}, endless=True)
    call = "model bianchi --stations 1,5 --standard 802.11b --set slot=9us --set cwmin=15 --endless --json"
    done = subprocess.run([os.environ["CONTEND"], *call.split()], capture_output=True, text=True, check=True)
    assert tables.bianchi(**asked) == json.loads(done.stdout)["rows"] and len(tables.bianchi(**asked)) == 2
    assert tables.padhye(loss=0.01, rtt="100ms") == tables.padhye(loss="1%")
    for name in dir(tables):
        of = getattr(tables, name)
        # The options have their meaning and default, and without any there is a table.
        assert name.startswith("_") or (of() and "Returns a list" in of.__doc__ and of.__signature__.parameters), name
    with pytest.raises(TypeError, match="no option speed; use stations, "):
        tables.bianchi(speed=1)
    with pytest.raises(contend.Error, match="`x` is not a quantity"):
        tables.padhye(rtt="x")


def test_names_are_explained_and_listed_as_by_the_command():
    def command(*arguments):
        return subprocess.check_output([os.environ["CONTEND"], *arguments], text=True)

    assert contend.explain("fq_codel") == command("explain", "fq_codel") == repr(contend.explain("fq_codel"))
    assert set(contend.list()) >= {"qdiscs", "controllers", "metrics", "keys"}
    assert contend.list()["qdiscs"] == list(contend.list("qdiscs"))
    assert all(contend.explain(name) for family in ("qdiscs", "variants", "metrics") for name in contend.list(family))
    with pytest.raises(contend.Error, match="did you mean `cubic`"):
        contend.explain("cubicc")
    with pytest.raises(ValueError, match="no family 'qdisc'; use one of .*qdiscs"):
        contend.list("qdisc")


def test_the_package_has_the_command(tmp_path):
    def call(*arguments, status=0):
        words = [sys.executable, "-m", "contend", *arguments]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    def digests(text):
        return [run["digest"] for run in json.loads(text)["runs"]]

    options = ("run", "hotspot", "--seeds", "1..2", "--set", "duration=8s", "--format", "json")
    own = subprocess.run([os.environ["CONTEND"], *options, "--no-results"], capture_output=True, text=True, check=True)
    assert digests(call(*options, "--quiet")) == digests(own.stdout)
    # Its command line stands in the results folder: that of the command, not of Python.
    assert "contend run hotspot --seeds 1..2" in (tmp_path / "results/hotspot/run.toml").read_text()
    assert "'nosuch'" in call("nosuch", status=2)
    assert "Usage: contend" in call("--help")
    # The papers are inside.
    assert "keceli-2008/m1-downloads" in call("list", "experiments")
    assert 'duration = "' in call("new", "keceli-2008/m1-downloads")
    assert "no paper or experiment is called `nosuch`" in call("reproduce", "nosuch", status=2)


def test_papers_are_reproduced_outside_the_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = contend.reproduce("starzetz-2006/e11-effective-window", short=True)
    assert [name for name in found] == ["starzetz-2006/e11-effective-window"]
    assert all(claim["as_recorded"] for claim in found["starzetz-2006/e11-effective-window"].claims)
    with pytest.raises(contend.Error, match="there is no experiment in nosuch"):
        contend.reproduce(papers="nosuch")


def test_pyright_finds_nothing(tmp_path):
    folder = pathlib.Path(contend.__file__).parent.parent
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{folder}"], "typeCheckingMode": "standard"}}')
    (tmp_path / "user.py").write_text(
        "import contend\n"
        "r = contend.load('hotspot').run(seeds='1..2', set={'ap.queue': 'fifo'})\n"
        "x: list[float] = r.flows['goodput']\n"
        "y: float = contend.model.padhye.rate(p=0.1, rtt=0.1, t0=1)\n"
        "z: str = contend.model.tables.bianchi(stations=5)[0]['tau'] + contend.explain('reno')\n"
        "contend.load(5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "-p", str(tmp_path)], capture_output=True, text=True
    )
    errors = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    assert [d["range"]["start"]["line"] for d in errors] == [5], done.stdout


def test_all_public_names_have_a_description():
    for name in contend.__all__:
        of = getattr(contend, name)
        assert name == "__version__" or of.__doc__, name
        if inspect.isclass(of):
            for member, value in vars(of).items():
                assert member.startswith("_") or value.__doc__, f"{name}.{member}"
