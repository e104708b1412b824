#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A list whose videos are as large as they may be comes in pages that can be sent, and complete."""

import re
import sys

from http2 import Connection, field
from target import CREATE, LIST, MIB, OK, TEST_CARD, expect, running_server, small_spec, wait_until_ready

VIDEOS = 150
LONG = "\U0001f3ac" * 62  # four bytes a character, of at most 64


def labels(video):
    return b"".join(field(6, field(1, f"{i:02}{LONG}") + field(2, f"{video % 100:02}{LONG}")) for i in range(16))


def read_page(message):
    """Names of the videos, and the token of the next page."""
    names = re.findall(rb"\x0a.(videos/[a-z0-9.-]+)", message)
    token = re.search(rb"\x12.([A-Za-z0-9_=-]{20,200})$", message)
    return names, token[1] if token else b""


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        with Connection(server.grpc) as connection:
            for video in range(VIDEOS):
                call = connection.unary(CREATE, field(1, small_spec()) + labels(video))
                expect(call.code == OK, f"CreateVideo: {call.code} {call.message}")
            seen, token, pages = set(), b"", 0
            while True:
                call = connection.unary(LIST, field(1, 140) + (field(2, token) if token else b""))
                expect(call.code == OK, f"ListVideos: {call.code} {call.message}")
                expect(len(call.messages[0]) <= MIB + 4096, f"a page of {len(call.messages[0])} bytes")
                names, token = read_page(call.messages[0])
                print(f"{len(names)} videos, {len(call.messages[0])} bytes")
                expect(names and not seen & set(names), "a page repeats a video, or has none")
                seen |= set(names)
                pages += 1
                if not token:
                    break
            expect(len(seen) == VIDEOS, f"{len(seen)} of {VIDEOS} videos in {pages} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
