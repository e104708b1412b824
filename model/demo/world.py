# SPDX-License-Identifier: Apache-2.0
"""The world that the demo model knows: its words, and random scenes as rows of two tensors.

A scene is a row of `ints` (what a caption can say) and a row of `reals` (what only the picture shows). Both are
tensors, so that thousands are drawn at once and a batch of them is rendered on the GPU (render.py).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

SHAPES = ("circle", "square", "triangle", "star")
COLOURS = {
    "red": (0.95, 0.10, 0.10), "orange": (1.00, 0.52, 0.04), "yellow": (0.98, 0.92, 0.12),
    "green": (0.12, 0.86, 0.20), "cyan": (0.08, 0.90, 0.95), "blue": (0.14, 0.34, 1.00),
    "purple": (0.62, 0.18, 0.95), "pink": (1.00, 0.45, 0.75), "white": (0.97, 0.97, 0.97),
}
GROUND_COLOURS = {
    "black": (0.03, 0.03, 0.04), "gray": (0.33, 0.33, 0.35), "blue": (0.06, 0.14, 0.44),
    "green": (0.05, 0.34, 0.12), "red": (0.43, 0.06, 0.07), "purple": (0.29, 0.09, 0.41),
    "teal": (0.04, 0.36, 0.38), "brown": (0.37, 0.22, 0.09),
}
SAME_HUE = (("red", "red"), ("green", "green"), ("cyan", "teal"), ("blue", "blue"), ("purple", "purple"))
SHARED_HUES = ("red", "green", "blue", "purple", "cyan")  # and on the ground, where cyan is teal
MOTIONS = ("left", "right", "up", "down", "bounce", "orbit", "spin", "grow", "shrink", "fade", "appear", "still")
PATTERNS = ("plain", "waves", "stripes", "checkerboard")
SCENES = ("starfield", "fire", "sunrise")
GROUNDS = PATTERNS + SCENES
SIZES = ("small", "medium", "big")

INTS = ("objects", "size", "shape", "colour", "motion", "ground", "ground_colour", "shape2", "colour2")
REALS = ("radius", "x", "y", "x2", "y2", "travel_x", "travel_y", "phase0", "phase1", "phase2", "phase3",
         "r", "g", "b", "r2", "g2", "b2", "ground_r", "ground_g", "ground_b")

MOTION_WEIGHTS = (3, 3, 3, 3, 3, 2, 2, 2, 2, 1.5, 1.5, 2)
RADII = ((0.115, 0.145), (0.165, 0.225), (0.25, 0.30))  # of the short side, for each of SIZES
SIZE_WEIGHTS = (0.18, 0.6, 0.22)
STATIC = ("spin", "grow", "shrink", "fade", "appear", "still")
HOPS = ("bounce", "up", "down") + STATIC  # what two objects do together


@dataclass
class Mix:
    """Shares of the kinds of scene; what is left of 1 is one object on a pattern."""
    two_objects: float = 0.11
    over_scene: float = 0.10
    ground_only: float = 0.06
    clash: float = 0.0  # of all scenes take both colours from the words that objects and grounds share


@dataclass
class Scenes:
    ints: Tensor   # [N, len(INTS)], int64
    reals: Tensor  # [N, len(REALS)], float32

    def __len__(self) -> int:
        return self.ints.shape[0]

    def __getitem__(self, index) -> "Scenes":
        return Scenes(self.ints[index], self.reals[index])

    def to(self, device) -> "Scenes":
        return Scenes(self.ints.to(device), self.reals.to(device))


def held_out(ints: Tensor) -> Tensor:
    """True for the combinations that training never sees: about one in sixteen of those with one object."""
    column = {name: ints[:, i] for i, name in enumerate(INTS)}
    number = (column["shape"] * 5 + column["colour"] * 7 + column["motion"] * 11 + column["ground"] * 3
              + column["ground_colour"] * 13)
    return (column["objects"] == 1) & (number % 16 == 3)


def draw(count: int, generator: torch.Generator, mix: Mix = Mix(), unseen: bool = False) -> Scenes:
    """`count` scenes on the generator's device; `unseen` draws the held-out combinations and no others."""
    kept: list[Scenes] = []
    have = 0
    while have < count:
        scenes = _draw_any(max(64, count * (20 if unseen else 2)), generator, mix)
        held = held_out(scenes.ints)
        scenes = scenes[_allowed(scenes.ints) & (held if unseen else ~held)]
        kept.append(scenes)
        have += len(scenes)
    return Scenes(torch.cat([k.ints for k in kept])[:count], torch.cat([k.reals for k in kept])[:count])


def _allowed(ints: Tensor) -> Tensor:
    column = {name: ints[:, i] for i, name in enumerate(INTS)}
    pattern = column["ground"] < len(PATTERNS)
    colours, grounds = list(COLOURS), list(GROUND_COLOURS)
    good = torch.ones_like(pattern)
    for colour, ground in SAME_HUE:
        on_it = pattern & (column["ground_colour"] == grounds.index(ground))
        good &= ~(on_it & (column["objects"] >= 1) & (column["colour"] == colours.index(colour)))
        good &= ~(on_it & (column["objects"] == 2) & (column["colour2"] == colours.index(colour)))
    black = column["ground_colour"] == grounds.index("black")
    good &= ~(black & pattern & (column["ground"] != PATTERNS.index("plain")))
    spins = column["motion"] == MOTIONS.index("spin")  # a circle that spins is a circle that stands still
    circle = SHAPES.index("circle")
    good &= ~(spins & ((column["shape"] == circle) | ((column["objects"] == 2) & (column["shape2"] == circle))))
    alike = (column["shape"] == column["shape2"]) & (column["colour"] == column["colour2"])
    good &= ~((column["objects"] == 2) & alike)
    hops = torch.tensor([m in HOPS for m in MOTIONS], device=ints.device)
    good &= ~((column["objects"] == 2) & ~hops[column["motion"]])
    over_fire = (column["ground"] == GROUNDS.index("fire")) & (column["objects"] >= 1)
    return good & ~(over_fire & ((column["colour"] == colours.index("orange")) | (column["colour"] == 0)))


