#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two tokens in one call count as none; who has none pays before he has sent anything; a revoked token's stream ends, and its job."""

import hashlib
import os
import pathlib
import signal
import sys
import tempfile
import time

from http2 import Connection, field
from target import CREATE, GENERATE, INFO, OK, UNAUTHENTICATED, UNIMPLEMENTED, expect, running_server, samples, small_spec, until, wait_until_ready

SLOW_CARD = 'models { name: "testcard" test_card { step_time { seconds: 1 } } }\n'


def write_tokens(path, *tokens):
    text = "".join(f"{hashlib.sha256(token.encode()).hexdigest()} {tenant} {role}\n" for token, tenant, role in tokens)
    path.write_text(text, encoding="ascii")
    os.chmod(path, 0o600)


def bearer(token):
    return ("authorization", f"Bearer {token}")


def check_doors(connection):
    expect(connection.unary(INFO, headers=[bearer("good")]).code == OK, "a good token is refused")
    for headers in ([bearer("good"), bearer("good")], [bearer("good"), bearer("bad")], [bearer("bad"), bearer("good")],
                    [bearer("bad")], []):
        call = connection.unary(INFO, headers=headers)
        expect(call.code == UNAUTHENTICATED, f"{headers}: {call.code} {call.message}")
        call = connection.wait(connection.begin(CREATE, headers))
        expect(call.code == UNAUTHENTICATED, f"{headers}, without a request: {call.code} {call.message}")
    # A path that other servers take for the same one (CVE-2026-33186, of grpc-go).
    call = connection.unary(INFO.removeprefix("/"))
    expect(call.code == UNIMPLEMENTED, f"a path without its slash: {call.code} {call.message}")


def main():
    with tempfile.TemporaryDirectory(prefix="reel-tokens-") as folder:
        tokens = pathlib.Path(folder, "tokens")
        good, other = ("good", "blue", "user"), ("other", "red", "user")
        write_tokens(tokens, good, other)
        with running_server(config=SLOW_CARD + f'auth {{ tokens_file: "{tokens}" }}\n') as server:
            wait_until_ready(server)
            with Connection(server.grpc) as connection:
                check_doors(connection)
                job = field(1, small_spec())[:-2] + field(8, 2)  # a message's last field wins
                streams = {}
                for token in ("good", "other"):
                    streams[token] = connection.begin(GENERATE, [bearer(token)])
                    connection.finish(streams[token], field(1, small_spec() + field(8, 60)))
                    connection.wait_for(lambda call=streams[token]: call.messages)
                del job
                write_tokens(tokens, other)
                start = time.monotonic()
                server.process.send_signal(signal.SIGHUP)
                call = connection.wait(streams["good"])
                print(f"SIGHUP to the end of the stream: {time.monotonic() - start:.2f} s; {call.message}")
                expect((call.code, call.reason) == (UNAUTHENTICATED, "UNAUTHENTICATED"), f"{call.code} {call.message}")
                expect(not streams["other"].ended, "a good token's stream has ended, too")
                until("the job of the revoked token has ended", lambda: samples(server)["reel_inflight_requests"] == 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
