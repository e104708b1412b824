#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames that cost their sender nothing: pings, settings, resets, windows, data of no or one byte, unknown kinds. Others are served meanwhile."""

import itertools
import struct
import sys

from http2 import (DATA, END_HEADERS, HEADER_TABLE, HEADERS, INITIAL_WINDOW, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE, call_head, frame)
from siege import Siege, keep_pouring, pour_once
from target import CREATE, TEST_CARD, running_server, wait_until_ready

SECONDS = 1.5
BATCH = 500
STREAMS = 100  # what one connection may have open
UNKNOWN = 0x77


def again(*frames):
    """The same frames until the time is over."""
    def blobs(_):
        return itertools.repeat(b"".join(frames) * BATCH)
    return lambda address, deadline: keep_pouring(address, deadline, blobs) * BATCH * len(frames)


def some(*frames):
    """The same frames, 2 million: each costs the server an answer, and two such connections hold its two threads on two cores."""
    def blobs(_):
        return itertools.repeat(b"".join(frames) * BATCH, 2_000_000 // BATCH // len(frames))
    return lambda address, deadline: pour_once(address, deadline, blobs) * BATCH * len(frames)


def to_open_calls(payload, rounds):
    """Calls that begin, then get data in frames of this payload, in turn."""
    def blobs(address):
        block = call_head(CREATE, address)
        calls = range(1, 2 * STREAMS, 2)
        yield b"".join(frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, 0, stream, struct.pack(">BI", 0, 1 << 20)) for stream in calls)
        for _ in range(rounds):
            yield b"".join(frame(DATA, 0, stream, payload) for stream in calls)
    return lambda address, deadline: keep_pouring(address, deadline, blobs) * STREAMS


ATTACKS = {
    "pings": again(frame(PING, 0, 0, bytes(8))),
    "settings": some(*(frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW, window)) for window in (65535, 0))),
    "sizes of the header table": some(*(frame(SETTINGS, 0, 0, struct.pack(">HI", HEADER_TABLE, size)) for size in (2**32 - 1, 0))),
    "resets of calls that are none": again(frame(RST_STREAM, 0, 1, struct.pack(">I", 8))),
    "windows of calls that are none": again(frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 1))),
    "priorities": again(frame(PRIORITY, 0, 1, bytes(5))),
    "frames of no known kind": again(frame(UNKNOWN, 0, 0, b"x")),
    "data without bytes": to_open_calls(b"", 10**6),
    "data in single bytes": to_open_calls(b"\x08", 600),  # 65,535 bytes are a connection's first window
}


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        for what, attack in ATTACKS.items():
            Siege(server, what, attack, SECONDS).check("frames", least=10_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
