"""Closed forms: formulas that predict a number without a simulation.

`contend.model.fcwa.window(...)` is the closed form `fcwa.window`; `contend list models` shows all of them, and
`help(contend.model.fcwa.window)` its parameters. Arguments are numbers in base units (s, bps, B, packets) or texts with
a unit, like "20us". The value is in the base unit that the description names.
"""

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


__all__ = []
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
