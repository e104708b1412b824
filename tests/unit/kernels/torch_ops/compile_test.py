# SPDX-License-Identifier: Apache-2.0
"""torch.compile keeps the operators: one graph, the same numbers."""

import unittest

import reel_kernels
import tiny_ltx
import torch
from op_cases import DEVICE

NEEDS = ("diffusers",)


def block(x, w, scale, q, k):
    y = reel_kernels.rmsnorm(x, w)
    y = reel_kernels.adaln_rmsnorm(y, None, scale, scale)
    y, total = reel_kernels.rmsnorm_residual(y, x, w)
    out = torch.empty_like(y)
    reel_kernels.gate_residual(y, total, scale, out=out)
    q, k = reel_kernels.rope_1d(q, k)
    q, _ = reel_kernels.rope_3d(q, None, 1, q.shape[1], 1)
    return reel_kernels.swiglu(out), q + k


def block_inputs(tokens):
    generator = torch.Generator().manual_seed(tokens)

    def random(*shape):
        return torch.randn(*shape, generator=generator).to(DEVICE)

    return random(2, tokens, 64), random(64), random(2, 64), random(2, tokens, 2, 8), random(2, tokens, 2, 8)


class Compile(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    @torch.no_grad()
    def check_block(self, compiled, tokens):
        for got, want in zip(compiled(*block_inputs(tokens)), block(*block_inputs(tokens))):
            torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-6)

    def test_eager(self):
        self.check_block(torch.compile(block, fullgraph=True, backend="eager"), 5)

    def test_aot_eager(self):
        self.check_block(torch.compile(block, fullgraph=True, backend="aot_eager"), 5)

    def test_other_sizes_use_the_same_graph(self):
        graphs = []

        def counting(graph, inputs):
            graphs.append(graph)
            return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)

        compiled = torch.compile(block, fullgraph=True, backend=counting, dynamic=True)
        self.check_block(compiled, 5)
        made = len(graphs)
        for tokens in (7, 11):
            self.check_block(compiled, tokens)
        self.assertEqual(len(graphs), made)

    def test_the_operators_are_in_the_graph(self):
        graphs = []

        def keeping(graph, _):
            graphs.append(graph)
            return graph.forward

        self.check_block(torch.compile(block, fullgraph=True, backend=keeping), 5)
        called = {str(node.target) for node in graphs[0].graph.nodes if node.op == "call_function"}
        for op in ("rms_norm", "adaln_rms_norm", "rms_norm_residual", "gate_residual_out", "rope_1d", "gated_activation"):
            self.assertIn(op, " ".join(called))

    @torch.no_grad()
    def test_a_layer_is_prepared_within_the_graph(self):
        def layer(x, w, norm, b):
            prepared = reel_kernels.prepare_norm_linear(w, norm, b, layer_norm=True)
            return reel_kernels.norm_linear(x, prepared) + reel_kernels.norm_linear(x, w, norm, b)

        inputs = [torch.randn(*sizes, device=DEVICE) for sizes in ((2, 5, 32), (7, 32), (32,), (7,))]
        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(*inputs), layer(*inputs), rtol=1e-6, atol=1e-6)

    def test_the_rope_table_has_a_fake(self):
        def table(x):
            cos_sin, index = reel_kernels.ltx_rope_table(2, 2, 3, 32, device=DEVICE)
            return reel_kernels.ltx_rope(x, None, (cos_sin, index))[0]

        x = torch.randn(1, 12, 32, device=DEVICE)
        compiled = torch.compile(table, fullgraph=True, backend="aot_eager")
        self.assertTrue(torch.equal(compiled(x), table(x)))

    @torch.no_grad()
    def test_a_patched_transformer_has_no_graph_break(self):
        model = tiny_ltx.transformer()
        reel_kernels.patch_ltx(model)
        inputs = tiny_ltx.transformer_inputs()
        want = model(*inputs, return_dict=False)[0]
        explained = torch._dynamo.explain(lambda *each: model(*each, return_dict=False)[0])(*inputs)
        self.assertEqual((explained.graph_break_count, explained.graph_count), (0, 1))
        torch._dynamo.reset()
        before = reel_kernels.calls()
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(*inputs, return_dict=False)[0], want, rtol=1e-5, atol=1e-5)
        self.assertNotEqual(reel_kernels.calls(), before)
