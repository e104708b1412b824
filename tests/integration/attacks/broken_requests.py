#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests that are no messages: each is refused by name and counted, and the log stays one of JSON lines without what they held."""

import json
import sys

from http2 import Connection, field
from target import CREATE, GENERATE, GET, INVALID_ARGUMENT, LIST, TEST_CARD, expect, running_server, samples, wait_until_ready

CANARY = "canary4711"
BROKEN = {
    "a prompt that is not UTF-8": (CREATE, field(1, field(2, CANARY.encode() + b"\xff\xfe"))),
    "a label that is not UTF-8": (GENERATE, field(7, field(1, b"k\xc3") + field(2, CANARY))),
    "a name cut short": (GET, b"\x0a\x7f" + CANARY.encode()),
    "a group that never ends": (LIST, b"\x0b" * 200),
    "a tag of zero": (GET, b"\0\0\0"),
    "a varint without an end": (LIST, b"\x08" + b"\xff" * 11),
    "noise": (CREATE, bytes((i * 167 + 13) % 256 for i in range(5000))),
    "messages in messages": (CREATE, b"\x0a\x80\x01" * 10000),
}


def refused(server):
    return sum(value for name, value in samples(server).items()
               if name.startswith("grpc_server_handled_total") and 'grpc_code="INVALID_ARGUMENT"' in name)


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        before = refused(server)
        with Connection(server.grpc) as connection:
            for what, (path, message) in BROKEN.items():
                call = connection.unary(path, message)
                print(f"{what}: {call.code} {call.reason} {call.message}")
                expect((call.code, call.reason) == (INVALID_ARGUMENT, "UNDECODABLE_REQUEST"),
                       f"{what}: {call.code} {call.reason} {call.message}")
                expect(CANARY not in call.message, f"{what}: the answer repeats it")
            silent = connection.begin(GET)
            connection.send_data(silent, b"", end=True)
            connection.wait(silent)
            expect(silent.reason == "UNDECODABLE_REQUEST", f"a call without a request: {silent.code} {silent.message}")
        expect(refused(server) - before == len(BROKEN) + 1, f"{refused(server) - before} were counted")
        log = server.log.read_text(encoding="utf-8", errors="replace")
    for line in log.splitlines():
        try:
            json.loads(line)
        except ValueError:
            raise AssertionError(f"not a line of JSON: {line}") from None
    expect(CANARY not in log, "the log repeats a request")
    return 0


if __name__ == "__main__":
    sys.exit(main())
