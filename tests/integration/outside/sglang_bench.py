#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SGLang's benchmark of diffusion servers, as its wheel has it, against the HTTP door. The wheel is fetched without what it needs beside:
its server's helpers and torch, which are no part of what is sent, are stood in for; its benchmark, its requests and its sums are its own."""

import json
import logging
import pathlib
import runpy
import sys
import tempfile
import types

from fetch import fetched
from server import running_server, wait_until_serving

VERSION = "0.5.23"
MODULE = "sglang.multimodal_gen.benchmarks.bench_serving"
REQUESTS = 4


def stand_in(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


def stand_in_for_the_rest(packages):
    # Packages whose own start imports torch: here they are folders of modules alone.
    for name in ("sglang", "sglang.multimodal_gen", "sglang.multimodal_gen.benchmarks"):
        stand_in(name, __path__=[str(pathlib.Path(packages, *name.split(".")))])
    stand_in("sglang.multimodal_gen.runtime.utils.logging_utils", init_logger=logging.getLogger, configure_logger=lambda *_, **__: None)
    stand_in("sglang.multimodal_gen.test.test_utils", print_divider=lambda *_, **__: None, print_value_formatted=print)
    stand_in("sglang.srt.utils.network", NetworkAddress=None)
    stand_in("huggingface_hub", model_info=None)


def bench(server, *more):
    """What the benchmark says of its requests."""
    with tempfile.TemporaryDirectory(prefix="reel-sglang-") as folder:
        figures = pathlib.Path(folder, "figures.json")
        sys.argv = [MODULE, "--base-url", f"http://{server.http}", "--dataset", "random", "--task", "text-to-video", "--num-prompts",
                    str(REQUESTS), "--width", "64", "--height", "64", "--num-frames", "9", "--max-concurrency", "2", "--disable-tqdm",
                    "--output-file", str(figures), *more]
        runpy.run_module(MODULE, run_name="__main__")
        return json.loads(figures.read_text(encoding="utf-8"))


def main():
    with fetched("aiohttp", "numpy", "pillow", "requests", "tqdm", alone=(f"sglang=={VERSION}",)) as packages, \
            running_server("--http", "127.0.0.1:0", config="models { name: 'testcard' test_card {} }") as server:
        stand_in_for_the_rest(packages)
        wait_until_serving(server)
        figures = bench(server, "--slo", "--slo-scale", "100")
        assert figures["completed_requests"] == figures["completed_outputs"] == REQUESTS, figures
        assert figures["slo_attainment_rate"] == 1 and figures["latency_mean"] > 0, figures
        refused = bench(server, "--num-outputs-per-prompt", "2")
        assert refused["completed_requests"] == 0, f"two videos for one prompt were promised: {refused}"
    print(f"FIGURE SGLang {VERSION} bench_serving: {figures['completed_requests']} of {REQUESTS} requests, "
          f"{figures['completed_outputs']} outputs, SLO {figures['slo_attainment_rate']:.0%}")


if __name__ == "__main__":
    sys.exit(main())
