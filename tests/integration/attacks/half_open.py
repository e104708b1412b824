#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Connections to the gRPC port that stop in their handshake, plain and with TLS, or after it: each is closed in its time, and calls are
answered meanwhile."""

import pathlib
import select
import socket
import sys
import tempfile
import time

from http2 import PREFACE, SETTINGS, frame
from target import TEST_CARD, alive, expect, make_certificate, running_server

OF_EACH = 50
HANDSHAKE, KEEPALIVE = 20, 40  # seconds; the second: 30 until a ping, 10 for its answer
SLACK = 15  # of a busy machine
HELLO = bytes.fromhex("16030100a5010000a10303")  # a record that breaks off


class HalfOpen:
    """So many connections that sent `start` and nothing more."""

    def __init__(self, address, what, start, limit):
        host, port = address.rsplit(":", 1)
        self.what, self.limit = what, limit
        self.sockets = [socket.create_connection((host, int(port)), timeout=30) for _ in range(OF_EACH)]
        self.begun, self.last = time.monotonic(), 0.0
        for one in self.sockets:
            one.sendall(start)
            one.setblocking(False)

    def look(self):
        """Forgets those that the server has closed."""
        still = []
        for one in self.sockets:
            if self.is_closed(one):
                one.close()
                self.last = time.monotonic() - self.begun
            else:
                still.append(one)
        self.sockets = still

    @staticmethod
    def is_closed(one):
        try:
            while one.recv(65536):
                pass
            return True
        except BlockingIOError:
            return False
        except OSError:
            return True


def with_tls(folder):
    certificate, key = pathlib.Path(folder, "cert.pem"), pathlib.Path(folder, "key.pem")
    make_certificate(key, certificate)
    return f'tls {{ certificate_file: "{certificate}" key_file: "{key}" }}\n'


def wait_for_all(crowds, address):
    while any(crowd.sockets for crowd in crowds):
        select.select([one for crowd in crowds for one in crowd.sockets], [], [], 1)
        alive(address)
        for crowd in crowds:
            crowd.look()
            age = time.monotonic() - crowd.begun
            expect(not crowd.sockets or age < crowd.limit + SLACK, f"{len(crowd.sockets)} {crowd.what} are open after {age:.1f} s")


def main():
    settings = frame(SETTINGS, 0, 0, b"")
    with tempfile.TemporaryDirectory(prefix="reel-half-open-") as folder, running_server(config=TEST_CARD) as plain, \
            running_server(config=TEST_CARD + with_tls(folder)) as tls:
        crowds = [HalfOpen(plain.grpc, "silent connections", b"", HANDSHAKE),
                  HalfOpen(plain.grpc, "halves of a preface", PREFACE[:10], HANDSHAKE),
                  HalfOpen(plain.grpc, "prefaces without settings", PREFACE, HANDSHAKE),
                  HalfOpen(plain.grpc, "connections that answer no ping", PREFACE + settings, KEEPALIVE),
                  HalfOpen(tls.grpc, "silent connections to TLS", b"", HANDSHAKE),
                  HalfOpen(tls.grpc, "halves of a hello", HELLO, HANDSHAKE)]
        wait_for_all(crowds, plain.grpc)
        for crowd in crowds:
            print(f"FIGURE {OF_EACH} {crowd.what}: the last one closed after {crowd.last:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
