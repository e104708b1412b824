#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The coroutine with which vLLM-Omni's benchmark asks for videos, as its wheel has it, against the HTTP door. The wheel is fetched without
what it needs beside: the coroutine and the functions that it calls are taken out of its module, what it has of vLLM is stood in for."""

import ast
import asyncio
import contextlib
import dataclasses
import io
import json
import logging
import math
import mimetypes
import os
import pathlib
import re
import sys
import time
import traceback
import types
from collections.abc import Iterable, Mapping
from urllib.parse import urlparse

from fetch import fetched
from server import running_server, wait_until_serving

VERSION = "0.30.0"
COROUTINE = "async_request_openai_videos_omni"
REQUESTS = 4


def names_in(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def take_out(path, wanted_names, stand_ins):
    """Functions of a module with every definition in it that they name, and what those name, by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    definitions = {}
    for node in tree.body:
        targets = [getattr(node, "name", None)] if not isinstance(node, ast.Assign) else [getattr(t, "id", None) for t in node.targets]
        targets += [node.target.id] if isinstance(node, ast.AnnAssign) else []
        definitions.update({name: node for name in targets if name})
    wanted, left = {}, list(wanted_names)
    while left:
        name = left.pop()
        if name in definitions and name not in wanted and name not in stand_ins:
            wanted[name] = definitions[name]
            left += names_in(definitions[name])
    body = sorted(wanted.values(), key=lambda node: node.lineno)
    annotations = ast.parse("from __future__ import annotations").body
    taken = sys.modules[f"taken_{path.stem}"] = types.ModuleType(f"taken_{path.stem}")  # where dataclasses look
    module = vars(taken)
    module.update(stand_ins)
    exec(compile(ast.Module(annotations + body, []), str(path), "exec"), module)  # pylint: disable=exec-used
    return module


def coroutine_of(packages):
    import aiohttp
    import numpy
    coerce = ("coerce_bool", "coerce_positive_float_scalar", "coerce_positive_int_scalar")
    library = {"aiohttp": aiohttp, "asyncio": asyncio, "contextlib": contextlib, "dataclass": dataclasses.dataclass, "field": dataclasses.field, "io": io, "json": json, "logging": logging, "math": math,
               "mimetypes": mimetypes, "np": numpy, "os": os, "time": time, "traceback": traceback, "Iterable": Iterable, "Mapping": Mapping,
               "Path": pathlib.Path, "urlparse": urlparse}
    sums = take_out(packages / "vllm_omni/metrics/utils.py", coerce, library)
    patch, words = packages / "vllm_omni/benchmarks/patch/patch.py", packages / "vllm_omni/metrics/definitions.py"
    named = re.findall(r"\bdefs\.(\w+)", patch.read_text(encoding="utf-8"))
    stand_ins = {"defs": types.SimpleNamespace(**take_out(words, named, library)), "logger": logging.getLogger("vllm_omni"), "RequestFuncOutput": types.SimpleNamespace,
                 "_validate_api_url": lambda url, name, ends: None, "_update_headers_common": lambda headers, request: None}
    module = take_out(patch, [COROUTINE],
                      {**library, **stand_ins, **{name: sums[name] for name in coerce}})
    return module[COROUTINE]


async def ask(coroutine, server, prompts, **more):
    import aiohttp
    async with aiohttp.ClientSession() as session:
        return await asyncio.gather(*(coroutine(types.SimpleNamespace(
            api_url=f"http://{server.http}/v1/videos", model="testcard", model_name=None, prompt=prompt, prompt_len=1, multi_modal_content=None,
            extra_body={"width": 64, "height": 64, "num_frames": 9, "fps": 24, "num_inference_steps": 4, "seed": 7, "poll_interval_s": 0.05,
                        **more}), session) for prompt in prompts))


def main():
    with fetched("aiohttp", "numpy", alone=(f"vllm-omni=={VERSION}",)) as packages, \
            running_server("--http", "127.0.0.1:0", config="models { name: 'testcard' test_card {} }") as server:
        coroutine = coroutine_of(pathlib.Path(packages))
        wait_until_serving(server)
        outputs = asyncio.run(ask(coroutine, server, [f"video {i}" for i in range(REQUESTS)]))
        for output in outputs:
            assert output.success, output.error
            assert output.latency > 0 and output.video_duration > 0 and output.video_generation_time_ms > 0, output
        [refused] = asyncio.run(ask(coroutine, server, ["a video"], flow_shift=3))
        assert not refused.success and "flow_shift" in refused.error, refused
    print(f"FIGURE vLLM-Omni {VERSION} {COROUTINE}: {sum(o.success for o in outputs)} of {REQUESTS} videos, "
          f"{outputs[0].video_duration:.2f} s each")


if __name__ == "__main__":
    sys.exit(main())
