# SPDX-License-Identifier: Apache-2.0
"""Kernels in transformers: a probe tells the forms of RMS norms apart, and refuses what is none."""

import unittest

import reel_kernels
import torch
from transformers import (GemmaConfig, GemmaForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM,
                          T5Config, T5EncoderModel)

NEEDS = ("transformers",)
SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "vocab_size": 50, "head_dim": 8}


def randomised(model):
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model.eval()


@torch.no_grad()
def run(model):
    return model(torch.arange(2, 14).view(2, 6))[0]


class Models(unittest.TestCase):
    def check(self, model, norms, skipped=0, **options):
        for dtype, bound in ((torch.float32, 1e-5), (torch.bfloat16, 0.05)):
            model = model.to(dtype)
            want = run(model)
            report = reel_kernels.patch_transformers(model, check=lambda: run(model), **options)
            self.assertEqual(report.patched["rms_norm_weighted"], norms)
            self.assertEqual(len(report.skipped), skipped, report.skipped)
            torch.testing.assert_close(run(model), want, rtol=bound, atol=bound)
            settings = {m._reel_kernels.settings for m in model.modules() if hasattr(m, "_reel_kernels")}
            reel_kernels.unpatch(model)
            self.assertTrue(torch.equal(run(model), want))
        return {s for s in settings if s is not None}

    def test_llama_rounds_before_the_weight(self):
        (settings,) = self.check(randomised(LlamaForCausalLM(LlamaConfig(**SMALL, rms_norm_eps=1e-5))), 5)
        self.assertEqual((settings.eps, settings.weight_offset, settings.round_before_weight), (1e-5, 0.0, True))
        self.assertFalse(settings.keeps_dtype)

    def test_qwen_has_norms_of_heads_too(self):
        settings = self.check(randomised(Qwen3ForCausalLM(Qwen3Config(**SMALL))), 9)
        self.assertEqual({s.round_before_weight for s in settings}, {True})

    def test_gemma_adds_one_to_the_weight(self):
        (settings,) = self.check(randomised(GemmaForCausalLM(GemmaConfig(**SMALL))), 5)
        self.assertEqual((settings.weight_offset, settings.round_before_weight, settings.keeps_dtype), (1.0, False, True))

    def t5(self):
        config = T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                          feed_forward_proj="gated-gelu")
        return randomised(T5EncoderModel(config))

    def test_t5_is_found_by_name(self):
        self.check(self.t5(), 5, skipped=2)

    def test_the_gate_of_t5_is_patched_only_when_asked(self):
        model = self.t5()
        report = reel_kernels.patch_transformers(model)
        self.assertEqual(report.patched["gated_feed_forward"], 0)
        self.assertTrue(all("approx_ok" in reason for reason in report.skipped.values()))
        reel_kernels.unpatch(model)
        want = run(model)
        report = reel_kernels.patch_transformers(model, approx_ok=True)
        self.assertEqual((report.patched["gated_feed_forward"], report.skipped), (2, {}))
        torch.testing.assert_close(run(model), want, rtol=1e-5, atol=1e-5)


class OddRMSNorm(torch.nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(16))
        self.eps = eps

    def forward(self, x):
        return torch.sigmoid(x) * self.weight


class GatedRMSNorm(OddRMSNorm):
    def forward(self, x, gate=None):
        return x


class NamelessRMSNorm(torch.nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))


class ZeroEpsRMSNorm(OddRMSNorm):
    """Two names of eps, of which the first counts, though it is zero."""

    def __init__(self):
        super().__init__(eps=1.0)
        self.variance_epsilon = 0.0

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))


class Probe(unittest.TestCase):
    def test_what_is_no_rms_norm_is_left_with_a_reason(self):
        model = torch.nn.ModuleDict({"odd": OddRMSNorm(), "gated": GatedRMSNorm(), "nameless": NamelessRMSNorm(),
                                     "zero": ZeroEpsRMSNorm()})
        with torch.device("meta"):
            model["meta"] = ZeroEpsRMSNorm()
        report = reel_kernels.patch_transformers(model)
        self.assertEqual(report.patched, {"rms_norm_weighted": 1})
        self.assertEqual(sorted(report.skipped), ["gated", "meta", "nameless", "odd"])
        self.assertIn("something else", report.skipped["odd"])
        self.assertIn("2 inputs: x, gate", report.skipped["gated"])
        self.assertIn("epsilon", report.skipped["nameless"])
        self.assertIn("meta device", report.skipped["meta"])
        self.assertEqual(model["zero"]._reel_kernels.settings.eps, 0.0)

    def test_nothing_to_patch_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "nothing to patch in Linear"):
            reel_kernels.patch_transformers(torch.nn.Linear(2, 2))
