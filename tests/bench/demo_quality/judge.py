# SPDX-License-Identifier: Apache-2.0
"""Says what a clip shows, by plain image measures: no network looks at it.

The world makes that possible: objects are bright (a channel above 0.7), grounds are not. So the object is what is
bright, its colour is the middle of its pixels, its shape the harmonics of its outline, its motion the track of its
centre and area, and the ground what lies outside.
"""

import math
from dataclasses import dataclass

import numpy as np

from world import COLOURS, GROUND_COLOURS, GROUNDS, MOTIONS

BRIGHT = 0.70
RAYS = 72
SMALLEST = 0.004  # of the frame: less is no object


@dataclass
class Verdict:
    colour: str = ""
    shape: str = ""
    motion: str = ""
    ground: str = ""         # one of GROUNDS
    ground_colour: str = ""  # one of GROUND_COLOURS, empty for a scene


def judge(frames: np.ndarray) -> Verdict:
    """`frames` is [T, H, W, 3] in 0..1."""
    masks = np.stack([_mask(frame) for frame in frames])
    areas = masks.mean(axis=(1, 2))
    verdict = Verdict()
    verdict.ground, verdict.ground_colour = _ground(frames, masks)
    if areas.max() < SMALLEST:
        return verdict
    good = np.flatnonzero(areas > 0.5 * areas.max())
    verdict.colour = _nearest(np.median(frames[masks & (areas > 0.5 * areas.max())[:, None, None]], axis=0), COLOURS)
    verdict.shape = _shape([masks[i] for i in good])
    verdict.motion = _motion(frames, masks, areas, verdict.shape)
    return verdict


def _blur(values: np.ndarray, reach: int) -> np.ndarray:
    """Mean over a square window, by sums along each axis."""
    for axis in (0, 1):
        padded = np.pad(values, [(reach + 1, reach) if a == axis else (0, 0) for a in (0, 1)], mode="edge")
        sums = padded.cumsum(axis=axis)
        span = 2 * reach + 1
        values = (np.take(sums, range(span, sums.shape[axis]), axis) - np.take(sums, range(sums.shape[axis] - span), axis)) / span
    return values


