# SPDX-License-Identifier: Apache-2.0
"""Stages that train the video autoencoder from ltx-demo's: its latents stay, a sharper decoder and a smaller encoder learn them."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autoencoder_stages import Stage
from film_networks import CHANNELS
from networks import encode_video
from render import View, render, render_whole
from world import Mix, Scenes, draw

SHORTS = (128, 192, 256, 256, 256, 256, 384, 512)
DECODER = Stage("decoder", 0.21, 25, 128, 24, 1, 1e-3, SHORTS, mean_decay=0.998, flat=0.3)
ENCODER = Stage("encoder", 0.04, 17, 128, 32, 1, 2e-3, SHORTS, mean_decay=0.995, flat=0.3, compile=False)
STAGES = (DECODER, ENCODER)
EDGE_WEIGHT = 4.0   # of pixels at an outline, where corners are lost
NOISIEST = 0.06     # of half of the latents: the transformer's have some noise too


def trained_modules(stage: Stage, vae) -> dict[str, nn.Module]:
    return {"vae.decoder": vae.decoder} if stage is DECODER else {"vae.encoder": vae.encoder}


def drawn(stage: Stage, teacher, ints: Tensor, reals: Tensor, views: Tensor) -> tuple[Tensor, Tensor]:
    """The windows of clips, and ltx-demo's latents of them."""
    with torch.no_grad():
        with torch.autocast(ints.device.type, enabled=False):
            video = render(Scenes(ints, reals), View.of_rows(views), stage.frames, stage.side, stage.side)
        return video, encode_video(teacher, video)[0].float()


def edges(video: Tensor) -> Tensor:
    """[N, 1, T, H, W] in 0..1: how near an outline is."""
    light = video[:, :, :, :, 1:] - video[:, :, :, :, :-1]
    across = F.pad(light.abs().amax(dim=1, keepdim=True), (0, 1))
    light = video[:, :, :, 1:] - video[:, :, :, :-1]
    along = F.pad(light.abs().amax(dim=1, keepdim=True), (0, 0, 0, 1))
    return F.max_pool3d((across + along).clamp(max=1), (1, 5, 5), 1, (0, 2, 2))


def decoder_loss(vae, teacher) -> Callable[..., Tensor]:
    def loss(ints: Tensor, reals: Tensor, views: Tensor, weights: Tensor) -> Tensor:
        video, latents = drawn(DECODER, teacher, ints, reals, views)
        unit = torch.rand(len(ints), 1, 1, 1, 1, device=ints.device)
        level = NOISIEST * (2 * unit - 1).clamp(min=0)
        std = vae.latents_std.view(1, CHANNELS, 1, 1, 1)
        picture = vae.decoder(latents + level * std * torch.randn_like(latents)).float()
        error = picture - video
        weight = 1 + EDGE_WEIGHT * edges(video)
        value = (weight * error.square()).mean() + weights[0] * (weight * error.abs()).mean()
        for axis in (2, 3, 4):
            value = value + weights[1] * error.diff(dim=axis).abs().mean()
        return value
    return loss


def encoder_loss(vae, teacher) -> Callable[..., Tensor]:
    def loss(ints: Tensor, reals: Tensor, views: Tensor, weights: Tensor) -> Tensor:
        video, latents = drawn(ENCODER, teacher, ints, reals, views)
        found = vae.encoder(video)[:, :CHANNELS].float()
        return ((found - latents) / vae.latents_std.view(1, CHANNELS, 1, 1, 1)).square().mean()
    return loss


@torch.no_grad()
def psnr(vae, encode: Callable[[Tensor], Tensor], clips: int, frames: int, side: int) -> float:
    """Of clips that went through latents, in dB over all their pixels, with the range 2."""
    device = next(vae.parameters()).device
    scenes = draw(clips, torch.Generator().manual_seed(991), Mix(0.1, 0.1, 0.0)).to(device)
    total = 0.0
    for at in range(0, clips, 4):
        video = render_whole(scenes[at:at + 4], frames, side, side)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            picture = vae.decoder(encode(video).float())
        total += float((picture.float().clamp(-1, 1) - video).square().mean(dim=(1, 2, 3, 4)).sum())
    return float(10 * torch.log10(torch.tensor(4.0 / (total / clips))))
