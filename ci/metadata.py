#!/usr/bin/env python3
"""What others ask of the project's metadata, from CITATION.cff and Cargo.toml: codemeta.json.

    ci/metadata.py            writes codemeta.json
    ci/metadata.py --check    fails if it is another, or if the versions of Cargo.toml and CITATION.cff differ
"""

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cited():
    """CITATION.cff, as far as codemeta.json needs it: plain keys, lists of texts, and a folded text."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    plain = {k: v.strip('"') for k, v in re.findall(r"^(\w[\w-]*): (?!>)(.+)$", text, re.M)}
    folded = re.search(r"^abstract: >-\n((?:  .*\n)+)", text, re.M)[1]

    def listed(key):
        return re.findall(r"^  - (?:name: )?(.+)$", re.search(rf"^{key}:\n((?:  .*\n)+)", text, re.M)[1], re.M)

    plain["abstract"] = " ".join(folded.split())
    return plain, listed("authors"), listed("license"), listed("keywords")


def page():
    plain, authors, licences, keywords = cited()
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    if rust["version"] != plain["version"]:
        sys.exit(f"CITATION.cff has version {plain['version']}, Cargo.toml {rust['version']}")
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    about = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": "contend",
        "headline": plain["title"],
        "description": plain["abstract"],
        "version": plain["version"],
        "author": [{"@type": "Organization", "name": name} for name in authors],
        "license": [f"https://spdx.org/licenses/{name}" for name in licences],
        "keywords": keywords,
        "programmingLanguage": ["Rust", "Python"],
        "runtimePlatform": f"Python {python['requires-python']}",
        "softwareRequirements": f"Rust {rust['rust-version']} or later, to build",
        "developmentStatus": "active",
        "readme": "README.md",
    }
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    made, file = page(), ROOT / "codemeta.json"
    if "--check" not in sys.argv:
        file.write_text(made, encoding="utf-8")
    elif not file.exists() or file.read_text(encoding="utf-8") != made:
        sys.exit("codemeta.json is not that of CITATION.cff and Cargo.toml: call ci/metadata.py")