def _draw_any(count: int, generator: torch.Generator, mix: Mix) -> Scenes:
    device = generator.device

    def unit() -> Tensor:
        return torch.rand(count, generator=generator, device=device)

    def pick(weights) -> Tensor:
        weights = torch.tensor(weights, device=device, dtype=torch.float32)
        return torch.multinomial(weights, count, replacement=True, generator=generator)

    kind = pick((1 - mix.two_objects - mix.over_scene - mix.ground_only, mix.two_objects, mix.over_scene,
                 mix.ground_only))
    objects = torch.tensor((1, 2, 1, 0), device=device)[kind]
    scene = (kind == 2) | ((kind == 3) & (unit() < 0.6))
    ground = torch.where(scene, len(PATTERNS) + pick((1.0,) * len(SCENES)), pick((1.2, 1, 1, 1)))
    size, motion = pick(SIZE_WEIGHTS), pick(MOTION_WEIGHTS)
    ground_colour = pick((0.6,) + (1.0,) * (len(GROUND_COLOURS) - 1))
    colour, colour2 = pick((1.0,) * len(COLOURS)), pick((1.0,) * len(COLOURS))
    shape, shape2 = pick((1.0,) * len(SHAPES)), pick((1.0,) * len(SHAPES))
    if mix.clash > 0:
        clash = unit() < mix.clash
        colour = torch.where(clash, pick([float(c in SHARED_HUES) for c in COLOURS]), colour)
        on_grounds = [float(c in SHARED_HUES or c == "teal") for c in GROUND_COLOURS]
        ground_colour = torch.where(clash, pick(on_grounds), ground_colour)
    ints = torch.stack([objects, size, shape, colour, motion, ground, ground_colour, shape2, colour2], dim=1)

    low, high = torch.tensor(RADII, device=device)[size].unbind(dim=1)
    two = objects == 2
    radius = (low + (high - low) * unit()) * torch.where(two, 0.56, 1.0)
    reals = torch.empty(count, len(REALS), device=device)
    spread = _spread(motion, radius)
    reals[:, 0] = radius
    reals[:, 1] = torch.where(two, -0.26 + 0.04 * (unit() - 0.5), spread[0] * (2 * unit() - 1))
    reals[:, 2] = spread[1] * (2 * unit() - 1)
    reals[:, 3] = 0.26 + 0.04 * (unit() - 0.5)
    reals[:, 4] = reals[:, 2]
    reals[:, 5] = (0.5 - 0.85 * radius) * (0.74 + 0.14 * unit())
    reals[:, 6] = (0.5 - 0.85 * radius) * (0.74 + 0.14 * unit())
    reals[:, 7:11] = torch.rand(count, 4, generator=generator, device=device)
    reals[:, 11:14] = torch.tensor(list(COLOURS.values()), device=device)[colour]
    reals[:, 14:17] = torch.tensor(list(COLOURS.values()), device=device)[colour2]
    reals[:, 17:20] = torch.tensor(list(GROUND_COLOURS.values()), device=device)[ground_colour]
    return Scenes(ints, reals)


def _spread(motion: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
    """How far from the middle the resting place of an object may be, across and along."""
    room = (0.40 - 1.15 * radius).clamp(min=0.0)
    static = torch.tensor([m in STATIC for m in MOTIONS], device=motion.device)[motion]
    sideways = torch.tensor([m in ("left", "right") for m in MOTIONS], device=motion.device)[motion]
    upwards = torch.tensor([m in ("up", "down", "bounce") for m in MOTIONS], device=motion.device)[motion]
    return room * (static | upwards), room * (static | sideways)


def with_odd_colours(scenes: Scenes, share: float, generator: torch.Generator) -> Scenes:
    """The same scenes with any colours in a share of them, for the autoencoder: it meets users' pictures too."""
    reals = scenes.reals.clone()
    odd = torch.rand(len(scenes), 1, generator=generator, device=reals.device) < share
    colours = torch.rand(len(scenes), 9, generator=generator, device=reals.device)
    reals[:, 11:20] = torch.where(odd, colours, reals[:, 11:20])
    return Scenes(scenes.ints, reals)


def curves(u: Tensor) -> Tensor:
    """[len(MOTIONS), 5, *u.shape]: x and y in travels, scale, angle, opacity at the moments `u` of 0..1.

    A motion spans the whole clip, however long that is.
    """
    flat, one = torch.zeros_like(u), torch.ones_like(u)
    lane = 1 - 2 * u
    table = {
        "left": (lane, flat, one, flat, one),
        "right": (-lane, flat, one, flat, one),
        "up": (flat, lane, one, flat, one),
        "down": (flat, -lane, one, flat, one),
        "bounce": (flat, 1 - 2 * (2 * math.pi * u).sin().abs(), one, flat, one),
        "orbit": ((2 * math.pi * u).sin(), -(2 * math.pi * u).cos(), one, flat, one),
        "spin": (flat, flat, one, 1.5 * math.pi * u, one),
        "grow": (flat, flat, 0.45 + 0.75 * u, flat, one),
        "shrink": (flat, flat, 1.20 - 0.75 * u, flat, one),
        "fade": (flat, flat, one, flat, 1 - u),
        "appear": (flat, flat, one, flat, u),
        "still": (flat, flat, one, flat, one),
    }
    return torch.stack([torch.stack(table[motion]) for motion in MOTIONS])
