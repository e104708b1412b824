#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an adapter (LoRA) of random values for every large product of a transformer's blocks, by the shapes of a layout in tests/golden.

  random_adapter.py tests/golden/ltx2/layouts/transformer-2.3.json style.safetensors --rank 32
"""

import argparse
import json
import math
import pathlib
import re

import torch
from safetensors.torch import save_file

# Queries, keys, values, outputs and feed-forwards of the pictures; not the gates of heads.
ADAPTED = re.compile(r"transformer_blocks\.0\.(attn[12]\.to_(q|k|v|out\.0)|ff\.net\.(0\.proj|2))\.weight")


def tensors(shapes, blocks, rank, seed):
    generator = torch.Generator().manual_seed(seed)
    made = {}
    first = {name: shape for name, shape in shapes.items() if ADAPTED.fullmatch(name)}
    for block in range(blocks):  # all are alike
        for name, (out, into) in first.items():
            layer = f"transformer.{name.removesuffix('.weight').replace('.0.', f'.{block}.', 1)}"
            made[f"{layer}.lora_A.weight"] = torch.randn(rank, into, generator=generator).div_(math.sqrt(into)).to(torch.bfloat16)
            made[f"{layer}.lora_B.weight"] = torch.randn(out, rank, generator=generator).mul_(0.01).to(torch.bfloat16)
    return made


def blocks_of(shapes):
    """Of LTX-2 a layout has only the first of 48."""
    listed = {name.split(".")[1] for name in shapes if name.startswith("transformer_blocks.")}
    return len(listed) if len(listed) > 1 else 48


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layout", type=pathlib.Path)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--blocks", type=int, help="by default the model's")
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reference", type=int, help="wants a reference clip (IC-LoRA), so many times smaller than the video")
    args = parser.parse_args()
    layout = json.loads(args.layout.read_text(encoding="utf-8"))
    save_file(tensors(layout["shapes"], args.blocks or blocks_of(layout["shapes"]), args.rank, args.seed), args.file,
              metadata={"reference_downscale_factor": str(args.reference)} if args.reference else None)


if __name__ == "__main__":
    main()
