"""Writes the types of the closed forms: crates/contend-py/python/contend/model.pyi, from the table that the package
reads. Call it with the Python that has the package: `python ci/model_stub.py > crates/contend-py/.../model.pyi`."""

from contend import _contend

HEAD = '''"""The closed forms, as `contend list models` has them. Made by ci/model_stub.py."""

# A number in base units (s, bps, B, packets), or a text with a unit like "20us".
_Argument = float | str
'''


def arguments(parameters):
    needed = [f"{p[0]}: _Argument" for p in parameters if p[3] is None]
    return ["*", *needed, *(f"{p[0]}: _Argument = ..." for p in parameters if p[3] is not None)]


def defined(name, parameters, indent="", call=""):
    """A function, on one line if it fits."""
    line = f"{indent}def {name}({call}{', '.join(parameters)}) -> float: ..."
    if len(line) <= 120:
        return [line]
    inside = [f"{indent}    {p}," for p in ([call.rstrip(', ')] if call else []) + parameters]
    return [f"{indent}def {name}(", *inside, f"{indent}) -> float: ..."]


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
    lines += ["", *(f"{name}: _{name}" for name in families)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stub(), end="")
