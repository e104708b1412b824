#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""20,000 calls whose request never comes, from two sides at once: others are served meanwhile, the server lives, and what it held is given back."""

import multiprocessing
import sys
import time

from target import CREATE, GENERATE, INFO, MIB, TEST_CARD, Connection, MemoryWatch, alive, expect, resident_bytes, running_server, until, wait_until_ready

CONNECTIONS, STREAMS = 100, 100  # of each side; the second is what one connection may have open
LIMIT = 64 * MIB


def flood(address, path, sent, over):
    connections = []
    for _ in range(CONNECTIONS):
        connections.append(Connection(address))
        for _ in range(STREAMS):
            connections[-1].begin(path)
    sent.set()
    over.wait()


def attackers(server):
    """Their processes, each with what tells that it has sent all, and what they wait for to leave."""
    over, sides = multiprocessing.Event(), []
    for path in (GENERATE, CREATE):
        sent = multiprocessing.Event()
        sides.append((multiprocessing.Process(target=flood, args=(server.grpc, path, sent, over)), sent))
    return sides, over


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        alive(server.grpc, INFO)
        before = resident_bytes(server.process.pid)
        sides, over = attackers(server)
        answered, slowest = 0, 0
        with MemoryWatch(server.process) as memory:
            for process, _ in sides:
                process.start()
            while not (answered and all(sent.is_set() for _, sent in sides)):
                start = time.monotonic()
                alive(server.grpc, INFO)  # not refused to make room for the flood
                slowest = max(slowest, time.monotonic() - start)
                answered += 1
        sent = time.monotonic()
        until(f"back to {LIMIT // MIB} MiB more", lambda: resident_bytes(server.process.pid) - before <= LIMIT)
        settled = time.monotonic() - sent
        held = resident_bytes(server.process.pid) - before
        lines = server.log.stat().st_size  # before those that leave now are counted
        over.set()
        for process, _ in sides:
            process.join()
        alive(server.grpc, INFO)
    calls = len(sides) * CONNECTIONS * STREAMS
    print(f"FIGURE {calls} calls without a request: {memory.most / MIB - before / MIB:.0f} MiB more at most, {held / MIB:.0f} MiB {settled:.1f} s later; {answered} honest "
          f"calls meanwhile, the slowest {slowest * 1e3:.0f} ms; {lines / 1e3:.0f} kB of log")
    expect(lines < 20 * calls, f"{lines} bytes of log")
    return 0


if __name__ == "__main__":
    sys.exit(main())
