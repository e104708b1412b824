#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Callers who let no answer through, their window being 0: others are served, what waits is bounded, and ends when they leave."""

import multiprocessing
import struct
import sys
import time

from http2 import DATA, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW, call_head, frame
from siege import Pipe, ask, expect_bounded
from target import INFO, MIB, TEST_CARD, MemoryWatch, alive, running_server, samples, until, wait_until_ready

CONNECTIONS, STREAMS = 50, 100  # the second is what one connection may have open


def ask_without_a_window(address, sent, over):
    settings = struct.pack(">HI", INITIAL_WINDOW, 0)
    block, request = call_head(INFO, address), struct.pack(">BI", 0, 0)
    calls = b"".join(frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, request) for stream in range(1, 2 * STREAMS, 2))
    pipes = [Pipe(address, settings) for _ in range(CONNECTIONS)]
    for pipe in pipes:
        pipe.pour(calls, time.monotonic() + 30)
    sent.set()
    over.wait()


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        alive(server.grpc, INFO)
        sent, over = multiprocessing.Event(), multiprocessing.Event()
        attacker = multiprocessing.Process(target=ask_without_a_window, args=(server.grpc, sent, over))
        slowest, answered = 0, 0
        with MemoryWatch(server.process) as memory:
            attacker.start()
            while not (sent.is_set() and answered):
                slowest = max(slowest, ask(server.grpc))
                answered += 1
            for _ in range(20):
                slowest = max(slowest, ask(server.grpc))
        growth = memory.growth
        over.set()
        attacker.join()
        until("all calls are closed", lambda: samples(server)["reel_open_streams"] == 0)
    print(f"FIGURE {CONNECTIONS * STREAMS} answers that find no window: {growth / MIB:.0f} MiB more at most, {answered} honest calls meanwhile, "
          f"the slowest {slowest * 1e3:.0f} ms")
    expect_bounded("answers that find no window", growth, slowest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
