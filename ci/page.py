#!/usr/bin/env python3
"""Opens pages of `contend page` from disk in headless Chromium, 1280 and 390 pixels wide, and in Firefox. Does there
what ci/live.py does on the live page, edits the file, follows links, and tries files that would harm a page.

    ci/page.py target/release/contend

A fault is one of ci/live.py, a digest that is not that of `contend run`, a wrong text without its message, a link that
opens another state, or a page that does not answer any more.
"""

import json
import os
import subprocess
import sys
import tempfile

import live
import needs
from browser import Browser, Firefox, installed
from live import RESTS, Faults, click, dial, layout, write

# Text that would be elements, a file that takes for ever, and one that is too large.
HOSTILE = """title = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
notes = "<b onmouseover=x>&amp;</b>"
duration = "2s"
seeds = "1"
[wifi]
standard = "802.11g"
[[flow]]
name = "f"
from = "station"
to = "server"
tcp = "newreno"
"""
ENDLESS = f'[sweep]\n"flow.0.count" = {list(range(1, 20001))}\n'


def of(name):
    return f"document.getElementById('{name}')"


def type_in(browser, text):
    """Replaces the text of the editor."""
    browser.run(f"(() => {{ {of('source')}.open = true; const t = {of('text')}; t.value = {json.dumps(text)};"
                "t.dispatchEvent(new Event('input')); })()")


def run_text(browser, text):
    """Types a text and runs it, if it is right."""
    type_in(browser, text)
    browser.until(f"!{of('use')}.disabled", 60)
    click(browser, "use")


def edit(browser, url, text, digest, width, mobile):
    """What is wrong with the editor of the page of `text`."""
    found = Faults()
    expect = found.expect

    def said(name):
        return browser.run(f"{of(name)}.textContent")

    browser.visit("about:blank", width, mobile=mobile)
    browser.visit(url, width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS}"), "no report after opening")
    expect(said("digest") == f"first run: digest {digest}", f"the page has {said('digest')}, contend run {digest}")
    # The page's report is made again here, to the same digest.
    click(browser, "again")
    expect(browser.until(f"/ in .* s$/.test({of('status')}.textContent)"), "the page makes no run of its own")
    expect(digest in said("digest"), f"a run in the page has {said('digest')}, contend run {digest}")
    # A wrong text: its message with place and remedy, and the way to the place.
    type_in(browser, text.replace("standard", "standrad"))
    expect(browser.until(f"!{of('text-wrong')}.hidden", 20), "a wrong text is not told")
    expect(browser.run(f"!{of('unrun')}.hidden"), "nothing says that the text was not run")
    expect("did you mean" in said("text-wrong") and browser.run(f"{of('use')}.disabled"),
           f"a wrong text: {said('text-wrong')}")
    line = 1 + text[: text.index("standard")].count("\n")
    expect(said("place") == f"Go to line {line}", f"the place of the mistake: {said('place')}")
    click(browser, "place")
    there = browser.run(f"{of('text')}.value.slice(0, {of('text')}.selectionStart).split('\\n').length")
    expect(there == line, f"the cursor is on line {there} instead of {line}")
    found.extend(layout(browser, width))
    # What stands at the cursor.
    browser.run(f"(() => {{ const t = {of('text')}; const at = t.value.indexOf('newreno') + 2;"
                "t.setSelectionRange(at, at); t.dispatchEvent(new Event('click')); })()")
    expect(browser.until(f"{of('explained')}.textContent.includes('RFC 6582')", 20),
           f"the name at the cursor is not explained: {said('explained')}")
    # Another text: its run, and the link to it.
    type_in(browser, text.replace('"newreno"', '"cubic"'))
    expect(browser.until(f"!{of('use')}.disabled && {of('text-wrong')}.hidden", 20), "a right text cannot be run")
    click(browser, "use")
    changed = f"/ in .* s$/.test({of('status')}.textContent) && !{of('digest')}.textContent.includes('{digest}')"
    expect(browser.until(changed), f"another text: {said('status')}, {said('wrong')}")
    write(browser, "duration", "3s")
    expect(browser.until(f"{RESTS} && location.hash.includes('duration=3s')"), "the address lacks the duration")
    link, new = browser.run("location.href"), said("digest")
    browser.visit("about:blank", width, mobile=mobile)
    browser.visit(link, width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS}"), "a link opens no report")
    expect(said("digest") == new and "cubic" in browser.run(f"{of('text')}.value"),
           f"a link opens {said('digest')} instead of {new}")
    expect(browser.run(f"{dial('duration')}.querySelector('.exact').value") == "3s", "a link loses a value")
    expect("-changed.toml" in said("file"), f"a changed text has the name {said('file')}")
    # The original text again: the address loses the text.
    click(browser, "original")
    expect(browser.until(f"!{of('use')}.disabled", 20), "the original text cannot be run")
    click(browser, "use")
    expect(browser.until(f"{RESTS} && !location.hash.includes('text=')", 20), "the original text is in the address")
    expect(browser.run(f"{of('unrun')}.hidden && {of('original')}.hidden"), "the original text counts as changed")
    # More seeds.
    click(browser, "seeds")
    expect(browser.until(f"/^5 runs in/.test({of('status')}.textContent)"), f"more seeds: {said('status')}")
    # A damaged link is told, and the page works on.
    browser.visit("about:blank", width, mobile=mobile)
    browser.visit(f"{url}#text=xyz%25", width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS}"), "a damaged link leaves no report")
    expect("damaged" in said("wrong"), f"a damaged link: {said('wrong')}")
    browser.visit("about:blank", width, mobile=mobile)
    browser.visit(f"{url}#example=gone", width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS}"), "an unknown example leaves no report")
    expect("no example gone" in said("wrong"), f"an unknown example: {said('wrong')}")
    return found + browser.logged()


