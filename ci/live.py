#!/usr/bin/env python3
"""Opens `contend live` in headless Chromium, 1280 and 390 pixels wide, turns its dials with keys, and looks for faults.

    ci/live.py target/release/contend

A fault is an error in the console, a page that scrolls sideways, a dial that changes no plot, a wrong value without a
message, or a download that is not the experiment.
"""

import os
import subprocess
import sys
import tempfile

import needs
from browser import Browser, installed

FILE = """title = "Two uploads and a download"
duration = "4s"
warmup = "1s"
[param]
window = "30p"
[wifi]
standard = "802.11g"
[[flow]]
count = 2
from = "station"
to = "server"
tcp = "newreno"
window = "= window"
[[flow]]
from = "server"
to = "station"
tcp = "newreno"
[sweep]
"ap.queue" = ["fifo", "fq_codel"]
"""
FIELD = """title = "Three hops"
duration = "3s"
warmup = "1s"
[wifi]
standard = "802.11b"
[field]
range = "250m"
sense = "550m"
routing = "static"
[[station]]
name = "a"
position = ["0m", "0m"]
[[station]]
name = "b"
position = ["200m", "0m"]
[[station]]
name = "c"
position = ["400m", "0m"]
[[flow]]
from = "a"
to = "c"
tcp = "newreno"
"""
RESTS = "!document.querySelector('.coming') && / in .* s$/.test(document.getElementById('status').textContent)"
# The plots of the report that is shown; figures are drawn by the server.
PLOTS = ("[...document.querySelector('#report iframe').contentDocument.querySelectorAll('svg')]"
         ".map((s) => s.outerHTML).join('')")


class Live:
    """A running `contend live`."""

    def __init__(self, contend, path):
        # The process is ended by its own number.
        self.process = subprocess.Popen([contend, "live", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        self.address = self.process.stdout.readline().strip()

    def end(self):
        self.process.terminate()
        return self.process.wait(60)


def dial(key):
    return f"[...document.querySelectorAll('.dial')].find((d) => d.querySelector('label').textContent === '{key}')"


def use(browser, url, width, mobile):
    """What is wrong with the page of FILE."""
    found = []

    def expect(holds, what):
        if not holds:
            found.append(what)

    def changes(what):
        """A run began, and the report that follows it has other plots than before."""
        ended = browser.until(f"{RESTS} && {PLOTS} !== window.before")
        expect(ended, f"{what}: no other plot; {browser.run('document.getElementById(`wrong`).textContent')}")
        browser.run(f"window.before = {PLOTS}")

    browser.visit(url, width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS}"), "no report after the page has opened")
    browser.run(f"window.before = {PLOTS}")
    sideways = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    expect(not browser.run(sideways), "the page scrolls sideways")
    frame = "document.querySelector('#report iframe')"
    inside = f"{frame}.contentDocument.documentElement"
    expect(not browser.run(f"{inside}.scrollWidth > {inside}.clientWidth"), "the report scrolls sideways")
    expect(browser.run(f"{frame}.clientHeight >= {inside}.scrollHeight - 1"), "the report is cut off")
    # A slider by key.
    browser.run(f"{dial('param.window')}.querySelector('input[type=range]').focus()")
    for _ in range(20):
        browser.press("ArrowLeft", 37)
    expect(browser.run(f"parseFloat({dial('param.window')}.querySelector('.exact').value) < 30"), "the slider stands")
    changes("an arrow key on a slider")
    # A swept key.
    browser.run(f"(() => {{ const s = {dial('ap.queue')}.querySelector('select'); s.value = 'fq_codel';"
                "s.dispatchEvent(new Event('change')); })()")
    changes("another queue")
    # Another key.
    browser.run("document.getElementById('key').focus(); document.getElementById('key').value = 'flow.0.count'")
    browser.press("Enter", 13)
    expect(browser.until(f"!!({dial('flow.0.count')})", 20), "Enter adds no dial")
    browser.run(f"{dial('flow.0.count')}.querySelector('input[type=range]').focus()")
    browser.press("ArrowRight", 39)
    expect(browser.run(f"{dial('flow.0.count')}.querySelector('.exact').value") == "3", "one key is not one station")
    changes("one station more")
    found += browser.logged()
    browser.events = []
    # What is wrong is said, and the report stays.
    browser.run(f"(() => {{ const f = {dial('flow.0.count')}.querySelector('.exact'); f.value = 'many';"
                "f.dispatchEvent(new Event('change')); })()")
    told = browser.until("/help: /.test(document.getElementById('wrong').textContent)", 20)
    expect(told, "no word about a wrong value")
    expect(browser.run(f"!!{frame}"), "a wrong value takes the report away")
    # The browser itself logs the status 422.
    found += [line for line in browser.logged() if "422" not in line]
    browser.run("document.getElementById('reset').click()")
    changes("the values of the file")
    return found


def check(contend):
    count = 0
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for name, text in {"cell.toml": FILE, "field.toml": FIELD}.items():
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            live = Live(contend, path)
            try:
                for width, mobile in {1280: False, 390: True}.items():
                    if name == "cell.toml":
                        found = use(browser, live.address, width, mobile)
                    else:
                        browser.visit(live.address, width, mobile=mobile)
                        shown = browser.until(f"document.querySelector('#report iframe') && {RESTS}")
                        found = [] if shown and browser.run(
                            "!!document.querySelector('#report iframe').contentDocument.querySelector('figure.map')"
                        ) else ["no map"]
                        found += browser.logged()
                    for fault in found:
                        print(f"live, {name}, {width} px: {fault}")
                    count += len(found)
            finally:
                status = live.end()
            if status != 0:
                print(f"live, {name}: status {status} after SIGTERM")
                count += 1
            if sorted(os.listdir(folder)) != [name]:
                print(f"live: wrote {os.listdir(folder)}")
                count += 1
            os.remove(path)
    return count


def main():
    if not installed():
        needs.skip("chromium", "ci/live.py, the page of `contend live`")
        return
    count = check(os.path.abspath(sys.argv[1]))
    if count:
        sys.exit(f"ci/live.py: {count} faults")


if __name__ == "__main__":
    main()
