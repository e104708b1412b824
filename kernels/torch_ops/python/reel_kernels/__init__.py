# SPDX-License-Identifier: Apache-2.0
"""Reel's kernels for PyTorch: the operators of LTX-Video and of the transformers around it, for inference."""

from . import layers
from .activations import *
from .attention import *
from .linear import *
from .listing import *
from .norms import *
from .patching import *
from .rotary import *
from .video import *

__all__ = ["layers", *(name for name, value in globals().items() if callable(value) and not name.startswith("_"))]
