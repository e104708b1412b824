#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ltx_bench --ranges` marks texts, steps, decodes and the operators in them for a profiler; without the flag, nothing.

  ranges_test.py LTX_BENCH LISTENER
"""

import os
import pathlib
import re
import subprocess
import sys

MODEL = pathlib.Path(__file__).resolve().parents[3] / "model/demo/weights"
STEPS = 2


def ranges_of(bench, listener, *flags):
    """(depth, name) of each range, in order."""
    command = [bench, "--model", MODEL, "--device", "cpu", "--dtype", "fp32", "--width", "128", "--height", "128", "--num-frames", "9",
               "--steps", str(STEPS), "--profiles", "auto", "--warm-up", "0", "--repeat", "1", "--prompt", "a red circle", *flags]
    environment = os.environ | {"NVTX_INJECTION64_PATH": listener}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return [(len(indent) // 2, name) for indent, name in re.findall(r"^range ( *)(.+)$", done.stderr, re.MULTILINE)]


def main(bench, listener):
    found = ranges_of(bench, listener, "--ranges")
    assert [name for depth, name in found if depth == 0] == ["text", *(f"step {step}" for step in range(STEPS)), "decode"], found
    around, inside = "", {}
    for depth, name in found:
        around = name if depth == 0 else around
        inside.setdefault(around, set()).update({name.partition("=")[0]} if depth else ())
    assert {"linear", "attention"} <= inside["step 1"], inside["step 1"]
    assert "conv3d" in inside["decode"], inside["decode"]
    assert not ranges_of(bench, listener), "ranges without --ranges"
    print(f"{len(found)} ranges")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
