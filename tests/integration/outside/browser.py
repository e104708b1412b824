# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its pipe: what a page's user does and sees."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from server import skip, wait_or_kill

PATIENCE_SECONDS = 60
PROGRAMS = ("chromium-headless-shell", "chromium")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--mute-audio", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe")
# Notes what the page's policy refused, from before its first script on.
WATCH = "window.refused = []; addEventListener('securitypolicyviolation', (e) => refused.push(e.violatedDirective));"


def wait_for_value(page, script, seconds):
    """Until the expression is true; its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = page.evaluate(script)
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {script}; the page says {page.evaluate('document.body.innerText')}")


class Page:
    """One tab. Methods fail the test where the browser says no."""

    def __init__(self, process, sender, receiver):
        self.process, self.sender, self.receiver = process, sender, receiver
        self.rest, self.count, self.session, self.errors = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def receive(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.receiver], [], [], PATIENCE_SECONDS)
            piece = os.read(self.receiver, 1 << 20) if ready else b""
            if not piece:
                raise AssertionError("the browser says nothing any more")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        # Replies that are errors are entries of the network: tests ask for those on purpose.
        if method == "Log.entryAdded" and params["entry"]["level"] == "error" and params["entry"]["source"] != "network":
            self.errors.append(params["entry"]["text"])

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.sender, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.note(answer)

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in answer, f"{script}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait(self, script, seconds=PATIENCE_SECONDS):
        return wait_for_value(self, script, seconds)

    def open(self, url, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def shoot(self, path):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def opened_page():
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        skip("Chromium is not installed; run deploy/build/setup --tests")
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    # Above 3 and 4, where the browser looks for them.
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_read, from_write)]
    with tempfile.TemporaryDirectory(prefix="reel-browser-", ignore_cleanup_errors=True) as folder:
        command = ["bash", "-c", f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}', "browser", program, *FLAGS, f"--user-data-dir={folder}"]
        process = subprocess.Popen(command, pass_fds=theirs, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        for end in (to_read, from_write, *theirs):
            os.close(end)
        try:
            yield Page(process, to_write, from_read)
        finally:
            os.close(to_write)  # which ends it
            wait_or_kill(process)
            os.close(from_read)
