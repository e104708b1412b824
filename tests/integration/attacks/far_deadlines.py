#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Deadlines that no clock of nanoseconds can hold are long ones, not past ones."""

import sys

from http2 import Connection, field
from target import GENERATE, OK, TEST_CARD, expect, running_server, small_spec, wait_until_ready

# The first is 2^63 nanoseconds, the last the most that the header can say.
TIMEOUTS = ("2562047H", "2562048H", "9223372S", "99999999H", "99999999S", "30S")


def main():
    with running_server(config=TEST_CARD) as server:
        wait_until_ready(server)
        with Connection(server.grpc) as connection:
            for timeout in TIMEOUTS:
                call = connection.unary(GENERATE, field(1, small_spec()), [("grpc-timeout", timeout)])
                print(f"{timeout}: {call.code} {call.message}")
                expect(call.code == OK, f"grpc-timeout {timeout}: {call.code} {call.message}")
            # 2^63 - 1 seconds as the request's own timeout is too much, and said to be.
            far = field(1, 2**63 - 1) + field(2, 999_999_999)
            call = connection.unary(GENERATE, field(1, small_spec()) + field(6, far))
            expect(call.reason == "INVALID_REQUEST", f"{call.code} {call.message}")
            mixed = field(1, 5) + field(2, -5)
            call = connection.unary(GENERATE, field(1, small_spec()) + field(6, mixed))
            expect(call.reason == "INVALID_REQUEST" and "timeout" in call.message, f"{call.code} {call.message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
