#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenAI's own Python package, which knows nothing of Reel, makes, lists, downloads and deletes videos at the HTTP door."""

import base64
import hashlib
import json
import pathlib
import struct
import sys
import urllib.request
import zlib

from server import ROOT, running_server, skip, wait_until_serving

PACKAGES = ROOT / ".deps/openai"
CLIP = {"num_frames": 9, "num_inference_steps": 4, "seed": 7}


def red_png(side=64):
    """A picture without any package that makes pictures."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = (b"\0" + b"\xff\0\0" * side) * side
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def refused(openai, call, status, code):
    try:
        call()
    except openai.APIStatusError as error:
        assert (error.status_code, error.code) == (status, code), f"{error.status_code} {error.code}: {error}"
        assert error.request_id, "the reply has no request id"
    else:
        raise AssertionError(f"expected {status} {code}")


def check_remix(client, openai, size):
    """Another prompt for all of a video that was kept, and for what came of that."""
    film = client.videos.create_and_poll(prompt="a red circle", size=size, poll_interval_ms=50, extra_body=CLIP | {"keep_state": True})
    made = [film]
    for prompt in ("a blue star", "a white star"):
        remix = client.videos.remix(made[-1].id, prompt=prompt, extra_headers={"Prefer": "wait=30"})
        assert remix.status == "completed" and remix.remixed_from_video_id == made[-1].id, remix
        assert (remix.prompt, remix.size, remix.num_frames) == (prompt, size, 9), remix
        made.append(remix)
    refused(openai, lambda: client.videos.remix("none", prompt="x"), 404, "VIDEO_NOT_FOUND")
    refused(openai, lambda: client.videos.remix(film.id, prompt="x", extra_body={"size": "128x128"}), 400, "INVALID_REQUEST")
    plain = client.videos.create_and_poll(prompt="a red circle", size=size, poll_interval_ms=50, extra_body=CLIP)
    refused(openai, lambda: client.videos.remix(plain.id, prompt="x"), 400, "STATE_GONE")
    return {video.id for video in (*made, plain)}


def check_large_files(client, openai, size, picture):
    """What is too large for a request is refused by its size, and goes by a name that it gets beforehand."""
    address = str(client.base_url).replace("/v1/", "/reel/v1/files")
    with urllib.request.urlopen(urllib.request.Request(address, data=picture), timeout=30) as reply:
        name = json.load(reply)["file"]["name"]
    wait = {"Prefer": "wait=30"}
    made = [client.videos.create(prompt="a red circle", size=size, extra_headers=wait, extra_body=CLIP | more, **file)
            for more, file in (({"input_reference": name}, {}), ({}, {"input_reference": ("red.png", picture, "image/png")}))]
    files = [client.videos.download_content(video.id).read() for video in made]
    assert files[0] == files[1], "a picture that was sent ahead gives another video"
    for count, status, code, said in ((3_700_000, 400, "INVALID_REQUEST", "input_reference: has 3700000 bytes; a request has room for 3670016 bytes"),
                                      (20_000_000, 413, "BODY_TOO_LARGE", "POST /reel/v1/files")):
        large = ("red.png", picture + bytes(count - len(picture)), "image/png")
        try:
            client.videos.create(prompt="x", input_reference=large)
            raise AssertionError(f"{count} bytes were taken")
        except openai.APIStatusError as error:
            assert (error.status_code, error.code) == (status, code) and said in str(error), str(error)
    return {video.id for video in made}


def check(client, openai):
    size = "256x256"
    assert client.models.list().data[0].id == client.models.retrieve(client.models.list().data[0].id).id
    done = client.videos.create_and_poll(prompt="a red circle", size=size, poll_interval_ms=50, extra_body=CLIP)
    assert done.status == "completed" and done.progress == 100 and done.size == size and done.error is None, done
    again = client.videos.create(prompt="a red circle", size=size, extra_body=CLIP,
                                 extra_headers={"Prefer": "wait=30", "Idempotency-Key": "again"})
    assert again.status == "completed" and again.id != done.id, again
    files = [client.videos.download_content(video.id).read() for video in (done, again)]
    assert files[0][4:8] == b"ftyp" and hashlib.sha256(files[0]).digest() == hashlib.sha256(files[1]).digest()

    picture = red_png()
    as_file = client.videos.create(prompt="a red circle", size=size, extra_body=CLIP, input_reference=("red.png", picture, "image/png"))
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    as_url = client.videos.create(prompt="a red circle", size=size, extra_body=CLIP | {"input_reference": {"image_url": url}})
    ids = {done.id, again.id, as_file.id, as_url.id}
    listed = [video.id for video in client.videos.list(limit=2)]
    assert len(listed) == 4 and set(listed) == ids, f"{listed}, not {ids}"
    assert [video.id for video in client.videos.list(limit=3, order="asc")] == listed[::-1], "asc is not desc turned round"

    refused(openai, lambda: client.videos.create(prompt="x", size="1280x720"), 400, "INVALID_SPEC")
    refused(openai, lambda: client.videos.create(prompt="x", model="none"), 404, "MODEL_NOT_FOUND")
    refused(openai, lambda: client.videos.create(prompt="x", extra_body={"input_reference": {"image_url": "https://example.org/a"}}),
            400, "NO_REMOTE_INPUT")
    refused(openai, lambda: client.videos.retrieve("none"), 404, "VIDEO_NOT_FOUND")
    refused(openai, lambda: client.videos.create(prompt="x", extra_body={"no_such_field": 1}), 400, "INVALID_REQUEST")
    ids |= check_remix(client, openai, size) | check_large_files(client, openai, size, picture)
    for video in ids:
        assert client.videos.delete(video).deleted
    assert not client.videos.list().data
    return len(ids)


def main():
    if not pathlib.Path(PACKAGES, "openai").is_dir():
        skip("the openai package is not installed; run deploy/build/setup --tests")
    sys.path.insert(0, str(PACKAGES))
    import openai
    with running_server("--http", "127.0.0.1:0") as server:
        wait_until_serving(server)
        with openai.OpenAI(base_url=f"http://{server.http}/v1", api_key="unused", max_retries=0) as client:
            count = check(client, openai)
    print(f"openai {openai.__version__}: {count} videos made, listed, downloaded and deleted")


if __name__ == "__main__":
    sys.exit(main())
