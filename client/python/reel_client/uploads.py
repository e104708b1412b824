# SPDX-License-Identifier: Apache-2.0
"""The part of uploads that both clients share, without calls: a file in pieces, and the conditions of a request that are too large for it."""

from __future__ import annotations

import io
import os
from typing import Callable, Iterator, Optional, Union

from reel.v1 import video_pb2, video_service_pb2

from reel_client.errors import ReelError

SENT_AHEAD_BYTES = 1 << 20  # of a file; larger ones go ahead of the request
MOST_CONDITION_BYTES = 3_670_016  # of those in one request together
UPLOAD_SECONDS = 900.0  # a server waits no longer
PIECE_BYTES = 256 << 10

Progress = Callable[[int, int], object]


class Outgoing:
    """A file of the disk, or bytes; each try sends it from its beginning. `on_progress` gets the bytes that were sent, and all."""

    def __init__(self, what: Union[bytes, str, "os.PathLike[str]"], on_progress: Optional[Progress] = None) -> None:
        self._what, self._on_progress = what, on_progress
        self._size = len(what) if isinstance(what, bytes) else os.stat(what).st_size
        self._failure: Optional[Exception] = None
        if self._size == 0:
            raise ValueError(f"{'the file' if isinstance(what, bytes) else what} is empty")

    def pieces(self) -> Iterator[video_service_pb2.UploadFileRequest]:
        sent = 0
        try:
            with io.BytesIO(self._what) if isinstance(self._what, bytes) else open(self._what, "rb") as file:
                while data := file.read(PIECE_BYTES):
                    yield video_service_pb2.UploadFileRequest(size_bytes=0 if sent else self._size, data=data)
                    sent += len(data)
                    if self._on_progress is not None:
                        self._on_progress(sent, self._size)
        except Exception as failure:  # gRPC, which reads this on a thread of its own, would hide it
            self._failure = failure

    def check(self) -> None:
        """Raises what reading the file, or `on_progress`, has raised."""
        if self._failure is not None:
            raise self._failure


def content_of(condition: video_pb2.Condition) -> bytes:
    kind = condition.WhichOneof("source")
    return getattr(condition, kind) if kind in ("image", "video", "audio") else b""


def too_large(spec: video_pb2.VideoSpec) -> list[video_pb2.Condition]:
    """The conditions that a request has no room for."""
    left, found = MOST_CONDITION_BYTES, []
    for condition in spec.conditions:
        size = len(content_of(condition))
        if size > min(SENT_AHEAD_BYTES, left):
            found.append(condition)
        else:
            left -= size
    return found


def check_room(spec: video_pb2.VideoSpec, failure: ReelError) -> None:
    """For a request whose files cannot be sent ahead. Raises `failure`, unless the server knows no uploads and the request has room for the files."""
    if failure.code != "UNIMPLEMENTED":
        raise failure
    size = sum(len(content_of(condition)) for condition in spec.conditions)
    if size > MOST_CONDITION_BYTES:
        raise ReelError("INVALID_ARGUMENT", f"the conditions have {size} bytes; a request has room for {MOST_CONDITION_BYTES}, "
                        "and this server takes no files ahead of requests") from failure


def name_file(condition: video_pb2.Condition, file: video_service_pb2.UploadedFile) -> None:
    if condition.HasField("audio") and file.content_type.startswith("video/"):
        condition.content_type = "audio/mp4"  # of an MP4, which is a clip otherwise
    condition.file = file.name


def described(spec: video_pb2.VideoSpec) -> video_pb2.VideoSpec:
    """With the sizes alone of what is too large, which is enough for an estimate."""
    for condition in too_large(spec):
        condition.size_bytes = len(content_of(condition))
        setattr(condition, condition.WhichOneof("source"), b"")
    return spec
