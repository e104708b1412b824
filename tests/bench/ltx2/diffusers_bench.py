#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diffusers' LTX2Pipeline in the size of a release, of random weights, timed by steps and parts: a JSON line for each film.

A film is WIDTHxHEIGHTxFRAMES:STEPS or WIDTHxHEIGHTxFRAMES:STEPS:all, with all guidance. Texts are random embeddings of 1024 tokens, as the
pipeline pads them: the text encoder is not part of it.
"""

import argparse
import json
import statistics
import time

import torch
from diffusers import AutoencoderKLLTX2Audio, AutoencoderKLLTX2Video, FlowMatchEulerDiscreteScheduler, LTX2VideoTransformer3DModel
from diffusers.pipelines.ltx2 import LTX2Pipeline
from diffusers.pipelines.ltx2.connectors import LTX2TextConnectors
from diffusers.pipelines.ltx2.vocoder import LTX2VocoderWithBWE
from random_folder import configuration

CLASSES = {"transformer": LTX2VideoTransformer3DModel, "connectors": LTX2TextConnectors, "vae": AutoencoderKLLTX2Video,
           "audio_vae": AutoencoderKLLTX2Audio, "vocoder": LTX2VocoderWithBWE}
PLAIN = {"guidance_scale": 1.0, "stg_scale": 0.0, "modality_scale": 1.0, "audio_guidance_scale": 1.0, "audio_stg_scale": 0.0,
         "audio_modality_scale": 1.0, "guidance_rescale": 0.0, "audio_guidance_rescale": 0.0}
HIDDEN, LAYERS, TOKENS = 3840, 49, 1024


def pipeline(version: str) -> LTX2Pipeline:
    torch.manual_seed(0)
    parts = {}
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        for part, kind in CLASSES.items():
            parts[part] = kind.from_config(configuration(part, version)).eval()
    torch.set_default_dtype(torch.float32)
    scheduler = FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=False)
    pipe = LTX2Pipeline(scheduler=scheduler, text_encoder=None, tokenizer=None, **parts)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def film(pipe: LTX2Pipeline, text: str) -> dict:
    size, steps, *rest = text.split(":")
    width, height, frames = map(int, size.split("x"))
    generator = torch.Generator("cpu").manual_seed(1)
    embeds = {f"{name}_embeds": torch.randn(1, TOKENS, HIDDEN * LAYERS, generator=generator).to("cuda", torch.bfloat16)
              for name in ("prompt", "negative_prompt")}
    masks = {f"{name}_attention_mask": torch.ones(1, TOKENS, dtype=torch.int64, device="cuda") for name in ("prompt", "negative_prompt")}
    marks = []

    def mark(_pipe, _step, _time, values):
        torch.cuda.synchronize()
        marks.append(time.perf_counter())
        return values

    torch.cuda.reset_peak_memory_stats()
    begun = time.perf_counter()
    pipe(width=width, height=height, num_frames=frames, num_inference_steps=int(steps), generator=generator, output_type="np",
         callback_on_step_end=mark, **embeds, **masks, **({} if rest == ["all"] else PLAIN))
    torch.cuda.synchronize()
    ended = time.perf_counter()
    each = [1000 * (b - a) for a, b in zip(marks, marks[1:])]
    return {"film": text, "step_ms": statistics.median(each), "steps_ms": [round(ms, 1) for ms in each], "whole_s": round(ended - begun, 3),
            "decode_s": round(ended - marks[-1], 3), "peak_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("films", nargs="+")
    parser.add_argument("--version", choices=["2.0", "2.3"], default="2.3")
    args = parser.parse_args()
    begun = time.perf_counter()
    pipe = pipeline(args.version)
    print(json.dumps({"loaded_s": round(time.perf_counter() - begun, 1), "gb": round(torch.cuda.memory_allocated() / 1e9, 2)}), flush=True)
    for text in args.films:
        try:
            print(json.dumps(film(pipe, text)), flush=True)
        except (RuntimeError, ValueError) as error:  # out of memory among them
            print(json.dumps({"film": text, "error": str(error)[:300]}), flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
