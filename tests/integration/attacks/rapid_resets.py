#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that are reset as soon as they are sent (CVE-2023-44487): bare, with their request, by the server (CVE-2025-8671), by the end of their
connection. Others are served, memory is bounded."""

import struct
import sys

from http2 import DATA, END_HEADERS, END_STREAM, HEADERS, PRIORITY, RST_STREAM, WINDOW_UPDATE, call_head, frame
from siege import Siege, keep_pouring
from target import GENERATE, LIST, MIB, TEST_CARD, expect, running_server, samples, until, wait_until_ready

SECONDS = 3
LIMIT = 128 * MIB  # 4,000 kept calls of 23 KB, and as much as the heap keeps of others
CALLS = 20_000  # of one connection, at most
BATCH = 200  # calls that are written at once
OPEN = 100  # calls that a connection may have open
CANCEL = struct.pack(">I", 8)
REQUEST = struct.pack(">BI", 0, 0)


def calls(path, rest, count=CALLS):
    """Calls, each with what `rest(stream)` has after its headers; over new connections where the server has closed one, or it has had so many."""
    size = min(BATCH, count)

    def blobs(address):
        block = call_head(path, address)
        for first in range(1, 2 * count, 2 * size):
            yield b"".join(frame(HEADERS, END_HEADERS, stream, block) + rest(stream) for stream in range(first, first + 2 * size, 2))
    return lambda address, deadline: keep_pouring(address, deadline, blobs) * size


def reset(stream):
    return frame(RST_STREAM, 0, stream, CANCEL)


def window(step):
    return lambda stream: frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", step))


def request(stream):
    return frame(DATA, END_STREAM, stream, REQUEST)


# What a server may answer by a reset of its own: then the client has sent none.
MADE = {
    "windows of no bytes": window(0),
    "windows too large": window(2**31 - 1),
    "requests after their end": lambda stream: request(stream) * 2,
    "headers after their end": lambda stream: request(stream) + frame(HEADERS, END_HEADERS | END_STREAM, stream, b""),
    "priorities cut short": lambda stream: frame(PRIORITY, 0, stream, b"x"),
    "calls that depend on themselves": lambda stream: frame(PRIORITY, 0, stream, struct.pack(">IB", stream, 0)),
}
ATTACKS = {
    "calls reset before their request": calls(GENERATE, reset),
    "calls reset after their request": calls(LIST, lambda stream: request(stream) + reset(stream)),
    "calls reset, a few a connection": calls(GENERATE, reset, OPEN),
    "calls left by the end of their connection": calls(GENERATE, lambda _: b"", OPEN),
} | {f"calls that the server resets: {what}": calls(GENERATE, rest) for what, rest in MADE.items()}


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        for what, attack in ATTACKS.items():
            siege = Siege(server, what, attack, SECONDS)
            siege.check("calls", least=BATCH)
            expect(siege.growth <= LIMIT, f"{what}: {siege.growth} bytes more")
            until("all calls are closed", lambda: samples(server)["reel_open_streams"] == 0)
        expect("not bounded" not in server.log.read_text(encoding="utf-8"), "reeld knows this gRPC")
    return 0


if __name__ == "__main__":
    sys.exit(main())
