# SPDX-License-Identifier: Apache-2.0
"""Kernels in diffusers' LTX-Video: same results, right counts, the order with offloading, and the way back."""

import copy
import unittest

import reel_kernels
import tiny_ltx
import torch
from op_cases import DEVICE, random
from diffusers import AutoencoderKLLTXVideo, LTXVideoTransformer3DModel
from diffusers.models.activations import GEGLU, SwiGLU
from diffusers.models.normalization import RMSNorm

NEEDS = ("diffusers",)


@torch.no_grad()
def run(model, dtype=torch.float32):
    return model(*tiny_ltx.transformer_inputs(dtype), return_dict=False)[0]


class Transformer(unittest.TestCase):
    def test_the_2b_model_has_168_norms_and_56_processors(self):
        with torch.device("meta"):
            model = LTXVideoTransformer3DModel()
        report = reel_kernels.patch_ltx(model)
        self.assertEqual(report.patched, {"rms_norm_weighted": 112, "rms_norm_weightless": 56,
                                          "attention_processor": 56, "feed_forward": 28, "layer_norm": 1})
        self.assertEqual(report.skipped, {})
        self.assertEqual(reel_kernels.unpatch(model), sum(report.patched.values()))

    def test_same_result_from_kernels(self):
        model = tiny_ltx.transformer()
        want, before = run(model), reel_kernels.calls()
        report = reel_kernels.patch_ltx(model)
        self.assertEqual(report.patched["rms_norm_weighted"] + report.patched["rms_norm_weightless"], 12)
        torch.testing.assert_close(run(model), want, rtol=1e-5, atol=2e-5)
        ran = {op: count - before.get(op, 0) for op, count in reel_kernels.calls().items()}
        kinds = {op: sum(n for row, n in ran.items() if row.startswith(op + "/"))
                 for op in ("rms_norm", "qk_norm_rope", "activation", "layer_norm")}
        # Of 2 layers: norm1, norm2 and the two of cross attention; self attention; feed-forward.
        self.assertEqual(kinds, {"rms_norm": 8, "qk_norm_rope": 2, "activation": 2, "layer_norm": 1})

    def test_sixteen_bits_stay_near(self):
        for dtype in (torch.bfloat16, torch.float16):
            model = tiny_ltx.transformer()
            exact = run(model)
            model = model.to(dtype)
            plain = (run(model, dtype).float() - exact).abs().mean()
            reel_kernels.patch_ltx(model)
            ours = run(model, dtype)
            self.assertEqual(ours.dtype, dtype)
            self.assertLess((ours.float() - exact).abs().mean(), 1.2 * plain)

    def test_the_way_back_is_bit_for_bit(self):
        model = tiny_ltx.transformer()
        want = run(model)
        processors = [m.processor for m in model.modules() if hasattr(m, "processor")]
        reel_kernels.patch_ltx(model)
        self.assertGreater(reel_kernels.unpatch(model), 0)
        self.assertTrue(torch.equal(run(model), want))
        self.assertTrue(all(a is b for a, b in zip(
            processors, [m.processor for m in model.modules() if hasattr(m, "processor")])))
        self.assertFalse([k for m in model.modules() for k in m.__dict__ if k in ("forward", "_reel_kernels")])
        self.assertEqual(reel_kernels.unpatch(model), 0)

    def test_a_copy_of_a_patched_model_uses_its_own_weights(self):
        model = tiny_ltx.transformer()
        reel_kernels.patch_ltx(model)
        twin = copy.deepcopy(model)
        want = run(model)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
        self.assertTrue(torch.equal(run(twin), want))

    def test_hooked_and_patched_models_are_refused(self):
        model = tiny_ltx.transformer()
        model.transformer_blocks[1].norm1._hf_hook = object()
        with self.assertRaisesRegex(ValueError, "transformer_blocks.1.norm1.*offload.*patch it, and then"):
            reel_kernels.patch_ltx(model)
        self.assertFalse([m for m in model.modules() if hasattr(m, "_reel_kernels")])
        del model.transformer_blocks[1].norm1._hf_hook
        reel_kernels.patch_ltx(model)
        with self.assertRaisesRegex(ValueError, "patched already"):
            reel_kernels.patch_ltx(model)
        model.transformer_blocks[0].norm1._hf_hook = object()
        with self.assertRaisesRegex(ValueError, "cannot unpatch"):
            reel_kernels.unpatch(model)

    def test_patched_before_hooks_the_forward_is_what_a_hook_wraps(self):
        model = tiny_ltx.transformer()
        want = run(model)
        reel_kernels.patch_ltx(model)
        norm, seen = model.transformer_blocks[0].attn1.norm_q, []
        patched = norm.forward

        def hooked(*args):  # as accelerate wraps: it brings the weights, then calls what was there
            seen.append(args)
            return patched(*args)

        norm._hf_hook, norm.forward = object(), hooked
        torch.testing.assert_close(run(model), want, rtol=1e-5, atol=2e-5)
        self.assertEqual(len(seen), 1)

    def test_foreign_modules_are_left_and_named(self):
        model = tiny_ltx.transformer()

        class OtherProcessor(type(model.transformer_blocks[0].attn1.processor)):
            pass

        class OtherNorm(torch.nn.RMSNorm):
            pass

        model.transformer_blocks[0].attn1.set_processor(OtherProcessor())
        model.transformer_blocks[1].attn2.norm_q = OtherNorm(32, eps=1e-5)
        report = reel_kernels.patch_ltx(model)
        self.assertEqual(report.skipped, {"transformer_blocks.0.attn1": "its processor is a OtherProcessor"})
        self.assertEqual((report.patched["attention_processor"], report.patched["rms_norm_weighted"]), (3, 7))
        with self.assertRaisesRegex(ValueError, "no attention of LTX-Video"):
            reel_kernels.patch_ltx(torch.nn.Linear(2, 2))

    def test_a_check_that_fails_unpatches(self):
        model = tiny_ltx.transformer()
        self.assertTrue(reel_kernels.patch_ltx(model, check=lambda: run(model)).patched)
        reel_kernels.unpatch(model)
        results = iter((torch.zeros(2), torch.ones(2)))

        def unlike():
            run(model)
            return next(results)

        with self.assertRaisesRegex(RuntimeError, "computes something else"):
            reel_kernels.patch_ltx(model, check=unlike)
        with self.assertRaisesRegex(RuntimeError, "no kernel ran"):
            reel_kernels.patch_ltx(model, check=lambda: torch.zeros(2))
        self.assertFalse([m for m in model.modules() if hasattr(m, "_reel_kernels")])


