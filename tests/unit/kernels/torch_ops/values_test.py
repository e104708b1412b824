# SPDX-License-Identifier: Apache-2.0
"""Every operator against plain PyTorch in fp64: types, shapes, layouts; functional, `_out` and in place alike."""

import unittest

import reel_kernels
import torch
from op_cases import DEVICE, DTYPES, UNIT_ROUNDOFF, cases, close, crooked, operator, random, tensors


def sums_of(case):
    """How exact its sums are. Tensor cores add products of e4m3 with 13 bits or so beside the largest, which is 20 here; and
    where there is a bias, libtorch may round the product before it is added."""
    if DEVICE == "cpu" or case.op not in ("linear", "conv3d") or case.args[0].dtype == torch.int8:
        return {}
    codes, has_bias = case.args[0].dtype == torch.float8_e4m3fn, len(case.args) > 2 and case.args[2] is not None
    if not has_bias:
        return {"sums": 5e-3} if codes else {}
    return {"sums": 5e-2 if codes else max(2e-5, 32 * UNIT_ROUNDOFF[case.args[0].dtype])}


def written_to(one, variant):
    """Where the caller wants it: crooked, but for the kernel that writes whole rows alone."""
    return torch.full_like(one, 77) if variant == "sm90_int8" else crooked(one)


def one_variant(case):
    """Others take other layouts, and sum in another order."""
    if DEVICE == "cpu":
        return "loops"
    if case.op == "linear" and case.args[0].dtype == torch.int8:
        return "sm90_int8"
    return "aten" if case.op in ("linear", "conv3d") else "generic"


class Values(unittest.TestCase):
    def test_every_operator_gives_what_pytorch_gives(self):
        seen, count = set(), 0
        for dtype in DTYPES:
            for case in cases(dtype):
                got = tensors(operator(case.op)(*case.args, **case.kwargs))
                self.assertEqual(len(got), len(case.want), case.label)
                for one, want in zip(got, case.want):
                    if want is None:
                        self.assertEqual(one.numel(), 0, case.label)
                        continue
                    self.assertTrue(one.is_contiguous(), case.label)
                    self.assertTrue(close(one, want, **sums_of(case)), f"{case.label}: {one} is not {want}")
                    count += 1
                seen.add(case.op)
        numeric = set(torch.ops.reel_kernels.operators()) - {"frame_convert_i420", "frame_convert_nv12"}
        self.assertEqual(numeric - seen, set())
        self.assertGreater(count, 300)

    def test_mutating_form_writes_the_callers_tensor_bit_for_bit(self):
        for dtype in DTYPES:
            for case in cases(dtype):
                options = {**case.kwargs, "variant": one_variant(case)}
                want = tensors(operator(case.op)(*case.args, **options))
                outs = [None if value is None else written_to(one, options["variant"]) for one, value in zip(want, case.want)]
                self.assertIsNone(operator(case.op + "_out")(*outs, *case.args, **options))
                for out, one in zip(outs, want):
                    if out is not None:
                        self.assertTrue(torch.equal(out, one), case.label)

    def test_output_may_be_the_input(self):
        x, w = random(3, 64), random(64)
        want = reel_kernels.rmsnorm(x, w)
        self.assertTrue(torch.equal(reel_kernels.rmsnorm(x, w, out=x), want))
        self.assertTrue(torch.equal(x, want))
        q, k = random(1, 4, 2, 8), random(1, 4, 1, 8)
        want = reel_kernels.rope_1d(q, k)
        self.assertIs(reel_kernels.rope_1d_(q, k)[0], q)
        self.assertTrue(torch.equal(q, want[0]) and torch.equal(k, want[1]))

    def test_in_place_on_a_view_changes_its_base(self):
        base = random(4, 6, 16)
        view = base[:, ::2]
        want = reel_kernels.silu(view)
        reel_kernels.silu(view, out=view)
        self.assertTrue(torch.equal(base[:, ::2], want))

    def test_rounding_before_the_weight_is_the_order_of_llama(self):
        x, w = random(5, 128, dtype=torch.bfloat16), random(128, dtype=torch.bfloat16)
        normed = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
        got = reel_kernels.rmsnorm(x, w, round_before_weight=True)
        self.assertLess((got != w * normed.bfloat16()).sum().item(), 4)

    def test_every_variant_can_be_forced(self):
        x = random(3, 64, dtype=torch.bfloat16)
        for variant in reel_kernels.variants("rms_norm", DEVICE):
            before = reel_kernels.calls().get(f"rms_norm/{variant}", 0)
            call = reel_kernels.rmsnorm_e4m3 if variant.endswith("e4m3") else reel_kernels.rmsnorm
            call(x, variant=variant)
            self.assertEqual(reel_kernels.calls()[f"rms_norm/{variant}"], before + 1)


