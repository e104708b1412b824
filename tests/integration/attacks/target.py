# SPDX-License-Identifier: Apache-2.0
"""The server under attack, and what it may cost: built on the checks of ../outside."""

import http.client
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "outside"))
from server import make_certificate, resident_bytes, running_server, until  # noqa: E402, F401

from http2 import Connection, expect, field  # noqa: E402, F401

MIB = 1 << 20
TEST_CARD = 'models { name: "testcard" test_card {} }\n'
GENERATE, CREATE = "/reel.v1.VideoService/GenerateVideo", "/reel.v1.VideoService/CreateVideo"
GET, LIST = "/reel.v1.VideoService/GetVideo", "/reel.v1.VideoService/ListVideos"
INFO, CHECK = "/reel.v1.ServerService/GetServerInfo", "/grpc.health.v1.Health/Check"
OK, CANCELLED, INVALID_ARGUMENT, UNIMPLEMENTED, UNAVAILABLE, UNAUTHENTICATED = 0, 1, 3, 12, 14, 16
PATIENCE = 60


def get(address, path, patience=PATIENCE):
    """Status and body of an HTTP GET."""
    connection = http.client.HTTPConnection(address, timeout=patience)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def samples(server):
    """A scrape: `name{labels}` to value."""
    lines = get(server.metrics, "/metrics")[1].splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line and line[0] != "#")}


def wait_until_ready(server):
    until("/readyz", lambda: get(server.metrics, "/readyz")[0] == 200)


def small_spec(prompt="a red circle"):
    """A job of the test card that takes a fraction of a second: prompt, width, height, frames, steps."""
    return field(2, prompt) + field(4, 64) + field(5, 64) + field(6, 9) + field(8, 2)


def alive(address, path=CHECK):
    """A call like anybody's is answered."""
    with Connection(address) as connection:
        call = connection.unary(path)
        expect(call.code == OK, f"{path} ends with {call.code}: {call.message}")


class MemoryWatch:
    """The most that a process held while this was open, above what it held before."""

    def __init__(self, process):
        self.process, self.before, self.most = process, resident_bytes(process.pid), 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def _watch(self):
        while not self.over.wait(0.005):
            self._look()

    def _look(self):
        self.most = max(self.most, resident_bytes(self.process.pid))

    @property
    def growth(self):
        self._look()
        return self.most - self.before
