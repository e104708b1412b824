# SPDX-License-Identifier: Apache-2.0
"""The part that both clients share, without calls: requests, and the events of several tries of a stream joined into one video."""

from __future__ import annotations

import os
import uuid
from typing import Any, Iterator, Optional, Union

from reel.v1 import video_pb2, video_service_pb2

from reel_client.errors import Broken, ReelError, error_of
from reel_client.media import Cursor, PartFile
from reel_client.patience import Patience, Tries

What = Union[str, video_pb2.VideoSpec, video_service_pb2.GenerateVideoRequest]
Start = Union[video_service_pb2.GenerateVideoRequest, video_service_pb2.WatchVideoRequest]
Path = Union[str, "os.PathLike[str]"]


def spec_of(what: str | video_pb2.VideoSpec, fields: dict[str, Any]) -> video_pb2.VideoSpec:
    """`fields` win over what is there."""
    spec = video_pb2.VideoSpec(prompt=what) if isinstance(what, str) else video_pb2.VideoSpec.FromString(what.SerializeToString())
    spec.MergeFrom(video_pb2.VideoSpec(**fields))
    return spec


def generate_request(what: What, fields: dict[str, Any]) -> video_service_pb2.GenerateVideoRequest:
    """With an id, so that a call that is made again joins the job of the first."""
    request = video_service_pb2.GenerateVideoRequest()
    if isinstance(what, video_service_pb2.GenerateVideoRequest):
        request.CopyFrom(what)
        request.spec.MergeFrom(video_pb2.VideoSpec(**fields))
    else:
        request.spec.CopyFrom(spec_of(what, fields))
    request.request_id = request.request_id or str(uuid.uuid4())
    return request


def create_request(what: What, fields: dict[str, Any]) -> video_service_pb2.CreateVideoRequest:
    whole = generate_request(what, fields)
    return video_service_pb2.CreateVideoRequest(spec=whole.spec, request_id=whole.request_id, priority=whole.priority,
                                                timeout=whole.timeout if whole.HasField("timeout") else None,
                                                labels=whole.labels)


class Follower:
    """Each event once, and media without gaps, however often the stream breaks."""

    def __init__(self, start: Start, patience: Patience) -> None:
        self._start = start
        self._tries = Tries(patience)
        self._most_jobs = max(2, patience.attempts)
        self._name, self._sequence, self._jobs = "", 0, 0
        self._cursor = Cursor()
        if isinstance(start, video_service_pb2.WatchVideoRequest):
            self._sequence = start.after_sequence
            self._cursor = Cursor(start.media_offset, start.attempt)
        self.finished = False

    def next_request(self) -> Start:
        """A bound job lives as long as a Generate call does, so that is what it is joined with again, by its id."""
        if isinstance(self._start, video_service_pb2.GenerateVideoRequest) and not (self._name and self._start.detached):
            return self._start
        name = self._name or (self._start.name if isinstance(self._start, video_service_pb2.WatchVideoRequest) else "")
        return video_service_pb2.WatchVideoRequest(
            name=name, after_sequence=self._sequence, media_offset=self._cursor.offset, attempt=self._cursor.attempt,
            without_media=self._start.without_media)

    def pause_after(self, failure: BaseException) -> float:
        error = error_of(failure)
        if self._jobs >= self._most_jobs and error.code == "UNAVAILABLE":
            raise ReelError("UNAVAILABLE", "the connection keeps breaking, and the job that depends on it is lost each time; "
                            f"a detached one keeps running without its caller: {self._name}")
        return self._tries.pause_after(error, under_way=bool(self._name))

    def take(self, event: video_pb2.VideoEvent) -> Iterator[video_pb2.VideoEvent]:
        kind = event.WhichOneof("event")
        if kind == "accepted":
            yield from self._take_accepted(event)
        elif not self._name:
            raise Broken("the stream does not start with its video")
        elif kind == "media":
            yield from self._take_media(event)
        elif kind == "finished":
            if not self._start.without_media:
                self._cursor.check_size(event.finished.media)
            self.finished = True
            yield event
        elif event.sequence > self._sequence:
            self._sequence = event.sequence
            self._tries.progress()
            if kind == "restarted":
                if event.restarted.attempt <= self._cursor.attempt:
                    return
                self._cursor.restart(event.restarted.attempt)
            yield event

    def _take_accepted(self, event: video_pb2.VideoEvent) -> Iterator[video_pb2.VideoEvent]:
        if event.accepted.name == self._name:
            return
        if self._name:  # its server could not keep the job that was followed; this is another one
            yield self._restarted("JOB_REPLACED", event.accepted.attempt)
            self._sequence = 0
        self._name = event.accepted.name
        self._jobs += 1
        self._sequence = max(self._sequence, event.sequence)
        yield event

    def _take_media(self, event: video_pb2.VideoEvent) -> Iterator[video_pb2.VideoEvent]:
        if self._cursor.is_of_later_attempt(event.media):
            yield self._restarted("ATTEMPT_REPLACED", event.media.attempt)
        offset = self._cursor.offset
        new = self._cursor.take(event.media)
        if new is None:
            return
        self._tries.progress()
        if event.media.offset != offset:  # a part of it came before
            event.media.offset, event.media.data = offset, new
            event.media.ClearField("crc32c")
        yield event

    def _restarted(self, reason: str, attempt: int) -> video_pb2.VideoEvent:
        self._cursor.restart(attempt)
        return video_pb2.VideoEvent(sequence=self._sequence,
                                    restarted=video_pb2.Restarted(reason=reason, attempt=attempt))


def write_event(event: video_pb2.VideoEvent, file: PartFile) -> Optional[video_pb2.Video]:
    kind = event.WhichOneof("event")
    if kind == "media":
        file.append(event.media.data)
    elif kind == "restarted":
        file.restart()
    elif kind == "finished":
        file.commit(event.finished.media)
        return event.finished
    return None


class Download:
    """Resumes what is in `file`. A part of another file is found at the end, and costs one more try."""

    def __init__(self, name: str, file: PartFile, patience: Patience) -> None:
        self._name, self._file = name, file
        self._tries = Tries(patience)
        self._cursor = Cursor(file.size)
        self._resumed, self._under_way = file.size > 0, False
        self.media: Optional[video_pb2.MediaInfo] = None

    def next_request(self) -> video_service_pb2.DownloadVideoRequest:
        return video_service_pb2.DownloadVideoRequest(name=self._name, read_offset=self._cursor.offset)

    def take(self, response: video_service_pb2.DownloadVideoResponse) -> None:
        self._under_way = True
        if response.HasField("chunk") and (new := self._cursor.take(response.chunk)) is not None:
            self._file.append(new)
            self._tries.progress()
        if response.HasField("media"):
            self.media = response.media

    def finish(self) -> video_pb2.MediaInfo:
        if self.media is None:
            raise Broken("the download ended before the file did")
        self._cursor.check_size(self.media)
        self._file.commit(self.media)
        return self.media

    def pause_after(self, failure: BaseException) -> float:
        error = error_of(failure)
        if self._resumed and error.code in ("DATA_LOSS", "OUT_OF_RANGE"):
            self._resumed, self.media = False, None
            self._file.restart()
            self._cursor = Cursor()
            return 0.0
        return self._tries.pause_after(error, self._under_way)
