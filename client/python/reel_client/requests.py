# SPDX-License-Identifier: Apache-2.0
"""Requests that begin from something: a picture, clip or sound of the disk, or a video that has kept its state. Each goes wherever a prompt does.
And adapters with their scales."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Optional, Sequence, Union

from google.protobuf import duration_pb2
from reel.v1 import video_pb2

MOST_FILE_BYTES = 256 << 20  # that any server takes
REFINED_PROMPT = "a sharp, detailed video"  # the API wants one; the clip says most of what it would


def condition(path: Union[str, "os.PathLike[str]"], frame_index: int = 0, strength: Optional[float] = None) -> video_pb2.Condition:
    """A PNG, JPEG, WebP or MP4 that the video follows from `frame_index` on. Above 1 MiB the call that gets it sends it ahead. ValueError: it is larger
    than any server takes."""
    content = _bytes(path)
    made = video_pb2.Condition(frame_index=frame_index, strength=strength)
    if content[4:8] == b"ftyp":
        made.video = content
    else:
        made.image = content
    return made


def sound(path: Union[str, "os.PathLike[str]"]) -> video_pb2.Condition:
    """A WAV, FLAC, MP3 or MP4 whose sound the video has, and its pictures follow. ValueError: as for `condition`."""
    return video_pb2.Condition(audio=_bytes(path))


def refinement(path: Union[str, "os.PathLike[str]"], prompt: str = REFINED_PROMPT, strength: Optional[float] = None, **fields: Any) -> video_pb2.VideoSpec:
    """An MP4 of any origin, refined by the second pass of a preset of two. `strength` is how much noise it gets; without `width`, `height`, `num_frames`
    and `frame_rate` the preset's hold."""
    content = _bytes(path)
    if content[4:8] != b"ftyp":
        raise ValueError(f"only an MP4 is refined: {path}")
    made = video_pb2.VideoSpec(prompt=prompt, denoise_strength=strength, **fields)
    made.conditions.add(video=content, use=video_pb2.CONDITION_USE_REFINE)
    return made


def adapter(name: str, scale: Optional[float] = None, *, passes: Sequence[float] = (), **parts: float) -> video_pb2.Adapter:
    """An adapter (LoRA) of the model for `adapters=[...]`. `passes` are scales of each pass of the preset, `parts` those of parts of the model,
    as `audio=0.5`; both are times `scale`."""
    return video_pb2.Adapter(name=name, scale=scale, pass_scales=passes, part_scales=parts)


def promotion(video: Union[str, video_pb2.Video], keep_state: Optional[bool] = None) -> video_pb2.VideoSpec:
    """The rest of a draft. With `keep_state` others can go on from that, too."""
    return video_pb2.VideoSpec(keep_state=keep_state, source=video_pb2.Source(video=_name(video), promote=video_pb2.Promote()))


def extension(video: Union[str, video_pb2.Video], num_frames: int, prompt: str = "", overlap_frames: int = 0, **fields: Any) -> video_pb2.VideoSpec:
    """So many frames behind the video's last ones, of which `overlap_frames` come first (0: 25). Without a prompt: the video's."""
    extend = video_pb2.Extend(num_frames=num_frames, overlap_frames=overlap_frames)
    return video_pb2.VideoSpec(prompt=prompt, source=video_pb2.Source(video=_name(video), extend=extend), **fields)


def retake(video: Union[str, video_pb2.Video], begin: float, end: float, prompt: str = "", *, keep_pictures: bool = False,
           keep_sound: bool = False, **fields: Any) -> video_pb2.VideoSpec:
    """The video once more, with the seconds from `begin` to `end` made anew. Without a prompt: the video's."""
    made = video_pb2.Retake(begin=_duration(begin), end=_duration(end), keep_pictures=keep_pictures, keep_sound=keep_sound)
    return video_pb2.VideoSpec(prompt=prompt, source=video_pb2.Source(video=_name(video), retake=made), **fields)


def _bytes(path: Union[str, "os.PathLike[str]"]) -> bytes:
    file = pathlib.Path(path)
    size = file.stat().st_size
    if not 0 < size <= MOST_FILE_BYTES:
        raise ValueError(f"{file} has {size} bytes; files have 1 to {MOST_FILE_BYTES}")
    return file.read_bytes()


def _name(video: Union[str, video_pb2.Video]) -> str:
    return video if isinstance(video, str) else video.name


def _duration(seconds: float) -> duration_pb2.Duration:
    made = duration_pb2.Duration()
    made.FromNanoseconds(int(seconds * 1_000_000_000))
    return made
