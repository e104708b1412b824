# SPDX-License-Identifier: Apache-2.0
"""One request of diffusers' LTX2Pipeline with a clock at every step: what diffusers_bench and tests/bench/e2e share.

Weights are random, by the configurations of a folder. Texts are random embeddings of 1024 tokens, as the pipeline pads them: the text encoder
is not part of it.
"""

import json
import pathlib
import time

import torch
from diffusers import AutoencoderKLLTX2Audio, AutoencoderKLLTX2Video, FlowMatchEulerDiscreteScheduler, LTX2VideoTransformer3DModel
from diffusers.pipelines.ltx2 import LTX2Pipeline
from diffusers.pipelines.ltx2.connectors import LTX2TextConnectors
from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder, LTX2VocoderWithBWE

KINDS = {kind.__name__: kind for kind in (LTX2VideoTransformer3DModel, LTX2TextConnectors, AutoencoderKLLTX2Video, AutoencoderKLLTX2Audio,
                                          LTX2Vocoder, LTX2VocoderWithBWE)}
PARTS = ("transformer", "connectors", "vae", "audio_vae", "vocoder")
ONE_ROW = {"guidance_scale": 1.0, "stg_scale": 0.0, "modality_scale": 1.0, "audio_guidance_scale": 1.0, "audio_stg_scale": 0.0,
           "audio_modality_scale": 1.0, "guidance_rescale": 0.0, "audio_guidance_rescale": 0.0}
TOKENS = 1024


def load_pipeline(args) -> LTX2Pipeline:
    torch.manual_seed(0)
    parts = {}
    torch.set_default_dtype(getattr(torch, args.dtype))
    with torch.device(args.device):
        for part in PARTS:
            config = json.loads(pathlib.Path(args.model, part, "config.json").read_text(encoding="utf-8"))
            parts[part] = KINDS[config["_class_name"]].from_config(config).eval()
    torch.set_default_dtype(torch.float32)
    scheduler = FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=False)
    pipe = LTX2Pipeline(scheduler=scheduler, text_encoder=None, tokenizer=None, **parts)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def random_embeds(pipe: LTX2Pipeline, args) -> dict:
    """Two prompts, though one row of a step needs only the first."""
    generator = torch.Generator("cpu").manual_seed(1)
    width = pipe.connectors.config.caption_channels * pipe.connectors.config.text_proj_in_factor
    embeds = {}
    for name in ("prompt", "negative_prompt"):
        embeds[f"{name}_embeds"] = torch.randn(1, TOKENS, width, generator=generator).to(args.device, getattr(torch, args.dtype))
        embeds[f"{name}_attention_mask"] = torch.ones(1, TOKENS, dtype=torch.int64, device=args.device)
    return embeds


def synchronize(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def run_once(pipe: LTX2Pipeline, embeds: dict, args, all_guidance: bool = False) -> dict:
    """The pipeline up to the latents with a clock at every step's end, then pictures and sound by themselves."""
    marks = []

    def mark(_pipe, _step, _time, values):
        synchronize(args.device)
        marks.append(time.perf_counter())
        return values

    generator = torch.Generator("cpu").manual_seed(0)
    synchronize(args.device)
    if args.device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
    pictures, sound = pipe(**embeds, width=args.width, height=args.height, num_frames=args.num_frames, num_inference_steps=args.steps,
                           output_type="latent", generator=generator, callback_on_step_end=mark, callback_on_step_end_tensor_inputs=[],
                           return_dict=False, **({} if all_guidance else ONE_ROW))
    start = time.perf_counter()
    pipe.vae.decode(pictures.to(pipe.vae.dtype), None, return_dict=False)
    pipe.vocoder(pipe.audio_vae.decode(sound.to(pipe.audio_vae.dtype), return_dict=False)[0])
    synchronize(args.device)
    steps = [(b - a) * 1e3 for a, b in zip(marks, marks[1:])]  # the first holds the set-up, too
    return {"steps": steps, "decode": (time.perf_counter() - start) * 1e3}
