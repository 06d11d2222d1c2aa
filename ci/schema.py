#!/usr/bin/env python3
"""The JSON schema of experiment files against the files of this repository: it accepts each of them and each of its own
examples and defaults, and refuses a file in which a key has another name or a value has another kind: each distinct key
once, in the smallest file that has it.
"""

import json
import sys
import tomllib
from pathlib import Path

import needs

try:
    from jsonschema import Draft202012Validator
except ImportError:
    needs.skip("jsonschema", "ci/schema.py, the schema of experiment files")
    sys.exit()

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "docs/reference/experiment.schema.json").read_text())


def parts(value, path=()):
    """Every key of a table in `value`: the path of the table, and the key. A `case` has values of any kind."""
    if isinstance(value, dict) and "case" in value:
        yield path, "case"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield path, key
            yield from parts(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from parts(inner, (*path, i))


def changed(value, path, key, change):
    """A copy of `value` with `change` applied to the table at `path`."""
    copy = json.loads(json.dumps(value))
    table = copy
    for step in path:
        table = table[step]
    change(table, key)
    return copy


def rename(table, key):
    table[key + "x"] = table.pop(key)


def nonsense(table, key):
    table[key] = {"no such": {"table": True}}


# Tables whose keys are names of the user's, or key paths.
FREE = ("param", "sweep", "over", "less", "when", "reading", "readings")


def main():
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    faults, accepted, refused = [], 0, 0
    done = set()
    for file in sorted((f for folder in ("experiments", "papers", "suites") for f in ROOT.glob(f"{folder}/**/*.toml")),
                       key=lambda f: f.stat().st_size):
        text = tomllib.loads(file.read_text())
        name = file.relative_to(ROOT)
        for error in validator.iter_errors(text):
            faults.append(f"{name}: {error.json_path}: {error.message[:200]}")
        accepted += 1
        for path, key in parts(text):
            if any(step in FREE for step in path) or key == "zip":
                continue
            kinds = tuple(step for step in path if isinstance(step, str))
            # Keys beside `kind` depend on it.
            table = text
            for step in path:
                table = table[step]
            this = (kinds, str(table.get("kind")), key)
            if this in done:
                continue
            done.add(this)
            for change in [rename, nonsense]:
                # Each value of these keys may be a table of free names.
                if change is nonsense and key in FREE:
                    continue
                # A verdict for each reading: its names are those of readings.
                if change is rename and path[-1:] == ("verdict",):
                    continue
                refused += 1
                if validator.is_valid(changed(text, path, key, change)):
                    faults.append(f"{name}: {change.__name__} of {'.'.join(map(str, path))}.{key} is accepted")
    for where, table in [("the file", SCHEMA), *SCHEMA["$defs"].items()]:
        for key, schema in table.get("properties", {}).items():
            of_key = Draft202012Validator({**schema, "$defs": SCHEMA["$defs"]})
            for value in [*schema.get("examples", []), *([schema["default"]] if "default" in schema else [])]:
                accepted += 1
                if not of_key.is_valid(value):
                    faults.append(f"{where}: {key} = {value} is refused")
    print("\n".join(faults[:40]) or f"{accepted} files and examples accepted, {refused} wrong files refused")
    return bool(faults)


sys.exit(main())
