#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diffusers' LTX2Pipeline in the size of a release, of random weights, timed by steps and parts: a JSON line for each film.

A film is WIDTHxHEIGHTxFRAMES:STEPS or WIDTHxHEIGHTxFRAMES:STEPS:all, with all guidance.
"""

import argparse
import json
import statistics
import time

import ltx2_runs
import torch


def film(pipe: ltx2_runs.LTX2Pipeline, text: str, args: argparse.Namespace) -> dict:
    size, steps, *rest = text.split(":")
    args.width, args.height, args.num_frames = map(int, size.split("x"))
    args.steps = int(steps)
    begun = time.perf_counter()
    run = ltx2_runs.run_once(pipe, ltx2_runs.random_embeds(pipe, args), args, all_guidance=rest == ["all"])
    return {"film": text, "step_ms": statistics.median(run["steps"]), "steps_ms": [round(ms, 1) for ms in run["steps"]],
            "whole_s": round(time.perf_counter() - begun, 3), "decode_s": round(run["decode"] / 1e3, 3),
            "peak_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("films", nargs="+")
    parser.add_argument("--model", required=True, help="a folder of random_folder.py")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--dtype", default="bfloat16")
    args = parser.parse_args()
    begun = time.perf_counter()
    pipe = ltx2_runs.load_pipeline(args)
    print(json.dumps({"loaded_s": round(time.perf_counter() - begun, 1), "gb": round(torch.cuda.memory_allocated() / 1e9, 2)}), flush=True)
    for text in args.films:
        try:
            print(json.dumps(film(pipe, text, args)), flush=True)
        except (RuntimeError, ValueError) as error:  # out of memory among them
            print(json.dumps({"film": text, "error": str(error)[:300]}), flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
