# SPDX-License-Identifier: Apache-2.0
"""Attention over [B,S,N,Dh]. On a GPU cross attention has a variant for tensor cores, in 16 bits; attention has one that
takes every call and is slow: use PyTorch's own."""

from ._library import ops

__all__ = ["attention", "attention_rest", "cross_attention"]


def attention(q, k, v, bias=None, *, key_lengths=None, q_scale=None, scale=0.0, out=None, variant=None):
    """softmax(scale q_scale q k^T + bias) v; scale 0 is 1/sqrt(Dh), `bias` [1|B, 1|N, 1|S, L], `key_lengths` [B]."""
    return _call(ops.attention, ops.attention_out, (q, k, v, bias, key_lengths, q_scale), scale, out, variant)


def cross_attention(q, k, v, bias=None, *, key_lengths=None, q_scale=None, scale=0.0, out=None, variant=None):
    """The same for up to 128 keys and heads of 64 or 128."""
    return _call(ops.cross_attention, ops.cross_attention_out, (q, k, v, bias, key_lengths, q_scale), scale, out,
                 variant)


def attention_rest(q, k, v, before, log_sums, *, scale=0.0, out=None, variant=None):
    """Up to 128 further keys for queries whose output so far is `before` and the logarithms of whose sums are
    `log_sums` [B,S,N]; `out` may be `before`."""
    return _call(ops.attention_rest, ops.attention_rest_out, (q, k, v, before, log_sums), scale, out, variant)


def _call(functional, mutating, arguments, scale, out, variant):
    if out is None:
        return functional(*arguments, scale=scale, variant=variant)
    mutating(out, *arguments, scale=scale, variant=variant)
    return out