def _mask(frame: np.ndarray) -> np.ndarray:
    bright = (frame.max(axis=2) > BRIGHT).astype(np.float32)
    reach = max(2, min(bright.shape) // 50)
    return (bright > 0) & (_blur(bright, reach) > 0.35)  # stars of the sky are too small to stay


def _nearest(colour: np.ndarray, table: dict[str, tuple]) -> str:
    return min(table, key=lambda name: float(((np.asarray(table[name]) - colour) ** 2).sum()))


def _outline(mask: np.ndarray) -> np.ndarray | None:
    """Distance of the outline from the centre along RAYS directions, its mean 1. None where the frame cuts it."""
    height, width = mask.shape
    ys, xs = np.nonzero(mask)
    if len(ys) < 60 or ys.min() <= 1 or xs.min() <= 1 or ys.max() >= height - 2 or xs.max() >= width - 2:
        return None
    dy, dx = ys - ys.mean(), xs - xs.mean()
    angle = np.arctan2(dy, dx)
    sector = ((angle + math.pi) * (RAYS / (2 * math.pi))).astype(int) % RAYS
    area = np.bincount(sector, minlength=RAYS).astype(float)
    area = (np.roll(area, 1) + 2 * area + np.roll(area, -1)) / 4
    reach = np.sqrt(area * RAYS / math.pi)
    return reach / reach.mean()


def _shape(masks: list[np.ndarray]) -> str:
    votes: dict[str, float] = {}
    for mask in masks:
        outline = _outline(mask)
        if outline is None:
            continue
        strength = np.abs(np.fft.rfft(outline))[:7] / RAYS * 2
        name = _shape_of(strength)
        votes[name] = votes.get(name, 0) + 1
    return max(votes, key=votes.get) if votes else ""


def _shape_of(strength: np.ndarray) -> str:
    """From the amplitudes of the outline's harmonics: the one that stands out names the number of corners."""
    if strength[5] > 0.10 and strength[5] > strength[3]:
        return "star"
    if strength[3] > 0.085:
        return "triangle"
    if strength[4] > 0.045:
        return "square"
    return "circle"


def _motion(frames: np.ndarray, masks: np.ndarray, areas: np.ndarray, shape: str) -> str:
    count, height, width = masks.shape
    edge = max(1, count // 8)
    seen = areas > 0.12 * areas.max()
    bright = np.array([np.percentile(f.max(axis=2)[m], 80) if s else 0.0 for f, m, s in zip(frames, masks, seen)])
    first, last = bright[:edge].mean(), bright[-edge:].mean()
    size_first, size_last = areas[:edge].mean(), areas[-edge:].mean()
    steady = _steady_area(areas)
    if last < 0.3 and first > 0.6 and steady:
        return "fade"
    if first < 0.3 and last > 0.6 and steady:
        return "appear"
    places = np.array([_centre(mask) for mask, s in zip(masks, seen) if s]) / min(height, width)
    if size_last > 2.0 * size_first:
        return "grow"
    if size_last < 0.5 * size_first:
        return "shrink"
    few = max(1, len(places) // 10)
    go = places[-few:].mean(axis=0) - places[:few].mean(axis=0)
    span = places.max(axis=0) - places.min(axis=0)
    if span.max() > 0.12:
        if abs(go).max() > 0.6 * span.max() and abs(go).max() > 2 * abs(go).min():
            if abs(go[1]) > abs(go[0]):
                return "right" if go[1] > 0 else "left"
            return "down" if go[0] > 0 else "up"
        return "orbit" if span.min() > 0.45 * span.max() else "bounce"
    return "spin" if shape not in ("", "circle") and _turns([m for m, s in zip(masks, seen) if s], shape) else "still"


def _steady_area(areas: np.ndarray) -> bool:
    """True where the object, while it is seen well, keeps its size: it fades, it does not shrink."""
    seen = areas[areas > 0.5 * areas.max()]
    half = areas > 0.05 * areas.max()
    gradual = areas[half & (areas < 0.8 * areas.max())]
    return len(gradual) <= max(3, 0.2 * len(areas)) and seen.min() > 0.5 * seen.max()


def _centre(mask: np.ndarray) -> tuple[float, float]:
    ys, xs = np.nonzero(mask)
    return float(ys.mean()), float(xs.mean())


def _turns(masks: list[np.ndarray], shape: str) -> bool:
    """Whether the outline's corners go around: the phase of their harmonic, followed over the clip."""
    corners = {"triangle": 3, "square": 4, "star": 5}[shape]
    phases = []
    for mask in masks:
        outline = _outline(mask)
        if outline is not None:
            phases.append(np.angle(np.fft.rfft(outline)[corners]))
    if len(phases) < 4:
        return False
    track = np.unwrap(np.array(phases))
    return bool(track.max() - track.min() > 0.45 * math.pi)


def _ground(frames: np.ndarray, masks: np.ndarray) -> tuple[str, str]:
    picked = np.unique(np.linspace(0, len(frames) - 1, 6).round().astype(int))
    still = [_Ground(frames[i], masks[i]) for i in picked]
    colour = np.median([g.colour for g in still], axis=0)
    tones = np.median([[g.deviation, g.across, g.along, g.slope] for g in still], axis=0)
    deviation, across, along, slope = tones
    stars = np.median([g.specks for g in still])
    upper, lower = (np.median([getattr(g, part) for g in still], axis=0) for part in ("upper", "lower"))
    if stars > 0.0015 and colour.max() < 0.2 and deviation < 0.2:
        return "starfield", ""
    if lower[0] - upper[0] > 0.12 and upper[2] > upper[0] * 0.9 and upper[2] - lower[2] > 0.02:
        return "sunrise", ""
    warm = colour[0] > 2.0 * colour[1] and colour[1] > 1.35 * colour[2] and lower[0] - upper[0] > 0.08
    if warm:
        return "fire", ""
    name = _nearest(colour, GROUND_COLOURS)
    if deviation < 0.045 * max(0.25, colour.max()) / 0.25:
        return "plain", name
    coherence = math.hypot(across - along, 2 * slope) / max(1e-9, across + along)
    if coherence < 0.30:
        return "checkerboard", name
    return ("waves" if along > across and abs(slope) < 0.5 * along and along > 1.5 * across else "stripes"), name


class _Ground:
    """Measures of one frame outside its object."""

    def __init__(self, frame: np.ndarray, mask: np.ndarray):
        reach = max(3, min(mask.shape) // 24)
        outside = _blur(mask.astype(np.float32), reach) < 1e-3
        if outside.sum() < 500:
            outside = ~mask
        light = frame.max(axis=2)
        pixels = frame[outside]
        self.colour = pixels.mean(axis=0)
        smooth = _blur(light, 2)
        self.deviation = float(smooth[outside].std())
        dy, dx = np.gradient(smooth)
        self.across = float((dx[outside] ** 2).mean())
        self.along = float((dy[outside] ** 2).mean())
        self.slope = float((dx * dy)[outside].mean())
        self.specks = float((light[outside] > 0.45).mean())
        third = mask.shape[0] // 3
        self.upper = self._mean(frame[:third], outside[:third])
        self.lower = self._mean(frame[-third:], outside[-third:])

    @staticmethod
    def _mean(part: np.ndarray, outside: np.ndarray) -> np.ndarray:
        return part[outside].mean(axis=0) if outside.any() else part.mean(axis=(0, 1))


assert len(MOTIONS) == 12 and len(GROUNDS) == 7  # the rules above name each
