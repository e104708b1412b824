#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of /metrics that send slowly, read nothing, or send junk: probes are answered, and a stop waits for none of them."""

import socket
import sys
import time

from target import MIB, TEST_CARD, MemoryWatch, expect, get, running_server, wait_until_ready

SLOW = 300


def connect(server, *pieces):
    host, port = server.metrics.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=30)
    for piece in pieces:
        connection.sendall(piece)
    return connection


def probe(server, what):
    """Both pages and a scrape, with the slowest answer's time."""
    slowest = 0
    for path in ("/healthz", "/readyz", "/metrics") * 5:
        start = time.monotonic()
        expect(get(server.metrics, path)[0] == 200, f"{path} fails with {what}")
        slowest = max(slowest, time.monotonic() - start)
    print(f"{what}: the slowest answer took {slowest * 1e3:.1f} ms")
    expect(slowest < 1, f"an answer took {slowest} s with {what}")


def ended(connection):
    """The server's answer, up to the end of the connection."""
    answer = b""
    try:
        while piece := connection.recv(65536):
            answer += piece
    except ConnectionError:
        pass
    return answer


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        probe(server, "nobody else")
        with MemoryWatch(server.process) as memory:
            idle = [connect(server) for _ in range(SLOW)]
            probe(server, f"{SLOW} idle connections")
            slow = [connect(server, b"GET /metrics HTTP/1.1\r\nX: ") for _ in range(SLOW)]
            probe(server, f"{SLOW} half requests")
            deaf = [connect(server, b"GET /metrics HTTP/1.1\r\n\r\n" * 100) for _ in range(SLOW)]
            probe(server, f"{SLOW} that do not read")
            large = ended(connect(server, b"GET /" + b"x" * 100_000))
            expect(large.startswith(b"HTTP/1.1 431") or not large, f"{large[:100]}")
            junk = ended(connect(server, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n"))
            expect(junk.startswith(b"HTTP/1.1 400"), f"{junk[:100]}")
        print(f"{memory.growth / MIB:.1f} MiB more")
        expect(memory.growth <= 32 * MIB, f"{memory.growth} bytes more")
        for connection in idle + slow + deaf:
            connection.close()
        start = time.monotonic()
        dripping = connect(server, b"G")
        ended(dripping)
        took = time.monotonic() - start
        print(f"a half request is cut after {took:.1f} s")
        expect(4 < took < 7, f"a half request is cut after {took} s")
        held = [connect(server, b"GET /metr") for _ in range(3)]
        start = time.monotonic()
    took = time.monotonic() - start
    print(f"SIGTERM to the end, with {len(held)} half requests: {took:.1f} s")
    expect(took < 10, f"the stop took {took} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