def harm(browser, url, width, mobile, full):
    """What is wrong after files that would harm a page; if `full`, also after one that takes all memory."""
    found = Faults()
    expect = found.expect

    def said(name):
        return browser.run(f"{of(name)}.textContent")

    def lives(what):
        """The file's own values run again."""
        run_text(browser, HOSTILE)
        expect(browser.until(RESTS, 60), f"after {what} nothing runs: {said('status')}; {said('wrong')}")

    browser.visit("about:blank", width, mobile=mobile)
    browser.visit(url, width, mobile=mobile)
    expect(browser.until(f"document.querySelector('#report iframe') && {RESTS}"), "no report of hostile texts")
    inside = "document.querySelector('#report iframe').contentWindow.harmed"
    expect(not browser.run("!!window.harmed") and not browser.run(f"!!{inside}"), "a title is executed")
    expect("<script>" in said("title"), f"the title is {said('title')}")
    # A sweep of twenty thousand networks: told or running, and ended by the next change.
    run_text(browser, HOSTILE + ENDLESS)
    began = browser.until(f"/running|no result/.test({of('status')}.textContent)", 60)
    expect(began, f"a large sweep: {said('status')}")
    lives("a large sweep")
    # More flows and more detail than a page can hold.
    for what, text in [("10^9 flows", HOSTILE.replace('name = "f"', 'name = "f"\ncount = 1000000000')),
                       ("50,000 stations", HOSTILE.replace('name = "f"', 'name = "f"\ncount = 50000')),
                       ("a year", HOSTILE.replace('"2s"', '"30000000s"\nsample = "1s"'))]:
        type_in(browser, text)
        browser.until(f"!{of('text-wrong')}.hidden || !{of('use')}.disabled", 60)
        if browser.run(f"{of('use')}.disabled"):
            expect("help: " in said("text-wrong"), f"{what}: {said('text-wrong')}")
        else:
            click(browser, "use")
            browser.until(f"/running .* [2-9] s|no result| in .* s$/.test({of('status')}.textContent)", 60)
        lives(what)
    if full:
        run_text(browser, HOSTILE.replace('"2s"', '"200ms"').replace('name = "f"', 'name = "f"\ncount = 90000'))
        expect(browser.until(f"{of('status')}.textContent === 'no result'", 100) and "1 GiB" in said("wrong"),
               f"more memory than there is: {said('status')}; {said('wrong')}")
        lives("running out of memory")
    return found + browser.logged()


def check(contend):
    count = 0
    browsers = [("Chromium", Browser, {1280: False, 390: True})]
    if Firefox.installed():
        # Its window is 500 pixels wide at least.
        browsers.append(("Firefox", Firefox, {1280: False}))
    else:
        needs.skip("firefox", "ci/page.py in Firefox")
    with tempfile.TemporaryDirectory() as folder:
        def page(name, text):
            path = os.path.join(folder, name)
            with open(path + ".toml", "w", encoding="utf-8") as f:
                f.write(text)
            subprocess.run([contend, "page", path + ".toml", "-o", path + ".html", "--quiet"], check=True)
            return "file://" + path + ".html"

        one = live.FILE.replace('[sweep]\n"ap.queue" = ["fifo", "fq_codel"]\n', "").replace("4s", "2s")
        urls = {"cell": page("cell", live.FILE), "one": page("one", one), "hostile": page("hostile", HOSTILE)}
        run = [contend, "run", os.path.join(folder, "one.toml"), "--no-results", "--format", "json", "--quiet"]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        digest = json.loads(done.stdout)["runs"][0]["digest"]
        for name, browser_class, widths in browsers:
            with browser_class() as browser:
                for width, mobile in widths.items():
                    found = live.use(browser, urls["cell"], width, mobile)
                    found += live.remember(browser, urls["cell"], width, mobile)
                    found += edit(browser, urls["one"], one, digest, width, mobile)
                    found += harm(browser, urls["hostile"], width, mobile, browser_class is Browser and not mobile)
                    for fault in found:
                        print(f"page, {name}, {width} px: {fault}")
                    count += len(found)
    return count


def main():
    if not installed():
        needs.skip("chromium", "ci/page.py, pages of `contend page`")
        return
    count = check(os.path.abspath(sys.argv[1]))
    if count:
        sys.exit(f"ci/page.py: {count} faults")


if __name__ == "__main__":
    main()
