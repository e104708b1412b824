# SPDX-License-Identifier: Apache-2.0
"""A broker and a store of objects for a server that is part of a fleet, where deploy/build/setup --fleet has installed them; and a
stranger who writes into the fleet's log."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from server import ROOT

START_SECONDS = 20
BEAT_SECONDS = 0.2


def optional_tool(name):
    return shutil.which(name, path=f"{ROOT}/.deps/bin:{os.environ.get('PATH', '')}")


def has_fleet_parts():
    return bool(optional_tool("nats-server") and optional_tool("versitygw"))


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


@contextlib.contextmanager
def running(address, *command):
    """Yields the process once it listens; it may have been ended meanwhile."""
    host, port = address.rsplit(":", 1)
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
                break
            assert time.monotonic() < end, f"{command[0]} does not listen"
            time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait(30)


class FleetParts:
    """Where they are, their processes, and the block of the configuration that leads to them."""

    def __init__(self, broker, broker_process, config, store_process):
        self.broker, self.broker_process, self.config, self.store_process = broker, broker_process, config, store_process


@contextlib.contextmanager
def fleet_parts(deliver_backlog=32):
    with tempfile.TemporaryDirectory(prefix="reel-fleet-") as folder, contextlib.ExitStack() as stack:
        broker, store = free_address(), free_address()
        host, port = broker.rsplit(":", 1)
        broker_process = stack.enter_context(running(broker, optional_tool("nats-server"), "-a", host, "-p", port, "-js", "-sd", f"{folder}/log"))
        for name in ("objects/reel", "facts"):
            pathlib.Path(folder, name).mkdir(parents=True)
        credentials = pathlib.Path(folder, "credentials")
        credentials.write_text("reel-test:right\n", encoding="utf-8")
        credentials.chmod(0o600)
        store_process = stack.enter_context(running(store, optional_tool("versitygw"), "--quiet", "--access", "reel-test", "--secret", "right",
                                                    "--port", store, "posix", "--sidecar", f"{folder}/facts", f"{folder}/objects"))
        config = f"""fleet {{ name: "prod" node: "a" listen: "127.0.0.1:0" nats {{ urls: "nats://{broker}" max_bytes: 67108864 }}
  objects {{ endpoint: "http://{store}" bucket: "reel" credentials_file: "{credentials}" deliver_backlog: {deliver_backlog} }}
  beat {{ nanos: 200000000 }} silence {{ seconds: 1 }} lease {{ seconds: 4 }} }}
timing {{ drain {{ seconds: 1 }} }}
"""
        yield FleetParts(broker, broker_process, config, store_process)


def varint(number):
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def text_field(number, text):
    return varint(number << 3 | 2) + varint(len(text)) + text.encode()


class Stranger:
    """Another node of the fleet, which is none: what it says is in the log and in the beats all the same."""

    def __init__(self, broker, name="ghost"):
        host, port = broker.rsplit(":", 1)
        self.name, self.lock, self.stopped = name, threading.Lock(), threading.Event()
        self.connection = socket.create_connection((host, int(port)))
        self.connection.recv(65536)
        self.connection.sendall(b'CONNECT {"verbose":false}\r\n')

    def publish(self, subject, payload):
        with self.lock:
            self.connection.sendall(f"PUB {subject} {len(payload)}\r\n".encode() + payload + b"\r\n")

    def claim(self, tenant, video):
        self.publish(f"reel.j.{tenant}.{video}.c.1", text_field(1, self.name) + text_field(2, "127.0.0.1:1"))

    def beat(self, build="", position=0):
        self.publish(f"reel.hb.{self.name}", text_field(1, self.name) + text_field(3, build) + varint(4 << 3) + varint(position))

    def beat_on(self, **words):
        """Until the broker is gone or `stop`."""
        def loop():
            with contextlib.suppress(OSError):
                while not self.stopped.wait(BEAT_SECONDS):
                    self.beat(**words)
        threading.Thread(target=loop, daemon=True).start()

    def stop(self):
        self.stopped.set()
        self.connection.close()
