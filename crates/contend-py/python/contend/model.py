"""Closed forms: formulas that predict a number without a simulation.

`contend.model.fcwa.window(...)` is the closed form `fcwa.window`; `contend list models` shows all of them, and
`help(contend.model.fcwa.window)` its parameters. Arguments are numbers in base units (s, bps, B, packets) or texts with
a unit, like "20us". The value is in the base unit that the description names.

`contend.model.tables` has the calculators of `contend model` that make tables: `contend.model.tables.bianchi(
stations="1..10", standard="802.11b")` returns a list of dictionaries, one for each row, which `pandas.DataFrame`
takes. Options are those of the command, with units as texts (`rtt="100ms"`); a list may be a list of Python.
"""

import json
from collections.abc import Mapping
from inspect import Parameter, Signature
from types import SimpleNamespace

from . import _contend


def _function(name, doc, cite, unit, parameters):
    """The function of one entry of the table."""
    mandatory = [p[0] for p in parameters if p[3] is None]
    signature = Signature(
        # Parameters with a default follow those without.
        [Parameter(p[0], Parameter.KEYWORD_ONLY) for p in parameters if p[3] is None]
        + [Parameter(p[0], Parameter.KEYWORD_ONLY, default=p[3]) for p in parameters if p[3] is not None]
    )

    def value(**arguments):
        missing = [p for p in mandatory if p not in arguments]
        if missing:
            raise TypeError(f"{name} needs {', '.join(missing)}")
        return _contend.model(name, arguments)

    lines = [f"    {p}: {what} ({low:g} to {high:g}{' ' + u if u else ''})" for p, what, u, _, low, high in parameters]
    value.__name__ = value.__qualname__ = name.rsplit(".", 1)[-1]
    value.__module__ = __name__
    value.__signature__ = signature
    measure = f"in {unit}" if unit else "a plain number"
    value.__doc__ = f"{doc}\n\nSource: {cite}\nValue: {measure}\n\n" + "\n".join(lines)
    return value


def _texts(value):
    """The texts of an option that may be given several times."""
    if isinstance(value, Mapping):
        return [f"{key}={of}" for key, of in value.items()]
    return [value] if isinstance(value, str) else list(value)


def _table(name, doc, options):
    """The function of one calculator."""
    known = {option[0].replace("-", "_"): option for option in options}

    def rows(**arguments):
        words = []
        for word, value in arguments.items():
            if word not in known:
                raise TypeError(f"{name} has no option {word}; use {', '.join(known)}")
            option, _, _, takes_text, takes_several = known[word]
            if not takes_text:
                words += [f"--{option}"] if value else []
            elif takes_several:
                words += [part for text in _texts(value) for part in (f"--{option}", text)]
            elif value is not None:
                text = str(value) if isinstance(value, (str, int, float)) else ",".join(map(str, value))
                words.append(f"--{option}={text}")
        return json.loads(_contend.calculate(name, words))

    lines = [
        f"    {word}: {what}" + (f" (default {default!r})" if takes_text and default is not None else "")
        for word, (_, what, default, takes_text, _) in known.items()
    ]
    rows.__name__ = rows.__qualname__ = name.replace("-", "_")
    rows.__module__ = __name__
    rows.__signature__ = Signature(
        [
            Parameter(word, Parameter.KEYWORD_ONLY, default=default if takes_text else False)
            for word, (_, _, default, takes_text, _) in known.items()
        ]
    )
    rows.__doc__ = f"{doc}\n\nReturns a list of dictionaries, one for each row.\n\n" + "\n".join(lines)
    return rows


tables = SimpleNamespace(**{c[0].replace("-", "_"): _table(*c) for c in _contend.calculators()})

__all__ = ["tables"]
for _entry in _contend.models():
    _place = globals()
    *_families, _last = _entry[0].split(".")
    for _family in _families:
        if _family not in _place:
            _place[_family] = SimpleNamespace()
            __all__.append(_family)
        _place = vars(_place[_family])
    _place[_last] = _function(*_entry)
    if not _families:
        __all__.append(_last)
