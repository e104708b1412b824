# SPDX-License-Identifier: Apache-2.0
"""Linear layers, in 8 bits too; and a norm and the layer behind it as one product: the normed tensor is never written."""

from typing import NamedTuple, Optional

import torch

from ._library import ops

__all__ = ["PreparedLinear", "linear", "norm_linear", "prepare_norm_linear"]


class PreparedLinear(NamedTuple):
    """A layer with its norm folded in; `sums` are there for a layer norm alone."""

    weight: torch.Tensor
    bias: Optional[torch.Tensor]
    sums: Optional[torch.Tensor]


def linear(input, weight, bias=None, out=None, *, input_scale=None, weight_scale=None, out_dtype=None, variant=None):
    """input @ weight.T + bias, `weight` [O,D]: PyTorch's own product, by the name "aten".

    Of e4m3 codes, as quantize_rows() and the norms ending in _e4m3 make them, or of int8 ones, as int8_rows() does: then
    with a scale for each row of `input` and of `weight`, and the result is bf16 or of `out_dtype`. On a GPU e4m3 needs
    sides that are multiples of 16 and a result in bf16; int8 needs a Hopper GPU and a result in 16 bits.
    """
    if out is None:
        return ops.linear(input, weight, bias, input_scale, weight_scale, out_dtype=out_dtype, variant=variant)
    ops.linear_out(out, input, weight, bias, input_scale, weight_scale, out_dtype=out_dtype, variant=variant)
    return out


def prepare_norm_linear(weight, norm_weight=None, bias=None, *, norm_bias=None, layer_norm=False, variant=None):
    """What norm_linear() takes instead of weight [O,D], to prepare a layer once and not at every call."""
    folded, shift, sums = ops.prepare_norm_linear(weight, norm_weight, bias, norm_bias, layer_norm=layer_norm,
                                                  variant=variant)
    return PreparedLinear(folded, None if bias is None and norm_bias is None else shift,
                          sums if layer_norm else None)


def norm_linear(input, weight, norm_weight=None, bias=None, eps=1e-6, out=None, *, norm_bias=None, layer_norm=False,
                variant=None):
    """linear(norm(input), weight, bias): an rms norm unless `layer_norm`. `weight` [O,D], or a PreparedLinear.

    A layer norm of rows whose mean is many deviations from zero loses precision: see kernels/norm_linear.
    """
    if isinstance(weight, PreparedLinear):
        if layer_norm or any(part is not None for part in (norm_weight, bias, norm_bias)):
            raise ValueError("A prepared layer has its norm and its bias in it: give norm_linear no others")
        layer = weight
    elif not layer_norm and norm_weight is None and norm_bias is None:
        layer = PreparedLinear(weight, bias, None)  # nothing to fold
    else:
        layer = prepare_norm_linear(weight, norm_weight, bias, norm_bias=norm_bias, layer_norm=layer_norm)
    if out is None:
        return ops.norm_linear(input, *layer, eps=eps, variant=variant)
    ops.norm_linear_out(out, input, *layer, eps=eps, variant=variant)
    return out
