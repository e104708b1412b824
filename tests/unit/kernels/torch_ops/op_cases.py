# SPDX-License-Identifier: Apache-2.0
"""Calls of every operator of torch.ops with what they should give: over types, shapes and layouts."""

import dataclasses
import os

import torch

import references as ref

# Where tensors lie: by hand "cuda" on a machine that has one, and libreel_cuda.so beside the library.
DEVICE = os.environ.get("REEL_TEST_DEVICE", "cpu")

# Operators that are PyTorch's own by default, which rounds as it likes: on a CPU the oracle is compared.
ORACLE = {"variant": "loops"} if DEVICE == "cpu" else {}
# Else a GPU's convolutions in fp32 round to 10 bits.
torch.backends.cudnn.allow_tf32 = False

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
UNIT_ROUNDOFF = {torch.float32: 2.0 ** -24, torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8}


@dataclasses.dataclass
class OpCase:
    """`want` gives one tensor for each output; None for an output that is not asked for."""

    op: str
    args: tuple
    kwargs: dict
    want: tuple

    @property
    def label(self):
        tensors = [a for a in (*self.args, *self.kwargs.values()) if isinstance(a, torch.Tensor)]
        return f"{self.op}, {', '.join(f'{t.dtype} {list(t.shape)} {t.stride()}' for t in tensors)}"


