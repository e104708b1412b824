# SPDX-License-Identifier: Apache-2.0
"""diffusers on the folder that ltx_bench takes: the same shapes, one JSON line for each arm."""

import argparse
import json
import statistics

import torch
from diffusers_runs import add_request, load_pipeline, quantize_blocks, random_embeds, run_once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_request(parser)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=1)
    parser.add_argument("--compile", action="store_true", help="torch.compile over the transformer")
    parser.add_argument("--fp8", action="store_true", help="torchao's row-wise float8 in the linear layers of blocks")
    args = parser.parse_args()
    pipe = load_pipeline(args)
    if args.fp8:
        quantize_blocks(pipe.transformer)
    if args.compile:
        pipe.transformer.compile(fullgraph=True)
    embeds = random_embeds(pipe, args)
    on_gpu = args.device.startswith("cuda")
    idle = torch.cuda.memory_allocated() if on_gpu else 0
    with torch.no_grad():
        runs = [run_once(pipe, embeds, args) for _ in range(args.warm_up + args.repeat)][args.warm_up:]
    print(json.dumps({
        "idle_bytes": idle,
        "used_bytes": torch.cuda.max_memory_allocated() if on_gpu else 0,
        "held_bytes": torch.cuda.max_memory_reserved() if on_gpu else 0,
        "profile": ", ".join(["diffusers"] + args.fp8 * ["torchao fp8"] + args.compile * ["compiled"]), "runs": len(runs),
        "step_ms": statistics.median(step for run in runs for step in run["steps"]),
        "decode_ms": statistics.median(run["decode"] for run in runs),
        "width": args.width, "height": args.height, "num_frames": args.num_frames, "torch": torch.__version__,
    }))


if __name__ == "__main__":
    main()
