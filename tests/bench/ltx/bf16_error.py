# SPDX-License-Identifier: Apache-2.0
"""Measures how far 16 bits move the latents from 32, for diffusers and for what ltx_bench wrote with --latents.

Both run the same request: `ltx_bench --latents`, once with each --dtype, and diffusers' text pipeline here. One JSON
line; errors are of the root mean square, by the standard deviation of the 32-bit latents.
"""

import argparse
import gc
import json

import torch
from diffusers import LTXPipeline


def diffusers_latents(args: argparse.Namespace, dtype: torch.dtype) -> torch.Tensor:
    pipe = LTXPipeline.from_pretrained(args.model, torch_dtype=dtype).to(args.device)
    pipe.set_progress_bar_config(disable=True)
    with torch.no_grad():
        packed = pipe(prompt=args.prompt, negative_prompt="", width=args.width, height=args.height,
                      num_frames=args.num_frames, num_inference_steps=args.steps, output_type="latent",
                      generator=torch.Generator("cpu").manual_seed(0)).frames
    return packed[0].transpose(0, 1).flatten().double().cpu()  # [C, F h w], as ltx_bench writes them


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).pow(2).mean().sqrt() / b.std())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--fp32", required=True, help="latents of ltx_bench --dtype fp32")
    parser.add_argument("--bf16", required=True, help="latents of ltx_bench --dtype bf16")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--prompt", default="a red fox walks through a snowy forest")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--height", type=int, default=320)
    parser.add_argument("--num-frames", type=int, default=25)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    theirs = {}
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        theirs[name] = diffusers_latents(args, dtype)
        gc.collect()
    ours = {name: torch.frombuffer(bytearray(open(getattr(args, name), "rb").read()), dtype=torch.float32).double()
            for name in theirs}
    reel, peer = distance(ours["bf16"], theirs["fp32"]), distance(theirs["bf16"], theirs["fp32"])
    print(json.dumps({"fp32_to_fp32": distance(ours["fp32"], theirs["fp32"]), "reel_bf16": reel, "diffusers_bf16": peer,
                      "ratio": reel / peer if peer else None, "width": args.width, "height": args.height,
                      "num_frames": args.num_frames, "steps": args.steps}))


if __name__ == "__main__":
    main()
