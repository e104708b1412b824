# SPDX-License-Identifier: Apache-2.0
"""Renderers of the clips: diffusers' pipelines, Reel's own reel-render, or the generator itself (the judge's own test)."""

import concurrent.futures
import json
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

    def of_sound(self) -> dict:
        """What LTX2Pipeline takes besides: the same guidance for both streams, and no other guidance."""
        return {"audio_guidance_scale": self.guidance, "guidance_rescale": 0.0, "audio_guidance_rescale": 0.0, "stg_scale": 0.0,
                "audio_stg_scale": 0.0, "modality_scale": 1.0, "audio_modality_scale": 1.0, "max_sequence_length": TEXT}


@dataclass(frozen=True)
class Clip:
    frames: np.ndarray       # [T, H, W, 3] in 0..1
    wave: np.ndarray | None  # [2, S] in -1..1; None: the model makes no sound
    rate: int = 0            # of the wave


TEXT = 64  # tokens of a prompt of the model with sound


def has_sound(model: pathlib.Path) -> bool:
    return json.loads((model / "model_index.json").read_text(encoding="utf-8"))["_class_name"].startswith("LTX2")


def with_diffusers(model: pathlib.Path, prompts: list[Prompt], settings: Settings, device: str, batch: int) -> Iterator[Clip]:
    """Clips in the order of the prompts; the noise is the CPU's, so a GPU starts from the same."""
    from diffusers import LTX2Pipeline, LTXPipeline
    sound = has_sound(model)
    pipeline = (LTX2Pipeline if sound else LTXPipeline).from_pretrained(model, torch_dtype=torch.float32).to(device)
    pipeline.set_progress_bar_config(disable=True)
    for at in range(0, len(prompts), batch):
        part = prompts[at:at + batch]
        made = pipeline(
            prompt=[p.text for p in part], negative_prompt=[settings.negative] * len(part), width=settings.width,
            height=settings.height, num_frames=settings.frames, num_inference_steps=settings.steps,
            guidance_scale=settings.guidance, frame_rate=settings.frame_rate, output_type="pt",
            generator=[torch.Generator().manual_seed(p.seed) for p in part], **(settings.of_sound() if sound else {}))
        waves = made.audio.float().cpu().numpy() if sound else [None] * len(part)
        rate = pipeline.vocoder.config.output_sampling_rate if sound else 0
        for video, wave in zip(made.frames.permute(0, 1, 3, 4, 2).float().cpu().numpy(), waves):
            yield Clip(video, wave, rate)


@dataclass(frozen=True)
class Reel:
    """reel-render, and how it renders."""
    binary: pathlib.Path
    device: str
    dtype: str
    kernels: str
    together: int  # processes at a time


def with_reel(reel: Reel, model: pathlib.Path, prompts: list[Prompt], settings: Settings) -> Iterator[Clip]:
    from safetensors import safe_open
    sound = []
    if has_sound(model):
        sound = ["--audio-guidance-scale", str(settings.guidance), "--guidance-rescale", "0", "--audio-guidance-rescale", "0",
                 "--stg-scale", "0", "--audio-stg-scale", "0", "--modality-scale", "1", "--audio-modality-scale", "1",
                 "--max-text-tokens", str(TEXT)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(reel.together) as pool:

        def render(numbered: tuple[int, Prompt]) -> Clip:
            number, prompt = numbered
            output = pathlib.Path(folder) / f"{number}.safetensors"
            negative = ["--negative-prompt", settings.negative] if settings.negative else []
            subprocess.run(
                [reel.binary, "--model", model, "--prompt", prompt.text, *negative, *sound,
                 "--width", str(settings.width), "--height", str(settings.height), "--num-frames", str(settings.frames),
                 "--steps", str(settings.steps), "--guidance-scale", str(settings.guidance),
                 "--frame-rate", str(settings.frame_rate), "--seed", str(prompt.seed), "--dtype", reel.dtype,
                 "--device", reel.device, "--kernels", reel.kernels, "--output", output], check=True, stdout=subprocess.DEVNULL)
            with safe_open(output, framework="numpy") as file:
                rate = int((file.metadata() or {}).get("sample_rate", 0))
                clip = Clip(file.get_tensor("frames"), file.get_tensor("wave") if rate else None, rate)
            output.unlink()
            return clip

        yield from pool.map(render, enumerate(prompts))


def with_generator(scenes, settings: Settings) -> Iterator[Clip]:
    """The truth: what a perfect model would make."""
    from render import render_whole
    from sounds import RATE, samples, sound, tokens
    length = samples(tokens(settings.frames, settings.frame_rate))
    for number in range(len(scenes)):
        scene = scenes[number:number + 1]
        video = render_whole(scene, settings.frames, settings.height, settings.width)[0]
        wave = sound(scene, settings.frames, settings.frame_rate, length)[0]
        yield Clip(((video + 1) / 2).permute(1, 2, 3, 0).numpy(), wave.numpy(), RATE)
