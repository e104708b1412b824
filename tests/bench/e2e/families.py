# SPDX-License-Identifier: Apache-2.0
"""What differs between the families that are compared: the request, the peer's forms, the arms of a plain run."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Family:
    runs: str  # the module of diffusers' pipeline
    folder: str  # where it lies, below tests/bench
    width: int
    height: int
    num_frames: int
    steps: int
    modes: dict  # what each form does to diffusers' pipeline, in this order
    arms: tuple  # of Reel, beside all of diffusers


FAMILIES = {
    "ltx": Family("diffusers_runs", "ltx", 768, 512, 49, 30, {
        "eager": (), "compile": ("compile",), "autotune": ("autotune",), "compile+channels_last": ("compile", "decoder"),
        "fp8+compile": ("fp8", "compile"), "patched": ("patched",), "patched+compile": ("patched", "compile"),
        "rmsnorm": ("rmsnorm",), "rmsnorm+compile": ("rmsnorm", "compile"),
    }, ("reel:reference", "reel:auto", "reel:fp8", "reeld:auto", "reeld:fp8")),
    # 22B fills a card: a form of diffusers and one of Reel fit beside each other, so that a run names its arms.
    "ltx2": Family("ltx2_runs", "ltx2", 768, 512, 121, 8, {
        "eager": (), "eager+cudnn": ("cudnn",), "compile+cudnn": ("cudnn", "compile_blocks"),
        "fp8+compile+cudnn": ("fp8", "cudnn", "compile_blocks"),
    }, ("reeld:auto", "reeld:fp8_all")),
}
