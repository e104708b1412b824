#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A clip that is extended again and again: does it fade, blur or jump? A JSON line for each link of the chain.

    chain.py build/release/bin/reel-render ltx-demo --links 10 [--join] [--keep FILE]

`luma` and `sharpness` (mean absolute Laplacian) are of a clip's new frames, 0..255. `seam` is the PSNR between the last frame that was held and the first
new one, `inside` the median of that between neighbours among the new ones, `held` the PSNR of the held frames to the same frames of the clip before.

With `--join` each link is one file with all before it, read back by ffmpeg. `joint` is then the PSNR between the last frame that the file has of its source
and the next, which was encoded with the new ones; `begin` counts the first frames that are the source's to the bit. `--keep` keeps the last file. Of its sound a last
line has `click`, the largest bend of the wave (second difference) within 70 ms behind each place where another part begins, beside that of all stretches as
long: a click bends it.
"""

import argparse
import json
import pathlib
import shutil
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
    if output.suffix == ".mp4":
        raw = subprocess.run(["ffmpeg", "-v", "error", "-i", output, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], check=True, stdout=subprocess.PIPE).stdout
        return np.frombuffer(raw, np.uint8).reshape(-1, args.side, args.side, 3).astype(float), state
    with safe_open(output, framework="numpy") as file:
        return file.get_tensor("frames") * 255, state


def joined(before, frames, overlap):
    """How a file goes over from its source's frames to those that were made."""
    held = len(before) - overlap  # the first of them, which is still the source's
    same = [bool((a == b).all()) for a, b in zip(before, frames)]
    return {"joint": psnr(frames[held], frames[held + 1]), "begin": (same + [False]).index(False), "held": psnr(frames[held + 1:len(before)], before[held + 1:])}


def clicks(file, seams, rate):
    """Median and largest bend of the wave at seams, and anywhere; nothing: the file has no sound. A decoder may put 64 ms of silence first."""
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-map", "0:a?", "-ac", "1", "-ar", "16000", "-f", "f32le", "-"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout
    if not raw:
        return None
    bends = np.abs(np.diff(np.frombuffer(raw, np.float32), 2))

    def near(at):
        return bends[max(at, 0):at + 1200].max()
    at_seams = [near(int((frame / rate - 0.005) * 16000)) for frame in seams]
    everywhere = [near(at) for at in range(0, len(bends) - 1200, 80)]
    return {name: [round(float(np.median(of)), 4), round(float(max(of)), 4)] for name, of in (("click", at_seams), ("anywhere", everywhere))}


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
    parser.add_argument("--rate", type=float, default=24)
    parser.add_argument("--join", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    kind = "mp4" if args.join else "safetensors"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        seams = []
        before, state = rendered(args, folder / f"0.{kind}", "--seed", str(args.seed))
        print(json.dumps({"link": 0, **described(before, 0)}), flush=True)
        for link in range(1, args.links + 1):
            frames, state = rendered(args, folder / f"{link}.{kind}", "--extend", state, "--new-frames", str(args.new), "--overlap", str(args.overlap),
                                     "--prompt", args.prompt, "--seed", str(args.seed + link), *["--join"] * args.join)
            held = len(before) if args.join else args.overlap
            of_held = joined(before, frames, args.overlap) if args.join else {"held": psnr(frames[:held], before[-held:])}
            print(json.dumps({"link": link, **described(frames, held), "seam": psnr(frames[held - 1], frames[held]), **of_held}), flush=True)
            before = frames
            seams += [len(before) - args.new - args.overlap, len(before) - args.new]
        of_sound = clicks(folder / f"{args.links}.{kind}", seams, args.rate) if args.join else None
        if of_sound:
            print(json.dumps(of_sound))
        if args.keep:
            shutil.copy(folder / f"{args.links}.{kind}", args.keep)


if __name__ == "__main__":
    main()
