# SPDX-License-Identifier: Apache-2.0
"""A file being received: `PATH.part` until it is whole and checked."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import Callable, Optional

from reel.v1 import video_pb2

from reel_client.errors import Broken, ReelError


def _table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _table()


def _slow_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _crc32c() -> Callable[[bytes], int]:
    try:
        import google_crc32c
    except ImportError:
        return _slow_crc32c
    return google_crc32c.value


crc32c = _crc32c()


class Cursor:
    """Judges chunks of one attempt after another."""

    def __init__(self, offset: int = 0, attempt: int = 0) -> None:
        self.offset, self.attempt = offset, attempt

    def restart(self, attempt: int) -> None:
        self.offset, self.attempt = 0, attempt

    def is_of_later_attempt(self, chunk: video_pb2.MediaChunk) -> bool:
        return chunk.attempt > self.attempt and self.attempt != 0 and self.offset != 0

    def take(self, chunk: video_pb2.MediaChunk) -> Optional[bytes]:
        """What of the chunk is new; None: nothing. Raises Broken for a chunk that is damaged or comes too early."""
        if crc32c(chunk.data) != chunk.crc32c:
            raise Broken(f"a part of the file was damaged in transit, at byte {chunk.offset}")
        if chunk.attempt < self.attempt:
            return None
        self.attempt = chunk.attempt
        if chunk.offset > self.offset:
            raise Broken(f"a part of the file is missing before byte {chunk.offset}, after {self.offset}")
        new = chunk.data[self.offset - chunk.offset:]
        self.offset += len(new)
        return new or None

    def check_size(self, media: video_pb2.MediaInfo) -> None:
        if self.offset < media.size_bytes:
            raise Broken(f"the stream ended before the file did: {self.offset} of {media.size_bytes} bytes")
        if self.offset > media.size_bytes:
            raise ReelError("DATA_LOSS", f"more bytes were received than the file has: {self.offset} of {media.size_bytes}")


def _target(path: str) -> str:
    """What a rename would replace: behind links the file that they lead to. OSError for what is no regular file."""
    if not os.path.lexists(path):
        return path
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a regular file", path)
    return os.path.realpath(path) if os.path.islink(path) else path


class PartFile:
    """Exists under its name only when it is whole and its SHA-256 is the server's. Made before the server is asked."""

    def __init__(self, path: str | os.PathLike[str], resume: bool = False) -> None:
        self._path = _target(os.fspath(path))
        self._part = f"{self._path}.part"
        self._file = open(self._part, "a+b" if resume else "w+b")
        self._hash = hashlib.sha256()
        self._file.seek(0)
        while piece := self._file.read(1 << 20):
            self._hash.update(piece)
        self.size = self._file.tell()

    def append(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def restart(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.size = 0

    def commit(self, media: video_pb2.MediaInfo) -> None:
        if self._hash.hexdigest() != media.sha256 or self.size != media.size_bytes:
            raise ReelError("DATA_LOSS", f"the received file has the wrong SHA-256: {self._path}")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._part, self._path)

    def close(self, keep: bool) -> None:
        """After a failure; `keep`: what is there may be resumed."""
        if not self._file.closed:
            self._file.close()
            if not keep or self.size == 0:
                os.unlink(self._part)
