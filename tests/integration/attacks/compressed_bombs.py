#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""0.4 MB that inflate to 400 MiB, eight at once, on every port: nothing is inflated, and the caller is told."""

import gzip
import socket
import sys
import threading
import zlib

from http2 import Connection
from target import CHECK, CREATE, INVALID_ARGUMENT, MIB, TEST_CARD, UNIMPLEMENTED, MemoryWatch, alive, expect, running_server

BOMBS = 8
INFLATED = 400 * MIB
LIMIT = 64 * MIB


def at_once(action, *arguments):
    """`action` in eight threads; what each returned."""
    results = [None] * BOMBS

    def run(index):
        results[index] = action(*arguments)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(BOMBS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def throw(address, path, encoding, bomb):
    headers = [("grpc-encoding", encoding)] if encoding else []
    with Connection(address) as connection:
        call = connection.begin(path, headers)
        connection.finish(call, bomb, compressed=True)
        connection.wait(call)
        return call.code, call.message


def throw_at_http(address, bomb):
    host, port = address.rsplit(":", 1)
    head = f"POST /metrics HTTP/1.1\r\nHost: {address}\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        try:
            connection.sendall(head.encode() + f"{len(bomb):x}\r\n".encode() + bomb + b"\r\n0\r\n\r\n")
        except ConnectionError:
            pass  # answered before it had read all
        return connection.recv(12)


def main():
    zeros = bytes(INFLATED)
    bombs = {"gzip": gzip.compress(zeros, 9), "deflate": zlib.compress(zeros[:INFLATED // 4], 9)}
    del zeros
    with running_server(config=TEST_CARD + 'health_listen: "127.0.0.1:0"\n') as server:
        for address, path in ((server.grpc, CREATE), (server.health, CHECK)):
            alive(address)
            for encoding, bomb in bombs.items():
                with MemoryWatch(server.process) as memory:
                    answers = at_once(throw, address, path, encoding, bomb)
                print(f"{path} {encoding}: {len(bomb)} bytes on the wire, {memory.growth / MIB:.1f} MiB more; {answers[0]}")
                expect(memory.growth <= LIMIT, f"{memory.growth} bytes more")
                expect(all(code == UNIMPLEMENTED and encoding in message for code, message in answers), f"{answers}")
            # Compressed as its first byte says, though no header announced it.
            with MemoryWatch(server.process) as memory:
                answers = at_once(throw, address, path, None, bombs["gzip"])
            print(f"{path} unannounced: {memory.growth / MIB:.1f} MiB more; {answers[0]}")
            expect(memory.growth <= LIMIT, f"{memory.growth} bytes more")
            expect(all(code == INVALID_ARGUMENT for code, _ in answers), f"{answers}")
        with MemoryWatch(server.process) as memory:
            answers = at_once(throw_at_http, server.metrics, bombs["gzip"])
        print(f"/metrics: {memory.growth / MIB:.1f} MiB more; {answers[0]}")
        expect(memory.growth <= LIMIT, f"{memory.growth} bytes more")
        expect(set(answers) == {b"HTTP/1.1 413"}, f"{answers}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