def random(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(*shape, generator=generator).to(DEVICE, dtype)


def layouts(dtype):
    """The last dimension is the row: contiguous, moved, sliced, expanded, of odd offset, empty."""
    yield random(3, 65, dtype=dtype)
    yield random(2, 8, 3, 5, dtype=dtype).movedim(1, -1)
    yield random(4, 3, 48, dtype=dtype)[::2, :, ::2]
    yield random(1, 3, 128, dtype=dtype).expand(2, 3, 128)
    yield random(2 * 32 + 1, dtype=dtype)[1:].view(2, 32)
    yield random(0, 16, dtype=dtype)


def norm_cases(dtype):
    for x in layouts(dtype):
        w, b = random(x.shape[-1], dtype=dtype), random(x.shape[-1] + 1)[1:]
        r = random(*x.shape, dtype=dtype)
        yield OpCase("rms_norm", (x,), {}, (ref.rms_norm(x),))
        yield OpCase("rms_norm", (x, w, b), {"eps": 1e-3, "weight_offset": 1.0}, (ref.rms_norm(x, w, b, 1e-3, 1.0),))
        yield OpCase("rms_norm_e4m3", (x, w, b), {"weight_offset": 1.0}, ref.quantize_rows(ref.rms_norm(x, w, b, 1e-6, 1.0)))
        yield OpCase("rms_norm_e4m3", (x,), {"static_out_scale": 0.02}, (ref.to_e4m3(ref.rms_norm(x), 0.02), None))
        yield OpCase("layer_norm", (x, w, b), {}, (ref.layer_norm(x, w, b),))
        total = x.double() + r.double()
        yield OpCase("rms_norm_residual", (x, r, w), {}, (ref.rms_norm(total, w), total))
        yield OpCase("layer_norm_residual", (x, r), {"eps": 1e-6}, (ref.layer_norm(total, eps=1e-6), total))


def linear_cases(dtype):
    for x in layouts(dtype):
        width = x.shape[-1]
        w, b = random(7, width, dtype=dtype), random(7, dtype=dtype)
        yield OpCase("norm_linear", (x, w), {}, (ref.linear(ref.rms_norm(x), w),))
        crossed = random(width, 7, dtype=dtype).t()
        yield OpCase("norm_linear", (x, crossed, b.float()), {"eps": 1e-3},
                     (ref.linear(ref.rms_norm(x, eps=1e-3), crossed, b.float()),))
        sums = w.double().sum(-1)
        centred = ref.layer_norm(x, eps=1e-6)
        yield OpCase("norm_linear", (x, w, b, sums.float()), {}, (ref.linear(centred, w, b),))
        yield OpCase("linear", (x, w), ORACLE, (ref.linear(x.double(), w),))
        yield OpCase("linear", (x, crossed, b), ORACLE, (ref.linear(x.double(), crossed, b),))
        norm, beta = random(width, dtype=dtype), random(width + 1)[1:]
        for parts in ((), (norm, b), (norm, None, beta), (None, b.float(), beta)):
            for layer in (False, True):
                yield OpCase("prepare_norm_linear", (w, *parts), {"layer_norm": layer},
                             ref.prepared(w, *parts, layer_norm=layer))


def coded_linear_cases(dtype):
    """As a GPU takes them: sides of 16 and a result in 16 bits."""
    result = torch.float16 if dtype == torch.float16 and DEVICE == "cpu" else torch.bfloat16
    x, w, b = random(2, 5, 64, dtype=dtype), random(16, 64, dtype=dtype), random(16)
    for make in (torch.ops.reel_kernels.quantize_rows, torch.ops.reel_kernels.int8_rows):
        (codes, scales), (layer, layer_scales) = make(x), make(w)
        for bias in (None, b):
            yield OpCase("linear", (codes, layer, bias, scales, layer_scales), {"out_dtype": result, **ORACLE},
                         (ref.coded_linear(codes, layer, scales, layer_scales, bias),))


def convolution_cases(dtype):
    x, w, b = random(2, 4, 3, 6, 5, dtype=dtype), random(3, 4, 3, 3, 3, dtype=dtype), random(3, dtype=dtype)
    yield OpCase("conv3d", (x, w), ORACLE, (ref.conv3d(x, w),))
    x = x.to(memory_format=torch.channels_last_3d)
    shape = {"stride": [1, 2, 1], "padding": [0, 1, 1]}
    yield OpCase("conv3d", (x, w, b), {**shape, **ORACLE}, (ref.conv3d(x, w, b, **shape),))


def adaln_cases(dtype):
    x, y = random(2, 3, 64, dtype=dtype), random(2, 3, 64, dtype=dtype) * 2
    table = random(2, 1, 6, 64, dtype=dtype)
    w, b = random(64, dtype=dtype), random(64)
    forms = [(w, w * 0.5), (random(2, 64), random(2, 64)), (table[:, :, 1], table[:, :, 0]), (y, x)]
    for scale, shift in forms:
        normed = ref.rms_norm(x)
        yield OpCase("adaln_rms_norm", (x, None, scale, shift), {}, (ref.modulate(normed, scale, shift),))
        yield OpCase("adaln_rms_norm", (x, w, scale, shift, b, b), {},
                     (ref.modulate(ref.rms_norm(x, w), scale, shift, b, b),))
        yield OpCase("adaln_rms_norm_e4m3", (x, None, scale, shift), {},
                     ref.quantize_rows(ref.modulate(normed, scale, shift)))
        yield OpCase("adaln_layer_norm", (x, w, b, scale, shift), {},
                     (ref.modulate(ref.layer_norm(x, w, b), scale, shift),))
        zero = ref.modulate(ref.rms_norm(x, w), scale, shift) * ref.vector(scale, None)
        yield OpCase("adaln_zero", (x, w, scale, shift, scale), {}, (zero,))
        gated = ref.gate_residual(x, y, scale, b)
        yield OpCase("gate_residual", (x, y, scale, b), {}, (gated,))
        yield OpCase("gate_residual_adaln", (x, y, scale, scale, shift, b), {},
                     (ref.modulate(ref.rms_norm(gated), scale, shift), gated))
        codes, scales = ref.quantize_rows(ref.modulate(ref.rms_norm(gated), scale, shift))
        yield OpCase("gate_residual_adaln_e4m3", (x, y, scale, scale, shift, b), {}, (codes, gated, scales))
        yield OpCase("adaln_rms_norm_int8", (x, w, scale, shift, b, b), {},
                     ref.int8_rows(ref.modulate(ref.rms_norm(x, w), scale, shift, b, b)))
        codes, scales = ref.int8_rows(ref.modulate(ref.rms_norm(gated), scale, shift))
        yield OpCase("gate_residual_adaln_int8", (x, y, scale, scale, shift, b), {}, (codes, gated, scales))
    yield OpCase("gate_residual", (x, y), {}, (ref.gate_residual(x, y),))


def rope_cases(dtype):
    q, k = random(2, 6, 4, 16, dtype=dtype), random(2, 6, 1, 16, dtype=dtype)
    positions = torch.tensor([0, 7, 100000, 3, 2, 1], device=DEVICE)
    count = torch.arange(6, device=DEVICE)
    yield OpCase("rope_1d", (q, k), {}, (ref.rope_1d(q, count), ref.rope_1d(k, count)))
    yield OpCase("rope_1d", (q.transpose(1, 2).contiguous().transpose(1, 2), None, positions),
                 {"interleaved": False, "rotary_dim": 8, "offset": -3},
                 (ref.rope_1d(q, positions - 3, rotary_dim=8, interleaved=False), None))
    heads = random(16, dtype=dtype), random(16)
    normed = [ref.rms_norm(part, each) for part, each in zip((q, k), heads)]
    yield OpCase("rope_1d", (q, k), {"norm_eps": 1e-6, "q_weight": heads[0], "k_weight": heads[1], "interleaved": False},
                 tuple(ref.rope_1d(part, count, interleaved=False) for part in normed))
    yield OpCase("rope_3d", (q, k, 1, 2, 3), {}, (ref.rope_3d(q, (1, 2, 3), [4, 4, 8]), ref.rope_3d(k, (1, 2, 3), [4, 4, 8])))
    yield OpCase("rope_3d", (q, None, 3, 2, 1), {"split": [8, 0, 8], "theta": [100.0, 100.0, 100.0]},
                 (ref.rope_3d(q, (3, 2, 1), [8, 0, 8], 100.0), None))
    q, k, packed = random(2, 12, 32, dtype=dtype), random(2, 12, 32, dtype=dtype), random(2, 12, 3, 32, dtype=dtype)
    cos_sin, index = (part.to(DEVICE) for part in torch.ops.reel_kernels.ltx_rope_table([2, 2, 3], 25.0, 32))
    cos, sin = ref.dense_table(cos_sin, index, 32)
    small, dense = {"cos_sin": cos_sin, "index": index}, {"cos": cos, "sin": sin}
    w, v = random(32, dtype=dtype), random(32)
    for table in (small, dense):
        yield OpCase("ltx_rope", (q, k), table, (ref.ltx_rope(q, cos, sin), ref.ltx_rope(k, cos, sin)))
        a, b = packed[:, :, 0], packed[:, :, 1]
        want = [ref.ltx_rope(ref.rms_norm(x, weight, eps=1e-5), cos, sin) for x, weight in ((a, w), (b, v))]
        yield OpCase("qk_norm_rope", (a, b, w, v), table, tuple(want))
    yield OpCase("qk_norm_rope", (q,), {"eps": 1e-2}, (ref.rms_norm(q, eps=1e-2), None))


def activation_cases(dtype):
    for x in layouts(dtype):
        bias = random(x.shape[-1], dtype=dtype)
        for kind in ("gelu", "gelu_tanh", "gelu_quick", "silu"):
            yield OpCase("activation", (x,), {"kind": kind}, (ref.activation(x, kind),))
            if x.shape[-1] % 2 == 0:
                for first in (True, False):
                    yield OpCase("gated_activation", (x,), {"kind": kind, "gate_first": first},
                                 (ref.gated(x, kind, first),))
        yield OpCase("activation", (x, bias), {}, (ref.activation(x.double() + bias.double(), "gelu_tanh"),))
        yield OpCase("activation_e4m3", (x,), {}, ref.quantize_rows(ref.activation(x, "gelu_tanh")))
        yield OpCase("activation_e4m3", (x, bias), {"static_out_scale": 0.01},
                     (ref.to_e4m3(ref.activation(x.double() + bias.double(), "gelu_tanh"), 0.01), None))
        if x.shape[-1] % 2 == 0:
            yield OpCase("gated_activation", (x,), {"kind": "fatrelu", "threshold": 0.25}, (ref.gated(x, "fatrelu", threshold=0.25),))
        yield OpCase("gated_activation", (x, x * 0.5), {}, (ref.activation(x, "gelu_tanh") * (x * 0.5).double(),))
        if x.shape[-1] % 2 == 0:
            logits = random(*x.shape[:-1], 2, dtype=dtype)
            yield OpCase("head_gate", (x, logits), {}, (ref.head_gate(x, logits),))


def video_cases(dtype):
    x = random(2, 24, 2, 3, 5, dtype=dtype).movedim(1, -1)
    scale, shift = random(2, 24, dtype=dtype), random(2, 24)
    yield OpCase("channel_norm_silu", (x,), {}, (ref.channel_norm_silu(x),))
    yield OpCase("channel_norm_silu", (x.contiguous(), scale, shift), {"pad_front": 2, "pad_back": 1, "silu": False},
                 (ref.channel_norm_silu(x, scale, shift, (2, 1), False),))
    residual, bias = random(*x.shape, dtype=dtype) * 2, random(24, dtype=dtype)
    total = x.double() + residual.double() + bias.double()
    yield OpCase("channel_norm_silu", (x, None, None, residual, bias), {"pad_front": 1},
                 (ref.channel_norm_silu(total, padding=(1, 0)),))
    yield OpCase("channel_norm_silu_sum", (x, scale, shift, residual, bias), {"pad_back": 1},
                 (ref.channel_norm_silu(total, scale, shift, (0, 1)), total))
    yield OpCase("channel_norm_silu_sum", (x, None, None, residual), {},
                 (ref.channel_norm_silu(x.double() + residual.double()), x.double() + residual.double()))
    wide, narrow = random(2, 3, 2, 5, 32, dtype=dtype), random(2, 3, 2, 5, 16, dtype=dtype)
    bias = random(32, dtype=dtype)
    yield OpCase("depth_to_space", (wide,), {}, (ref.depth_to_space(wide),))
    yield OpCase("depth_to_space", (wide, bias, narrow), {"drop_first": True},
                 (ref.depth_to_space(wide.double() + bias + ref.repeated(narrow, 2))[:, 1:],))
    frames = (random(2, 5, 7, 3, dtype=dtype) * 0.7).to(dtype)
    yield OpCase("frame_convert", (frames,), {}, (ref.rgb8(frames),))
    yield OpCase("frame_convert", (frames.movedim(-1, 1),), {"layout": "planar"}, (ref.rgb8(frames),))


def quantize_cases(dtype):
    for x in layouts(dtype):
        yield OpCase("quantize_rows", (x,), {}, ref.quantize_rows(x))
    x, scale = random(3, 48, dtype=dtype), torch.tensor([0.02], device=DEVICE)
    yield OpCase("quantize_rows", (x, scale), {}, (ref.to_e4m3(x, scale.double()), None))
    for x in (random(3, 64, dtype=dtype), random(2, 96, 5, dtype=dtype).movedim(1, -1), random(0, 32, dtype=dtype)):
        yield OpCase("int8_rows", (x,), {}, ref.int8_rows(x))
        yield OpCase("int8_rows", (x,), {"gelu": True}, ref.int8_rows(x, gelu=True))


def attention_cases(dtype):
    q, k, v = random(2, 5, 3, 8, dtype=dtype), random(2, 7, 3, 8, dtype=dtype), random(2, 7, 3, 8, dtype=dtype) * 2
    bias, factors = random(1, 3, 1, 7, dtype=dtype), random(2, 5)
    lengths = torch.tensor([7, 2], dtype=torch.int32, device=DEVICE)
    yield OpCase("attention", (q, k, v), {}, (ref.attention(q, k, v),))
    yield OpCase("attention", (q, k, v, bias, lengths, factors), {"scale": 0.7},
                 (ref.attention(q, k, v, bias, lengths, factors, 0.7),))
    q, k = random(2, 2, 3, 64, dtype=dtype).transpose(1, 2), random(2, 4, 2, 64, dtype=dtype)
    options = {} if DEVICE == "cpu" else {"variant": "generic"}  # others round their weights
    yield OpCase("cross_attention", (q, k, k), options, (ref.attention(q, k, k),))
    before, sums = random(2, 3, 2, 64, dtype=dtype), random(2, 3, 2) + 1
    yield OpCase("attention_rest", (q, k, k, before, sums), options, (ref.attention_rest(q, k, k, before, sums),))


def cases(dtype):
    for part in (norm_cases, linear_cases, coded_linear_cases, convolution_cases, adaln_cases, rope_cases, activation_cases, video_cases,
                 quantize_cases, attention_cases):
        yield from part(dtype)


def close(got, want, sums=2e-5):
    """One rounding of the exact value, and the error of its sums, of fp32 unless said."""
    if want.dtype == torch.uint8:
        return torch.equal(got, want)
    if want.dtype == torch.float8_e4m3fn:  # fp32's quotient may fall on the other side of a tie
        steps = (got.view(torch.uint8).int() - want.view(torch.uint8).int()).abs()
        return bool((steps <= 1).all()) and (steps > 0).sum().item() <= 0.01 * steps.numel()
    if want.dtype == torch.int8:
        steps = (got.int() - want.int()).abs()
        return bool((steps <= 1).all()) and (steps > 0).sum().item() <= 0.01 * steps.numel()
    bound = 1.01 * UNIT_ROUNDOFF[got.dtype] * want.abs() + sums * (1 + 0.01 * want.abs())
    return got.shape == want.shape and bool(((got.double() - want).abs() <= bound).all())


def operator(name):
    return getattr(torch.ops.reel_kernels, name).default


def tensors(outputs):
    return (outputs,) if isinstance(outputs, torch.Tensor) else tuple(outputs)


def crooked(tensor):
    """A buffer like `tensor`, but of other strides and an odd offset."""
    sizes = list(tensor.shape)
    wide = torch.full((*sizes[:-1], 2 * sizes[-1] + 3), 77, dtype=tensor.dtype, device=tensor.device)
    return wide[..., 1:1 + 2 * sizes[-1]:2] if sizes[-1] else wide[..., :0]
