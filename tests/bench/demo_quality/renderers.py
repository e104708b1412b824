# SPDX-License-Identifier: Apache-2.0
"""Who makes the clips: diffusers' LTXPipeline, Reel's own reel-render, or the generator itself (the judge's own test)."""

import concurrent.futures
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from prompts import Prompt


@dataclass(frozen=True)
class Settings:
    width: int
    height: int
    frames: int
    steps: int
    guidance: float
    frame_rate: int
    negative: str


def with_diffusers(model: pathlib.Path, prompts: list[Prompt], settings: Settings, device: str, batch: int) -> Iterator[np.ndarray]:
    """Clips [T, H, W, 3] in 0..1, in the order of the prompts; the noise is the CPU's, so a GPU starts from the same."""
    from diffusers import LTXPipeline
    pipeline = LTXPipeline.from_pretrained(model, torch_dtype=torch.float32).to(device)
    pipeline.set_progress_bar_config(disable=True)
    for at in range(0, len(prompts), batch):
        part = prompts[at:at + batch]
        video = pipeline(
            prompt=[p.text for p in part], negative_prompt=[settings.negative] * len(part), width=settings.width,
            height=settings.height, num_frames=settings.frames, num_inference_steps=settings.steps,
            guidance_scale=settings.guidance, frame_rate=settings.frame_rate, output_type="pt",
            generator=[torch.Generator().manual_seed(p.seed) for p in part]).frames
        yield from video.permute(0, 1, 3, 4, 2).float().cpu().numpy()


@dataclass(frozen=True)
class Reel:
    """reel-render, and how it renders."""
    binary: pathlib.Path
    device: str
    dtype: str
    kernels: str
    together: int  # processes at a time


def with_reel(reel: Reel, model: pathlib.Path, prompts: list[Prompt], settings: Settings) -> Iterator[np.ndarray]:
    from safetensors.numpy import load_file
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(reel.together) as pool:

        def render(numbered: tuple[int, Prompt]) -> np.ndarray:
            number, prompt = numbered
            output = pathlib.Path(folder) / f"{number}.safetensors"
            negative = ["--negative-prompt", settings.negative] if settings.negative else []
            subprocess.run(
                [reel.binary, "--model", model, "--prompt", prompt.text, *negative,
                 "--width", str(settings.width), "--height", str(settings.height), "--num-frames", str(settings.frames),
                 "--steps", str(settings.steps), "--guidance-scale", str(settings.guidance),
                 "--frame-rate", str(settings.frame_rate), "--seed", str(prompt.seed), "--dtype", reel.dtype,
                 "--device", reel.device, "--kernels", reel.kernels, "--output", output], check=True, stdout=subprocess.DEVNULL)
            clip = load_file(output)["frames"]
            output.unlink()
            return clip

        yield from pool.map(render, enumerate(prompts))


def with_generator(scenes, settings: Settings) -> Iterator[np.ndarray]:
    """The truth: what a perfect model would make."""
    from render import render_whole
    for number in range(len(scenes)):
        video = render_whole(scenes[number:number + 1], settings.frames, settings.height, settings.width)[0]
        yield ((video + 1) / 2).permute(1, 2, 3, 0).numpy()
