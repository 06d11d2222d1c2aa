"""Headless Chromium for the checks of pages, over the DevTools protocol and two pipes; standard library only."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome"]
QUIET = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
    "--force-device-scale-factor=1",
]
# Seconds to wait for an answer.
PATIENCE = 120


def installed():
    """The path of Chromium; None if it is not installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def picture(page, path, width, height):
    """Writes the top of a page as PNG."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        subprocess.run([installed(), *QUIET, f"--user-data-dir={profile}", f"--screenshot={os.path.abspath(path)}",
                        f"--window-size={width},{height}", "file://" + os.path.abspath(page)],
                       check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Browser:
    """One page after the other, with what it logs."""

    def __enter__(self):
        # Processes of Chromium may still write to it when it is removed.
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4, each ended by a zero byte.
        commands, self.to = os.pipe()
        self.answers, answers = os.pipe()

        def descriptors():
            # Moved above 4 first, so that neither replaces the other.
            high = [os.dup2(fd, 100 + i) for i, fd in enumerate([commands, answers])]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [installed(), *QUIET, "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.read, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.answers)
        self.process.terminate()
        self.process.wait(20)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.read:
            if not select.select([self.answers], [], [], PATIENCE)[0]:
                raise TimeoutError(f"Chromium was silent for {PATIENCE} s")
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("Chromium ended")
            self.read += more
        message, self.read = self.read.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        """The result of a command; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, height=900, mobile=False):
        """Opens a file and waits for its scripts."""
        self.visit("file://" + os.path.abspath(path), width, height, mobile)

    def visit(self, url, width, height=900, mobile=False):
        """Opens an address and waits for its scripts."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())
        self.draw()

    def draw(self):
        """Waits until the page has drawn what it planned, or half a second: a page that is not seen may not draw."""
        self.run("new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done(true)));"
                 "setTimeout(() => done(false), 500); })")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def until(self, script, seconds=PATIENCE):
        """Waits until an expression in the page is true, and says whether it became so."""
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def press(self, key, code):
        """Presses and releases a key, like ("ArrowRight", 39)."""
        for kind in ["rawKeyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def logged(self):
        """Errors of the page: exceptions, console.error, violations of its Content-Security-Policy."""
        out = []
        for e in self.events:
            params = e.get("params", {})
            if e.get("method") == "Runtime.exceptionThrown":
                out.append(params["exceptionDetails"]["text"])
            elif e.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert", "warning"):
                out.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            elif e.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                out.append(params["entry"]["text"])
        return out
