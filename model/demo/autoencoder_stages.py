# SPDX-License-Identifier: Apache-2.0
"""Stages that train the autoencoder: single frames first, then short windows of clips, then the decoder alone."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from networks import encode_video
from render import View, render, render_whole, window
from training import Step, rate_at
from world import Mix, Scenes, draw, with_odd_colours

POOL = 4096  # scenes drawn at once
CLIPS = Mix(two_objects=0.2, over_scene=0.2, ground_only=0.08)


@dataclass(frozen=True)
class Stage:
    name: str
    share: float      # of the run's minutes
    frames: int
    side: int         # pixels of the square window
    batch: int        # on a GPU
    small_batch: int  # on a CPU
    rate: float
    shorts: tuple[int, ...]  # sizes of the clips that the window is cut from
    decoder_only: bool = False
    squares_first: bool = False  # squared error alone at first: L1 from the start stays at a constant picture
    timesteps: bool = False
    flat: float = 0.5
    mean_decay: float = 0.99
    compile: bool = True  # where a GPU is used and time allows


STAGES = (
    Stage("frames", 0.045, 1, 64, 256, 16, 1e-3, (64, 96, 128, 192, 256), squares_first=True,
          compile=False),
    Stage("short", 0.075, 9, 64, 128, 4, 1e-3, (96, 128, 192, 256, 256, 384), mean_decay=0.995,
          compile=False),
    Stage("clips", 0.23, 17, 128, 32, 2, 8e-4, (128, 192, 256, 256, 256, 384, 512), timesteps=True, mean_decay=0.999, flat=0.4),
    Stage("decoder", 0.07, 17, 128, 48, 2, 6e-4, (128, 192, 256, 256, 256, 384, 512), decoder_only=True, timesteps=True,
          mean_decay=0.999, flat=0.3),
    Stage("long", 0.10, 49, 128, 8, 1, 4e-4, (128, 192, 256, 256, 256, 384, 512), decoder_only=True, timesteps=True,
          mean_decay=0.998, flat=0.2, compile=False),
)


def trained_modules(stage: Stage, vae) -> dict[str, nn.Module]:
    return {"vae.decoder": vae.decoder} if stage.decoder_only else {"vae": vae}


def loss_of(stage: Stage, vae) -> Callable[..., Tensor]:
    """The loss of a batch: rows of scenes, rows of views, and three weights (L1, differences, divergence)."""
    frames, side = stage.frames, stage.side

    def loss(ints: Tensor, reals: Tensor, views: Tensor, weights: Tensor) -> Tensor:
        with torch.autocast(ints.device.type, enabled=False), torch.no_grad():
            video = render(Scenes(ints, reals), View.of_rows(views), frames, side, side)
        if stage.decoder_only:
            with torch.no_grad():
                mean, log_variance = encode_video(vae, video)
        else:
            mean, log_variance = encode_video(vae, video)
        mean, log_variance = mean.float(), log_variance.float()
        latents = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        timestep = torch.zeros(len(ints), device=ints.device)
        if stage.timesteps:
            unit = torch.rand(2, len(ints), device=ints.device)
            timestep = 0.12 * (2 * unit[0] - 1).clamp(min=0)  # half of the clips are clean
            level = (timestep * (0.4 + 0.6 * unit[1]))[:, None, None, None, None]
            latents = (1 - level) * latents + level * torch.randn_like(latents)
        picture = vae.decoder(latents, timestep).float()
        error = picture - video
        value = error.square().mean() + weights[0] * error.abs().mean()
        for axis in (2, 3, 4) if frames > 1 else (3, 4):
            value = value + weights[1] / 3 * error.diff(dim=axis).abs().mean()
        if not stage.decoder_only:
            divergence = 0.5 * (mean.square().mean() + log_variance.exp().mean() - 1 - log_variance.mean())
            value = value + weights[2] * divergence
        return value
    return loss


class AutoencoderStage:
    """Feeds one stage's loss. `advance` does a few steps at the rate that the elapsed share asks for."""

    def __init__(self, stage: Stage, loss: Callable[..., Tensor], optimiser, seed: int, options, compiled: bool = False):
        self._stage, self._optimiser = stage, optimiser
        self._device = optimiser.device
        self._generator = torch.Generator(self._device).manual_seed(seed)
        self._batch = options.batch or (stage.batch if options.gpu else stage.small_batch)
        self._shorts = torch.tensor([float(s) for s in stage.shorts], device=self._device)
        self._step = Step(torch.compile(loss, dynamic=False) if compiled else loss, optimiser, options.gpu)
        self._weights = torch.zeros(3, device=self._device)
        self._left: list[tuple[Tensor, Tensor, Tensor]] = []

    def advance(self, share: float, steps: int) -> int:
        self._optimiser.set_rate(rate_at(self._stage.rate, share, steps, self._stage.flat))
        squares = self._stage.squares_first and share < 0.4
        weights = (0.0, 0.0) if squares else (1.0, 0.5 if self._stage.frames > 1 else 0.25)
        ramp = min(1.0, steps / 2000) if self._stage.squares_first else 1.0
        self._weights.copy_(torch.tensor([*weights, 1e-4 * ramp]))
        count = 20 if self._device.type == "cuda" else 5
        for _ in range(count):
            if not self._left:
                self._fill()
            self._step(*self._left.pop(), self._weights)
        return count

    def mean_loss(self) -> float:
        return self._step.mean_loss()

    def _fill(self) -> None:
        pool = max(self._batch, POOL // self._batch * self._batch)
        scenes = with_odd_colours(draw(pool, self._generator, CLIPS), 0.15, self._generator)
        views = window(scenes, self._stage.frames, self._stage.side, self._shorts, self._generator).rows()
        for at in range(0, pool, self._batch):
            part = slice(at, at + self._batch)
            self._left.append((scenes.ints[part], scenes.reals[part], views[part]))


@torch.no_grad()
def psnr(vae, clips: int, frames: int, side: int, seed: int = 991) -> float:
    """Of reconstructions of whole unseen clips, in dB over all their pixels, with the range 2."""
    device = next(vae.parameters()).device
    scenes = draw(clips, torch.Generator().manual_seed(seed), Mix(0.1, 0.1, 0.0), unseen=False).to(device)
    total, batch = 0.0, 4
    for at in range(0, clips, batch):
        video = render_whole(scenes[at:at + batch], frames, side, side)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            mean, _ = encode_video(vae, video)
            picture = vae.decoder(mean.float(), torch.zeros(len(video), device=device))
        total += float((picture.float().clamp(-1, 1) - video).square().mean(dim=(1, 2, 3, 4)).sum())
    return float(10 * torch.log10(torch.tensor(4.0 / (total / clips))))
