# SPDX-License-Identifier: Apache-2.0
"""Says what a clip sounds like, by plain measures of its wave: no network listens.

Tones are far louder than beds, so the pitch is the strongest peak of the spectrum where the clip is loudest. Where the
tone comes from, and whether it swells, is read in a narrow band around that pitch.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from judge import _centre, _mask
from sounds import PITCHES
from world import INTS, MOTIONS

WINDOW = 0.25     # seconds in which a pitch is read
LOWEST, HIGHEST = 200.0, 2400.0  # hertz, where it is looked for
STEP = 0.01       # seconds between two values of an envelope
EDGE = 0.2        # of a clip at each end is compared
PANNED = 0.35     # difference of (right - left) / (right + left)
SWELLED = 1.8     # ratio of loudness
NEAR = 0.080      # seconds between a touch and its hit
SILENT = 1e-3


@dataclass
class Heard:
    pitch: float = 0.0   # hertz; 0: nothing is heard
    pan: str = ""        # left, right
    loudness: str = ""   # louder, softer
    hits: list[float] = field(default_factory=list)  # seconds


def listen(wave: np.ndarray, rate: int) -> Heard:
    """`wave` is [2, S] in -1..1."""
    heard = Heard()
    if np.abs(wave).max() < SILENT:
        return heard
    heard.pitch = _pitch(wave.sum(axis=0), rate)
    left, right = (_envelope(_band(ear, rate, heard.pitch), rate) for ear in wave)
    count = max(1, round(EDGE * len(left)))
    first, last = slice(0, count), slice(-count, None)
    pans = [(right[part].mean() - left[part].mean()) / max(1e-9, right[part].mean() + left[part].mean()) for part in (first, last)]
    heard.pan = "right" if pans[1] - pans[0] > PANNED else "left" if pans[0] - pans[1] > PANNED else ""
    loud = left + right
    begin, end = loud[first].mean(), loud[last].mean()
    heard.loudness = "louder" if end > SWELLED * begin else "softer" if begin > SWELLED * end else ""
    heard.hits = _hits(loud)
    return heard


def touches(frames: np.ndarray, frame_rate: float) -> list[float]:
    """Seconds at which the object of a clip [T, H, W, 3] is at its lowest, but at the clip's ends."""
    masks = [_mask(frame) for frame in frames]
    heights = np.array([_centre(mask)[0] if mask.any() else np.nan for mask in masks])
    if np.isnan(heights).all():
        return []
    low = heights > np.nanmin(heights) + 0.80 * (np.nanmax(heights) - np.nanmin(heights))
    found, at = [], 0
    while at < len(low):
        end = at
        while end < len(low) and low[end]:
            end += 1
        if end > at and at > 0 and end < len(low):
            found.append((at + end - 1) / 2 / frame_rate)
        at = max(end, at + 1)
    return found


@dataclass
class Wanted:
    colour: str = ""
    pan: str = ""
    loudness: str = ""
    bounces: bool = False


def wanted_sound(row: list[int]) -> Wanted:
    value = dict(zip(INTS, row))
    motion = MOTIONS[value["motion"]]
    return Wanted(list(PITCHES)[value["colour"]], motion if motion in ("left", "right") else "",
                  {"grow": "louder", "appear": "louder", "shrink": "softer", "fade": "softer"}.get(motion, ""),
                  motion == "bounce")


def right(wanted: Wanted, heard: Heard, seen: list[float]) -> dict[str, bool]:
    """What is asked of this clip, and whether it is right. `seen` are the touches of its pictures."""
    found = {"pitch": heard.pitch > 0 and abs(12 * math.log2(heard.pitch / PITCHES[wanted.colour])) <= 1}
    if wanted.pan:
        found["pan"] = heard.pan == wanted.pan
    if wanted.loudness:
        found["loudness"] = heard.loudness == wanted.loudness
    if wanted.bounces:
        found["hits"] = bool(seen) and all(any(abs(hit - touch) <= NEAR for hit in heard.hits) for touch in seen)
    return found


def _pitch(wave: np.ndarray, rate: int) -> float:
    size = min(len(wave), round(WINDOW * rate))
    power = np.concatenate([[0.0], np.cumsum(wave.astype(np.float64) ** 2)])
    at = int(np.argmax(power[size:] - power[:-size]))
    spectrum = np.abs(np.fft.rfft(wave[at:at + size] * np.hanning(size), n=8 * size))
    hertz = np.fft.rfftfreq(8 * size, 1 / rate)
    spectrum[(hertz < LOWEST) | (hertz > HIGHEST)] = 0
    return float(hertz[int(np.argmax(spectrum))])


def _band(wave: np.ndarray, rate: int, pitch: float) -> np.ndarray:
    """The wave within a tenth of a pitch, by a smooth window over the spectrum."""
    hertz = np.fft.rfftfreq(len(wave), 1 / rate)
    width = max(60.0, 0.1 * pitch)
    return np.fft.irfft(np.fft.rfft(wave) * np.exp(-0.5 * ((hertz - pitch) / width) ** 2), n=len(wave))


def _envelope(wave: np.ndarray, rate: int) -> np.ndarray:
    step = round(STEP * rate)
    count = len(wave) // step
    return np.sqrt((wave[:count * step].reshape(count, step) ** 2).mean(axis=1))


def _hits(loud: np.ndarray) -> list[float]:
    """Where an envelope leaps: it doubles within three steps and is loud behind them."""
    found: list[float] = []
    for at in range(1, len(loud)):
        before = loud[max(0, at - 3):at].min()
        if loud[at] > 0.3 * loud.max() and loud[at] > 2 * before and (not found or at * STEP - found[-1] > 0.12):
            found.append(at * STEP)
    return found
