# SPDX-License-Identifier: Apache-2.0
"""Client of Reel: `Client` blocks, `AsyncClient` awaits; messages are those of `reel.v1`."""

from reel.v1.video_pb2 import MediaInfo, Video, VideoEvent, VideoSpec

from reel_client.aio import AsyncClient
from reel_client.client import Client
from reel_client.connection import Connection
from reel_client.errors import ReelError, Violation
from reel_client.patience import Patience
from reel_client.requests import adapter, condition, extension, promotion, refinement, retake, sound

__all__ = ["AsyncClient", "Client", "Connection", "MediaInfo", "Patience", "ReelError", "Video", "VideoEvent", "VideoSpec",
           "Violation", "adapter", "condition", "extension", "promotion", "refinement", "retake", "sound"]
