# SPDX-License-Identifier: Apache-2.0
"""Sample sheets: a few frames of each clip in a row, clips below one another, as one picture."""

import pathlib

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from networks import encode_video
from render import render_whole
from world import Mix, draw


def strip(clip: np.ndarray, columns: int) -> np.ndarray:
    """A clip [T, H, W, 3] of uint8 as `columns` frames side by side."""
    picked = np.linspace(0, len(clip) - 1, columns).round().astype(int)
    return np.concatenate([clip[i] for i in picked], axis=1)


def as_bytes(video: Tensor) -> np.ndarray:
    """[3, T, H, W] in [-1, 1] as [T, H, W, 3] of uint8."""
    return ((video.float().clamp(-1, 1) + 1) * 127.5).round().byte().permute(1, 2, 3, 0).cpu().numpy()


def save(path: pathlib.Path, strips: list[np.ndarray], across: int = 2, width: int = 1536) -> None:
    rows = [np.concatenate(strips[at:at + across], axis=1) for at in range(0, len(strips) - across + 1, across)]
    picture = Image.fromarray(np.concatenate(rows, axis=0))
    if picture.width > width:
        picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(192).save(path, optimize=True)


@torch.no_grad()
def reconstructions(path: pathlib.Path, vae, clips: int, frames: int, side: int) -> None:
    """Clips on the left, what the autoencoder makes of them on the right."""
    device = next(vae.parameters()).device
    scenes = draw(clips, torch.Generator().manual_seed(17), Mix(0.15, 0.2, 0.05)).to(device)
    strips = []
    for at in range(clips):
        video = render_whole(scenes[at:at + 1], frames, side, side)
        picture = vae.decoder(encode_video(vae, video)[0], torch.zeros(1, device=device))
        strips += [strip(as_bytes(video[0]), 4), strip(as_bytes(picture[0]), 4)]
    save(path, strips)


SAMPLES = (
    "a red circle bouncing over blue waves", "a big yellow star spinning on a purple background",
    "a green triangle moving left over a gray checkerboard", "a cyan square growing on brown stripes",
    "a white circle orbiting on a starfield", "a blue star rising over a sunrise",
    "a pink square and a yellow circle bouncing over green waves", "an orange triangle fading away on a black background",
)


@torch.no_grad()
def generated(path: pathlib.Path, folder: pathlib.Path, device, frames: int, side: int) -> None:
    """What the saved folder makes of a few prompts, through diffusers' own pipeline."""
    from diffusers import LTXPipeline
    pipeline = LTXPipeline.from_pretrained(folder, torch_dtype=torch.float32).to(device)
    pipeline.set_progress_bar_config(disable=True)
    strips = []
    for number, prompt in enumerate(SAMPLES):
        video = pipeline(prompt=prompt, height=side, width=side, num_frames=frames, num_inference_steps=20,
                         guidance_scale=4.0, generator=torch.Generator().manual_seed(number), output_type="pt").frames[0]
        strips.append(strip(as_bytes(video.transpose(0, 1) * 2 - 1), 5))
    save(path, strips)
