# SPDX-License-Identifier: Apache-2.0
"""A client of NATS over TLS with a key, that knows nothing of Reel: the protocol's few lines, and what the broker says to them."""

import base64
import itertools
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "deploy/fleet"))
from nkey import private_key, public_key  # noqa: E402

PATIENCE_SECONDS = 10
PERMISSIONS = "Permissions Violation"


def sign(seed, nonce):
    with tempfile.TemporaryDirectory() as folder:
        key, text = pathlib.Path(folder, "key"), pathlib.Path(folder, "nonce")
        key.write_bytes(private_key(seed))
        text.write_text(nonce)
        answer = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-keyform", "DER", "-in", text],
                                capture_output=True, check=True)
    return base64.urlsafe_b64encode(answer.stdout).rstrip(b"=").decode()


class Refused(Exception):
    """The broker's word."""


class NatsClient:
    """Connected when it is made. One thread."""

    def __init__(self, port, authority=None, seed=None, patience=PATIENCE_SECONDS):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self.errors, self.messages, self.inboxes = [], [], itertools.count(1)
        info = json.loads(self.read_plain_line().removeprefix("INFO "))
        if authority:
            self.connection = ssl.create_default_context(cafile=str(authority)).wrap_socket(self.connection, server_hostname="127.0.0.1")
        self.lines = self.connection.makefile("rb")
        who = {"nkey": public_key(seed), "sig": sign(seed, info["nonce"])} if seed else {}
        self.say("CONNECT " + json.dumps({"verbose": False, "pedantic": False, "headers": True, "protocol": 1, "lang": "test", "version": "1",
                                          "tls_required": bool(authority), **who}))
        self.flush()
        if self.errors:
            raise Refused(self.errors[0])

    def close(self):
        self.connection.close()

    def read_plain_line(self):
        """Not a byte more: TLS begins behind it."""
        line = b""
        while not line.endswith(b"\n"):
            piece = self.connection.recv(1)
            if not piece:
                raise Refused("the connection was closed")
            line += piece
        return line.decode()

    def say(self, line, payload=None):
        data = line.encode() + b"\r\n"
        self.connection.sendall(data if payload is None else data + payload + b"\r\n")

    def take(self):
        """One thing that the broker says; "PONG" and the like as they are, messages and errors into their lists."""
        line = self.lines.readline().decode().strip()
        if not line:
            raise Refused(self.errors[0] if self.errors else "the connection was closed")
        if line.startswith("-ERR"):
            self.errors.append(line)
        elif line.startswith(("MSG", "HMSG")):
            words = line.split()
            data = self.lines.read(int(words[-1]) + 2)[:-2]
            head = int(words[-2]) if words[0] == "HMSG" else 0
            self.messages.append((words[1], data[head:], data[:head].decode()))
        elif line == "PING":
            self.say("PONG")
        return line

    def flush(self):
        """Until the broker has answered to all that was said."""
        self.say("PING")
        while self.take() != "PONG":
            pass

    def is_refused(self, line, payload=None):
        """Whether the broker says that this key may not."""
        self.errors.clear()
        self.say(line, payload)
        self.flush()
        return any(PERMISSIONS in error for error in self.errors)

    def may_publish(self, subject, payload=b""):
        return not self.is_refused(f"PUB {subject} {len(payload)}", payload)

    def may_subscribe(self, subject):
        return not self.is_refused(f"SUB {subject} {next(self.inboxes)}")

    def request(self, subject, payload=b"{}", headers=""):
        """What is answered, as JSON."""
        inbox = f"_INBOX.{next(self.inboxes)}.{id(self)}"
        self.say(f"SUB {inbox} {next(self.inboxes)}")
        if headers:
            head = f"NATS/1.0\r\n{headers}\r\n\r\n".encode()
            self.say(f"HPUB {subject} {inbox} {len(head)} {len(head) + len(payload)}", head + payload)
        else:
            self.say(f"PUB {subject} {inbox} {len(payload)}", payload)
        self.errors.clear()
        while True:
            answered = [data for to, data, _ in self.messages if to == inbox]
            if answered:
                return json.loads(answered[0])
            if self.errors:
                raise Refused(self.errors[0])
            self.take()
