# SPDX-License-Identifier: Apache-2.0
"""Loads libreel_kernels_torch.so, once, from beside this package. A published build has a file of its own here."""

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
