#!/usr/bin/env python3
"""Puts the page of all examples into the book of ci/book.py, as target/book/docs/play/index.html, and links to it: at
each example, below each command that runs one or a file of the tutorial, and at each algorithm of the reference, with
the matching file.

    ci/play.py target/release/contend

Where Node is, every link is opened by the module that the page has in it: it fails if one is refused.
"""

import base64
import html
import json
import re
import shlex
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from urllib.parse import quote

import needs
from module import MODULE, Module

BOOK = Path(__file__).parent.parent / "target/book"
# Families of the reference: the example and the key that takes one of their names.
FAMILIES = {
    "controllers": ("hotspot", "flow.down.tcp"),
    "recoveries": ("hotspot", "flow.down.tcp.recovery"),
    "qdiscs": ("hotspot", "ap.queue"),
    "controls": ("hotspot", "ap.control"),
    "access": ("saturation", "wifi.access"),
    "rate_controls": ("range", "wifi.rate_control"),
    "error_models": ("range", "wifi.error_model"),
    "loss": ("lossy-last-hop", "link.1.loss"),
    "propagation": ("hidden", "field.propagation"),
    "routing": ("chain", "field.routing"),
}
# A key of the reference cannot say what else an algorithm needs: these links are tried, and left out if refused.
TRY = "Try it in the browser"


class Play:
    """The examples of the page, and what its links open."""

    def __init__(self, contend, page):
        subprocess.run([contend, "page", "-o", str(page), "--quiet"], check=True)
        data = re.search(r'id="data">(.*?)</script>', page.read_text(), re.S).group(1)
        self.examples = {e["name"]: e for e in json.loads(data)["experiments"]}
        self.files = {}  # of the tutorial
        self.module = Module(MODULE) if shutil.which("node") else None
        if not self.module:
            needs.skip("node", "links to the page of all examples")

    def link(self, name, values):
        """The fragment for an example or a file of the tutorial with these values; None if there is none."""
        stem = Path(name).name.removesuffix(".toml")
        if name in self.files:
            raw = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = base64.urlsafe_b64encode(raw.compress(self.files[name].encode()) + raw.flush())
            about = [("text", packed.decode().rstrip("="))]
        elif stem in self.examples and name in (stem, f"experiments/{stem}.toml"):
            about = [("example", stem)]
        else:
            return None
        return "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in about + values)

    def refused(self, name, values):
        """Why the page refuses these values; None if it does not, or if there is no Node."""
        if not self.module:
            return None
        stem = Path(name).name.removesuffix(".toml")
        given = {"name": name, "text": self.files.get(name) or self.examples[stem]["text"], "files": {}}
        answer = self.module.ask(ask="file", given=given, settings=[["seeds", "1"], *values])
        return answer.get("wrong")


def options(words):
    """The values that options of `contend run` set, as the page takes them; None if it has no such option."""
    values = []
    words = iter(words)
    for word in words:
        option, _, value = word.partition("=")
        if option in ("--set", "--sweep", "--seeds"):
            value = value or next(words, "")
            if option == "--seeds":
                values.append(("seeds", value))
            else:
                key, _, value = value.partition("=")
                values.append((key if option == "--set" else f"sweep.{key}", value))
        elif option in ("--show", "--out", "--jobs", "--capture", "--decide"):
            if not value:
                next(words, None)
        elif option not in ("--no-results", "--no-claims", "--quiet"):
            return None
    return values


def commands(block):
    """The runs of a block of a page: file, values."""
    for line in html.unescape(re.sub(r"<[^>]*>", "", block)).splitlines():
        try:
            words = shlex.split(line.removeprefix("$ "), comments=True)
        except ValueError:
            continue
        if len(words) > 2 and words[0].endswith("contend") and words[1] in ("run", "live", "page"):
            values = options(words[3:])
            if values is not None:
                yield words[2], values


def main():
    contend = sys.argv[1]
    (BOOK / "docs/play").mkdir(parents=True, exist_ok=True)
    play = Play(contend, BOOK / "docs/play/index.html")
    wrong, links, left_out = [], 0, 0
    for page in sorted(BOOK.rglob("*.html")):
        place = page.relative_to(BOOK)
        if place.parts[:2] == ("docs", "play") or place.name in ("print.html", "toc.html", "404.html"):
            continue
        text = re.sub(r'(<br>)?<p class="try">.*?</p>\n?', "", page.read_text())
        up = "../" * (len(place.parts) - 1)
        anchor = lambda where: f'<p class="try"><a href="{up}docs/play/index.html#{html.escape(where)}">{TRY}</a></p>\n'

        def after(match):
            nonlocal links
            named = re.match(r'<pre><code class="language-toml (\S+\.toml)"', match.group(0))
            body = html.unescape(re.sub(r"<[^>]*>", "", match.group(0)))
            if named:
                play.files[named.group(1)] = body
            for name, values in commands(match.group(0)):
                where = play.link(name, values)
                if where is None:
                    continue
                if why := play.refused(name, values):
                    wrong.append(f"{place}: {name} {values}: {why}")
                    continue
                links += 1
                return match.group(0) + "\n" + anchor(where)
            return match.group(0)

        new = re.sub(r"<pre>.*?</pre>", after, text, flags=re.S)
        if place == Path("docs/examples.html"):

            def beside(match):
                nonlocal links
                links += 1
                where = play.link(f"experiments/{match.group(1)}", [])
                return f"{match.group(0)}<br>{anchor(where).strip()}" if where else match.group(0)

            new = re.sub(r'<a href="\.\./experiments/([a-z0-9-]+\.toml)">[^<]*</a>', beside, new)
        if place.parts[:2] == ("docs", "reference") and place.stem in FAMILIES:
            example, key = FAMILIES[place.stem]

            def below(match):
                nonlocal links, left_out
                values = [(key, match.group(1))]
                if play.refused(example, values):
                    left_out += 1
                    return match.group(0)
                links += 1
                return match.group(0) + "\n" + anchor(play.link(example, values))

            new = re.sub(r'<h2 id="([a-z0-9_+]+)">.*?</h2>', below, new)
        if new != page.read_text():
            page.write_text(new)
    for line in wrong:
        print(f"play: {line}")
    print(f"{links} links to {BOOK / 'docs/play/index.html'}; {left_out} algorithms need more than their name")
    if wrong or links < 80:
        sys.exit("ci/play.py: links that the page refuses, or too few of them")


if __name__ == "__main__":
    main()
