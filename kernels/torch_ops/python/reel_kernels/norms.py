# SPDX-License-Identifier: Apache-2.0
"""Norms, adaptive norms and gates. fp16, bf16 and fp32; computed in fp32 and rounded once.

`out` is written and returned when it is given. `variant` forces one implementation, by a name of variants().
"""

from ._library import ops

__all__ = [
    "adaln_layernorm", "adaln_rmsnorm", "adaln_rmsnorm_e4m3", "adaln_rmsnorm_int8", "adaln_zero", "gate_residual",
    "gate_residual_adaln", "gate_residual_adaln_e4m3", "gate_residual_adaln_int8", "int8_rows", "layernorm", "layernorm_residual", "quantize_rows", "rmsnorm", "rmsnorm_e4m3",
    "rmsnorm_residual",
]


def rmsnorm(input, weight=None, eps=1e-6, out=None, *, bias=None, weight_offset=0.0, round_before_weight=False,
            variant=None):
    """input * rsqrt(mean(input^2) + eps) * (weight + weight_offset) + bias over the last dimension.

    `round_before_weight` rounds before the weight too, as LLaMA, Qwen and T5 do.
    """
    options = {"eps": eps, "weight_offset": weight_offset, "round_before_weight": round_before_weight,
               "variant": variant}
    if out is None:
        return ops.rms_norm(input, weight, bias, **options)
    ops.rms_norm_out(out, input, weight, bias, **options)
    return out


def rmsnorm_e4m3(input, weight=None, eps=1e-6, out=None, out_scale=None, *, bias=None, weight_offset=0.0,
                 round_before_weight=False, static_out_scale=None, variant=None):
    """rmsnorm of fp32 values as (e4m3, a scale for each row [...]), as quantize_rows would make them, in one pass.

    `static_out_scale`, a number, is taken by all rows, and the scale is None.
    """
    options = {"eps": eps, "weight_offset": weight_offset, "round_before_weight": round_before_weight,
               "static_out_scale": static_out_scale, "variant": variant}
    if out is None:
        return _codes(static_out_scale, ops.rms_norm_e4m3(input, weight, bias, **options))
    ops.rms_norm_e4m3_out(out, out_scale, input, weight, bias, **options)
    return out, out_scale


def rmsnorm_residual(input, residual, weight=None, eps=1e-6, out=None, residual_out=None, *, variant=None):
    """(rms norm of input + residual, input + residual); the norm is of the unrounded sum."""
    if out is None and residual_out is None:
        return ops.rms_norm_residual(input, residual, weight, eps=eps, variant=variant)
    out, residual_out = _both(input, out, residual_out)
    ops.rms_norm_residual_out(out, residual_out, input, residual, weight, eps=eps, variant=variant)
    return out, residual_out


def layernorm(input, weight=None, bias=None, eps=1e-5, out=None, *, variant=None):
    if out is None:
        return ops.layer_norm(input, weight, bias, eps=eps, variant=variant)
    ops.layer_norm_out(out, input, weight, bias, eps=eps, variant=variant)
    return out


def layernorm_residual(input, residual, weight=None, bias=None, eps=1e-5, out=None, residual_out=None, *,
                       variant=None):
    """(layer norm of input + residual, input + residual); the norm is of the unrounded sum."""
    if out is None and residual_out is None:
        return ops.layer_norm_residual(input, residual, weight, bias, eps=eps, variant=variant)
    out, residual_out = _both(input, out, residual_out)
    ops.layer_norm_residual_out(out, residual_out, input, residual, weight, bias, eps=eps, variant=variant)
    return out, residual_out


def adaln_rmsnorm(input, weight, scale, shift, eps=1e-6, out=None, *, scale_bias=None, shift_bias=None,
                  variant=None):
    """rms(input) * weight * (1 + scale) + shift of [B,S,D]; scale and shift are [D], [B,D], [B,1,D] or [B,S,D]."""
    operands = (input, weight, scale, shift, scale_bias, shift_bias)
    if out is None:
        return ops.adaln_rms_norm(*operands, eps=eps, variant=variant)
    ops.adaln_rms_norm_out(out, *operands, eps=eps, variant=variant)
    return out


def adaln_rmsnorm_e4m3(input, weight, scale, shift, eps=1e-6, out=None, out_scale=None, *, scale_bias=None,
                       shift_bias=None, static_out_scale=None, variant=None):
    """adaln_rmsnorm as (e4m3, a scale for each row [B,S]), as rmsnorm_e4m3."""
    operands = (input, weight, scale, shift, scale_bias, shift_bias)
    options = {"eps": eps, "static_out_scale": static_out_scale, "variant": variant}
    if out is None:
        return _codes(static_out_scale, ops.adaln_rms_norm_e4m3(*operands, **options))
    ops.adaln_rms_norm_e4m3_out(out, out_scale, *operands, **options)
    return out, out_scale


def adaln_rmsnorm_int8(input, weight, scale, shift, eps=1e-6, out=None, out_scale=None, *, scale_bias=None,
                       shift_bias=None, variant=None):
    """adaln_rmsnorm as (int8, a scale for each row [B,S]), as int8_rows of fp32 values would make them, in one pass."""
    operands = (input, weight, scale, shift, scale_bias, shift_bias)
    if out is None:
        return ops.adaln_rms_norm_int8(*operands, eps=eps, variant=variant)
    ops.adaln_rms_norm_int8_out(out, out_scale, *operands, eps=eps, variant=variant)
    return out, out_scale


