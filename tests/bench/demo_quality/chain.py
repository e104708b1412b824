#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A clip that is extended again and again: does it fade, blur or jump? A JSON line for each link of the chain.

    chain.py build/release/bin/reel-render ltx-demo --links 10

`luma` and `sharpness` (mean absolute Laplacian) are of a clip's new frames, 0..255. `seam` is the PSNR between the last frame that was held and the first
new one, `inside` the median of that between neighbours among the new ones, `held` the PSNR of the held frames to the same frames of the clip before.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from safetensors import safe_open

WEIGHTS = np.array([0.2126, 0.7152, 0.0722])


def psnr(a, b):
    error = float(np.mean((a - b) ** 2))
    return round(10 * np.log10(255 ** 2 / error), 2) if error else None


def laplacian(luma):
    inner = luma[:, 1:-1, 1:-1]
    return np.abs(4 * inner - luma[:, :-2, 1:-1] - luma[:, 2:, 1:-1] - luma[:, 1:-1, :-2] - luma[:, 1:-1, 2:])


def rendered(args, output, *flags):
    side = [str(args.side)]
    of_new = [] if "--extend" in flags else ["--width", *side, "--height", *side, "--num-frames", str(args.frames), "--prompt", args.prompt]
    state = output.with_suffix(".state")
    subprocess.run([args.binary, "--model", args.model, *of_new, *flags, "--keep-state", state, "--output", output], check=True, stdout=subprocess.DEVNULL)
    with safe_open(output, framework="numpy") as file:
        return file.get_tensor("frames") * 255, state


def described(frames, held):
    new = frames[held:]
    luma = new @ WEIGHTS
    inside = [psnr(a, b) for a, b in zip(new, new[1:])]
    return {"luma": round(float(luma.mean()), 2), "sharpness": round(float(laplacian(luma).mean()), 3),
            "inside": round(float(np.median([p for p in inside if p is not None])), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("--links", type=int, default=10)
    parser.add_argument("--side", type=int, default=128)
    parser.add_argument("--frames", type=int, default=25)
    parser.add_argument("--new", type=int, default=16)
    parser.add_argument("--overlap", type=int, default=9)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--prompt", default="a red circle bouncing over blue waves")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        before, state = rendered(args, folder / "0.safetensors", "--seed", str(args.seed))
        print(json.dumps({"link": 0, **described(before, 0)}), flush=True)
        for link in range(1, args.links + 1):
            frames, state = rendered(args, folder / f"{link}.safetensors", "--extend", state, "--new-frames", str(args.new), "--overlap", str(args.overlap),
                                     "--prompt", args.prompt, "--seed", str(args.seed + link))
            held = args.overlap
            print(json.dumps({"link": link, **described(frames, held), "seam": psnr(frames[held - 1], frames[held]),
                              "held": psnr(frames[:held], before[-held:])}), flush=True)
            before = frames


if __name__ == "__main__":
    main()
