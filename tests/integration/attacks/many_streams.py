#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One tenant opens as many event streams as it can: the 65th is refused, other tenants and its own short calls are served, and a place that is left is free again."""

import contextlib
import http.client
import json
import pathlib
import sys
import tempfile

from target import expect, running_server, until, wait_until_ready
from tokens import SLOW_CARD, write_tokens

MOST = 64  # where there are tokens, unless http.max_streams_per_tenant says otherwise
SPEC = {"prompt": "a red circle", "width": 64, "height": 64, "numFrames": 9, "numInferenceSteps": 90}


def ask(server, token, method, path, body=None):
    """The connection and the head of its reply; the caller closes it."""
    connection = http.client.HTTPConnection(server.http, timeout=60)
    connection.request(method, path, body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    return connection, connection.getresponse()


def create(server, token):
    connection, reply = ask(server, token, "POST", "/reel/v1/videos", json.dumps({"spec": SPEC}))
    with contextlib.closing(connection):
        return "/reel/v1/" + json.loads(reply.read())["video"]["name"]


def status(server, token, path):
    connection, reply = ask(server, token, "GET", path)
    with contextlib.closing(connection):
        return reply.status


def flood(server):
    mine, theirs = create(server, "good"), create(server, "other")
    held = [ask(server, "good", "GET", f"{mine}/events") for _ in range(MOST)]
    expect({reply.status for _, reply in held} == {200}, "a stream within the bound was refused")
    connection, reply = ask(server, "good", "GET", f"{mine}/events")
    with contextlib.closing(connection):
        reason = json.loads(reply.read())["error"]["details"][0]["reason"]
        expect((reply.status, reason, reply.getheader("Retry-After")) == (429, "TENANT_QUOTA", "5"), f"{reply.status} {reason}")
    expect(status(server, "good", f"{mine}/media") == 429, "a file beyond the bound was begun")
    expect(status(server, "good", mine) == 200, "a short call was refused")
    expect(status(server, "other", f"{theirs}/events") == 200, "another tenant was refused")
    held.pop()[0].close()
    until("a place that was left is free", lambda: status(server, "good", f"{mine}/events") == 200)
    for connection, _ in held:
        connection.close()


def main():
    with tempfile.TemporaryDirectory(prefix="reel-streams-") as folder:
        tokens = pathlib.Path(folder, "tokens")
        write_tokens(tokens, ("good", "blue", "user"), ("other", "red", "user"))
        config = SLOW_CARD + f'auth {{ tokens_file: "{tokens}" }} timing {{ drain {{ seconds: 1 }} }}\n'
        with running_server("--http", "127.0.0.1:0", config=config) as server:
            wait_until_ready(server)
            flood(server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
