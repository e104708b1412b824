# SPDX-License-Identifier: Apache-2.0
"""One request of diffusers' LTX pipeline with a clock at every step: what diffusers_bench and tests/bench/e2e share."""

import argparse
import time

import torch
from diffusers import AutoencoderKLLTXVideo, FlowMatchEulerDiscreteScheduler, LTXPipeline, LTXVideoTransformer3DModel


def add_request(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--height", type=int, default=512)
    parser.add_argument("--num-frames", type=int, default=49)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--guidance-scale", type=float, default=3)


def load_pipeline(args: argparse.Namespace) -> LTXPipeline:
    """All but the text encoder, on the device."""
    dtype = getattr(torch, args.dtype)
    parts = {
        "transformer": LTXVideoTransformer3DModel.from_pretrained(f"{args.model}/transformer", torch_dtype=dtype),
        "vae": AutoencoderKLLTXVideo.from_pretrained(f"{args.model}/vae", torch_dtype=dtype),
        "scheduler": FlowMatchEulerDiscreteScheduler.from_pretrained(f"{args.model}/scheduler"),
    }
    pipe = LTXPipeline(text_encoder=None, tokenizer=None, **parts).to(args.device)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def random_embeds(pipe: LTXPipeline, args: argparse.Namespace) -> dict:
    """Two prompts of 128 tokens."""
    generator = torch.Generator("cpu").manual_seed(1)
    embeds = {}
    for name in ("prompt", "negative_prompt"):
        values = torch.randn(1, 128, pipe.transformer.config.caption_channels, generator=generator)
        embeds[f"{name}_embeds"] = values.to(args.device, getattr(torch, args.dtype))
        embeds[f"{name}_attention_mask"] = torch.ones(1, 128, dtype=torch.bool, device=args.device)
    return embeds


def synchronize(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def run_once(pipe: LTXPipeline, embeds: dict, args: argparse.Namespace) -> dict:
    """The pipeline up to the latents with a clock at every step's end, then the decode by itself."""
    marks = []

    def mark(_pipe, _step, _time, values):
        synchronize(args.device)
        marks.append(time.perf_counter())
        return values

    generator = torch.Generator("cpu").manual_seed(0)
    synchronize(args.device)
    if args.device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
    latents = pipe(**embeds, width=args.width, height=args.height, num_frames=args.num_frames,
                   num_inference_steps=args.steps, guidance_scale=args.guidance_scale, output_type="latent",
                   generator=generator, callback_on_step_end=mark, callback_on_step_end_tensor_inputs=[]).frames
    start = time.perf_counter()
    dtype = pipe.vae.dtype
    latents = pipe._unpack_latents(latents, (args.num_frames - 1) // 8 + 1, args.height // 32, args.width // 32)
    times = torch.full((1,), 0.05, device=latents.device, dtype=dtype)
    pipe.vae.decode(latents.to(dtype), times if pipe.vae.config.timestep_conditioning else None, return_dict=False)
    synchronize(args.device)
    steps = [(b - a) * 1e3 for a, b in zip(marks, marks[1:])]  # the first holds the set-up, too
    return {"steps": steps, "decode": (time.perf_counter() - start) * 1e3}


def quantize_blocks(transformer: torch.nn.Module) -> None:
    """e4m3 with a scale for each row of activations and each output of weights, as Reel's profile fp8 has it."""
    from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, PerRow, quantize_
    quantize_(transformer.transformer_blocks, Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()))
