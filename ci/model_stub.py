"""Writes the types of the closed forms: crates/contend-py/python/contend/model.pyi, from the table that the package
reads. Call it with the Python that has the package: `python ci/model_stub.py > crates/contend-py/.../model.pyi`."""

from contend import _contend

HEAD = '''"""The closed forms, as `contend list models` has them. Made by ci/model_stub.py."""

from collections.abc import Iterable, Mapping
from typing import Any

# A number in base units (s, bps, B, packets), or a text with a unit like "20us".
_Argument = float | str
# Options of a calculator: a value or a list of values, and settings like {"slot": "20us"}.
_Values = float | str | Iterable[float | str] | None
_Texts = Mapping[str, object] | Iterable[str]
_Rows = list[dict[str, Any]]
'''


def arguments(parameters):
    needed = [f"{p[0]}: _Argument" for p in parameters if p[3] is None]
    return ["*", *needed, *(f"{p[0]}: _Argument = ..." for p in parameters if p[3] is not None)]


def defined(name, parameters, indent="", call="", gives="float"):
    """A function, on one line if it fits."""
    line = f"{indent}def {name}({call}{', '.join(parameters)}) -> {gives}: ..."
    if len(line) <= 120:
        return [line]
    inside = [f"{indent}    {p}," for p in ([call.rstrip(', ')] if call else []) + parameters]
    return [f"{indent}def {name}(", *inside, f"{indent}) -> {gives}: ..."]


def stub():
    functions, families = {}, {}
    for name, _, _, _, parameters in _contend.models():
        *family, last = name.split(".")
        if family:
            families.setdefault(".".join(family), {})[last] = arguments(parameters)
        else:
            functions[last] = arguments(parameters)
    lines = [HEAD]
    for name, of in families.items():
        lines.append(f"class _{name}:")
        if name in functions:
            lines += defined("__call__", functions.pop(name), "    ", "self, ")
        for last, parameters in of.items():
            lines += defined(last, parameters, "    ", "self, ")
        lines.append("")
    for name, parameters in functions.items():
        lines += defined(name, parameters)
    lines += ["", "class _tables:"]
    for name, _, options in _contend.calculators():
        kinds = ("_Texts" if several else "_Values" if takes_text else "bool" for *_, takes_text, several in options)
        names = (option[0].replace("-", "_") for option in options)
        these = ["*", *(f"{word}: {kind} = ..." for word, kind in zip(names, kinds))]
        lines += defined(name.replace("-", "_"), these, "    ", "self, ", "_Rows")
    lines += ["", *(f"{name}: _{name}" for name in [*families, "tables"])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stub(), end="")
