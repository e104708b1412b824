# SPDX-License-Identifier: Apache-2.0
"""Scenes as sound: a pure function of tensors, as render.py draws them, so that a GPU makes a batch at once.

A shape is a timbre, a colour a pitch, a motion a course of loudness and place, a ground a bed of noise or silence.
"""

import math

import torch
from torch import Tensor

from world import COLOURS, GROUNDS, INTS, MOTIONS, REALS, SHAPES, Scenes, curves

RATE = 16000  # samples a second
FRAME = 160   # samples of a frame of a spectrum, and TOKEN frames are a latent
TOKEN = 4
# Each a whole number of periods in a frame: a vocoder's frames of a steady tone are then all alike, and it holds its pitch.
PITCHES = dict(zip(COLOURS, (300, 400, 500, 600, 800, 1000, 1200, 1500, 1800)))
LEVEL = 0.30          # of a tone's lowest partial
DECAY = 0.14          # seconds in which a hit falls to 1/e
RAMP = 0.008          # seconds of an attack
QUIET = 0.15          # of what grows, at its start
TREMOLO, TREMOLO_DEPTH = 6.0, 0.75  # hertz; of the loudness
TOUCHES = (0.0, 0.5, 1.0)  # moments of a clip at which what bounces is at its lowest
BELL = ((1.0, 1.0), (2.76, 0.45), (5.40, 0.25), (8.93, 0.12))  # pitch and level of partials, of the lowest one's
PARTIALS = 12
HIGHEST = 7500.0  # hertz


def tokens(frames: int, frame_rate: float) -> int:
    """Audio latents of a clip, as LTX-2's pipeline counts them."""
    return round(frames / frame_rate * RATE / FRAME / TOKEN)


def samples(count: int) -> int:
    """Of `count` audio latents: each but the first stands for TOKEN frames."""
    return FRAME * (TOKEN * (count - 1) + 1)


def sound(scenes: Scenes, frames: int, frame_rate: float, length: int) -> Tensor:
    """[N, 2, length] in -1..1: the left and the right ear."""
    device = scenes.ints.device
    t = torch.arange(length, device=device) / RATE
    u = (t * (frame_rate / max(1, frames - 1))).clamp(max=1)
    clip = max(1, frames - 1) / frame_rate
    column = {name: scenes.ints[:, i] for i, name in enumerate(INTS)}
    real = {name: scenes.reals[:, i, None] for i, name in enumerate(REALS)}
    motion = column["motion"]
    place = curves(u)[motion, 0]  # [N, length], in travels
    loudness = _loudness(u, t, clip)[motion]
    wave = _bed(column["ground"], real, u, t)
    for which, suffix in ((1, ""), (2, "2")):
        there = (column["objects"] >= which)[:, None].float()
        tone = _tone(column["shape" + suffix], column["colour" + suffix], t)
        both = torch.where(column["objects"] == 2, 0.75, 1.0)[:, None]
        level = LEVEL * there * both * loudness * (t / RAMP).clamp(max=1)
        wave = wave + _panned(level * tone, real["x" + suffix] + place * real["travel_x"])
    return wave.clamp(-1, 1)


def _panned(wave: Tensor, x: Tensor) -> Tensor:
    """At equal power; `x` is a place in short sides, 0 in the middle."""
    angle = ((x / 0.42).clamp(-1, 1) + 1) * (math.pi / 4)
    return torch.stack([wave * angle.cos(), wave * angle.sin()], dim=1)


def _loudness(u: Tensor, t: Tensor, clip: float) -> Tensor:
    """[len(MOTIONS), length]: what each motion does to a tone."""
    hits = torch.zeros_like(u)
    for moment in TOUCHES:
        since = t - moment * clip
        hits = hits + torch.where(since >= 0, (-since / DECAY).exp() * (since / RAMP).clamp(0, 1), 0.0)
    one = torch.ones_like(u)
    of = {"bounce": 1.3 * hits, "spin": 1 - TREMOLO_DEPTH * (0.5 - 0.5 * (2 * math.pi * TREMOLO * t).cos()),
          "grow": QUIET ** (1 - u), "shrink": QUIET ** u, "fade": 1 - u, "appear": u}
    return torch.stack([of.get(name, one) for name in MOTIONS])


