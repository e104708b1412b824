#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders a video on a Reel server and writes its file, with progress on stderr.

    client/python/generate_stubs                  # once
    client/python/example.py "a lighthouse in a storm" --output lighthouse.mp4

It shows what every client must do: draw a request id, so that joining again after a lost connection
never renders twice; start the file anew when the job restarts; check every piece and the whole.
"""

import argparse
import hashlib
import os
import pathlib
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.environ.get("REEL_PYTHON_STUBS", str(ROOT / "build" / "python")))

# The server's address is a fact, not a site on the web: no proxy, whatever the environment says.
os.environ.setdefault("no_grpc_proxy", "localhost,127.0.0.1")

import grpc  # noqa: E402
from google.rpc import error_details_pb2, status_pb2  # noqa: E402
from reel.v1 import video_pb2, video_service_pb2, video_service_pb2_grpc  # noqa: E402

ATTEMPTS = 4


def crc32c_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


CRC32C_TABLE = crc32c_table()


def crc32c(data):
    """The checksum of a chunk. Packages such as crc32c or google-crc32c do it at memory speed."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC32C_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def show(progress):
    stage = video_pb2.Stage.Name(progress.stage).removeprefix("STAGE_").lower()
    line = f"{stage:18} {progress.fraction:4.0%}  step {progress.step}/{progress.num_steps}"
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
    else:
        print(line, file=sys.stderr)


def receive(stream, part):
    """Writes the media of one stream to `part`; returns the finished video."""
    for response in stream:
        event = response.event
        kind = event.WhichOneof("event")
        if kind == "progress":
            show(event.progress)
        elif kind in ("accepted", "restarted"):  # whatever was written belongs to an older attempt
            part.seek(0)
            part.truncate()
        elif kind == "media":
            chunk = event.media
            if chunk.offset != part.tell() or crc32c(chunk.data) != chunk.crc32c:
                raise ConnectionError(f"damaged or missing piece at byte {chunk.offset}")
            part.write(chunk.data)
        elif kind == "finished":
            return event.finished
    raise ConnectionError("the stream ended before the video did")


def generate(stub, request, output):
    part = pathlib.Path(f"{output}.part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with part.open("wb") as file:
                video = receive(stub.GenerateVideo(request), file)
            break
        except (ConnectionError, grpc.RpcError) as error:
            part.unlink(missing_ok=True)
            lost = isinstance(error, ConnectionError) or error.code() == grpc.StatusCode.UNAVAILABLE
            if not lost or attempt == ATTEMPTS:
                raise
    if hashlib.sha256(part.read_bytes()).hexdigest() != video.media.sha256:
        raise ConnectionError("the file is not the server's: its SHA-256 differs")
    part.rename(output)
    return video


def explain(error):
    """The server's reason and all violations, from the details of its status."""
    lines = [f"error: {error.details()}"]
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        for detail in status_pb2.Status.FromString(value).details:
            bad, info = error_details_pb2.BadRequest(), error_details_pb2.ErrorInfo()
            if detail.Unpack(bad):
                lines += [f"  {v.field}: {v.description}" for v in bad.field_violations]
            elif detail.Unpack(info):
                lines.append(f"  reason: {info.reason}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Renders a video on a Reel server.")
    parser.add_argument("prompt")
    parser.add_argument("--output", default="example.mp4")
    parser.add_argument("--server", default=os.environ.get("REEL_SERVER", "127.0.0.1:50051"))
    parser.add_argument("--width", type=int, default=0, help="0: the model's default")
    parser.add_argument("--height", type=int, default=0)
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()

    spec = video_pb2.VideoSpec(prompt=arguments.prompt, width=arguments.width,
                               height=arguments.height, num_frames=arguments.frames,
                               num_inference_steps=arguments.steps, seed=arguments.seed)
    request = video_service_pb2.GenerateVideoRequest(spec=spec, request_id=str(uuid.uuid4()))
    with grpc.insecure_channel(arguments.server) as channel:
        try:
            stub = video_service_pb2_grpc.VideoServiceStub(channel)
            video = generate(stub, request, arguments.output)
        except grpc.RpcError as error:
            sys.exit(explain(error))
        except ConnectionError as error:
            sys.exit(f"error: {error}")
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"{video.name}: {video.media.size_bytes} bytes, seed {video.spec.seed}", file=sys.stderr)
    print(arguments.output)


if __name__ == "__main__":
    main()
