"""Headless browsers for the checks of pages; standard library only: Chromium over the DevTools protocol and two pipes,
Firefox over its Marionette."""

import base64
import json
import os
import select
import shutil
import socket
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


class Waiting:
    """What every browser can."""

    def until(self, script, seconds=PATIENCE):
        """Waits until an expression in the page is true, and says whether it became so."""
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def open(self, path, width, height=900, mobile=False):
        """Opens a file and waits for its scripts."""
        self.visit("file://" + os.path.abspath(path), width, height, mobile)

    def draw(self):
        """Waits until the page has drawn what it planned, or half a second: a page that is not seen may not draw."""
        self.run("new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done(true)));"
                 "setTimeout(() => done(false), 500); })")


class Browser(Waiting):
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

    def visit(self, url, width, height=900, mobile=False):
        """Opens an address and waits for its scripts."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())
        self.draw()

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

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


class Firefox(Waiting):
    """Like `Browser`, in Firefox. `mobile` makes the page narrow only."""

    KEYS = {"Enter": "\ue007", "Tab": "\ue004", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Escape": "\ue00c"}

    @staticmethod
    def installed():
        """The path of Firefox; None if it is not installed."""
        return next(filter(None, map(shutil.which, ["firefox", "firefox-esr"])), None)

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.profile.name, "user.js"), "w", encoding="utf-8") as f:
            f.write(f'user_pref("marionette.port", {port});\n'
                    'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                    'user_pref("browser.shell.checkDefaultBrowser", false);\n')
        environment = {**os.environ, "HOME": self.profile.name, "MOZ_HEADLESS": "1", "MOZ_DISABLE_CONTENT_SANDBOX": "1"}
        self.process = subprocess.Popen(
            [self.installed(), "--headless", "--marionette", "--remote-allow-system-access", "--no-remote",
             "--profile", self.profile.name],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.read, self.number = b"", 0
        self.receive()
        self.call("WebDriver:NewSession", {"pageLoadStrategy": "normal"})
        self.call("WebDriver:SetTimeouts", {"script": 1000 * PATIENCE})
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(20)
        self.profile.cleanup()

    def receive(self):
        """The next message: its length, a colon, JSON."""
        while True:
            length, colon, rest = self.read.partition(b":")
            if colon and len(rest) >= int(length):
                self.read = rest[int(length):]
                return json.loads(rest[: int(length)])
            more = self.socket.recv(1 << 20)
            if not more:
                raise RuntimeError("Firefox ended")
            self.read += more

    def call(self, method, params=None):
        """The result of a command."""
        self.number += 1
        data = json.dumps([0, self.number, method, params or {}]).encode()
        self.socket.sendall(b"%d:%b" % (len(data), data))
        while True:
            _, number, error, result = self.receive()
            if number == self.number:
                if error:
                    raise RuntimeError(f"{method}: {error['message']}")
                return result

    def chrome(self, script):
        """The value of a function's body with the rights of the browser itself."""
        self.call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.call("WebDriver:ExecuteScript", {"script": script, "args": []})["value"]
        finally:
            self.call("Marionette:SetContext", {"value": "content"})

    def visit(self, url, width, height=900, mobile=False):
        """Opens an address and waits for its scripts."""
        del mobile
        # The window is larger than the page, by what the browser shows around it.
        for _ in range(2):
            around = self.run("[outerWidth - innerWidth, outerHeight - innerHeight]")
            size = {"width": width + around[0], "height": height + around[1]}
            self.call("WebDriver:SetWindowRect", size)
        self.chrome("Services.console.reset(); return true")
        self.call("WebDriver:Navigate", {"url": url})
        self.draw()

    def run(self, script):
        """The value of an expression in the page."""
        body = f"return Promise.resolve({script}).then((x) => [x === undefined ? null : x])"
        return self.call("WebDriver:ExecuteScript", {"script": body, "args": []})["value"][0]

    def press(self, key, code):
        """Presses and releases a key, like ("ArrowRight", 39)."""
        del code
        key = self.KEYS.get(key, key)
        keys = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self.call("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keys", "actions": keys}]})

    def picture(self, path):
        """Writes what is seen of the page as PNG."""
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", {"full": False})["value"]))

    def logged(self):
        """Errors of the page: exceptions, violations of its Content-Security-Policy."""
        return self.chrome("""return Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError
            && /content|CSP|Content Security/i.test(m.category) && !(m.flags & Ci.nsIScriptError.infoFlag))
            .map((m) => m.errorMessage)""")
