# SPDX-License-Identifier: Apache-2.0
"""A broker and a store of objects for a server that is part of a fleet, where deploy/build/setup --fleet has installed them; and a
stranger who writes into the fleet's log."""

import contextlib
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import threading

from server import ROOT

sys.path.insert(0, str(ROOT / "deploy/fleet"))
from local_fleet import BUCKET, LocalFleet  # noqa: E402

PROGRAMS = {name: shutil.which(name, path=f"{ROOT}/.deps/bin:{os.environ.get('PATH', '')}") for name in ("nats-server", "versitygw")}
BEAT_SECONDS = 0.2


def has_fleet_parts():
    return all(PROGRAMS.values())


class FleetParts:
    """Where they are, their processes, and the block of the configuration that leads to them."""

    def __init__(self, broker, broker_process, config, store_process):
        self.broker, self.broker_process, self.config, self.store_process = broker, broker_process, config, store_process


@contextlib.contextmanager
def fleet_parts(deliver_backlog=32):
    with tempfile.TemporaryDirectory(prefix="reel-fleet-") as folder, contextlib.ExitStack() as stack:
        fleet = LocalFleet(folder, PROGRAMS, models="")
        stack.callback(fleet.end)
        fleet.start_brokers(1)
        fleet.start_store()
        broker_process, store_process = fleet.processes
        config = f"""fleet {{ name: "prod" node: "a" listen: "127.0.0.1:0" nats {{ urls: "nats://{fleet.brokers[0]}" max_bytes: 67108864 }}
  objects {{ endpoint: "{fleet.store}" bucket: "{BUCKET}" credentials_file: "{pathlib.Path(folder, "credentials")}" deliver_backlog: {deliver_backlog} }}
  beat {{ nanos: 200000000 }} silence {{ seconds: 1 }} lease {{ seconds: 4 }} }}
timing {{ drain {{ seconds: 1 }} }}
"""
        yield FleetParts(fleet.brokers[0], broker_process, config, store_process)


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
        self.publish(f"reel.prod.j.{tenant}.{video}.c.1", text_field(1, self.name) + text_field(2, "127.0.0.1:1"))

    def beat(self, build="", position=0):
        self.publish(f"reel.prod.hb.{self.name}", text_field(1, self.name) + text_field(3, build) + varint(4 << 3) + varint(position))

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
