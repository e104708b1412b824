#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures for the READMEs, made from the shipped weights through reel-render: animations and a sheet of strips.

  gallery.py                    writes model/demo/gallery/*.webp and model/demo/sheet.webp
  gallery.py --out DIR --reel build/release/bin/reel-render

Needs numpy, pillow and safetensors. The same weights give the same pictures.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
from PIL import Image
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Clip:
    name: str
    prompt: str
    width: int = 256
    height: int = 256
    frames: int = 49
    seed: int = 1


ANIMATIONS = (
    Clip("bounce", "a red circle bouncing over blue waves"),
    Clip("spin", "a big yellow star spinning on a purple background"),
    Clip("sunrise", "a cyan triangle rising over a sunrise"),
    Clip("pair", "a pink square and a yellow circle bouncing over green waves"),
    Clip("orbit", "a white circle orbiting on a starfield"),
    Clip("fire", "a small green block sliding left above a fire"),
)
STRIPS = ANIMATIONS + (
    Clip("grow", "an orange square getting bigger on brown stripes"),
    Clip("fade", "a yellow triangle fading away on a gray checkerboard"),
    Clip("falling", "a big blue star falling over teal tiles"),
    Clip("shrink", "the white ball shrinks in front of a red backdrop"),
    Clip("outside", "a cat walking through a city at night"),
    Clip("ground", "rolling blue waves and nothing else"),
)
STRIP_FRAMES, STRIP_SIDE = 6, 128


def rendered(reel: pathlib.Path, model: pathlib.Path, clip: Clip) -> np.ndarray:
    """[T, H, W, 3] of uint8."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "clip.safetensors")
        command = [reel, "--model", model, "--prompt", clip.prompt, "--width", clip.width, "--height", clip.height,
                   "--num-frames", clip.frames, "--seed", clip.seed, "--dtype", "fp32", "--device", "cpu", "--output", output]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL,
                       env={"OMP_WAIT_POLICY": "passive"} | os.environ)
        return (load_file(output)["frames"] * 255).round().clip(0, 255).astype(np.uint8)


def save_animation(path: pathlib.Path, frames: np.ndarray, frame_rate: int = 24) -> None:
    """Every second frame, a little smaller: a README has many pictures."""
    pictures = [Image.fromarray(frame).resize((192, 192), Image.Resampling.LANCZOS) for frame in frames[::2]]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=2000 // frame_rate, loop=0, quality=72, method=6)


def strip(frames: np.ndarray) -> np.ndarray:
    picked = np.linspace(0, len(frames) - 1, STRIP_FRAMES).round().astype(int)
    sides = (STRIP_SIDE, STRIP_SIDE)
    return np.concatenate([np.asarray(Image.fromarray(frames[i]).resize(sides, Image.Resampling.LANCZOS)) for i in picked], axis=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--model", type=pathlib.Path, default=HERE / "weights")
    parser.add_argument("--reel", type=pathlib.Path, default=ROOT / "build/release/bin/reel-render")
    options = parser.parse_args()
    (options.out / "gallery").mkdir(parents=True, exist_ok=True)
    strips = []
    for clip in STRIPS:
        frames = rendered(options.reel, options.model, clip)
        strips.append(strip(frames))
        if clip in ANIMATIONS:
            save_animation(options.out / "gallery" / f"{clip.name}.webp", frames)
        print(f"{clip.name}: {clip.prompt}", flush=True)
    columns = [np.concatenate(strips[at::2], axis=0) for at in (0, 1)]
    Image.fromarray(np.concatenate(columns, axis=1)).save(options.out / "sheet.webp", quality=80, method=6)
    return 0


if __name__ == "__main__":
    sys.exit(main())
