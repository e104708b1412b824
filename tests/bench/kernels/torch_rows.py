#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch's operators at kernel_bench's shapes, in its way: replays of a CUDA graph, calls in
turn over more memory than the L2 holds. Variants: `aten` is one fused operator of PyTorch, `eager`
several, `cudnn` and the like one of its attentions, `inductor` the same after torch.compile (within a budget of seconds).

    torch_rows.py --json torch.json [--compile_seconds 60] [--dtype bf16]
"""

import argparse
import datetime
import json
import statistics
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

NORM_SIZES = [(1024, 2048), (2640, 2048), (5376, 2048), (4096, 2048), (12288, 2048), (26752, 2048),
              (53760, 2048), (8192, 3072), (16384, 3072), (5376, 4096), (26752, 4096)]
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


def naive_rms(x):
    """As models write it where they do not call the fused operator."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def rotate(x, cos, sin):
    real, imaginary = x.unflatten(-1, (-1, 2)).unbind(-1)
    turned = torch.stack([-imaginary, real], dim=-1).flatten(-2)
    return (x.float() * cos + turned.float() * sin).to(x.dtype)


class Case:
    """An operator of kernel_bench, as PyTorch's users write it."""

    def __init__(self, op, shape, variant, make, function):
        self.op, self.shape, self.variant = op, shape, variant
        self.make, self.function = make, function