class Pieces(unittest.TestCase):
    """Modules that stand beside an LTX attention, patched as patch_ltx patches them."""

    def patched(self, module, x):
        model = tiny_ltx.transformer()
        model.piece = module
        module, x = module.to(DEVICE), x.to(DEVICE)
        with torch.no_grad():
            want = module(x)
            reel_kernels.patch_ltx(model)
            self.assertIn("forward", module.__dict__)
            return module(x), want

    def test_gated_forms_have_their_gate_second(self):
        x = torch.randn(3, 16)
        for module in (GEGLU(16, 24), SwiGLU(16, 24)):
            torch.testing.assert_close(*self.patched(module, x), rtol=1e-5, atol=1e-5)

    def test_an_eps_of_none_is_the_one_of_fp32(self):
        x = torch.full((2, 16), 1e-4)
        torch.testing.assert_close(*self.patched(torch.nn.RMSNorm(16), x), rtol=1e-5, atol=0)

    def test_an_eps_of_zero_is_a_value(self):
        x = torch.full((2, 16), 1e-6)
        torch.testing.assert_close(*self.patched(torch.nn.RMSNorm(16, eps=0.0), x), rtol=1e-5, atol=0)

    def test_a_bias_is_not_dropped(self):
        module = RMSNorm(16, eps=1e-5, bias=True)
        torch.nn.init.normal_(module.bias)
        torch.testing.assert_close(*self.patched(module, torch.randn(3, 16)), rtol=1e-5, atol=1e-5)

    def test_fp32_weights_beside_bf16_keep_each_class_its_type(self):
        x = torch.randn(3, 16).bfloat16()
        for module, dtype in ((RMSNorm(16, eps=1e-5), torch.float32), (torch.nn.RMSNorm(16, eps=1e-5), torch.bfloat16)):
            got, want = self.patched(module, x)
            self.assertEqual((got.dtype, want.dtype), (dtype, dtype))
            torch.testing.assert_close(got, want, rtol=1e-2, atol=1e-2)


class Vae(unittest.TestCase):
    def test_the_norms_of_the_whole_vae(self):
        with torch.device("meta"):
            vae = AutoencoderKLLTXVideo()
        expected = sum(type(m) is RMSNorm for m in vae.modules())
        report = reel_kernels.patch_ltx_vae(vae)
        self.assertEqual(report.patched["rms_norm_weightless"], expected)
        self.assertEqual(expected, 78)

    def test_moved_dimensions_keep_result_and_layout(self):
        vae = tiny_ltx.vae()
        z = random(1, tiny_ltx.LATENT_CHANNELS, 2, 2, 2)
        with torch.no_grad():
            want = vae.decode(z).sample
            reel_kernels.patch_ltx_vae(vae)
            norm = vae.decoder.norm_out
            for x in (random(1, 8, 2, 3, 5), random(1, 8, 2, 3, 5).to(memory_format=torch.channels_last_3d)):
                self.assertEqual(norm(x.movedim(1, -1)).stride(), x.movedim(1, -1).stride())
            torch.testing.assert_close(vae.decode(z).sample, want, rtol=1e-4, atol=1e-4)

    def test_channels_apart_are_left_to_the_module(self):
        vae = tiny_ltx.vae()
        reel_kernels.patch_ltx_vae(vae)
        x = random(1, 8, 2, 3, 5)
        with torch.no_grad():
            before = reel_kernels.calls()
            apart = vae.decoder.norm_out(x.movedim(1, -1))
            self.assertEqual(reel_kernels.calls(), before)
            beside = vae.decoder.norm_out(x.to(memory_format=torch.channels_last_3d).movedim(1, -1))
            self.assertNotEqual(reel_kernels.calls(), before)
        torch.testing.assert_close(beside, apart, rtol=1e-5, atol=1e-5)


class Pipeline(unittest.TestCase):
    def test_patched_frames_are_the_unpatched_ones(self):
        pipeline = tiny_ltx.pipeline()
        want = tiny_ltx.frames(pipeline)
        self.assertGreater(want.std().item(), 0.01)
        reel_kernels.patch_ltx(pipeline.transformer)
        reel_kernels.patch_ltx_vae(pipeline.vae)
        got = tiny_ltx.frames(pipeline)
        torch.testing.assert_close(got, want, rtol=0, atol=1e-4)
        levels = (reel_kernels.frame_convert(got[0] * 2 - 1, layout="planar").int()
                  - (want[0] * 255).round().movedim(1, -1).int()).abs().max()
        self.assertLessEqual(levels.item(), 1)
