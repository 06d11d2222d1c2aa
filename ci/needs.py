"""What a check needs of the machine: ci/needs.rs for the scripts."""

import os


def skip(need, check):
    """Says that `check` is skipped for lack of `need`, and records it for the end of ci.sh."""
    print(f"SKIPPED: {check}: {need} is missing")
    if path := os.environ.get("CONTEND_SKIPPED"):
        with open(path, "a", encoding="utf-8") as f:
            f.write(f"{need}\t{check}\n")
