#!/usr/bin/env python3
"""The notices of the libraries inside the program and the Python package: THIRD-PARTY.txt, from Cargo.lock.

    ci/notices.py            writes the file
    ci/notices.py --check    fails if it is not that of Cargo.lock

Listed is what is linked on Linux, macOS or Windows, with the texts that each library comes with; of a choice of
licences, MIT's if it is among them. Licences that are allowed stand in deny.toml.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD-PARTY.txt"
PROGRAMS = ("contend", "contend-py")
NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def libraries():
    """The packages that the programs link, by name and version."""
    call = ["cargo", "metadata", "--locked", "--format-version", "1", "--features", "contend/bpf"]
    found = json.loads(subprocess.run(call, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    own = set(found["workspace_members"])
    packages = {p["id"]: p for p in found["packages"]}
    nodes = {n["id"]: n for n in found["resolve"]["nodes"]}
    todo, seen = [i for i in own if packages[i]["name"] in PROGRAMS], set()
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            linked = (d for d in nodes[here]["deps"] if any(k["kind"] is None for k in d["dep_kinds"]))
            todo += [d["pkg"] for d in linked]
    return sorted((packages[i] for i in seen - own), key=lambda p: (p["name"], p["version"]))


def texts(package):
    """The licence texts that a package comes with."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(f for f in folder.iterdir() if f.is_file() and f.name.upper().startswith(NAMES))
    chosen = [f for f in files if "MIT" in f.name.upper()] if " OR " in package["license"] else []
    notices = [f for f in files if f.name.upper().startswith("NOTICE")]
    for file in dict.fromkeys([*(chosen or files), *notices]):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        yield "\n".join(line.rstrip() for line in lines).strip()


def page():
    """The whole text. A text that several libraries share stands once."""
    by_text = {}
    for package in libraries():
        said = f"{package['name']} {package['version']} ({package['license'].replace('/', ' OR ')})"
        for text in texts(package):
            by_text.setdefault(text, []).append(said)
    head = (
        "contend is under the MIT licence or the Apache License 2.0, at your choice. The libraries that are part of\n"
        "its program and of its Python package have the licences below. Made by ci/notices.py.\n"
    )
    parts = [head]
    for text, names in by_text.items():
        parts.append("=" * 100 + "\n" + "\n".join(names) + "\n\n" + text + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    made = page()
    if "--check" not in sys.argv:
        FILE.write_text(made, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != made:
        sys.exit("THIRD-PARTY.txt is not that of Cargo.lock: call ci/notices.py")