class Linear(unittest.TestCase):
    def test_a_prepared_layer_is_the_layer_behind_its_norm(self):
        x, w, b, norm, beta = random(2, 5, 64), random(7, 64), random(7), random(64), random(65)[1:]
        for layer in (False, True):
            parts = {"norm_bias": beta, "layer_norm": layer}
            prepared = reel_kernels.prepare_norm_linear(w, norm, b, **parts)
            self.assertEqual(prepared.sums is not None, layer)
            got = reel_kernels.norm_linear(x, w, norm, b, **parts)
            self.assertTrue(torch.equal(reel_kernels.norm_linear(x, prepared), got))
            out = torch.empty_like(got)
            self.assertIs(reel_kernels.norm_linear(x, prepared, out=out), out)
            self.assertTrue(torch.equal(out, got))
            normed = (reel_kernels.layernorm(x, norm, beta, 1e-6) if layer else
                      reel_kernels.rmsnorm(x, norm, bias=beta))
            torch.testing.assert_close(got, torch.nn.functional.linear(normed, w, b), rtol=1e-4, atol=1e-4)

    def test_only_what_has_something_to_fold_is_prepared(self):
        x, w, b = random(3, 64), random(7, 64), random(7)
        before = reel_kernels.calls()
        reel_kernels.norm_linear(x, w, None, b)
        after = reel_kernels.calls()
        count = {key: after[key] - before.get(key, 0) for key in after if "norm_linear" in key}
        self.assertEqual(sum(n for key, n in count.items() if key.startswith("norm_linear/")), 1)
        self.assertEqual(sum(n for key, n in count.items() if key.startswith("prepare_norm_linear/")), 0)
        self.assertIsNone(reel_kernels.prepare_norm_linear(w, random(64)).bias)

    def test_pytorchs_own_product_is_the_default_and_is_counted(self):
        x, w, b = random(2, 5, 64), random(16, 64), random(16)
        self.assertEqual(reel_kernels.variants("linear", DEVICE)[0], "aten")
        before = reel_kernels.calls().get("linear/aten", 0)
        want = torch.nn.functional.linear(x, w, b)
        self.assertTrue(torch.equal(reel_kernels.linear(x, w, b), want))
        out = torch.empty(2, 5, 32, device=DEVICE)[..., ::2]
        self.assertIs(reel_kernels.linear(x, w, b, out), out)
        self.assertTrue(torch.equal(out, want))
        self.assertEqual(reel_kernels.calls()["linear/aten"], before + 2)
        torch.testing.assert_close(reel_kernels.linear(x.bfloat16(), w.bfloat16(), b), want, rtol=0.02, atol=0.1, check_dtype=False)

    def test_products_of_codes_are_those_of_the_rows(self):
        k, x, w, b = reel_kernels, random(64, 128, dtype=torch.bfloat16), random(32, 128, dtype=torch.bfloat16), random(32)
        want = torch.nn.functional.linear(x.float(), w.float(), b)
        for make, share in ((k.quantize_rows, 0.06), (k.int8_rows, 0.03)):
            (codes, scales), (layer, layer_scales) = make(x), make(w)
            got = k.linear(codes, layer, b, input_scale=scales, weight_scale=layer_scales)
            self.assertEqual(got.dtype, torch.bfloat16)
            self.assertLess((got.float() - want).norm() / want.norm(), share)
            if DEVICE == "cpu":
                oracle = k.linear(codes, layer, b, input_scale=scales, weight_scale=layer_scales, variant="loops")
                torch.testing.assert_close(got, oracle, rtol=0.01, atol=1e-3)
                wide = k.linear(codes, layer, input_scale=scales, weight_scale=layer_scales, out_dtype=torch.float32)
                self.assertEqual(wide.dtype, torch.float32)

    @unittest.skipUnless(DEVICE == "cuda", "the peak of a GPU's memory")
    def test_holds_less_than_the_normed_rows(self):
        x, w = random(4096, 2048, dtype=torch.bfloat16), random(64, 2048, dtype=torch.bfloat16)
        reel_kernels.norm_linear(x, w)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        out = reel_kernels.norm_linear(x, w)
        held = torch.cuda.max_memory_allocated() - before
        self.assertLess(held, x.numel() * x.element_size() // 4)
        self.assertEqual(held, out.numel() * out.element_size())


class E4m3(unittest.TestCase):
    """What the module's functions return where one scale is given for all, and what they write."""

    def test_functions_give_codes_and_scales(self):
        k, x, v = reel_kernels, random(2, 3, 64), random(2, 1, 64)
        w = random(64)
        calls = [(lambda **o: k.rmsnorm_e4m3(x, w, **o), k.rmsnorm(x, w)),
                 (lambda **o: k.adaln_rmsnorm_e4m3(x, None, v, v, **o), k.adaln_rmsnorm(x, None, v, v)),
                 (lambda **o: k.gelu_tanh_e4m3(x, bias=w, **o), k.gelu_tanh(x, bias=w))]
        for call, plain in calls:
            codes, scales = call()
            self.assertEqual((codes.dtype, scales.shape), (torch.float8_e4m3fn, (2, 3)))
            self.assertTrue(close(codes, k.quantize_rows(plain)[0]))
            out, out_scale = torch.empty_like(codes), torch.empty_like(scales)
            written = call(out=out, out_scale=out_scale)
            self.assertTrue(written[0] is out and written[1] is out_scale)
            self.assertTrue(torch.equal(out.float(), codes.float()) and torch.equal(out_scale, scales))
            self.assertIsNone(call(static_out_scale=0.5)[1])

    def test_the_gated_sum_comes_between(self):
        k, x, y, v = reel_kernels, random(2, 3, 64), random(2, 3, 64) * 2, random(2, 1, 64)
        codes, total, scales = k.gate_residual_adaln_e4m3(x, y, v, v, v)
        plain, same = k.gate_residual_adaln(x, y, v, v, v)
        self.assertTrue(torch.allclose(total, same))
        self.assertTrue(close(codes, k.quantize_rows(plain)[0]))
        out, out_scale = torch.empty_like(codes), torch.empty_like(scales)
        k.gate_residual_adaln_e4m3(x, y, v, v, v, out=out, residual_out=x, out_scale=out_scale)
        self.assertTrue(torch.equal(x, total) and torch.equal(out_scale, scales))


class Int8(unittest.TestCase):
    def test_functions_give_codes_and_scales(self):
        k, x, y, v = reel_kernels, random(2, 3, 64), random(2, 3, 64) * 2, random(2, 1, 64)
        for call, plain in ((lambda **o: k.adaln_rmsnorm_int8(x, None, v, v, **o), k.adaln_rmsnorm(x, None, v, v)),
                            (lambda **o: k.gate_residual_adaln_int8(x, y, v, v, v, **o), k.gate_residual_adaln(x, y, v, v, v)[0])):
            made = call()
            codes, scales = made[0], made[-1]
            self.assertEqual((codes.dtype, scales.shape), (torch.int8, (2, 3)))
            self.assertTrue(close(codes, k.int8_rows(plain)[0]))
            out, out_scale = torch.empty_like(codes), torch.empty_like(scales)
            written = call(out=out, out_scale=out_scale)
            self.assertTrue(written[0] is out and written[-1] is out_scale)
            self.assertTrue(torch.equal(out, codes) and torch.equal(out_scale, scales))


class Video(unittest.TestCase):
    def test_pytorchs_own_convolution_is_the_default(self):
        x, w, b = random(1, 4, 3, 6, 5), random(3, 4, 3, 3, 3), random(3)
        want = torch.nn.functional.conv3d(x, w, b, (1, 2, 1), (0, 1, 1))
        before = reel_kernels.calls().get("conv3d/aten", 0)
        torch.testing.assert_close(reel_kernels.conv3d(x, w, b, stride=(1, 2, 1), padding=(0, 1, 1)), want)
        out = torch.empty_like(want).to(memory_format=torch.channels_last_3d)
        self.assertIs(reel_kernels.conv3d(x, w, b, out, stride=(1, 2, 1), padding=(0, 1, 1)), out)
        torch.testing.assert_close(out, want)
        self.assertEqual(reel_kernels.calls()["conv3d/aten"], before + 2)

    def test_a_sum_is_written_beside_its_norm(self):
        k, x, r, b = reel_kernels, random(1, 2, 3, 5, 16), random(1, 2, 3, 5, 16) * 2, random(16)
        got, total = k.channel_norm_silu_sum(x, residual=r, bias=b)
        torch.testing.assert_close(total, x + r + b)
        self.assertTrue(torch.equal(got, k.channel_norm_silu(x, residual=r, bias=b)))
        out, sum_out = torch.empty_like(got), torch.empty_like(total)
        k.channel_norm_silu_sum(x, None, None, 1e-8, out, sum_out, residual=r, bias=b)
        self.assertTrue(torch.equal(out, got) and torch.equal(sum_out, total))

    def test_planes_of_one_colour(self):
        frames = torch.tensor([0.5, -0.25, 0.1], device=DEVICE).expand(2, 5, 7, 3)
        r, g, b = ((frames[0, 0, 0].double() * 0.5 + 0.5)).tolist()
        y = 0.2126 * r + 0.7152 * g + 0.0722 * b
        want = [round(v) for v in (16 + 219 * y, 128 + 224 * (b - y) / 1.8556, 128 + 224 * (r - y) / 1.5748)]
        planes = reel_kernels.frame_convert(frames, "i420")
        self.assertEqual([list(plane.shape) for plane in planes], [[2, 5, 7], [2, 3, 4], [2, 3, 4]])
        self.assertEqual([plane.unique().tolist() for plane in planes], [[v] for v in want])
        luma, chroma = reel_kernels.frame_convert(frames, "nv12")
        self.assertTrue(torch.equal(luma, planes[0]))
        self.assertTrue(torch.equal(chroma, torch.stack(planes[1:], -1)))

    def test_patches_are_pixels(self):
        patched = random(1, 2, 3, 48).clamp(-1, 1)
        frames = torch.empty(1, 8, 12, 3, device=DEVICE)
        for c in range(3):
            for i in range(4):
                for j in range(4):
                    frames[:, i::4, j::4, c] = patched[..., 16 * c + 4 * j + i]
        self.assertTrue(torch.equal(reel_kernels.frame_convert(patched, layout="patched"),
                                    reel_kernels.frame_convert(frames)))


class PublicNames(unittest.TestCase):
    """The names and positions that callers of the public collection use."""

    def test_the_hubs_activations(self):
        k, x = reel_kernels, random(3, 32)
        for alias in (k.gelu_new, k.gelu_fast):
            self.assertTrue(torch.equal(alias(x), k.gelu_tanh(x)))
        first, second = x.chunk(2, -1)
        out = torch.empty_like(first)
        self.assertIs(k.fatrelu_and_mul(x, out, 0.3), out)
        self.assertTrue(torch.equal(out, torch.nn.functional.threshold(first, 0.3, 0.0) * second))
        self.assertTrue(torch.equal(k.fatrelu_and_mul(x), first.relu() * second))
        x[0, 0] = torch.nan
        self.assertTrue(k.fatrelu_and_mul(x)[0, 0].isnan())

    def test_nine_functions(self):
        x, w = random(2, 6, 16), random(16)
        q = random(2, 6, 2, 16)
        k = reel_kernels
        self.assertTrue(torch.equal(k.rmsnorm(x, w, 1e-5, None), torch.ops.reel_kernels.rms_norm(x, w, eps=1e-5)))
        y, total = k.rmsnorm_residual(x, x, w, 1e-6, torch.empty_like(x), torch.empty_like(x))
        self.assertTrue(torch.equal(total, x + x) and y.shape == x.shape)
        self.assertEqual(k.rope_1d(q, q, 10000.0)[1].shape, q.shape)
        self.assertTrue(torch.equal(k.rope_3d(q, q, 1, 2, 3, 100.0)[0],
                                    k.rope_3d_extended(q, q, 1, 2, 3, 4, 4, 8, 100.0, 100.0, 100.0)[0]))
        self.assertTrue(torch.equal(k.geglu(x, None, True), k.gelu_tanh_and_mul(x)))
        self.assertTrue(torch.equal(k.geglu(x, approximate=False), k.gelu_and_mul(x)))
        self.assertTrue(torch.equal(k.swiglu(x), k.silu_and_mul(x)))
        self.assertTrue(torch.equal(k.swiglu(x, gate="second"), k.mul_and_silu(x)))
        out = torch.empty_like(x)
        self.assertIs(k.adaln_rmsnorm(x, w, w, w, 1e-6, out), out)
        self.assertIs(k.adaln_layernorm(x, None, w, w, None, 1e-5, out), out)
        self.assertIs(k.adaln_zero(x, w, w, w, w, 1e-6, out), out)
