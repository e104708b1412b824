# SPDX-License-Identifier: Apache-2.0
"""Loads libreel_kernels_torch.so, once, from beside this package."""

import os
import pathlib

import torch

NAME = "libreel_kernels_torch.so"
OVERRIDE = "REEL_KERNELS_LIBRARY"


def library_path():
    """Where the library is taken from: the file that REEL_KERNELS_LIBRARY names, or the one in this folder."""
    named = os.environ.get(OVERRIDE)
    return pathlib.Path(named) if named else pathlib.Path(__file__).absolute().parent / NAME


def load():
    path = library_path()
    if not path.exists():
        raise ImportError(
            f"reel_kernels has no library: {path} does not exist. Build the target reel_kernels_torch and install "
            f"from the tree, or set {OVERRIDE} to the file")
    torch.ops.load_library(str(path))
    return torch.ops.reel_kernels


ops = load()


@torch.library.register_fake("reel_kernels::ltx_rope_table")
def _fake_ltx_rope_table(grid, frame_rate, channels):
    frames, height, width = grid
    return (torch.empty(frames + height + width, channels // 6, 2),
            torch.empty(1, frames * height * width, 3, dtype=torch.int32))