def adaln_layernorm(input, weight, scale, shift, bias=None, eps=1e-5, out=None, *, scale_bias=None, shift_bias=None,
                    variant=None):
    operands = (input, weight, bias, scale, shift, scale_bias, shift_bias)
    if out is None:
        return ops.adaln_layer_norm(*operands, eps=eps, variant=variant)
    ops.adaln_layer_norm_out(out, *operands, eps=eps, variant=variant)
    return out


def adaln_zero(input, weight, scale, shift, gate, eps=1e-6, out=None, *, scale_bias=None, shift_bias=None,
               gate_bias=None, variant=None):
    """(rms(input) * weight * (1 + scale) + shift) * gate. LTX-Video's gate is gate_residual, not this one."""
    operands = (input, weight, scale, shift, gate, scale_bias, shift_bias, gate_bias)
    if out is None:
        return ops.adaln_zero(*operands, eps=eps, variant=variant)
    ops.adaln_zero_out(out, *operands, eps=eps, variant=variant)
    return out


def gate_residual(input, y, gate=None, out=None, *, gate_bias=None, variant=None):
    """input + y * gate of [B,S,D]; a plain sum without a gate. `out` may be `input`."""
    if out is None:
        return ops.gate_residual(input, y, gate, gate_bias, variant=variant)
    ops.gate_residual_out(out, input, y, gate, gate_bias, variant=variant)
    return out


def gate_residual_adaln(input, y, gate, scale, shift, eps=1e-6, out=None, residual_out=None, *, gate_bias=None,
                        scale_bias=None, shift_bias=None, variant=None):
    """(rms(s) * (1 + scale) + shift, s) with s = input + y * gate: the end of a sub-layer and the next norm."""
    operands = (input, y, gate, scale, shift, gate_bias, scale_bias, shift_bias)
    if out is None and residual_out is None:
        return ops.gate_residual_adaln(*operands, eps=eps, variant=variant)
    out, residual_out = _both(input, out, residual_out)
    ops.gate_residual_adaln_out(out, residual_out, *operands, eps=eps, variant=variant)
    return out, residual_out


def gate_residual_adaln_e4m3(input, y, gate, scale, shift, eps=1e-6, out=None, residual_out=None, out_scale=None, *,
                             gate_bias=None, scale_bias=None, shift_bias=None, static_out_scale=None, variant=None):
    """gate_residual_adaln as (e4m3, s, a scale for each row [B,S]), as rmsnorm_e4m3; s is in the input's type."""
    operands = (input, y, gate, scale, shift, gate_bias, scale_bias, shift_bias)
    options = {"eps": eps, "static_out_scale": static_out_scale, "variant": variant}
    if out is None:
        codes, total, scales = ops.gate_residual_adaln_e4m3(*operands, **options)
        return codes, total, None if static_out_scale is not None else scales
    residual_out = input.new_empty(input.shape) if residual_out is None else residual_out
    ops.gate_residual_adaln_e4m3_out(out, residual_out, out_scale, *operands, **options)
    return out, residual_out, out_scale


def gate_residual_adaln_int8(input, y, gate, scale, shift, eps=1e-6, out=None, residual_out=None, out_scale=None, *,
                             gate_bias=None, scale_bias=None, shift_bias=None, variant=None):
    """gate_residual_adaln as (int8, s, a scale for each row [B,S]), as adaln_rmsnorm_int8; s is in the input's type."""
    operands = (input, y, gate, scale, shift, gate_bias, scale_bias, shift_bias)
    if out is None:
        return ops.gate_residual_adaln_int8(*operands, eps=eps, variant=variant)
    residual_out = input.new_empty(input.shape) if residual_out is None else residual_out
    ops.gate_residual_adaln_int8_out(out, residual_out, out_scale, *operands, eps=eps, variant=variant)
    return out, residual_out, out_scale


def quantize_rows(input, static_scale=None, out=None, scale_out=None, *, variant=None):
    """(input as e4m3, a scale for each row [...]); with `static_scale` [1] all rows take that one, and scale is None."""
    if out is None:
        return _codes(static_scale, ops.quantize_rows(input, static_scale, variant=variant))
    ops.quantize_rows_out(out, scale_out, input, static_scale, variant=variant)
    return out, scale_out


def int8_rows(input, out=None, scale_out=None, *, gelu=False, variant=None):
    """(input, or gelu_tanh of it, as int8, a scale for each row [...]), turned so that no channel stands out.

    codes(x) @ codes(w).T times both scales is x @ w.T; the width is a multiple of 32.
    """
    if out is None:
        return ops.int8_rows(input, gelu=gelu, variant=variant)
    ops.int8_rows_out(out, scale_out, input, gelu=gelu, variant=variant)
    return out, scale_out


def _codes(fixed, outputs):
    """The codes and the scales, None where one was given for all."""
    return outputs[0], None if fixed is not None else outputs[1]


def _both(input, out, residual_out):
    return (input.new_empty(input.shape) if out is None else out,
            input.new_empty(input.shape) if residual_out is None else residual_out)
