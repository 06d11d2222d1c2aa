#!/usr/bin/env python3
"""Makes the plots of the guides, docs/plots/*.png, from reports: each is a figure of an experiment file.

    ci/plots.py target/release/contend            all plots, with all seeds of their files
    ci/plots.py target/release/contend NAME...    these plots
    ci/plots.py target/release/contend --check    no plots: the files still have the figures
    ci/plots.py target/release/contend --try      with two seeds and no pictures: the reports have the figures
"""

import argparse
import base64
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import needs
from browser import Browser, installed

ROOT = Path(__file__).resolve().parent.parent

# Name of the plot -> file, and title of its figure.
PLOTS = {
    "bufferbloat": ("experiments/bufferbloat.toml", "Delay of the call, 99th percentile"),
    "buffer-size": ("experiments/buffer-size.toml", "Delay of the call against goodput of the downloads"),
    "control-blocks": ("experiments/control-blocks.toml", "Uploads and downloads under each control block"),
    "lossy-wire": ("papers/jersey-2005/beyond-1-lossy-wire.toml", "Goodput over a lossy wire"),
    "mesh": ("experiments/mesh.toml", "Goodput over one, three and six hops"),
    "collisions": ("experiments/contention.toml", "Collisions for each success"),
    "slow-station": ("papers/starzetz-2006/beyond-2-slow-station.toml", "Goodput of a fast station, and of the first"),
    "wifi-6-shares": ("experiments/wifi-6/ideas.toml", "Downloads and uploads of ten stations"),
    "wifi-6-delay": ("experiments/wifi-6/ideas.toml", "Delay of a call beside them, 95th percentile"),
}
# The figure whose heading is a title; null if there is none.
FIND = """(() => {
  const figure = [...document.querySelectorAll("figure")].find((f) => f.innerText.includes(TITLE));
  if (!figure) return null;
  figure.style.alignSelf = "start"; // as high as its content, not as its neighbour
  const box = figure.getBoundingClientRect();
  return { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height };
})()"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("contend")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--try", action="store_true", dest="tried")
    args = parser.parse_args()
    for file, title in PLOTS.values():
        figures = tomllib.loads((ROOT / file).read_text()).get("figure", [])
        if not any(f.get("title") == title for f in figures):
            sys.exit(f"ci/plots.py: {file} has no figure with the title \"{title}\"")
    if args.check:
        return
    if not installed():
        needs.skip("chromium", "ci/plots.py, plots of the guides")
        return
    folder = ROOT / "docs/plots"
    seeds = ["--seeds", "1..2"] if args.tried else []
    with Browser() as browser:
        for name in args.names or PLOTS:
            file, title = PLOTS[name]
            with tempfile.TemporaryDirectory() as out:
                subprocess.run([Path(args.contend).resolve(), "run", file, "--quiet", "--out", out, *seeds], cwd=ROOT,
                               check=False, stderr=subprocess.DEVNULL)
                browser.open(next(Path(out).glob("*/report.html")), 1280)
                box = browser.run(FIND.replace("TITLE", json.dumps(title)))
                if box is None:
                    sys.exit(f"ci/plots.py: the report of {file} has no figure with the title \"{title}\"")
                if args.tried:
                    continue
                shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                                    clip={**box, "scale": 1.5})
            (folder / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


if __name__ == "__main__":
    main()
