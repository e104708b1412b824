# SPDX-License-Identifier: Apache-2.0
"""The promises that torch.compile relies on: schemas, opcheck, and the meta device's sizes, types and strides."""

import unittest

import reel_kernels
import torch
from op_cases import cases, crooked, operator, random, tensors

ALL_CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def video_cases():
    frames = random(2, 4, 6, 3)
    return [("frame_convert_i420", (frames,)), ("frame_convert_nv12", (frames,))]


def one_of_each():
    """Two calls of each operator: a first, and one of another layout."""
    chosen = {}
    for case in cases(torch.float32):
        if all(a.numel() for a in case.args if isinstance(a, torch.Tensor)):
            chosen.setdefault(case.op, []).append((case.args, case.kwargs))
    for op, args in video_cases():
        chosen[op] = [(args, {})]
    return {op: calls[:2] for op, calls in chosen.items()}


class Schemas(unittest.TestCase):
    def test_two_operators_for_each_row(self):
        for name in torch.ops.reel_kernels.operators():
            schema, mutating = operator(name)._schema, operator(name + "_out")._schema
            self.assertFalse(schema.is_mutable, name)
            self.assertTrue(all(value.alias_info is None for value in schema.returns), name)
            self.assertEqual(len(mutating.returns), 0, name)
            written = [a for a in mutating.arguments if a.alias_info is not None and a.alias_info.is_write]
            self.assertEqual(len(written), len(schema.returns), name)
            for each in (schema, mutating):
                self.assertEqual(each.arguments[-1].name, "variant")
                self.assertTrue(each.arguments[-1].kwarg_only, f"{name}: its arguments lack the * before keywords")
            for op in (name, name + "_out"):
                self.assertIn(torch.Tag.pt2_compliant_tag, operator(op).tags)

    def test_every_kernel_has_an_operator(self):
        self.assertEqual(set(reel_kernels.operators()) - set(torch.ops.reel_kernels.operators()), set())


class OpCheck(unittest.TestCase):
    def test_all_operators(self):
        checked = set()
        for op, calls in one_of_each().items():
            for args, kwargs in calls:
                torch.library.opcheck(operator(op), args, kwargs)
            outs = [crooked(one) if one.numel() else None for one in tensors(operator(op)(*args, **kwargs))]
            # PyTorch itself cannot compare e4m3 tensors on a CPU, which the check of a mutating schema does.
            short = any(out is not None and out.dtype == torch.float8_e4m3fn for out in outs)
            torch.library.opcheck(operator(op + "_out"), (*outs, *args), kwargs,
                                  test_utils=ALL_CHECKS[1:] if short else ALL_CHECKS)
            checked.add(op)
        self.assertEqual(checked, set(torch.ops.reel_kernels.operators()))


class Meta(unittest.TestCase):
    def test_sizes_types_and_strides_are_the_real_ones(self):
        for dtype in (torch.float32, torch.bfloat16):
            for case in cases(dtype):
                def on_meta(value):
                    return value.to("meta") if isinstance(value, torch.Tensor) else value

                real = tensors(operator(case.op)(*case.args, **case.kwargs))
                fake = tensors(operator(case.op)(*map(on_meta, case.args),
                                                 **{k: on_meta(v) for k, v in case.kwargs.items()}))
                for a, b in zip(real, fake):
                    self.assertEqual((a.shape, a.dtype, a.stride()), (b.shape, b.dtype, b.stride()), case.label)
                    self.assertTrue(b.is_meta)
