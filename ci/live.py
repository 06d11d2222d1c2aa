#!/usr/bin/env python3
"""Opens `contend live` in headless Chromium, 1280 and 390 pixels wide, turns its dials with keys, pins, goes back,
cancels, and looks for faults.

    ci/live.py target/release/contend

A fault is an error in the console, a page that scrolls sideways, an element that is cut off (ci/layout.js), a dial that
changes no plot, a wrong value without a message, a pinned result without differences, an address that opens another
state, or runs that go on after a cancel.
"""

import os
import subprocess
import sys
import tempfile

import needs
from browser import Browser, Firefox, installed
from pages import script

FILE = """title = "Two uploads and a download"
dials = ["flow.1.count", "wire.delay"]
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
RESTS = ("!document.querySelector('.coming') && /( in .* s|with this page)$/"
         ".test(document.getElementById('status').textContent)")
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


# Inputs are as wide as their text, and have names.
FIELDS = """[...document.querySelectorAll("input, select, button")].flatMap((e) => {
  if (!e.getClientRects().length) return [];
  const r = e.getBoundingClientRect(), found = [];
  if (r.left < 0 || r.right > document.documentElement.clientWidth) found.push("outside of the page");
  if (e.type !== "range" && e.scrollWidth > e.clientWidth) found.push("its text is cut off");
  if (!e.textContent.trim() && !e.labels?.length && !e.getAttribute("aria-label")) found.push("without a label");
  return found.map((what) => `${e.id || e.className} ${what}`);
})"""


def layout(browser, width):
    """What is cut off, on the page and in its report."""
    if isinstance(browser, Firefox):
        # Its boxes of texts are as high as the font, so that the two lines of a label touch.
        return browser.run(FIELDS)
    # The function of ci/layout.js looks at `document`, here of the page or of the frame.
    text, wide = script("layout.js"), str(width >= 1000).lower()
    report = "document.querySelector('#report iframe').contentDocument"
    found = [fault for of in ["document", report]
             for fault in browser.run(f"((document) => {text}({wide}))({of})")]
    return found + browser.run(FIELDS)


def choose(browser, key, value):
    browser.run(f"(() => {{ const s = {dial(key)}.querySelector('select'); s.value = '{value}';"
                "s.dispatchEvent(new Event('change')); })()")


def write(browser, key, value):
    browser.run(f"(() => {{ const f = {dial(key)}.querySelector('input:not([type=range])'); f.value = '{value}';"
                "f.dispatchEvent(new Event('change')); })()")


def click(browser, name):
    browser.run(f"document.getElementById('{name}').click()")


class Faults(list):
    """What is wrong."""

    def expect(self, holds, what):
        if not holds:
            self.append(what)


def remember(browser, url, width, mobile):
    """What is wrong with pins, addresses and cancelled runs."""
    found = Faults()
    expect = found.expect

    def text(name):
        return browser.run(f"document.getElementById('{name}').textContent")

    rows = "[...document.querySelectorAll('#compared tbody tr')]"
    expect(browser.run(f"{dial('wire.delay')}.matches('.absent:not(.changed)')"),
           "a key that the file does not have looks like one that it has")
    # Three seeds, pinned, and another window: differences with their intervals.
    write(browser, "seeds", "1..3")
    choose(browser, "ap.queue", "fifo")
    expect(browser.until(f"{RESTS} && location.hash === '#seeds=1..3&ap.queue=fifo'"),
           f"the address has {browser.run('location.hash')}")
    click(browser, "pin")
    expect(browser.until("!document.getElementById('pinned').hidden", 20), "nothing is pinned")
    write(browser, "param.window", "3p")
    expect(browser.until(f"{RESTS} && {rows}.length > 2"), "no differences from the pinned result")
    expect(browser.run(f"{rows}.some((r) => r.textContent.includes('±'))"), "no interval of three seeds")
    expect("param.window = 3p" in text("now-values") and "param.window" not in text("pinned-values"),
           f"pinned: {text('pinned-values')}; now: {text('now-values')}")
    found.extend(layout(browser, width))
    # Back and forward, and the same address in a new page.
    browser.run("window.report = document.querySelector('#report iframe')")
    browser.run("history.back()")
    back = f"{RESTS} && {dial('param.window')}.querySelector('.exact').value === '30p'"
    expect(browser.until(f"{back} && document.querySelector('#report iframe') !== window.report"), "back does nothing")
    browser.run("history.forward()")
    expect(browser.until(f"{RESTS} && {dial('param.window')}.querySelector('.exact').value === '3p'"),
           "forward does nothing")
    # One seed: a difference without an interval, and the words for it.
    write(browser, "seeds", "1")
    expect(browser.until(f"{RESTS} && document.getElementById('cautions').textContent.includes('one seed')"),
           "no word about differences of one seed")
    # A key that is no dial of the file, and a value with letters that an address cannot have.
    browser.visit("about:blank", width, mobile=mobile)
    browser.visit(f"{url}#flow.0.count=3&ap.queue=%7B%20kind%20%3D%20%22codel%22%20%7D&seeds=2", width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS} && !!{dial('flow.0.count')}"),
           "an address with a state opens no report")
    inputs = {"flow.0.count": ".exact", "ap.queue": "select", "seeds": "input"}
    shown = [browser.run(f"{dial(key)}.querySelector('{name}').value") for key, name in inputs.items()]
    expect(shown == ["3", '{ kind = "codel" }', "2"], f"an address with a state opens {shown}")
    # Long runs, and their end.
    browser.run("window.report = document.querySelector('#report iframe')")
    write(browser, "duration", "90000s")
    expect(browser.until("!document.getElementById('progress').hidden && !document.getElementById('cancel').hidden"),
           "no progress of long runs")
    expect("running" in text("status"), f"running, the page says {text('status')}")
    click(browser, "cancel")
    expect(browser.until("document.getElementById('cancel').hidden && document.getElementById('progress').hidden"),
           "a cancel does not end the runs")
    expect(text("status") == "cancelled" and "flow.0.count = 3" in text("stale")
           and browser.run("document.querySelector('#report iframe') === window.report"),
           f"after a cancel: {text('status')}; {text('stale')}")
    found.extend(layout(browser, width))
    browser.run("history.back()")
    expect(browser.until(f"{RESTS} && document.getElementById('stale').hidden"), "nothing runs after a cancel")
    browser.run("document.getElementById('fold').open = false")
    expect(not browser.run(f"{dial('seeds')}.checkVisibility()"), "the dials do not fold")
    return found + browser.logged()


def use(browser, url, width, mobile):
    """What is wrong with the page of FILE."""
    found = Faults()
    expect = found.expect

    def changes(what):
        """A run began, and the report that follows it has other plots than before."""
        ended = browser.until(f"{RESTS} && {PLOTS} !== window.before")
        expect(ended, f"{what}: no other plot; {browser.run('document.getElementById(`wrong`).textContent')}")
        browser.run(f"window.before = {PLOTS}")

    browser.visit(url, width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS}"), "no report after the page has opened")
    browser.run(f"window.before = {PLOTS}")
    found += layout(browser, width)
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
    # A value that is not in the list: a wrong one is told by the parser, and a right one runs.
    select = f"{dial('ap.queue')}.querySelector('select')"
    other = f"{dial('ap.queue')}.querySelector('.other')"
    for value in ["fq_codle", '{ kind = "fq_codel", limit = "20p" }']:
        browser.run(f"(() => {{ const s = {select}; s.value = [...s.options].at(-1).value;"
                    "s.dispatchEvent(new Event('change')); })()")
        expect(browser.run(f"document.activeElement === {other}"), "another value of a list has no field")
        found += browser.run(FIELDS)
        browser.run(f"(() => {{ const f = {other}; f.value = '{value}'; f.dispatchEvent(new Event('change')); }})()")
        expect(browser.run(f"{select}.value") == value and browser.run(f"{other}.hidden"), f"the list lacks {value}")
        if value == "fq_codle":
            expect(browser.until("document.getElementById('wrong').textContent.includes('fq_codle')"),
                   "a wrong value of a list is not told")
    changes("another value than those of a list")
    # The message was expected.
    browser.events = []
    # Another key.
    browser.run("document.getElementById('key').focus()")
    browser.run("document.getElementById('key').value = 'flow.0.count'")
    browser.press("Enter", 13)
    expect(browser.until(f"!!({dial('flow.0.count')})", 20), "Enter adds no dial")
    browser.run(f"{dial('flow.0.count')}.querySelector('input[type=range]').focus()")
    browser.press("ArrowRight", 39)
    expect(browser.run(f"{dial('flow.0.count')}.querySelector('.exact').value") == "3", "one key is not one station")
    # Each key goes on, also where a step of the slider is less than one station.
    counts = []
    for _ in range(8):
        browser.press("ArrowRight", 39)
        counts.append(int(browser.run(f"{dial('flow.0.count')}.querySelector('.exact').value")))
    expect(all(a < b for a, b in zip(counts, counts[1:])), f"eight keys on a slider: {counts}")
    changes("more stations")
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
                        found += remember(browser, live.address, width, mobile)
                    else:
                        browser.visit(live.address, width, mobile=mobile)
                        shown = browser.until(f"document.querySelector('#report iframe') && {RESTS}")
                        found = [] if shown and browser.run(
                            "!!document.querySelector('#report iframe').contentDocument.querySelector('figure.map')"
                        ) else ["no map"]
                        found += layout(browser, width) + browser.logged()
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