def _partials(shape: str, pitch: float) -> list[tuple[float, float]]:
    """Hertz and levels, of the lowest partial's."""
    if shape == "star":
        found = [(FRAME_HERTZ * round(pitch * ratio / FRAME_HERTZ), level) for ratio, level in BELL]
    else:
        odd = range(1, 1 if shape == "circle" else 2 * PARTIALS, 2)
        found = [(pitch * k, 1 / k if shape == "square" else (-1) ** (k // 2) / (k * k)) for k in (odd or (1,))]
    return [(hertz, level) for hertz, level in found if hertz < HIGHEST][:PARTIALS]


FRAME_HERTZ = RATE / FRAME


def _table(device) -> tuple[Tensor, Tensor]:
    """Hertz and levels [shapes, colours, PARTIALS]; what a timbre lacks has level 0."""
    rows = [[(_partials(shape, pitch) + [(0.0, 0.0)] * PARTIALS)[:PARTIALS] for pitch in PITCHES.values()] for shape in SHAPES]
    table = torch.tensor(rows, device=device)
    return table[..., 0], table[..., 1]


def _tone(shape: Tensor, colour: Tensor, t: Tensor) -> Tensor:
    """[N, length]. A bell's higher partials ring off after the start."""
    hertz, levels = (table[shape, colour] for table in _table(t.device))
    ringing = torch.where(shape == SHAPES.index("star"), 0.65, 0.0)[:, None]
    higher = 1 - ringing * (1 - (-t / 0.35).exp())
    # Whole periods of a frame: the phase is exact in single precision, however late.
    phase = torch.remainder(torch.arange(len(t), device=t.device), FRAME) / RATE
    wave = levels[:, :1] * (2 * math.pi * hertz[:, :1] * phase).sin()
    for k in range(1, PARTIALS):
        wave = wave + higher * levels[:, k:k + 1] * (2 * math.pi * hertz[:, k:k + 1] * phase).sin()
    return wave


def _noise(seed: Tensor, length: int) -> Tensor:
    """[N, length] even in -1..1, the same for the same seed."""
    at = torch.arange(length, device=seed.device, dtype=torch.float64)
    value = torch.sin(at * 12.9898 + seed.double() * 78.233 + 1.0) * 43758.5453
    return ((value - value.floor()) * 2 - 1).float()


def _filtered(wave: Tensor, low: float, high: float) -> Tensor:
    """What lies between two frequencies, with soft edges."""
    hertz = torch.fft.rfftfreq(wave.shape[-1], 1 / RATE, device=wave.device)
    gain = 1 / (1 + (hertz / high) ** 4) * (hertz / low) ** 2 / (1 + (hertz / low) ** 2)
    return torch.fft.irfft(torch.fft.rfft(wave) * gain, n=wave.shape[-1])


def _bed(ground: Tensor, real, u: Tensor, t: Tensor) -> Tensor:
    """[N, 2, length]: a sea that swells, a fire that rumbles and crackles, or silence."""
    ears = [_noise(real["phase0"] + ear, len(t)) for ear in (0.0, 3.1)]
    swell = 0.6 + 0.4 * torch.sin(2 * math.pi * (2 * u + real["phase1"]))
    waves = torch.stack([_filtered(ear, 60.0, 900.0) * swell for ear in ears], dim=1)
    spark = _noise(real["phase2"] + 7.7, len(t))
    spark = torch.where(spark > 1 - 2 * 12.0 / RATE, 4 * _noise(real["phase3"] + 1.3, len(t)), 0.0)
    click = (-t / 0.004).exp() * _noise(torch.full((1, 1), 0.5, device=t.device), len(t))
    crackle = torch.fft.irfft(torch.fft.rfft(spark) * torch.fft.rfft(_filtered(click, 1200.0, 5000.0)), n=len(t))
    fire = torch.stack([0.5 * _filtered(ear, 40.0, 200.0) for ear in ears], dim=1) + 0.06 * crackle[:, None]
    is_waves, is_fire = (ground[:, None, None] == GROUNDS.index(name) for name in ("waves", "fire"))
    return 0.16 * torch.where(is_waves, waves, torch.where(is_fire, 2 * fire, 0.0))
