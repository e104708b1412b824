# SPDX-License-Identifier: Apache-2.0
"""Attackers that pour bytes into connections, in processes of their own, while an honest caller asks on; and what that cost."""

import multiprocessing
import select
import socket
import time

from http2 import ACK, PING, PREFACE, SETTINGS, Connection, frame
from target import INFO, MIB, OK, MemoryWatch, expect

SLOWEST = 10  # seconds: an honest call, connecting included, on two busy cores
LIMIT = 256 * MIB  # gRPC's own quota, and what the heap keeps of it
SIDES = 2  # attackers at a time


class Pipe:
    """One connection that takes bytes and reads only to make room; confined to its thread."""

    def __init__(self, address, settings=b""):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.socket.setblocking(False)
        self.last, self.closed, self.tail = 0, False, b""
        self.pour(PREFACE + frame(SETTINGS, 0, 0, settings), time.monotonic() + 30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def pour(self, data, deadline):
        """All of it, unless the server closes the connection or the time is over."""
        view = memoryview(data)
        while len(view) and not self.closed and time.monotonic() < deadline:
            readable, writable, _ = select.select([self.socket], [self.socket], [], 0.2)
            if readable:
                self._drop_answers()
            if writable and not self.closed:
                self._send(view[:1 << 18])
                view = view[self.last:]

    def wait_until_read(self, deadline):
        """Until the server has read all that was poured: it answers a ping."""
        answer = frame(PING, ACK, 0, b"all read")
        self.pour(frame(PING, 0, 0, b"all read"), deadline)
        while answer not in self.tail and not self.closed and time.monotonic() < deadline:
            if select.select([self.socket], [], [], 0.2)[0]:
                self._drop_answers()

    def _send(self, view):
        try:
            self.last = self.socket.send(view)
        except BlockingIOError:
            self.last = 0
        except OSError:
            self.last, self.closed = 0, True

    def _drop_answers(self):
        """Keeps the last of them."""
        try:
            data = self.socket.recv(1 << 20)
            self.tail, self.closed = self.tail[-64:] + data, not data
        except BlockingIOError:
            pass
        except OSError:
            self.closed = True


def pour_once(address, deadline, blobs):
    """Pours what `blobs(address)` yields over one connection, until the server has read it or closes it. Returns how many."""
    poured = 0
    with Pipe(address) as pipe:
        for blob in blobs(address):
            pipe.pour(blob, deadline)
            if pipe.closed or time.monotonic() >= deadline:
                break
            poured += 1
        pipe.wait_until_read(deadline)
    return poured


def keep_pouring(address, deadline, blobs):
    """The same, again and again over new connections."""
    poured = 0
    while time.monotonic() < deadline:
        poured += pour_once(address, deadline, blobs)
    return poured


def ask(address):
    """The seconds that an honest call takes. Where the server closes its connection without an answer, it is made again, as gRPC's clients do: a
    server whose quota of memory is used up closes connections that have no call yet."""
    start = time.monotonic()
    while True:
        with Connection(address) as connection:
            call = connection.unary(INFO)
        took = time.monotonic() - start
        if call.code == OK:
            return took
        expect(call.code is None and took < SLOWEST, f"an honest call ends with {call.code} {call.message} after {took:.1f} s")


def expect_bounded(what, growth, slowest):
    expect(growth <= LIMIT, f"{what}: {growth} bytes more")
    expect(slowest <= SLOWEST, f"{what}: an honest call took {slowest:.1f} s")


class Siege:
    """`attack(address, deadline)` in SIDES processes until the deadline, and honest calls meanwhile. It returns a number, its work."""

    def __init__(self, server, what, attack, seconds):
        self.what, self.work = what, 0
        deadline = time.monotonic() + seconds
        sides = [multiprocessing.Pipe(duplex=False) for _ in range(SIDES)]
        processes = [multiprocessing.Process(target=self._run, args=(attack, server.grpc, deadline, end)) for _, end in sides]
        self.answered, self.slowest = 0, 0.0
        with MemoryWatch(server.process) as memory:
            for process in processes:
                process.start()
            while not self.answered or any(process.is_alive() for process in processes):
                self.slowest = max(self.slowest, ask(server.grpc))
                self.answered += 1
        for (result, _), process in zip(sides, processes, strict=True):
            process.join()
            expect(process.exitcode == 0 and result.poll(), f"{what}: an attacker failed")
            self.work += result.recv()
        self.growth = memory.growth
        ask(server.grpc)

    @staticmethod
    def _run(attack, address, deadline, end):
        end.send(attack(address, deadline))

    def check(self, unit, least):
        """Prints what it cost; fails beyond LIMIT or SLOWEST, and where the work was so little that it was no attack."""
        print(f"FIGURE {self.what}: {self.work:.0f} {unit}, {self.growth / MIB:.0f} MiB more at most; {self.answered} honest calls, the slowest "
              f"{self.slowest * 1e3:.0f} ms")
        expect_bounded(self.what, self.growth, self.slowest)
        expect(self.work > least, f"{self.what}: only {self.work} {unit}, which is no flood")
