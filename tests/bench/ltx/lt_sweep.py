#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cublasLt's algorithms for one layer under lasting load: what cuda/lt_table.cc of model/bridge is made from.

  lt_sweep.py --rows 5376 --outputs 8192 --inputs 2048 --kind gelu

Kinds: plain and gelu (bf16), e4m3 (a scale for each row and output, to bf16), e4m3_gelu (one scale each, to e4m3). Each candidate, the
library's own and those of the tiles, schedules and clusters below, is timed once by a few calls; the library's first choice and the best of
the others are then each under load in two turns, there and back. Random data; weights and rows change from call to call. Watts and clocks
are NVML's. Wants torch and pynvml.
"""

import argparse
import ctypes
import pathlib
import random
import time

import pynvml
import torch

TILES = [17, 18, 20, 23, 24, 28, 29, 31, 32, 135, 165, 184, 197, 201, 209, 495]
CLUSTERS = [2, 3, 4, 5, 6, 7, 9]
ALGORITHM, BF16, E4M3, F32, COMPUTE_F32 = 66, 14, 28, 0, 68
WORKSPACE = 1 << 20


def library():
    folder = pathlib.Path(torch.__file__).parents[1] / "nvidia/cu13/lib"
    lt = ctypes.CDLL(str(folder / "libcublasLt.so.13"))
    lt.cublasLtGetVersion.restype = ctypes.c_size_t
    return lt


class Heuristic(ctypes.Structure):
    _fields_ = [("algo", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int), ("waves", ctypes.c_float),
                ("reserved", ctypes.c_int * 4)]


class Layer:
    """Descriptors, and operands enough that none stays in the cache."""

    def __init__(self, lt, args):
        self.lt, self.args = lt, args
        self.e4m3, self.codes_out = args.kind.startswith("e4m3"), args.kind == "e4m3_gelu"
        self.handle = ctypes.c_void_p()
        self.check(lt.cublasLtCreate(ctypes.byref(self.handle)))
        self.operation = ctypes.c_void_p()
        self.check(lt.cublasLtMatmulDescCreate(ctypes.byref(self.operation), COMPUTE_F32, F32))
        self.set(3, ctypes.c_int32(1))  # the weight is transposed
        self.set(7, ctypes.c_int32(36 if "gelu" in args.kind else 4))
        self.set(26, ctypes.c_int32(BF16))  # of the bias
        if self.e4m3:
            self.set(25, ctypes.c_int8(1))  # fast accumulation
        if args.kind == "e4m3":
            self.set(31, ctypes.c_int32(3))  # a scale for each output
            self.set(32, ctypes.c_int32(3))  # and for each row
        operand, result = (E4M3 if self.e4m3 else BF16), (E4M3 if self.codes_out else BF16)
        self.types = (operand, operand, BF16, result)
        self.weight = self.layout(operand, args.inputs, args.outputs)
        self.x = self.layout(operand, args.inputs, args.rows)
        self.added = self.layout(BF16, args.outputs, args.rows)
        self.out = self.layout(result, args.outputs, args.rows)
        self.space = torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda")
        size = (args.inputs * (args.rows + args.outputs)) * (1 if self.e4m3 else 2) + 2 * args.rows * args.outputs
        self.sets = [self.operands() for _ in range(max(2, min(12, int(160e6 / size) + 1)))]
        self.point(self.sets[0])

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"cublasLt: {status}")

    def set(self, attribute, value):
        self.check(self.lt.cublasLtMatmulDescSetAttribute(self.operation, attribute, ctypes.byref(value), ctypes.sizeof(value)))

    def layout(self, kind, rows, columns):
        made = ctypes.c_void_p()
        self.check(self.lt.cublasLtMatrixLayoutCreate(ctypes.byref(made), kind, ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows)))
        return made

    def operands(self):
        def draw(*sizes):
            values = torch.randn(sizes, device="cuda", dtype=torch.bfloat16)
            return (values * 8).to(torch.float8_e4m3fn) if self.e4m3 else values

        args = self.args
        scale = [torch.full((n,), 0.01, device="cuda") for n in (args.outputs, args.rows, 1)]
        out = torch.empty(args.rows, args.outputs, device="cuda", dtype=torch.float8_e4m3fn if self.codes_out else torch.bfloat16)
        return draw(args.outputs, args.inputs), draw(args.rows, args.inputs), torch.randn(args.outputs, device="cuda", dtype=torch.bfloat16), out, scale

    def point(self, operands):
        _, _, bias, _, scale = operands
        self.set(8, ctypes.c_void_p(bias.data_ptr()))
        if self.e4m3:
            self.set(17, ctypes.c_void_p(scale[0].data_ptr()))
            self.set(18, ctypes.c_void_p(scale[1].data_ptr()))
        if self.codes_out:
            self.set(20, ctypes.c_void_p(scale[2].data_ptr()))

    def run(self, algorithm, operands):
        weight, x, _, out, _ = operands
        self.point(operands)
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        where, other = ctypes.c_void_p(out.data_ptr()), ctypes.c_void_p((x if self.codes_out else out).data_ptr())
        return self.lt.cublasLtMatmul(self.handle, self.operation, ctypes.byref(one), ctypes.c_void_p(weight.data_ptr()), self.weight,
                                      ctypes.c_void_p(x.data_ptr()), self.x, ctypes.byref(zero), other, self.added if self.codes_out else self.out,
                                      where, self.out, ctypes.byref(algorithm), ctypes.c_void_p(self.space.data_ptr()), ctypes.c_size_t(WORKSPACE),
                                      ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    def own_choices(self):
        preference, found = ctypes.c_void_p(), ctypes.c_int()
        self.check(self.lt.cublasLtMatmulPreferenceCreate(ctypes.byref(preference)))
        space = ctypes.c_uint64(32 << 20)
        self.check(self.lt.cublasLtMatmulPreferenceSetAttribute(preference, 1, ctypes.byref(space), 8))
        results = (Heuristic * 16)()
        self.check(self.lt.cublasLtMatmulAlgoGetHeuristic(self.handle, self.operation, self.weight, self.x, self.added, self.out, preference, 16, results,
                                                          ctypes.byref(found)))
        return [r.algo for r in results[:found.value] if r.state == 0 and r.workspace <= WORKSPACE]

    def configured(self, tile, custom, cluster):
        """None where the library does not take it."""
        algorithm = (ctypes.c_uint64 * 8)()
        if self.lt.cublasLtMatmulAlgoInit(self.handle, COMPUTE_F32, F32, *self.types, ALGORITHM, ctypes.byref(algorithm)) != 0:
            return None
        stages = ctypes.c_uint32(36 if self.e4m3 else 35)
        for attribute, value in [(1, ctypes.c_uint32(tile)), (6, stages), (5, ctypes.c_uint32(custom)), (8, ctypes.c_uint16(cluster))]:
            if self.lt.cublasLtMatmulAlgoConfigSetAttribute(ctypes.byref(algorithm), attribute, ctypes.byref(value), ctypes.sizeof(value)) != 0:
                return None
        result = Heuristic()
        status = self.lt.cublasLtMatmulAlgoCheck(self.handle, self.operation, self.weight, self.x, self.added if self.codes_out else self.out, self.out,
                                                 ctypes.byref(algorithm), ctypes.byref(result))
        return algorithm if status == 0 and result.workspace <= WORKSPACE else None


def quick(layer, algorithm, calls=4):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    if layer.run(algorithm, layer.sets[0]) != 0:
        return float("inf")
    begin.record()
    for i in range(calls):
        layer.run(algorithm, layer.sets[i % len(layer.sets)])
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def lasting(layer, algorithm, seconds, device):
    """Microseconds and watts."""
    graph, per = torch.cuda.CUDAGraph(), len(layer.sets) * max(1, 24 // len(layer.sets))
    with torch.cuda.graph(graph):
        for i in range(per):
            layer.run(algorithm, layer.sets[i % len(layer.sets)])

    def loop(duration):
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < duration:
            for _ in range(4):
                graph.replay()
            count += 4
            torch.cuda.current_stream().synchronize()
        return count, time.perf_counter() - start

    loop(seconds / 3)
    before = pynvml.nvmlDeviceGetTotalEnergyConsumption(device)
    count, took = loop(seconds)
    watts = (pynvml.nvmlDeviceGetTotalEnergyConsumption(device) - before) / 1e3 / took
    return took * 1e6 / count / per, watts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--outputs", type=int, required=True)
    parser.add_argument("--inputs", type=int, required=True)
    parser.add_argument("--kind", choices=["plain", "gelu", "e4m3", "e4m3_gelu"], default="plain")
    parser.add_argument("--seconds", type=float, default=0.2, help="Of load, in each of two turns")
    parser.add_argument("--finals", type=int, default=5)
    args = parser.parse_args()
    pynvml.nvmlInit()
    device = pynvml.nvmlDeviceGetHandleByIndex(0)
    lt = library()
    layer = Layer(lt, args)
    candidates = [(f"own choice {i}", algorithm) for i, algorithm in enumerate(layer.own_choices())]
    others = [(tile, custom, cluster) for tile in TILES for custom in range(8) for cluster in CLUSTERS]
    random.Random(7).shuffle(others)
    for tile, custom, cluster in others:
        algorithm = layer.configured(tile, custom, cluster)
        if algorithm is not None:
            candidates.append((f"tile {tile} custom {custom} cluster {cluster}", algorithm))
    timed = sorted(((quick(layer, algorithm), name, algorithm) for name, algorithm in candidates), key=lambda known: known[0])
    finals = [(name, algorithm) for _, name, algorithm in timed if name == "own choice 0"]
    finals += [(name, algorithm) for _, name, algorithm in timed if name != "own choice 0"][:args.finals - 1]
    turns = {name: [] for name, _ in finals}
    for name, algorithm in finals + finals[::-1]:
        turns[name].append(lasting(layer, algorithm, args.seconds, device))
    print(f"{args.kind} {args.rows}x{args.outputs}x{args.inputs}, cublasLt {lt.cublasLtGetVersion()}, {len(candidates)} candidates")
    for name, took in turns.items():
        us = sum(one[0] for one in took) / 2
        rate = 2e-6 * args.rows * args.outputs * args.inputs / us
        print(f"  {us:9.2f} us ({took[0][0]:.2f} {took[1][0]:.2f}) {rate:6.0f} TFLOP/s {sum(one[1] for one in took) / 2:4.0f} W  {name}")


if __name__ == "__main__":
    main()
