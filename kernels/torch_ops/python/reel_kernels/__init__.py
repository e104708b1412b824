# SPDX-License-Identifier: Apache-2.0
"""Reel's kernels for PyTorch: the operators of LTX-Video and of the transformers around it, for inference."""

from . import layers, norms
from .activations import (fatrelu_and_mul, geglu, gelu, gelu_and_mul, gelu_fast, gelu_new, gelu_quick, gelu_tanh,
                          gelu_tanh_and_mul, gelu_tanh_e4m3, mul_and_silu, silu, silu_and_mul, swiglu)
from .attention import attention, attention_rest, cross_attention
from .linear import PreparedLinear, linear, norm_linear, prepare_norm_linear
from .listing import calls, device_report, operators, variants
from .norms import *
from .patching import PatchReport, patch_ltx, patch_ltx_vae, patch_transformers, unpatch
from .rotary import ltx_rope, ltx_rope_table, qk_norm_rope, rope_1d, rope_1d_, rope_3d, rope_3d_extended
from .video import channel_norm_silu, channel_norm_silu_sum, conv3d, depth_to_space, frame_convert

__all__ = [
    "PatchReport", "PreparedLinear", "attention", "attention_rest", "calls", "channel_norm_silu", "channel_norm_silu_sum",
    "conv3d", "cross_attention", "depth_to_space", "device_report", "fatrelu_and_mul", "frame_convert", "geglu", "gelu",
    "gelu_and_mul", "gelu_fast", "gelu_new", "gelu_quick", "gelu_tanh", "gelu_tanh_and_mul", "gelu_tanh_e4m3", "layers",
    "linear", "ltx_rope", "ltx_rope_table", "mul_and_silu", "norm_linear", "operators", "patch_ltx", "patch_ltx_vae",
    "patch_transformers", "prepare_norm_linear", "qk_norm_rope", "rope_1d", "rope_1d_", "rope_3d", "rope_3d_extended",
    "silu", "silu_and_mul", "swiglu", "unpatch", "variants", *norms.__all__,
]
