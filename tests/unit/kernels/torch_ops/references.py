# SPDX-License-Identifier: Apache-2.0
"""The operators in plain PyTorch and fp64."""

import torch


def wide(*tensors):
    return [None if tensor is None else tensor.double() for tensor in tensors]


def rms_norm(x, weight=None, bias=None, eps=1e-6, weight_offset=0.0):
    x, weight, bias = wide(x, weight, bias)
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    y = y if weight is None else y * (weight + weight_offset)
    return y if bias is None else y + bias


def layer_norm(x, weight=None, bias=None, eps=1e-5):
    x, weight, bias = wide(x, weight, bias)
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


def linear(normed, weight, bias=None):
    return torch.nn.functional.linear(normed, *wide(weight, bias))


def prepared(weight, norm_weight=None, bias=None, norm_bias=None, layer_norm=False):
    """The folded weight as it is rounded, its bias, and the sums of its rows."""
    folded = (weight.double() * (1 if norm_weight is None else norm_weight.double())).to(weight.dtype).double()
    shift = 0 if bias is None else bias.double()
    shift = shift if norm_bias is None else shift + weight.double() @ norm_bias.double()
    return (folded, None if bias is None and norm_bias is None else shift, folded.sum(-1) if layer_norm else None)


def vector(value, bias, rank=3):
    """A modulation [D], [B,D], [B,1,D] or [B,S,D] as it is broadcast over [B,S,D]."""
    value, bias = wide(value, bias)
    value = value if bias is None else value + bias
    return value[:, None] if value.dim() == 2 and rank == 3 else value


def modulate(normed, scale, shift, scale_bias=None, shift_bias=None):
    return normed * (1 + vector(scale, scale_bias)) + vector(shift, shift_bias)


def gate_residual(x, y, gate=None, gate_bias=None):
    return x.double() + y.double() * (1 if gate is None else vector(gate, gate_bias))


