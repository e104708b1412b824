# SPDX-License-Identifier: Apache-2.0
"""Forwards of norm modules over the kernels."""

import dataclasses

import torch

from .. import norms

# What torch.nn.RMSNorm takes for eps=None, for 16-bit inputs too.
FLOAT32_EPS = torch.finfo(torch.float32).eps
EPS_NAMES = ("variance_epsilon", "rms_norm_eps", "layer_norm_epsilon", "eps")


@dataclasses.dataclass(frozen=True)
class NormSettings:
    eps: float
    weight_offset: float = 0.0
    round_before_weight: bool = False
    # Whether the module's output has the type of its input beside an fp32 weight; otherwise it is left to the module.
    keeps_dtype: bool = True
    # Norms over moved dimensions: outputs keep the memory layout of inputs, as elementwise code does. Where values of a row do
    # not lie side by side, they are left to the module, which is faster there (a decode of 768x512x49: 103 ms, by ours 144).
    moved: bool = False


def eps_of(module):
    """The first of the usual attributes that is there: 0.0 is a value, None is torch's default; KeyError without."""
    for name in EPS_NAMES:
        if hasattr(module, name):
            value = getattr(module, name)
            return FLOAT32_EPS if value is None else float(value)
    raise KeyError(f"none of {', '.join(EPS_NAMES)}")


def _fits(module, settings, x):
    if settings.moved and x.stride(-1) != 1:
        return False
    weight = getattr(module, "weight", None)
    return weight is None or weight.dtype == x.dtype or (settings.keeps_dtype and weight.dtype == torch.float32)


def rms_norm_forward(self, x):
    settings = self._reel_kernels.settings
    if not _fits(self, settings, x):
        return type(self).forward(self, x)
    return norms.rmsnorm(x, getattr(self, "weight", None), settings.eps,
                         torch.empty_like(x) if settings.moved else None, bias=getattr(self, "bias", None),
                         weight_offset=settings.weight_offset, round_before_weight=settings.round_before_weight)


def layer_norm_forward(self, x):
    settings = self._reel_kernels.settings
    if not _fits(self, settings, x):
        return type(self).forward(self, x)
    return norms.layernorm(x, self.weight, self.bias, settings.eps,
                           torch.empty_like(x) if settings.moved else None)
