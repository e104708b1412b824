# SPDX-License-Identifier: Apache-2.0
"""Activations, alone and gated. Gated ones take two halves side by side; `gate` says which half is the gate."""

from ._library import ops

__all__ = [
    "fatrelu_and_mul", "geglu", "gelu", "gelu_and_mul", "gelu_fast", "gelu_new", "gelu_quick", "gelu_tanh",
    "gelu_tanh_and_mul", "gelu_tanh_e4m3", "head_gate", "mul_and_silu", "silu", "silu_and_mul", "swiglu",
]


def geglu(input, out=None, approximate=True, *, gate="first", value=None, variant=None):
    """gelu(gate) * value, by tanh or, with approximate=False, by erf. diffusers' GEGLU is gate="second", by erf."""
    return _gated(input, out, "gelu_tanh" if approximate else "gelu", gate, value, variant)


def swiglu(input, out=None, *, gate="first", value=None, variant=None):
    """silu(gate) * value. diffusers' SwiGLU is gate="second"."""
    return _gated(input, out, "silu", gate, value, variant)


def silu_and_mul(input, out=None, *, variant=None):
    return _gated(input, out, "silu", "first", None, variant)


def mul_and_silu(input, out=None, *, variant=None):
    return _gated(input, out, "silu", "second", None, variant)


def gelu_and_mul(input, out=None, *, variant=None):
    return _gated(input, out, "gelu", "first", None, variant)


def gelu_tanh_and_mul(input, out=None, *, variant=None):
    return _gated(input, out, "gelu_tanh", "first", None, variant)


def gelu(input, out=None, *, bias=None, variant=None):
    return _plain(input, out, "gelu", bias, variant)


def gelu_tanh(input, out=None, *, bias=None, variant=None):
    return _plain(input, out, "gelu_tanh", bias, variant)


def gelu_quick(input, out=None, *, bias=None, variant=None):
    return _plain(input, out, "gelu_quick", bias, variant)


def gelu_new(input, out=None, *, variant=None):
    """gelu_tanh, by the name that transformers and the Hub's `activation` have for it."""
    return _plain(input, out, "gelu_tanh", None, variant)


def gelu_fast(input, out=None, *, variant=None):
    """gelu_tanh: in fp32 the same function."""
    return _plain(input, out, "gelu_tanh", None, variant)


def fatrelu_and_mul(input, out=None, threshold=0.0, *, variant=None):
    """first half * second half where the first is above `threshold`, else 0."""
    return _gated(input, out, "fatrelu", "first", None, variant, threshold=threshold)


def silu(input, out=None, *, bias=None, variant=None):
    return _plain(input, out, "silu", bias, variant)


def head_gate(input, logits, out=None, *, variant=None):
    """input [..., D] times 2 sigmoid(logits [..., N]), a logit for each of the N heads that lie side by side in a row."""
    if out is None:
        return ops.head_gate(input, logits, variant=variant)
    ops.head_gate_out(out, input, logits, variant=variant)
    return out


def gelu_tanh_e4m3(input, out=None, out_scale=None, *, bias=None, static_out_scale=None, variant=None):
    """gelu_tanh as (e4m3, a scale for each row [...]), as quantize_rows of fp32 values would make them, in one pass.

    `static_out_scale`, a number, is taken by all rows, and the scale is None.
    """
    options = {"kind": "gelu_tanh", "static_out_scale": static_out_scale, "variant": variant}
    if out is None:
        codes, scales = ops.activation_e4m3(input, bias, **options)
        return codes, None if static_out_scale is not None else scales
    ops.activation_e4m3_out(out, out_scale, input, bias, **options)
    return out, out_scale


def _gated(input, out, kind, gate, value, variant, **more):
    if gate not in ("first", "second"):
        raise ValueError(f"gate is 'first' or 'second', not {gate!r}")
    options = {"kind": kind, "gate_first": gate == "first", "variant": variant, **more}
    if out is None:
        return ops.gated_activation(input, value, **options)
    ops.gated_activation_out(out, input, value, **options)
    return out


def _plain(input, out, kind, bias, variant):
    if out is None:
        return ops.activation(input, bias, kind=kind, variant=variant)
    ops.activation_out(out, input, bias, kind=kind, variant=variant)
    return out
