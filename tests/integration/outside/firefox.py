# SPDX-License-Identifier: Apache-2.0
"""A headless Firefox, driven by WebDriver BiDi, the W3C's protocol: what a page's user does and sees. With the interface of browser.py."""

import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from browser import WATCH, wait_for_value
from server import skip, until

PATIENCE_SECONDS = 120
START_SECONDS = 300  # beside three builds it took more than one minute
# Downloads go into one folder without a question; nothing leaves this machine, for proxies are not asked for addresses of it.
PREFERENCES = {
    "browser.download.folderList": 2, "browser.download.useDownloadDir": True, "browser.download.always_ask_before_handling_new_types": False,
    "browser.download.alwaysOpenPanel": False, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "network.dns.disabled": True,
}


class WebSocket:
    """The client's side of RFC 6455, as far as a text protocol on this machine needs it."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self.stream = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
        answer = self.stream.readline()
        assert b" 101 " in answer, answer
        while self.stream.readline().strip():
            pass

    def send(self, text):
        body, mask = text.encode(), os.urandom(4)
        size = len(body)
        head = bytes([0x81, 0x80 | size]) if size < 126 else bytes([0x81, 0xFE]) + size.to_bytes(2, "big") if size < 1 << 16 else bytes([0x81, 0xFF]) + size.to_bytes(8, "big")
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(body)))

    def receive(self):
        """The next text, of one frame or several; frames of control say nothing here."""
        text = b""
        while True:
            first, size = self.stream.read(2)
            if size >= 126:
                size = int.from_bytes(self.stream.read(2 if size == 126 else 8), "big")
            body = self.stream.read(size)
            if first & 0x0F > 2:
                continue
            text += body
            if first & 0x80:
                return text.decode()

    def close(self):
        self.stream.close()
        self.socket.close()


def value_of(remote):
    """A value of the page as Python has it."""
    if remote["type"] == "array":
        return [value_of(one) for one in remote["value"]]
    if remote["type"] == "object":
        return {key: value_of(one) for key, one in remote["value"]}
    return remote.get("value")


class Page:
    """One tab. Methods fail the test where the browser says no."""

    def __init__(self, port):
        self.connection, self.count, self.errors, self.downloads = WebSocket(port, "/session"), 0, [], []
        self.browser = self.call("session.new", capabilities={})["capabilities"]
        self.call("session.subscribe", events=["log.entryAdded", "browsingContext.downloadEnd"])
        self.call("script.addPreloadScript", functionDeclaration=f"() => {{ {WATCH} }}")
        self.context = self.call("browsingContext.create", type="tab")["context"]

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "log.entryAdded" and params["level"] == "error":
            self.errors.append(params["text"])
        if method == "browsingContext.downloadEnd":
            self.downloads.append(params)

    def call(self, method, **params):
        self.count += 1
        self.connection.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while True:
            answer = json.loads(self.connection.receive())
            if answer.get("id") == self.count:
                assert answer["type"] == "success", f"{method}: {answer}"
                return answer["result"]
            self.note(answer)

    def evaluate(self, script):
        answer = self.call("script.evaluate", expression=script, target={"context": self.context}, awaitPromise=True, userActivation=True)
        assert answer["type"] == "success", f"{script}: {answer['exceptionDetails']['text']}"
        return value_of(answer["result"])

    def wait(self, script, seconds=PATIENCE_SECONDS):
        return wait_for_value(self, script, seconds)

    def open(self, url, width):
        self.call("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": 900})
        self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def click(self, selector):
        """With a mouse, in the middle of the element."""
        nodes = self.call("browsingContext.locateNodes", context=self.context, locator={"type": "css", "value": selector})["nodes"]
        assert len(nodes) == 1, f"{len(nodes)} of {selector}"
        self.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        move = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": {"sharedId": nodes[0]["sharedId"]}}}
        self.act("pointer", move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def type(self, text):
        """On a keyboard, into what has the focus."""
        self.act("key", *({"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")))

    def act(self, kind, *actions):
        self.call("input.performActions", context=self.context, actions=[{"type": kind, "id": kind, "actions": list(actions)}])

    def shoot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("browsingContext.captureScreenshot", context=self.context, origin="document")["data"]))


@contextlib.contextmanager
def opened_page(downloads):
    """`downloads`: the folder where they go."""
    program = shutil.which("firefox-esr") or skip("Firefox is not installed; run deploy/build/setup --firefox")
    with tempfile.TemporaryDirectory(prefix="reel-firefox-", ignore_cleanup_errors=True) as folder:
        profile, log = pathlib.Path(folder, "profile"), pathlib.Path(folder, "log")
        profile.mkdir()
        preferences = PREFERENCES | {"browser.download.dir": str(downloads)}
        (profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        with open(log, "wb") as out:
            process = subprocess.Popen([program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"],
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, env=os.environ | {"HOME": folder})
        try:
            said = r"WebDriver BiDi listening on ws://127\.0\.0\.1:(\d+)\n"
            until(f"Firefox listens: {log}", lambda: re.search(said, log.read_text()) or process.poll() is not None, START_SECONDS)
            assert process.poll() is None, log.read_text()
            page = Page(int(re.search(said, log.read_text())[1]))
            yield page
            page.connection.close()
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # its helpers, too
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
