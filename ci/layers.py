#!/usr/bin/env python3
"""Modules of a crate depend on each other in one direction: this fails on every circle and names it. It also fails on a
file of a test program without a `mod`.

Read are the paths `crate::...` and `super::...` outside comments and tests. Neighbours are compared: the top modules of
a crate, and in each folder its files and folders. A folder's own file (mod.rs, or name.rs beside name/) and its members
may use each other: that is the parent and its children. And it fails on a thread, a clock or a file where there may be
none.
"""

import re
import sys
from pathlib import Path

# What these crates are made of runs in a browser, too: no thread, no clock, no file.
WITHOUT_A_MACHINE = ["contend-core", "contend-sim", "contend-theory", "contend-experiment", "contend-judge",
                     "contend-explain", "contend-page"]
MACHINE = re.compile(
    r"\bstd::(?:fs|thread|net::(?:Tcp|Udp)|process|env::|time::(?:Instant|SystemTime))"
    r"|\b(?:Instant|SystemTime)::now\b"
)

PATH = re.compile(r"\b(crate|super(?:::super)*|self)::([A-Za-z_:{}][\w:{},\s*]*)")


def code(text):
    """The text without comments, strings and tests."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'r#".*?"#|"(?:\\.|[^"\\])*"', '""', text, flags=re.S)
    return re.split(r"#\[cfg\(test\)\]\s*(?:pub(?:\(crate\))? )?mod \w+ \{", text)[0]


def expanded(tree):
    """The paths in `a::{b, c::d}`."""
    tree = re.sub(r"\s", "", tree)
    brace = tree.find("{")
    if brace < 0:
        return [tree.split(",")[0].strip(":}").split("::")]
    head, depth, parts, part = tree[:brace].rstrip(":"), 0, [], ""
    for c in tree[brace:]:
        if c == "}":
            depth -= 1
            if depth == 0:
                break
        if c == "," and depth == 1:
            parts.append(part)
            part = ""
        elif not (c == "{" and depth == 0):
            part += c
        if c == "{":
            depth += 1
    prefix = [s for s in head.split("::") if s]
    return [prefix + path for p in parts + [part] if p for path in expanded(p)]


def modules(src):
    """Module path -> file, of all modules that are not tests."""
    found = {}
    for file in sorted(src.rglob("*.rs")):
        parts = list(file.relative_to(src).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        if parts and parts[-1] in ("tests", "testbench", "bench", "synthetic", "traces"):
            continue
        found[tuple(parts)] = file
    return found


def edges(found):
    """(folder, neighbour, neighbour) -> the files that make the first depend on the second."""
    out = {}
    for me, file in found.items():
        for match in PATH.finditer(code(file.read_text())):
            start, rest = match.groups()
            if start == "crate":
                base = ()
            elif start == "self":
                base = me
            else:
                base = me[: max(0, len(me) - start.count("super"))]
            for path in expanded(rest):
                target = base + tuple(path)
                while target and target not in found:
                    target = target[:-1]
                same = next((i for i, (a, b) in enumerate(zip(me, target)) if a != b), None)
                if same is not None:
                    key = (me[:same], me[same], target[same])
                    out.setdefault(key, set()).add(str(file))
    return out


def circles(graph):
    """Sets of nodes that reach each other (Tarjan)."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph.get(v, ()):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = stack[stack.index(v) :]
            del stack[stack.index(v) :]
            if len(part) > 1:
                out.append(sorted(part))

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return out


def main():
    wrong = 0
    for crate in sorted(Path("crates").iterdir()):
        all_edges = edges(modules(crate / "src"))
        for folder in sorted({key[0] for key in all_edges}):
            graph = {}
            for where, a, b in all_edges:
                if where == folder:
                    graph.setdefault(a, set()).add(b)
            name = "::".join((crate.name,) + folder)
            for circle in circles(graph):
                wrong += 1
                print(f"{name}: {', '.join(circle)} depend on each other in a circle:")
                for (where, a, b), files in sorted(all_edges.items()):
                    if where == folder and a in circle and b in circle:
                        print(f"  {a} -> {b}: {', '.join(sorted(files))}")
    for name in WITHOUT_A_MACHINE:
        for file in modules(Path("crates") / name / "src").values():
            for found in MACHINE.findall(code(file.read_text())):
                wrong += 1
                print(f"{file}: {found}: this crate has no thread, no clock and no file")
    # A file of a test program that no `mod` names would not be compiled, and nobody would miss its tests.
    for program in sorted(Path("crates").glob("*/tests/*/main.rs")):
        named = set(re.findall(r"^(?:pub )?mod (\w+);", program.read_text(), flags=re.M))
        there = {p.stem for p in program.parent.glob("*.rs")} | {p.parent.name for p in program.parent.glob("*/mod.rs")}
        for name in sorted(there - named - {"main"}):
            wrong += 1
            print(f"{program.parent}: {name} has no `mod` in main.rs: its tests do not run")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
