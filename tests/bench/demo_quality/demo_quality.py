#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders prompts that training never saw and counts how many clips show what they say.

  demo_quality.py --out DIR                             model/demo/weights through diffusers, on the CPU
  demo_quality.py --out DIR --device cuda --batch 20
  demo_quality.py --out DIR --reel build/release/bin/reel-render
  demo_quality.py --out DIR --reel build/cuda/bin/reel-render --device cuda:0 --dtype bf16 --kernels fp8 --processes 12
  demo_quality.py --out DIR --truth                     the judge's own test: clips of the generator

Writes score.md, prompts.tsv (each prompt with what was wanted, seen and heard) and sheet.png.
"""

import argparse
import concurrent.futures
import multiprocessing
import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "model" / "demo")]

import renderers  # noqa: E402
import report  # noqa: E402
import sheets  # noqa: E402
from judge import judge  # noqa: E402
from prompts import SCENE_SHARE, unseen_prompts  # noqa: E402
from sound_judge import Heard, Wanted, listen, right, touches  # noqa: E402
from world import Mix, draw  # noqa: E402


def clips_of(options: argparse.Namespace, prompts: list, settings: renderers.Settings):
    if options.truth:
        scenes = draw(len(prompts), torch.Generator().manual_seed(options.seed), Mix(0.0, SCENE_SHARE, 0.0), unseen=True)
        return renderers.with_generator(scenes, settings)
    if options.reel:
        reel = renderers.Reel(options.reel, options.device, options.dtype, options.kernels, options.processes)
        return renderers.with_reel(reel, options.model, prompts, settings)
    return renderers.with_diffusers(options.model, prompts, settings, options.device, options.batch)


def score(options: argparse.Namespace, prompts: list, guidance: float, pool: concurrent.futures.Executor) -> tuple[list, list, list]:
    """What the judges saw and heard in each clip, and strips of frames for the sheet. Of silent models nothing is heard."""
    settings = renderers.Settings(options.width, options.height, options.frames, options.steps, guidance, options.frame_rate,
                                  options.negative)
    strips, pending, listening = [], [], []
    for clip, prompt in zip(clips_of(options, prompts, settings), prompts):
        frames = clip.frames
        pending.append(pool.submit(judge, frames))
        if clip.wave is not None:
            listening.append(pool.submit(judge_sound, clip, prompt.sound, options.frame_rate))
        if len(strips) < options.strips:
            small = frames[:, ::2, ::2] if frames.shape[1] >= 256 else frames
            strips.append(sheets.strip((small * 255).clip(0, 255).astype(np.uint8), 6))
    return [each.result() for each in pending], [each.result() for each in listening], strips


def judge_sound(clip: renderers.Clip, wanted: Wanted, frame_rate: float) -> tuple[Heard, dict[str, bool]]:
    heard = listen(clip.wave, clip.rate)
    return heard, right(wanted, heard, touches(clip.frames, frame_rate) if wanted.bounces else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "model/demo/weights")
    parser.add_argument("--reel", type=pathlib.Path, help="reel-render, instead of diffusers")
    parser.add_argument("--truth", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--height", type=int, default=256)
    parser.add_argument("--frames", type=int, default=49)
    parser.add_argument("--frame-rate", type=int, default=24)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--guidance", type=float, nargs="+", default=[4.0, 1.0], help="one table for each; 1 is off")
    parser.add_argument("--negative", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--dtype", default="fp32", help="of --reel's weights")
    parser.add_argument("--kernels", default="auto", help="--reel's profile")
    parser.add_argument("--processes", type=int, default=1, help="clips that --reel renders at a time")
    parser.add_argument("--judges", type=int, default=2, help="processes that look at clips")
    parser.add_argument("--strips", type=int, default=48, help="clips on the sheet")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    prompts = unseen_prompts(options.count, options.seed)
    rows, sounds = {}, {}
    fresh = multiprocessing.get_context("spawn")  # a fork would inherit a GPU's state
    with concurrent.futures.ProcessPoolExecutor(options.judges, fresh) as pool:
        for guidance in options.guidance:
            seen, heard, strips = score(options, prompts, guidance, pool)
            rows[guidance] = report.rates(prompts, seen)
            if heard:
                sounds[guidance] = report.sound_rates([answers for _, answers in heard])
            if guidance == options.guidance[0]:
                report.write_prompts(options.out / "prompts.tsv", prompts, seen, heard)
                sheets.save(options.out / "sheet.png", strips)
            print(report.table(options, rows) + report.sound_table(sounds), flush=True)
    (options.out / "score.md").write_text(report.table(options, rows) + report.sound_table(sounds), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
