"""Drives headless Chromium by the DevTools protocol, over the pipe that --remote-debugging-pipe opens.

Messages are JSON, each ended by a NUL byte: no port, no client library.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser")
# As root, in a container, without a GPU; and so that a window's size is the page's.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe")


def find():
    """The browser's path; None where there is none. Ubuntu's is a stand-in for a snap."""
    for name in PROGRAMS:
        path = shutil.which(name)
        if path and subprocess.run([path, "--version"], capture_output=True).returncode == 0:
            return path
    return None


class Browser:
    """One window on one page. `problems` has what the console was told of: errors, warnings and
    exceptions, and what the page's policy or the network refused."""

    def __init__(self, path, width=1280, height=900):
        self.profile = tempfile.mkdtemp()
        to_browser, from_browser = os.pipe(), os.pipe()
        # High numbers, so that bash can make 3 and 4 of them in any order.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_browser[0], from_browser[1])]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", path, *FLAGS,
             f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"],
            pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for fd in (to_browser[0], from_browser[1], *ends):
            os.close(fd)
        self.out, self.into = to_browser[1], from_browser[0]
        self.buffer, self.number, self.session = b"", 0, None
        self.problems, self.events = [], []
        page = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.send(domain + ".enable")

    def close(self):
        os.close(self.out)
        os.close(self.into)
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            read = os.read(self.into, 1 << 16)
            if not read:
                raise RuntimeError("the browser is gone")
            self.buffer += read
        text, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.note(message["method"], message["params"])
        return message

    def note(self, method, params):
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.problems.append("it asked for " + url)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.number:
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def open(self, url):
        """Returns when the page has loaded."""
        self.events.clear()
        self.send("Page.navigate", url=str(url))
        deadline = time.monotonic() + 60
        while "Page.loadEventFired" not in self.events:
            self.receive(deadline)

    def evaluate(self, script):
        """The value of a JavaScript expression; a promise is waited for."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, script):
        """Until the expression is true."""
        deadline = time.monotonic() + 30
        while not self.evaluate(script):
            if time.monotonic() > deadline:
                raise TimeoutError(script)
            time.sleep(0.02)

    def type(self, text):
        """Into what has the focus, key by key as far as the page can tell."""
        self.send("Input.insertText", text=text)

    def press(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def picture(self, path, width=1280, height=900, whole=False, dark=False):
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