def norm_cases(rows, width, dtype):
    batch = 2 if rows % 8 == 0 else 1
    name = f"{rows}x{width}"

    def full():
        return torch.randn(batch, rows // batch, width, device="cuda", dtype=dtype)

    def vector():
        return torch.randn(width, device="cuda", dtype=dtype)

    def each():
        return torch.randn(batch, 1, width, device="cuda", dtype=dtype)

    def rms(x, weight=None):
        return F.rms_norm(x, (width,), weight, 1e-6)

    def layer(x, weight=None):
        return F.layer_norm(x, (width,), weight, None, 1e-5)

    def tail(x, y, gate, scale, shift):
        s = x + y * gate
        return s, rms(s) * (1 + scale) + shift

    def with_residual(norm):
        def call(x, residual, weight):
            s = x + residual
            return s, norm(s, weight)
        return call

    three = (lambda: (full(), full(), vector()))
    modulated = (lambda: (full(), each(), each()))
    return [
        Case("rms_norm", name, "aten", lambda: (full(), vector()), rms),
        Case("rms_norm", name, "eager", lambda: (full(), vector()), lambda x, w: naive_rms(x) * w),
        Case("rms_norm", name + " weightless", "aten", lambda: (full(),), rms),
        Case("layer_norm", name, "aten", lambda: (full(),), layer),
        Case("rms_norm_residual", name, "eager", three, with_residual(rms)),
        Case("layer_norm_residual", name, "eager", three, with_residual(layer)),
        Case("adaln_rms_norm", name, "eager", modulated, lambda x, a, b: rms(x) * (1 + a) + b),
        Case("adaln_layer_norm", name, "eager", modulated, lambda x, a, b: layer(x) * (1 + a) + b),
        Case("adaln_zero", name, "eager", lambda: (full(), each(), each(), each()),
             lambda x, a, b, g: (rms(x) * (1 + a) + b) * g),
        Case("adaln_rms_norm", name + " [B,S,D] vectors", "eager",
             lambda: (full(), full(), full()), lambda x, a, b: rms(x) * (1 + a) + b),
        Case("gate_residual", name, "eager", lambda: (full(), full(), each()),
             lambda x, y, g: x + y * g),
        Case("gate_residual_adaln", name, "eager",
             lambda: (full(), full(), each(), each(), each()), tail),
    ]


def linear_cases(rows, width, outputs, dtype):
    """W behind a weightless norm, as norm_linear has it after it was prepared."""
    name = f"{rows}x{width} to {outputs}"

    def make():
        return (torch.randn(rows, width, device="cuda", dtype=dtype),
                torch.randn(outputs, width, device="cuda", dtype=dtype),
                torch.randn(outputs, device="cuda", dtype=dtype))

    return [
        Case("norm_linear", name, "eager", make,
             lambda x, w, b: F.linear(F.rms_norm(x, (width,), None, 1e-6), w, b)),
        Case("norm_linear", name + " layer norm", "eager", make,
             lambda x, w, b: F.linear(F.layer_norm(x, (width,), None, None, 1e-6), w, b)),
    ]


def rope_cases(dtype):
    def full():
        return torch.randn(2, 2688, 2048, device="cuda", dtype=dtype)

    def table():
        return torch.randn(1, 2688, 2048, device="cuda")

    def weight():
        return torch.randn(2048, device="cuda", dtype=dtype)

    def both(q, k, wq, wk, cos, sin):
        q, k = F.rms_norm(q, (2048,), wq, 1e-5), F.rms_norm(k, (2048,), wk, 1e-5)
        return rotate(q, cos, sin), rotate(k, cos, sin)

    def alone(q, k, cos, sin):
        return rotate(q, cos, sin), rotate(k, cos, sin)

    name = "q, k 5376x2048"
    return [
        Case("qk_norm_rope", name, "eager",
             lambda: (full(), full(), weight(), weight(), table(), table()), both),
        Case("ltx_rope", name, "eager", lambda: (full(), full(), table(), table()), alone),
    ]


def other_cases(dtype):
    def rows(*sizes):
        return lambda: (torch.randn(*sizes, device="cuda", dtype=dtype),)

    def gated(activation):
        def call(x):
            gate, value = x.chunk(2, dim=-1)
            return activation(gate) * value
        return call

    def gelu(x):
        return F.gelu(x, approximate="tanh")

    def decoder(x):  # [B,F,H,W,C], then a frame before and behind
        y = F.silu(F.rms_norm(x, (x.shape[-1],), None, 1e-8))
        return torch.cat([y[:, :1], y, y[:, -1:]], dim=1)

    def frames(x):
        return (((x * 0.5 + 0.5).clamp(0, 1)).float() * 255).round().to(torch.uint8)

    cases = [Case("activation", "5376x8192 gelu_tanh", "aten", rows(5376, 8192), gelu)]
    for r, w in ((5376, 8192), (256, 10240)):
        cases.append(Case("gated_activation", f"{r}x2x{w} silu", "eager", rows(r, 2 * w),
                          gated(F.silu)))
        cases.append(Case("gated_activation", f"{r}x2x{w} gelu_tanh", "eager", rows(r, 2 * w),
                          gated(gelu)))
    for f, h, w, c in ((25, 64, 96, 256), (49, 128, 192, 128)):
        cases.append(Case("channel_norm_silu", f"{f}x{h}x{w}x{c} pad 1+1", "eager",
                          rows(1, f, h, w, c), decoder))
    for f, h, w in ((49, 512, 768), (121, 704, 1216)):
        cases.append(Case("frame_convert", f"{f}x{h}x{w}x3 packed to RGB8", "eager",
                          rows(f, h, w, 3), frames))
    return cases


def attention_cases(dtype):
    """[B, S, N, Dh] in memory, as a model splits its heads; PyTorch's own choice, then by name."""
    backends = {"aten": None, "cudnn": SDPBackend.CUDNN_ATTENTION,
                "mem_efficient": SDPBackend.EFFICIENT_ATTENTION,
                "flash": SDPBackend.FLASH_ATTENTION}

    def heads(tokens, head_width):
        return torch.randn(2, tokens, 32, head_width, device="cuda", dtype=dtype).transpose(1, 2)

    def case(op, queries, keys, head_width, backend):
        cross = op == "cross_attention"

        def make():
            k, v = heads(keys, head_width), heads(keys, head_width)
            bias = (torch.randn(2, 1, 1, keys, device="cuda", dtype=dtype),) if cross else ()
            return heads(queries, head_width), k, v, *bias

        def call(q, k, v, bias=None):
            if bias is not None:
                bias = bias.expand(-1, q.shape[1], q.shape[2], -1)
            if backends[backend] is None:
                return F.scaled_dot_product_attention(q, k, v, bias)
            with sdpa_kernel(backends[backend]):
                return F.scaled_dot_product_attention(q, k, v, bias)

        return Case(op, f"2x{queries}x32x{head_width}, {keys} keys", backend, make, call)

    sizes = [("cross_attention", 2688, 128, 64), ("cross_attention", 2688, 128, 128),
             ("attention", 512, 512, 64), ("attention", 2688, 2688, 64)]
    return [case(*size, backend) for size in sizes for backend in backends
            if backend != "flash" or size[0] == "attention"]  # which takes no bias


def bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def graph_of(function, sets, turns):
    """Outputs stay alive until the graph is whole, so that every call writes memory of its own."""
    graph = torch.cuda.CUDAGraph()
    kept = []
    with torch.cuda.graph(graph):
        for _ in range(turns):
            kept = [function(*arguments) for arguments in sets]
    return graph, kept


def sample(graph, calls):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1000 / calls


def measure(function, make, samples=15):
    """Microseconds a call, cold."""
    first = make()
    result = function(*first)
    result = result if isinstance(result, tuple) else (result,)
    moved = bytes_of(first) + bytes_of(result)
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    sets = [first] + [make() for _ in range(min(63, max(1, 4 * cache // moved)))]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for arguments in sets[:2]:
            function(*arguments)
    torch.cuda.current_stream().wait_stream(side)
    graph, _ = graph_of(function, sets, 1)
    sample(graph, len(sets))
    once = sample(graph, len(sets)) * len(sets)
    turns = max(1, min(round(2000 / once), 512 // len(sets)))
    graph, _ = graph_of(function, sets, turns)
    sample(graph, 1)
    times = sorted(sample(graph, turns * len(sets)) for _ in range(samples))
    return {"n": samples, "median": statistics.median(times), "mean": statistics.mean(times),
            "min": times[0], "max": times[-1], "std": statistics.stdev(times)}, len(sets)


def row_of(case, dtype, variant, timing, sets):
    return {"op": case.op, "variant": variant, "kind": "torch", "shape": case.shape,
            "dtype": dtype, "cache": "cold", "sets": sets, "microseconds": timing}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", required=True)
    parser.add_argument("--dtype", default="bf16", choices=DTYPES)
    parser.add_argument("--compile_seconds", type=float, default=60)
    options = parser.parse_args()
    dtype = DTYPES[options.dtype]
    cases = [case for size in NORM_SIZES for case in norm_cases(*size, dtype)]
    cases += linear_cases(2640, 2048, 2048, dtype) + linear_cases(5376, 2048, 6144, dtype)
    cases += rope_cases(dtype) + other_cases(dtype) + attention_cases(dtype)
    report = {"metadata": {"torch": torch.__version__, "device": torch.cuda.get_device_name(0),
                           "clock": "events around replays of a CUDA graph",
                           "date": datetime.datetime.now(datetime.timezone.utc).isoformat()},
              "rows": []}
    for case in cases:
        try:
            timing, sets = measure(case.function, case.make)
        except RuntimeError as error:  # a backend that does not take the call
            print(f"{case.op} {case.variant} {case.shape}: {str(error).splitlines()[0]}")
            continue
        report["rows"].append(row_of(case, options.dtype, case.variant, timing, sets))
        print(f"{case.op:20} {case.variant:9} {case.shape:32} {timing['median']:9.2f} us", flush=True)
    end = time.monotonic() + options.compile_seconds
    wanted = [case for case in cases if case.shape.startswith(("5376x", "q, k", "49x", "25x"))
              and "x4096" not in case.shape]
    for case in wanted:
        if time.monotonic() > end:
            print("out of the budget for torch.compile at", case.op, case.shape)
            break
        torch._dynamo.reset()
        compiled = torch.compile(case.function, dynamic=False)
        timing, sets = measure(compiled, case.make)
        report["rows"].append(row_of(case, options.dtype, "inductor", timing, sets))
        print(f"{case.op:20} inductor  {case.shape:32} {timing['median']:9.2f} us", flush=True)
    with open(options.json, "w", encoding="utf-8") as out:
        json.dump(report, out, indent=1)


if __name__ == "__main__":
    main()
