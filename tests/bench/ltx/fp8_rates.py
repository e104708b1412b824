# SPDX-License-Identifier: Apache-2.0
"""Sustained rates of libtorch's products in bf16 and in e4m3 with row scales, at the shapes of a block of LTX-Video 2B.

Arms take turns (a b b a), each under load for --seconds before its clock starts; one JSON line for each shape.
"""

import argparse
import json
import subprocess
import time

import torch

LAYERS = {"qkv": (6144, 2048), "square": (2048, 2048), "expand": (8192, 2048), "contract": (2048, 8192)}


def quantized(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scale = x.float().abs().amax(-1, keepdim=True).clamp_min(1e-12) / 448
    return (x.float() / scale).to(torch.float8_e4m3fn), scale


def arms_of(rows: int, outputs: int, width: int) -> dict:
    x = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(outputs, width, device="cuda", dtype=torch.bfloat16) / width**0.5
    bias = torch.randn(outputs, device="cuda", dtype=torch.bfloat16)
    (x8, x_scale), (w8, w_scale) = quantized(x), quantized(weight)
    return {
        "bf16": lambda: torch.nn.functional.linear(x, weight, bias),
        "e4m3": lambda: torch._scaled_mm(x8, w8.t(), x_scale, w_scale.t(), bias=bias, out_dtype=torch.bfloat16,
                                         use_fast_accum=True),
    }


def microseconds(run, seconds: float) -> float:
    """Of one call, over the second half of `seconds` of nothing else."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    calls = 0
    while time.perf_counter() - start < seconds / 2:
        for _ in range(20):
            run()
        torch.cuda.synchronize()
        calls += 20
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def clocks() -> str:
    query = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[512, 5376, 12288, 26752])
    parser.add_argument("--seconds", type=float, default=1)
    args = parser.parse_args()
    for rows in args.rows:
        for name, (outputs, width) in LAYERS.items():
            arms = arms_of(rows, outputs, width)
            times = {arm: [] for arm in arms}
            seen = {}
            for arm in ["bf16", "e4m3", "e4m3", "bf16"]:
                times[arm].append(microseconds(arms[arm], args.seconds / 2))
                seen[arm] = clocks()
            flop = 2e-6 * rows * outputs * width
            print(json.dumps({
                "layer": name, "rows": rows, "outputs": outputs, "width": width, "torch": torch.__version__,
                **{f"{arm}_us": [round(t, 1) for t in times[arm]] for arm in arms},
                **{f"{arm}_tflops": round(flop / (sum(times[arm]) / 2), 1) for arm in arms}, "clocks": seen,
            }), flush=True)


if __name__ == "__main__":
    main()
