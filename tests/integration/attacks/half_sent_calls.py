#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""60,000 calls whose request never comes, and requests that stop half way: memory is bounded, others are served, a stop waits for none."""

import resource
import struct
import sys
import time

from http2 import Connection
from target import CREATE, GENERATE, INFO, MIB, TEST_CARD, UNAVAILABLE, MemoryWatch, alive, expect, running_server, samples, until

CONNECTIONS, STREAMS = 600, 100  # the second is what one connection may have open
LIMIT = 64 * MIB
QUOTA = 256 * MIB  # of gRPC's own buffers, over all connections
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


def quick(server):
    """An honest caller's call, and how long it took."""
    start = time.monotonic()
    alive(server.grpc, INFO)
    return time.monotonic() - start


def flood(server, path):
    connections = []
    slowest = 0
    with MemoryWatch(server.process) as memory:
        for _ in range(CONNECTIONS):
            connection = Connection(server.grpc)
            connections.append(connection)
            for _ in range(STREAMS):
                connection.begin(path)
            if len(connections) % 100 == 0:
                slowest = max(slowest, quick(server))
        slowest = max(slowest, quick(server))
    print(f"{path}: {CONNECTIONS * STREAMS} calls, {memory.growth / MIB:.1f} MiB more, an honest call took {slowest * 1e3:.0f} ms")
    expect(memory.growth <= QUOTA, f"{memory.growth} bytes more")
    expect(slowest < 5, f"an honest call took {slowest} s")
    return connections


def stop_half_way(server):
    """200 requests of 4 MiB of which one comes, then one request that says it is of 2 GiB and sends 300 MiB."""
    connections = [Connection(server.grpc) for _ in range(2)]
    with MemoryWatch(server.process) as memory:
        for connection in connections:
            calls = [connection.begin(CREATE) for _ in range(STREAMS)]
            for call in calls:
                # Those windows that do not open stay as they are.
                connection.send_data(call, struct.pack(">BI", 0, 4 * MIB - 100) + bytes(MIB), patience=0, strict=False)
        alive(server.grpc)
    print(f"{len(connections) * STREAMS} requests half sent: {memory.growth / MIB:.1f} MiB more")
    expect(memory.growth <= QUOTA + LIMIT, f"{memory.growth} bytes more")
    for connection in connections:
        connection.socket.close()
    with MemoryWatch(server.process) as memory, Connection(server.grpc) as connection:
        call = connection.begin(CREATE)
        connection.send_data(call, struct.pack(">BI", 0, 2**31 - 1) + bytes(300 * MIB), patience=5, strict=False)
        print(f"a request of 2 GiB: {memory.growth / MIB:.1f} MiB more; {call.code} {call.message}")
    expect(memory.growth <= QUOTA + LIMIT, f"{memory.growth} bytes more")
    until("calls are answered again", lambda: is_alive(server))


def is_alive(server):
    try:
        alive(server.grpc)
    except (AssertionError, OSError):
        return False
    return True


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    with running_server(config=TEST_CARD) as server:
        alive(server.grpc)
        connections = flood(server, GENERATE)
        # Those that had to make room are told so, and counted.
        refused = connections[0].calls[1]
        connections[0].wait(refused)
        expect((refused.code, refused.reason) == (UNAVAILABLE, "REQUEST_NOT_RECEIVED"), f"{refused.code} {refused.message}")
        name = 'grpc_server_handled_total{grpc_code="UNAVAILABLE",grpc_method="GenerateVideo",grpc_service="reel.v1.VideoService",' \
               'grpc_type="server_stream"}'
        expect(samples(server)[name] >= CONNECTIONS * STREAMS - 2000, "they are not counted")
        for connection in connections:
            connection.socket.close()
        until("all streams are closed", lambda: samples(server)["reel_open_streams"] == 0)
        stop_half_way(server)
        with Connection(server.grpc) as connection:
            calls = [connection.begin(REFLECT) for _ in range(100)]
            alive(server.grpc)
            threads = int(samples(server)["process_threads"])
            print(f"{len(calls)} reflection calls open: {threads} threads")
            expect(threads < 100, f"{threads} threads")
        # These are open when SIGTERM comes; the server must end all the same.
        held = Connection(server.grpc)
        for _ in range(STREAMS):
            held.begin(GENERATE)
        start = time.monotonic()
    print(f"SIGTERM to the end: {time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