def turn(x, angles):
    """Pairs (2i, 2i+1) of the last dimension by angles [..., pairs]."""
    cos, sin = torch.cos(angles), torch.sin(angles)
    a, b = x.double()[..., 0::2], x.double()[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


def rope_1d(x, positions, theta=10000.0, rotary_dim=None, interleaved=True):
    """x [B,S,N,Dh], positions [S]."""
    width = rotary_dim or x.shape[-1]
    steps = torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width
    angles = (positions.double()[:, None] * theta ** -steps)[:, None]
    turned, rest = x[..., :width], x[..., width:].double()
    if interleaved:
        turned = turn(turned, angles)
    else:
        half = width // 2
        mixed = torch.stack([turned[..., :half], turned[..., half:]], -1).flatten(-2)
        turned = turn(mixed, angles)
        turned = torch.cat([turned[..., 0::2], turned[..., 1::2]], -1)
    return torch.cat([turned, rest], -1)


def rope_3d(x, grid, split, theta=10000.0):
    """x [B,T*H*W,N,Dh]."""
    axes = torch.meshgrid(*(torch.arange(size, device=x.device) for size in grid), indexing="ij")
    parts = torch.split(x, split, -1)
    return torch.cat([rope_1d(part, axis.flatten(), theta) for part, axis in zip(parts, axes)], -1)


def dense_table(cos_sin, index, width):
    """cos and sin [1,S,D] of the factored table of ltx_rope."""
    rows = cos_sin[index[0].long()]  # [S,3,K,2]
    angles = rows.permute(0, 2, 1, 3).flatten(1, 2)  # k slow, axis fast
    pairs = angles.repeat_interleave(2, 1)
    head = width - pairs.shape[1]
    cos = torch.cat([pairs.new_ones(len(pairs), head), pairs[..., 0]], 1)
    sin = torch.cat([pairs.new_zeros(len(pairs), head), pairs[..., 1]], 1)
    return cos[None], sin[None]


def ltx_rope(x, cos, sin):
    """x [B,S,D], as diffusers applies it."""
    x, cos, sin = wide(x, cos, sin)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([-b, a], -1).flatten(-2)
    return x * cos + turned * sin


def attention(q, k, v, bias=None, lengths=None, q_scale=None, scale=None):
    q, k, v, bias, q_scale = wide(q, k, v, bias, q_scale)
    scores = torch.einsum("bsnd,blnd->bnsl", q, k) * (scale or q.shape[-1] ** -0.5)
    scores = scores if q_scale is None else scores * q_scale[:, None, :, None]
    scores = scores if bias is None else scores + bias
    if lengths is not None:
        scores = scores.masked_fill(torch.arange(k.shape[1], device=k.device) >= lengths[:, None, None, None], -torch.inf)
    return torch.einsum("bnsl,blnd->bsnd", scores.softmax(-1), v)


def attention_rest(q, k, v, before, log_sums):
    q, k, v, before, log_sums = wide(q, k, v, before, log_sums)
    scores = torch.einsum("bsnd,blnd->bsnl", q, k) * q.shape[-1] ** -0.5
    weights = torch.cat((scores, log_sums[..., None]), -1).softmax(-1)
    return torch.einsum("bsnl,blnd->bsnd", weights[..., :-1], v) + weights[..., -1:] * before


def head_gate(x, logits):
    gates = 2 * torch.sigmoid(logits.double())
    return x.double() * gates.repeat_interleave(x.shape[-1] // logits.shape[-1], -1)


def activation(x, kind, threshold=0.0):
    x = x.double()
    if kind == "gelu_quick":
        return x * torch.sigmoid(1.702 * x)
    if kind == "fatrelu":
        return torch.nn.functional.threshold(x, threshold, 0.0)
    if kind == "silu":
        return torch.nn.functional.silu(x)
    return torch.nn.functional.gelu(x, approximate="tanh" if kind == "gelu_tanh" else "none")


def gated(x, kind, gate_first=True, threshold=0.0):
    first, second = x.chunk(2, -1)
    gate, value = (first, second) if gate_first else (second, first)
    return activation(gate, kind, threshold) * value.double()


def channel_norm_silu(x, scale=None, shift=None, padding=(0, 0), silu=True):
    y = rms_norm(x, eps=1e-8)
    if scale is not None:
        y = y * (1 + scale.double()[:, None, None, None]) + shift.double()[:, None, None, None]
    y = torch.nn.functional.silu(y) if silu else y
    return torch.cat([y[:, :1]] * padding[0] + [y] + [y[:, -1:]] * padding[1], 1)


def depth_to_space(x):
    """[B,F,H,W,8C] to twice the frames, rows and columns."""
    apart = x.double().unflatten(-1, (-1, 2, 2, 2)).permute(0, 1, 5, 2, 6, 3, 7, 4)
    return apart.flatten(5, 6).flatten(3, 4).flatten(1, 2)


def repeated(x, times):
    """Along the channels."""
    return x.double().repeat(1, 1, 1, 1, times)


def coded_linear(x, weight, x_scale, weight_scale, bias=None):
    y = torch.nn.functional.linear(x.double(), weight.double()) * x_scale.double()[..., None] * weight_scale.double()
    return y if bias is None else y + bias.double()


def conv3d(x, weight, bias=None, stride=(1, 1, 1), padding=(0, 0, 0)):
    return torch.nn.functional.conv3d(*wide(x, weight, bias), stride, padding)


def quantize_rows(x):
    """The scales, and the rows as they should be read back."""
    scale = x.double().abs().amax(-1).clamp(min=1e-12) / 448
    return to_e4m3(x, scale[..., None]), scale


def int8_rows(x, gelu=False):
    """Codes and scales of rows that are turned in groups of 32: runs of 8 of each quarter."""
    z = activation(x, "gelu_tanh") if gelu else x.double()
    signs = torch.tensor([[1.0]], dtype=torch.float64, device=x.device)
    for _ in range(5):
        signs = torch.cat([torch.cat([signs, signs], 1), torch.cat([signs, -signs], 1)])
    groups = z.unflatten(-1, (4, -1, 8)).transpose(-3, -2).flatten(-2) @ signs
    turned = groups.unflatten(-1, (4, 8)).transpose(-3, -2).flatten(-3)
    largest = turned.abs().amax(-1).clamp(min=1e-12)
    return (turned * (127 / largest[..., None])).round().to(torch.int8), largest / 127 / 32 ** 0.5


def to_e4m3(x, scale):
    """Codes with one scale for all."""
    return (x.double() / scale).clamp(-448, 448).float().to(torch.float8_e4m3fn)


def rgb8(frames):
    """Rounded in the type of the frames at each step, as diffusers does."""
    return ((frames * 0.5 + 0.5).clamp(0, 1).float() * 255).round().to(torch.uint8)


def luma(frames):
    r, g, b = (frames.double() * 0.5 + 0.5).clamp(0, 1).unbind(-1)
    return (16 + 219 * (0.2126 * r + 0.7152 * g + 0.0722 * b)).round()
