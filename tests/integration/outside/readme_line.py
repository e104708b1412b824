#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The grpcurl line of README.md, as it stands there, renders a whole video on a server with another port."""

import base64
import hashlib
import json
import os
import re
import sys

from server import ROOT, find_tool, run, running_server, snake_keys, wait_until_serving

DEFAULT_ADDRESS = "127.0.0.1:50051"


def readme_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if re.match(r"\s*(\$ )?grpcurl .*VideoService/GenerateVideo", line)]
    assert len(lines) == 1, f"README.md has {len(lines)} grpcurl lines with GenerateVideo instead of one"
    assert DEFAULT_ADDRESS in lines[0], f"the line does not use {DEFAULT_ADDRESS}: {lines[0]}"
    return lines[0].strip().removeprefix("$ ")


def events_of(output):
    decoder, position = json.JSONDecoder(object_hook=snake_keys), 0
    while position < len(output.rstrip()):
        message, position = decoder.raw_decode(output, position)
        while position < len(output) and output[position].isspace():
            position += 1
        yield message["event"]


def main():
    find_tool("grpcurl")
    command = readme_command()
    with running_server() as server:
        wait_until_serving(server)
        path = f"{ROOT}/.deps/bin:{os.environ['PATH']}"
        output = run("bash", "-c", command.replace(DEFAULT_ADDRESS, server.grpc), env=dict(os.environ, PATH=path))
    events = list(events_of(output))
    assert "accepted" in events[0], f"the first event is {events[0]}"
    assert "finished" in events[-1], f"the last event is {sorted(events[-1])}"
    media = b"".join(base64.b64decode(e["media"]["data"]) for e in events if "media" in e)
    finished = events[-1]["finished"]
    assert finished["state"] == "VIDEO_STATE_SUCCEEDED", finished["state"]
    assert len(media) == int(finished["media"]["size_bytes"]), f"{len(media)} bytes of {finished['media']['size_bytes']}"
    assert hashlib.sha256(media).hexdigest() == finished["media"]["sha256"], "the bytes are not those of the hash"
    assert media[4:8] == b"ftyp", "this is no MP4 file"
    print(f"{len(events)} events, {len(media)} bytes of MP4")


if __name__ == "__main__":
    sys.exit(main())
