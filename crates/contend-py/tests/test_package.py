"""The package: stub, closed forms, import time."""

import inspect
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


def test_the_import_takes_less_than_a_tenth_of_a_second():
    program = "import time; t = time.perf_counter(); import contend; print(time.perf_counter() - t)"
    best = min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(5))
    assert best < 0.1


def test_the_import_loads_no_other_package():
    program = "import sys, contend; print([m for m in ('numpy', 'pandas', 'pyarrow', 'tqdm') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"


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


def test_all_public_names_have_a_description():
    for name in contend.__all__:
        of = getattr(contend, name)
        assert name == "__version__" or of.__doc__, name
        if inspect.isclass(of):
            for member, value in vars(of).items():
                assert member.startswith("_") or value.__doc__, f"{name}.{member}"
