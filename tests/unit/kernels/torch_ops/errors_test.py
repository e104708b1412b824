# SPDX-License-Identifier: Apache-2.0
"""Refused calls raise the right exception and leave their output as it was."""

import unittest

import reel_kernels
import torch
from op_cases import random


class Refusals(unittest.TestCase):
    def refused(self, error, words, call, *outs):
        before = [out.clone() for out in outs]
        counted = reel_kernels.calls()
        with self.assertRaisesRegex(error, words):
            call()
        self.assertEqual(reel_kernels.calls(), counted)
        for out, was in zip(outs, before):
            self.assertTrue(torch.equal(out, was))

    def test_sizes_types_and_overlaps_are_value_errors(self):
        x, out = random(3, 64), random(3, 64)
        k = reel_kernels
        self.refused(ValueError, "weight", lambda: k.rmsnorm(x, random(63), out=out), out)
        self.refused(ValueError, "weight", lambda: k.rmsnorm(x, random(64).half(), out=out), out)
        self.refused(ValueError, "out", lambda: k.rmsnorm(x, out=out[:2]), out)
        self.refused(ValueError, "out", lambda: k.rmsnorm(out[:2], out=out[1:]), out)
        self.refused(ValueError, "out", lambda: k.rmsnorm(x, out=torch.empty(3, 1).expand(3, 64)))
        self.refused(ValueError, "odd", lambda: k.swiglu(random(3, 7)))
        self.refused(ValueError, "scale", lambda: k.adaln_rmsnorm(random(2, 3, 8), None, random(3, 8), random(2, 8)))
        self.refused(ValueError, "split", lambda: k.rope_3d(random(1, 6, 1, 8), None, 1, 2, 3, split=[4, 4]))
        self.refused(ValueError, "gate", lambda: k.swiglu(random(3, 8), gate="third"))
        self.refused(ValueError, "kind|gelu", lambda: torch.ops.reel_kernels.activation(x, kind="relu"))
        self.refused(ValueError, "rank", lambda: k.channel_norm_silu(random(3, 8)))
        self.refused(ValueError, "widths", lambda: k.norm_linear(x, random(7, 63), out=out), out)
        self.refused(ValueError, "out", lambda: k.norm_linear(x, random(7, 64), out=out), out)
        self.refused(ValueError, "dtypes", lambda: k.norm_linear(x, random(7, 64).half()))
        self.refused(ValueError, "two", lambda: k.norm_linear(x, random(64)))
        self.refused(ValueError, "two dim", lambda: k.prepare_norm_linear(random(64)))
        self.refused(ValueError, "bias", lambda: k.prepare_norm_linear(random(7, 64), None, random(6)))
        self.refused(ValueError, "widths", lambda: k.linear(x, random(7, 63)))
        self.refused(ValueError, "out", lambda: k.linear(x, random(64, 64), out=x), x)
        self.refused(ValueError, "out_dtype", lambda: k.linear(x, random(7, 64), out=random(3, 7), out_dtype=torch.float16))
        self.refused(ValueError, "dtypes", lambda: k.linear(x, random(7, 64), out_dtype=torch.float16))
        self.refused(ValueError, "two", lambda: k.linear(x, random(64)))
        self.refused(ValueError, "x_scale", lambda: k.linear(*(torch.zeros(2, 32, dtype=torch.int8, device=x.device),) * 2))
        self.refused(ValueError, "channels", lambda: k.conv3d(random(1, 2, 3, 3, 3), random(1, 3, 1, 1, 1)))
        self.refused(ValueError, "larger", lambda: k.conv3d(random(1, 2, 3, 3, 3), random(1, 2, 4, 1, 1)))
        self.refused(ValueError, "stride", lambda: k.conv3d(random(1, 2, 3, 3, 3), random(1, 2, 1, 1, 1), stride=(1, 0, 1)))
        self.refused(ValueError, "multiple of 32", lambda: k.adaln_rmsnorm_int8(random(1, 2, 48), None, random(48), random(48)))
        self.refused(ValueError, "residual", lambda: k.channel_norm_silu(random(1, 2, 2, 2, 8), residual=random(1, 2, 2, 2, 4)))
        layer = k.PreparedLinear(random(7, 64), None, None)
        self.refused(ValueError, "in it", lambda: k.norm_linear(x, layer, random(64)))
        sums = random(7)
        self.refused(ValueError, "sums", lambda: torch.ops.reel_kernels.prepare_norm_linear_out(
            random(7, 64), None, sums, random(7, 64)), sums)

    def test_values_are_value_errors(self):
        x = random(3, 64)
        for eps in (-1e-6, float("nan"), float("inf")):
            self.refused(ValueError, "eps", lambda eps=eps: reel_kernels.rmsnorm(x, eps=eps))
        for scale in (0.0, float("nan"), float("inf")):
            self.refused(ValueError, "above zero", lambda s=scale: reel_kernels.rmsnorm_e4m3(x, static_out_scale=s))
        codes = torch.empty(3, 64, dtype=torch.float8_e4m3fn, device=x.device)
        self.refused(ValueError, "must be given", lambda: reel_kernels.rmsnorm_e4m3(x, out=codes))
        self.refused(ValueError, "an output in codes", lambda: reel_kernels.rmsnorm_e4m3(x, out=random(3, 64), out_scale=random(3)))
        self.refused(ValueError, "theta", lambda: reel_kernels.rope_1d(random(1, 3, 1, 8), None, 0.0))
        self.refused(ValueError, "(?i)grid|tokens|frames", lambda: reel_kernels.rope_3d(random(1, 6, 1, 8), None, 2, 2, 2))
        self.refused(ValueError, "cpu, loops", lambda: reel_kernels.rmsnorm(x, variant="fastest"))
        self.refused(ValueError, "above zero", lambda: reel_kernels.ltx_rope_table(0, 2, 2, 32))
        self.refused(ValueError, "no such operator", lambda: reel_kernels.variants("softmax"))

    def test_types_are_not_implemented(self):
        out = random(3, 64)
        for dtype in (torch.float64, torch.int32, torch.bool, torch.complex64, torch.float8_e4m3fn):
            x = torch.zeros(3, 64).to(dtype)
            self.refused(NotImplementedError, "dtype|type", lambda x=x: reel_kernels.rmsnorm(x, out=out), out)
            self.refused(NotImplementedError, "dtype|type", lambda x=x: reel_kernels.silu(x))

    def test_gradients_are_not_implemented(self):
        x, w = random(3, 64), random(64).requires_grad_()
        self.refused(NotImplementedError, "inference only.*weight.*no_grad", lambda: reel_kernels.rmsnorm(x, w))
        self.refused(NotImplementedError, "inference only", lambda: reel_kernels.rmsnorm(x, w, out=torch.empty_like(x)))
        with torch.no_grad():
            self.assertFalse(reel_kernels.rmsnorm(x, w).requires_grad)
        with torch.inference_mode():
            reel_kernels.rmsnorm(x, w)

    def test_a_saved_tensor_that_is_overwritten_is_noticed(self):
        a = random(4).requires_grad_()
        saved = random(4)
        product = a * saved
        reel_kernels.silu(random(4), out=saved)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            product.sum().backward()

    def test_a_gpu_without_its_library_is_a_runtime_error(self):
        if torch.cuda.is_available():
            self.skipTest("this machine has a GPU")
        for device in ("cuda:0", "cuda"):
            with self.assertRaisesRegex(RuntimeError, "built without CUDA|no such CUDA device"):
                reel_kernels.variants("rms_norm", device)
