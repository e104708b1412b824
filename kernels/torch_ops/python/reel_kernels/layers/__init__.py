# SPDX-License-Identifier: Apache-2.0
"""Layers that `kernels.kernelize` can put in the place of a model's own: stateless, for inference."""

import torch

from ..activations import gelu_and_mul, gelu_tanh_and_mul, mul_and_silu, silu_and_mul
from ..norms import rmsnorm

__all__ = ["GeluAndMul", "GeluTanhAndMul", "MulAndSilu", "RMSNorm", "SiluAndMul"]


class RMSNorm(torch.nn.Module):
    """The norm of LLaMA, Qwen and T5: rounded before the weight."""

    has_backward = False
    can_torch_compile = True
    weight: torch.Tensor
    variance_epsilon: float

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        return rmsnorm(hidden_states, self.weight, self.variance_epsilon, round_before_weight=True)


class SiluAndMul(torch.nn.Module):
    """silu(first half) * second half."""

    has_backward = False
    can_torch_compile = True

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return silu_and_mul(input)


class MulAndSilu(torch.nn.Module):
    """first half * silu(second half)."""

    has_backward = False
    can_torch_compile = True

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return mul_and_silu(input)


class GeluAndMul(torch.nn.Module):
    """gelu(first half) * second half, by erf."""

    has_backward = False
    can_torch_compile = True

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return gelu_and_mul(input)


class GeluTanhAndMul(torch.nn.Module):
    """gelu(first half) * second half, by tanh."""

    has_backward = False
    can_torch_compile = True

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return gelu_tanh_and_mul(input)
