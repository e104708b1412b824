# SPDX-License-Identifier: Apache-2.0
"""Scenes as pictures: a pure function of tensors, without a loop over clips, so that a GPU draws a batch at once."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from world import GROUNDS, INTS, REALS, SHAPES, Scenes, curves

POINTS = (0, 4, 3, 5)  # corners of each of SHAPES; a circle has none
INNER = (1.0, math.cos(math.pi / 4), 0.5, 0.46)  # radius of the notch between two corners, in outer radii
OUTER = (1.0, 1.25, 1.42, 1.38)  # outer radius in nominal radii, so that areas look alike
SOFT = 1.4  # width of an edge in pixels


@dataclass
class View:
    """Which pixels of each clip are drawn: a window of its frames, so that a crop costs only its own pixels."""
    short: Tensor  # [N] pixels of the whole frame's shorter side
    width: Tensor  # [N] the whole frame, in short sides
    height: Tensor
    left: Tensor   # [N] first column of the window
    top: Tensor
    start: Tensor  # [N] first moment, in clips
    step: Tensor   # [N] from one frame to the next, in clips

    def rows(self) -> Tensor:
        return torch.stack([self.short, self.width, self.height, self.left, self.top, self.start, self.step], dim=1)

    @staticmethod
    def of_rows(rows: Tensor) -> "View":
        return View(*rows.unbind(dim=1))

    @staticmethod
    def whole(count: int, frames: int, height: int, width: int, device) -> "View":
        short = min(height, width)
        values = (short, width / short, height / short, 0.0, 0.0, 0.0, 1.0 / max(1, frames - 1))
        return View(*(torch.full((count,), float(value), device=device) for value in values))


def render(scenes: Scenes, view: View, frames: int, height: int, width: int) -> Tensor:
    """[N, 3, frames, height, width] in [-1, 1], float32, on the device of the scenes."""
    whole = {name: scenes.ints[:, i, None, None, None] for i, name in enumerate(INTS)}
    real = {name: scenes.reals[:, i, None, None, None] for i, name in enumerate(REALS)}
    device = scenes.ints.device
    short, wide, high, left, top, start, step = view.rows()[:, :, None, None, None].unbind(dim=1)
    x = (torch.arange(width, device=device)[None, None, None, :] + 0.5 + left) / short - wide / 2
    y = (torch.arange(height, device=device)[None, None, :, None] + 0.5 + top) / short - high / 2
    u = (start + step * torch.arange(frames, device=device)[None, :, None, None]).clamp(0, 1)
    picture = _ground(whole, real, x, y, u)
    number = torch.arange(len(scenes), device=device)
    motion = curves(u[..., 0, 0])[scenes.ints[:, INTS.index("motion")], :, number][..., None, None]  # [N, 5, T, 1, 1]
    for which, suffix in ((1, ""), (2, "2")):
        cover = _cover(whole, real, suffix, motion, (x, y, short, wide, high)) * (whole["objects"] >= which)
        paint = (real["r" + suffix], real["g" + suffix], real["b" + suffix])
        picture = [p + cover * (q - p) for p, q in zip(picture, paint)]
    return torch.stack(picture, dim=1) * 2 - 1


def render_whole(scenes: Scenes, frames: int, height: int, width: int) -> Tensor:
    view = View.whole(len(scenes), frames, height, width, scenes.ints.device)
    return render(scenes, view, frames, height, width)


def window(scenes: Scenes, frames: int, side: int, shorts: Tensor, generator: torch.Generator) -> View:
    """Windows of square clips of random size and length, in every second clip around the object."""
    count, device = len(scenes), scenes.ints.device

    def unit() -> Tensor:
        return torch.rand(count, generator=generator, device=device)

    short = shorts[torch.randint(len(shorts), (count,), generator=generator, device=device)]
    length = torch.randint(max(9, frames), 98, (count,), generator=generator, device=device)
    step = 1.0 / (length - 1)
    start = unit() * (1 - step * (frames - 1)).clamp(min=0)
    middle = start + step * (frames // 2)
    number = torch.arange(count, device=device)
    motion = curves(middle)[scenes.ints[:, INTS.index("motion")], :, number]
    near = unit() < 0.5
    corner = []
    for axis in (0, 1):
        place = scenes.reals[:, REALS.index("xy"[axis])] + motion[:, axis] * scenes.reals[:, REALS.index("travel_" + "xy"[axis])]
        centre = torch.where(near, (place + 0.5 + 0.4 * (unit() - 0.5)) * short - side / 2, unit() * (short - side))
        corner.append(torch.minimum(centre.clamp(min=0), (short - side).clamp(min=0)).round())
    one = torch.ones_like(short)
    return View(short, one, one, corner[0], corner[1], start, step)


def _cover(whole, real, suffix: str, motion: Tensor, frame) -> Tensor:
    """How much of each pixel an object covers, in 0..1."""
    x, y, short, wide, high = frame
    centre_x = (real["x" + suffix] + motion[:, 0] * real["travel_x"]) * wide
    centre_y = (real["y" + suffix] + motion[:, 1] * real["travel_y"]) * high
    dx, dy = x - centre_x, y - centre_y
    radius = real["radius"] * motion[:, 2]
    shape = whole["shape" + suffix]
    points, inner, outer = (_lookup(values, shape) for values in (POINTS, INNER, OUTER))
    distance = (dx * dx + dy * dy).sqrt()
    wedge = math.pi / points.clamp(min=1)
    # A square stands on a side, the others on a point's opposite; angles are measured from the topmost corner.
    lean = torch.where(shape == SHAPES.index("square"), math.pi / 4, 0.0)
    angle = torch.atan2(dx, -dy) - motion[:, 3] - lean
    angle = (torch.remainder(angle + wedge, 2 * wedge) - wedge).abs()
    corner = radius * outer
    notch_x, notch_y = corner * inner * wedge.cos(), corner * inner * wedge.sin()
    length = ((notch_x - corner) ** 2 + notch_y ** 2).sqrt()
    edge = ((distance * angle.cos() - corner) * notch_y - distance * angle.sin() * (notch_x - corner)) / length
    gap = torch.where(points == 0, distance - radius, edge)
    return (0.5 - gap * (short / SOFT)).clamp(0, 1) * motion[:, 4]


def _lookup(values: tuple, index: Tensor) -> Tensor:
    """values[index], from constants: a CUDA graph cannot copy a table from the host."""
    result = torch.full_like(index, float(values[0]), dtype=torch.float32)
    for i, value in enumerate(values[1:], start=1):
        result = torch.where(index == i, float(value), result)
    return result


def _ground(whole, real, x: Tensor, y: Tensor, u: Tensor) -> list[Tensor]:
    ground = whole["ground"]
    base = [real["ground_r"], real["ground_g"], real["ground_b"]]
    kinds = {name: ground == i for i, name in enumerate(GROUNDS)}
    tone = torch.where(kinds["waves"], _waves(real, x, y, u), 0.5)
    tone = torch.where(kinds["stripes"], _stripes(real, x, y), tone)
    tone = torch.where(kinds["checkerboard"], _checkerboard(real, x, y), tone)
    picture = [channel * (0.70 + 0.60 * tone) for channel in base]
    for name, scene in (("starfield", _starfield), ("fire", _fire), ("sunrise", _sunrise)):
        painted = scene(real, x, y, u)
        picture = [torch.where(kinds[name], p, q) for p, q in zip(painted, picture)]
    return picture


def _step(value: Tensor, sharpness: float) -> Tensor:
    return (0.5 + sharpness * value).clamp(0, 1)


def _waves(real, x: Tensor, y: Tensor, u: Tensor) -> Tensor:
    bend = 0.22 * torch.sin(2 * math.pi * (1.1 * x + u + real["phase0"]))
    return 0.5 + 0.5 * torch.sin(2 * math.pi * (2.6 * y + bend + real["phase1"] - 0.35 * u))


def _stripes(real, x: Tensor, y: Tensor) -> Tensor:
    along = torch.where(real["phase2"] < 0.5, 2.6 * x, 1.9 * (x + y))
    return _step(torch.sin(2 * math.pi * (along + real["phase0"])), 3.0) + 0 * y


def _checkerboard(real, x: Tensor, y: Tensor) -> Tensor:
    product = torch.sin(2 * math.pi * (2.0 * x + real["phase0"])) * torch.sin(2 * math.pi * (2.0 * y + real["phase1"]))
    return _step(product, 5.0)


def _starfield(real, x: Tensor, y: Tensor, u: Tensor) -> list[Tensor]:
    cells = 6.0
    sx, sy = (x + 0.12 * u + real["phase0"]) * cells, (y + real["phase1"]) * cells + 0 * x
    cell_x, cell_y = sx.floor(), sy.floor()
    seed = torch.sin(cell_x * 12.99 + cell_y * 78.23) * 437.58
    random1 = seed - seed.floor()
    random2 = (seed * 7.13) - (seed * 7.13).floor()
    gap_x, gap_y = sx - cell_x - 0.2 - 0.6 * random1, sy - cell_y - 0.2 - 0.6 * random2
    size = 0.05 + 0.05 * random2
    twinkle = 0.75 + 0.25 * torch.sin(2 * math.pi * (2 * u + random1))
    light = torch.exp(-(gap_x * gap_x + gap_y * gap_y) / (size * size)) * twinkle * 0.85
    return [0.02 + light, 0.02 + light, 0.08 + 0.92 * light]


def _fire(real, x: Tensor, y: Tensor, u: Tensor) -> list[Tensor]:
    rise = y + 0.9 * u
    sway = 0.12 * torch.sin(2 * math.pi * (1.3 * rise + real["phase0"]))
    noise = (torch.sin(2 * math.pi * (1.7 * (x + sway) + real["phase1"])) * torch.sin(2 * math.pi * (1.2 * rise + real["phase2"]))
             + 0.6 * torch.sin(2 * math.pi * (3.1 * (x - sway) + 2.3 * rise + real["phase3"])))
    heat = (0.42 + 0.25 * noise + 0.55 * y).clamp(0, 1)
    return [0.10 + 0.50 * heat, 0.01 + 0.26 * heat * heat, 0.01 + 0.04 * heat * heat]


def _sunrise(real, x: Tensor, y: Tensor, u: Tensor) -> list[Tensor]:
    low = (0.5 + y).clamp(0, 1)
    light = 0.55 + 0.45 * u
    middle = 0.4 * (real["phase0"] - 0.5)
    glow = 0.35 * torch.exp(-((x - middle) ** 2 + (y - 0.62 + 0.2 * u) ** 2) / 0.05) * light
    return [(0.07 + 0.48 * low) * light + 0.25 * glow, (0.06 + 0.24 * low * low) * light + 0.5 * glow,
            (0.28 - 0.18 * low) * light + 0.0 * glow]
