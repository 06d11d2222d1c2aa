#!/usr/bin/env python3
"""Lines end at column 120: fails on every longer line of a tracked text file and names it.

Not counted are lines that cannot be broken (a row of a Markdown table, a fenced block of Markdown, a word without
spaces, a value in TOML), and files that a program writes.
"""

import subprocess
import sys
import unicodedata
from pathlib import Path

COLUMNS = 120
KINDS = {".rs", ".md", ".toml", ".sh", ".py", ".c", ".h"}
# Written by a program, or by others.
OTHERS = ("Cargo.lock", "docs/validation.md", "docs/reference/", "LICENSE", "vectors/golden/")


def columns(line):
    return sum(0 if unicodedata.combining(c) else 1 for c in line)


def long_lines(path):
    """(number, columns) of the lines that are too long."""
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if path.suffix == ".md" and line.lstrip().startswith("```"):
            fenced = not fenced
        wide = columns(line)
        if wide <= COLUMNS:
            continue
        text = line.strip().removeprefix("//").lstrip("/!# -")
        row = path.suffix in (".md", ".rs") and text.startswith("|")
        value = path.suffix == ".toml" and not line.startswith("#")
        if row or value or fenced or " " not in text:
            continue
        yield number, wide


def main():
    wrong = 0
    for name in subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines():
        path = Path(name)
        if path.suffix not in KINDS or name.startswith(OTHERS):
            continue
        for number, wide in long_lines(path):
            wrong += 1
            print(f"{name}:{number}: {wide} columns, at most {COLUMNS}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
