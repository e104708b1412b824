# SPDX-License-Identifier: Apache-2.0
"""The client that blocks. Thread-safe; a stream belongs to one thread. `aio.py` is made from this file by setup.py."""

from __future__ import annotations

import time
from typing import Any, Callable, Generator, Optional

import grpc
from reel.v1 import server_service_pb2, server_service_pb2_grpc, video_pb2, video_service_pb2, video_service_pb2_grpc

from reel_client.connection import Connection
from reel_client.errors import Broken, ReelError, error_of
from reel_client.follow import Download, Follower, Path, Start, What, create_request, generate_request, spec_of, write_event
from reel_client.media import PartFile
from reel_client.patience import Patience, Tries
from reel_client.uploads import UPLOAD_SECONDS, Outgoing, Progress, check_room, content_of, described, name_file, too_large

CALL_SECONDS = 15.0


class Client:
    """`videos` and `server` are the generated stubs: every call of the API, without retries."""

    def __init__(self, server: str | Connection = "127.0.0.1:50051", patience: Patience = Patience()) -> None:
        self._connection = Connection(server) if isinstance(server, str) else server
        self._patience = patience
        credentials, options = self._connection.credentials(), self._connection.options()
        if credentials is None:
            self._channel = grpc.insecure_channel(self._connection.server, options)
        else:
            self._channel = grpc.secure_channel(self._connection.server, credentials, options)
        self.videos = video_service_pb2_grpc.VideoServiceStub(self._channel)
        self.server = server_service_pb2_grpc.ServerServiceStub(self._channel)

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, method: Callable[..., Any], request: Any) -> Any:
        """One of the stubs' methods that answer once, with the token; UNAVAILABLE is tried again."""
        tries = Tries(self._patience)
        while True:
            try:
                return method(request, metadata=self._connection.metadata(), timeout=CALL_SECONDS)
            except grpc.RpcError as failure:
                error = error_of(failure)
            time.sleep(tries.pause_after(error, under_way=False))

    def create(self, what: What, **fields: Any) -> video_pb2.Video:
        return self.call(self.videos.CreateVideo, self._ahead(create_request(what, fields))).video

    def create_all(self, what: What, count: int, **fields: Any) -> list[video_pb2.Video]:
        """Several of one prompt, all or none: `count` videos, whose seeds follow each other."""
        request = self._ahead(create_request(what, fields))
        request.count = count
        return list(self.call(self.videos.CreateVideo, request).videos)

    def get(self, name: str) -> video_pb2.Video:
        return self.call(self.videos.GetVideo, video_service_pb2.GetVideoRequest(name=name)).video

    def list(self, *states: video_pb2.VideoState) -> Generator[video_pb2.Video, None, None]:
        """All of them, newest first; pages are fetched as they are reached."""
        request = video_service_pb2.ListVideosRequest(states=states)
        while True:
            page = self.call(self.videos.ListVideos, request)
            for video in page.videos:
                yield video
            request.page_token = page.next_page_token
            if not request.page_token:
                return

    def cancel(self, name: str) -> video_pb2.Video:
        return self.call(self.videos.CancelVideo, video_service_pb2.CancelVideoRequest(name=name)).video

    def delete(self, name: str) -> None:
        self.call(self.videos.DeleteVideo, video_service_pb2.DeleteVideoRequest(name=name))

    def estimate(self, what: str | video_pb2.VideoSpec, **fields: Any) -> video_service_pb2.EstimateVideoResponse:
        return self.call(self.videos.EstimateVideo, video_service_pb2.EstimateVideoRequest(spec=described(spec_of(what, fields))))

    def upload(self, what: bytes | Path, on_progress: Optional[Progress] = None) -> video_service_pb2.UploadedFile:
        """Sends a file ahead of requests, whose conditions name it: `Condition(file=uploaded.name)`. `on_progress(sent, size)` counts bytes."""
        outgoing, tries = Outgoing(what, on_progress), Tries(self._patience)
        while True:
            try:
                answer = self.videos.UploadFile(outgoing.pieces(), metadata=self._connection.metadata(), timeout=UPLOAD_SECONDS)
                outgoing.check()
                return answer.file
            except grpc.RpcError as failure:
                outgoing.check()
                error = error_of(failure)
            time.sleep(tries.pause_after(error, under_way=False))

    def _ahead(self, request: Any) -> Any:
        """The request, when what is too large for it is sent. To a server that knows no uploads all goes in the request."""
        for condition in too_large(request.spec):
            try:
                name_file(condition, self.upload(content_of(condition)))
            except ReelError as failure:
                check_room(request.spec, failure)
                break  # the others would hear the same
        return request

    def models(self) -> list[server_service_pb2.Model]:
        return list(self.call(self.server.ListModels, server_service_pb2.ListModelsRequest()).models)

    def generate(self, what: What, **fields: Any) -> Generator[video_pb2.VideoEvent, None, None]:
        """Renders, and yields the events up to `finished`. Leaving it cancels the job, unless it is detached."""
        return self._follow(generate_request(what, fields))

    def watch(self, name: str, **fields: Any) -> Generator[video_pb2.VideoEvent, None, None]:
        """Joins a video's stream; `after_sequence`, `without_media` and so on as in WatchVideoRequest."""
        return self._follow(video_service_pb2.WatchVideoRequest(name=name, **fields))

    def _follow(self, start: Start) -> Generator[video_pb2.VideoEvent, None, None]:
        if isinstance(start, video_service_pb2.GenerateVideoRequest):
            self._ahead(start)
        follower = Follower(start, self._patience)
        while True:
            request = follower.next_request()
            generates = isinstance(request, video_service_pb2.GenerateVideoRequest)
            call = (self.videos.GenerateVideo if generates else self.videos.WatchVideo)(
                request, metadata=self._connection.metadata())
            try:
                for response in call:
                    for event in follower.take(response.event):
                        yield event
                    if follower.finished:
                        return
                raise Broken("the stream ended before the video did")
            except (grpc.RpcError, Broken) as failure:
                pause = follower.pause_after(failure)
            finally:
                call.cancel()
            time.sleep(pause)

    def save(self, what: What, path: Path, on_event: Optional[Callable[[video_pb2.VideoEvent], object]] = None,
             **fields: Any) -> video_pb2.Video:
        """Renders into a file, which appears when it is whole and checked."""
        file, events = PartFile(path), self.generate(what, **fields)
        try:
            for event in events:
                if on_event is not None:
                    on_event(event)
                if (video := write_event(event, file)) is not None:
                    return video
            raise ReelError("UNAVAILABLE", "the stream ended before the video did")
        finally:
            file.close(keep=False)
            events.close()

    def download(self, name: str, path: Path) -> video_pb2.MediaInfo:
        """The file of a finished video; goes on with a PATH.part that an earlier call has left."""
        file = PartFile(path, resume=True)
        try:
            download = Download(name, file, self._patience)
            while True:
                call = self.videos.DownloadVideo(download.next_request(), metadata=self._connection.metadata())
                try:
                    for response in call:
                        download.take(response)
                    return download.finish()
                except (grpc.RpcError, Broken, ReelError) as failure:
                    pause = download.pause_after(failure)
                finally:
                    call.cancel()
                time.sleep(pause)
        finally:
            file.close(keep=True)
