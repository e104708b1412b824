#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A whole request on a GPU under compute-sanitizer: text, steps as they are and as graphs, decode, file.

For each tool and profile one reel-render of a small clip. Prints a line of JSON for each with what the tool counted; the exit
status is 1 where it counted anything or the request failed. The tools that are slow look at Reel's own kernels alone.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

OURS = ["--kernel-name", "kernel_substring=reel"]
ONE_EACH = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
TOOLS = {
    # Each allocation by itself, so that no pool hides a read behind its end. That goes without graphs alone: one step.
    "memcheck": (["--tool", "memcheck"], ONE_EACH),
    # Over the allocator's pool, and so with graphs.
    "memcheck_graphs": (["--tool", "memcheck"], {}),
    "racecheck": (["--tool", "racecheck", "--racecheck-report", "all", *OURS], {}),
    "synccheck": (["--tool", "synccheck", *OURS], {}),
    "initcheck": (["--tool", "initcheck", *OURS], ONE_EACH),
}
SUMMARY = re.compile(r"========= (ERROR SUMMARY: (?P<errors>\d+) errors?|RACECHECK SUMMARY: (?P<hazards>\d+) hazards?)")


def look(options, tool, profile, folder):
    """One request under one tool, and what the tool said of it."""
    flags, environment = TOOLS[tool]
    clip = folder / f"{tool}_{profile}.mp4"
    width, height, frames, steps = options.clip.split("x")
    steps = "1" if environment else steps
    command = [options.sanitizer, *flags, "--print-limit", "20", options.render, "--model", str(options.model), "--device", "cuda:0",
               "--prompt", "a red circle bouncing over blue waves", "--width", width, "--height", height, "--num-frames", frames,
               "--steps", steps, "--kernels", profile, "--output", str(clip)]
    began = time.monotonic()
    try:
        ran = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=options.limit, check=False)
    except subprocess.TimeoutExpired:
        return {"tool": tool, "profile": profile, "error": f"not done within {options.limit} s"}
    said = ran.stdout + ran.stderr
    counted = [int(m["errors"] or m["hazards"]) for m in SUMMARY.finditer(said)]
    found = {"tool": tool, "profile": profile, "clip": options.clip, "steps": int(steps), "counted": counted[-1] if counted else None, "status": ran.returncode,
             "file_bytes": clip.stat().st_size if clip.exists() else 0, "seconds": round(time.monotonic() - began, 1)}
    if found["counted"] != 0 or ran.returncode != 0:
        found["said"] = said[-4000:]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", required=True, help="reel-render, with libreel_cuda.so where it looks for it")
    parser.add_argument("--model", type=pathlib.Path, default=pathlib.Path("model/demo/weights"))
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--tools", default="memcheck,memcheck_graphs", help="of " + ", ".join(TOOLS))
    parser.add_argument("--profiles", default="auto")
    parser.add_argument("--clip", default="128x128x17x4", help="WxHxFRAMESxSTEPS")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a request")
    options = parser.parse_args()
    clean = True
    with tempfile.TemporaryDirectory() as folder:
        for tool in options.tools.split(","):
            for profile in options.profiles.split(","):
                found = look(options, tool, profile, pathlib.Path(folder))
                clean &= found.get("counted") == 0 and found.get("status") == 0 and found.get("file_bytes", 0) > 0
                print(json.dumps(found), flush=True)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
