#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headers that end a server elsewhere (CVE-2023-1428), its connection (CVE-2023-32731, -32732) or calls after them (CVE-2024-7246): the server
lives, the next call is served."""

import sys

from http2 import CONTINUATION, END_HEADERS, END_STREAM, HEADERS, Call, Connection, call_head, frame, literal
from target import INFO, OK, TEST_CARD, alive, expect, running_server, wait_until_ready

MAX_FRAME = 16384
# Above gRPC's default bound, above Reel's own, and above what the server accepts of one frame.
SIZES = (0, 9_000, 70_000, 140_000)
# Those that made gRPC abort once the headers were too long, and others that it cannot read.
POISONS = (("te", "x"), (":scheme", "x"), ("grpclb_client_stats", "x"), ("grpc-timeout", "x"), ("grpc-encoding", "x"), ("x-bin", "!!!!"))
# 240 KB of metadata in a frame of 4 KB: a field that enters the table, then its number there.
FIRST_OF_TABLE = b"\xbe"  # by its number, 62
EXPANDED = b"\x40" + literal("x", "y" * 3900)[1:] + FIRST_OF_TABLE * 60
LATE = 100


def send_headers(connection, block):
    """One call with these headers, in as many frames as they need."""
    pieces = [block[at:at + MAX_FRAME] for at in range(0, len(block), MAX_FRAME)]
    for number, piece in enumerate(pieces):
        last = END_HEADERS if number + 1 == len(pieces) else 0
        connection.send(frame(CONTINUATION if number else HEADERS, last, connection.next_stream, piece))
    connection.next_stream += 2


def call_after(server, block):
    """How the call after one with these headers ends on their connection; None: the server closed it."""
    with Connection(server.grpc) as connection:
        send_headers(connection, block)
        call = connection.begin(INFO)
        connection.finish(call, b"")
        try:
            connection.wait(call)
        except AssertionError:
            expect(connection.closed, "the call after it is not answered")
        return None if connection.closed else call.code


def poisoned(address, name, value, size):
    own = {name: value} if name in ("te", ":scheme") else {}
    more = [] if own else [(name, value)]
    return call_head(INFO, address, own) + b"".join(literal(*one) for one in more + [("x-long", "y" * 1000)] * (size // 1000))


def entering(name, value):
    """A field that enters the header tables of both sides."""
    return b"\x40" + literal(name, value)[1:]


def check_tables(server):
    """A field that cannot be read enters the table as any other: the next call finds its path there, behind it."""
    for name, value in POISONS:
        if name == "x-bin":
            continue  # closes its connection, above
        with Connection(server.grpc) as connection:
            head = call_head(INFO, server.grpc, {":path": None})
            send_headers(connection, head + entering(name, value) + entering(":path", INFO))
            send_headers(connection, head + FIRST_OF_TABLE)
            call = connection.begin(INFO)
            connection.calls[call.stream - 2] = named = Call(call.stream - 2, connection.initial_window)
            connection.finish(named, b"")
            connection.finish(call, b"")
            for one in (named, call):
                connection.wait(one)
                expect(one.code == OK, f"after {name}: {value} in the table a call ends with {one.code} {one.message}")


def check_late_headers(server):
    """Headers of a call that has ended are dropped, and cost their connection nothing: in a drain and after cancels they come in rows."""
    with Connection(server.grpc) as connection:
        ended = connection.unary(INFO)
        late = frame(HEADERS, END_HEADERS | END_STREAM, ended.stream, call_head(INFO, server.grpc))
        for _ in range(LATE):
            connection.send(late)
        call = connection.unary(INFO)
        expect(call.code == OK, f"after {LATE} late headers a call ends with {call.code}")


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        for name, value in POISONS:
            # This gRPC closes the connection of base64 that is none (CVE-2023-32732).
            after = None if name == "x-bin" else OK
            for size in SIZES:
                code = call_after(server, poisoned(server.grpc, name, value, size))
                print(f"{name}: {value}, {size} bytes more: {'closed' if code is None else code}")
                expect(code == after, f"{name}, {size} bytes more: the next call ends with {code}")
                alive(server.grpc, INFO)
        # Not skipped: what followed in the frame would be missing in the table of the next calls (CVE-2023-32731).
        code = call_after(server, call_head(INFO, server.grpc) + EXPANDED)
        expect(code is None, f"after 240 KB of metadata in a frame the next call ends with {code}")
        alive(server.grpc, INFO)
        check_tables(server)
        check_late_headers(server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
