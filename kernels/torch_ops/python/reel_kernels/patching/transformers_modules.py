# SPDX-License-Identifier: Apache-2.0
"""RMS norms of transformers, of which there are some two hundred classes: a probe decides what each computes."""

import copy
import inspect

import torch

from .. import activations, norms
from .norm_forwards import NormSettings, eps_of, rms_norm_forward
from .replacement import Replacement, replace_modules

_ROWS = 4
_WIDTH = 64  # of the probe of a norm without a weight


def patch_transformers(model, *, approx_ok=False, check=None):
    """The RMS norms of a model of transformers; and with `approx_ok` the gated feed-forwards of T5, whose GELU
    transformers rounds at every step and the kernel once. Returns a PatchReport. As patch_ltx otherwise."""

    def choose(_, module):
        if type(module).__name__ == "T5DenseGatedActDense":
            return _t5_gate(module, approx_ok)
        return _norm(module) if _is_candidate(module) else None

    return replace_modules(model, choose, check)


def _is_candidate(module):
    name = type(module).__name__
    return "RMSNorm" in name or name == "T5LayerNorm"


def _norm(module):
    inputs = [p for p in inspect.signature(type(module).forward).parameters.values()
              if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][1:]
    if len(inputs) != 1:
        return f"it takes {len(inputs)} inputs: {', '.join(p.name for p in inputs)}"
    weight = getattr(module, "weight", None)
    if any(parameter.is_meta for parameter in module.parameters()):
        return "it is on the meta device and cannot be probed"
    if weight is not None and weight.dim() != 1:
        return f"its weight has {weight.dim()} dimensions"
    try:
        eps = eps_of(module)
    except KeyError as missing:
        return f"its epsilon is not known: it has {missing.args[0]}"
    settings = _probe(module, eps)
    if isinstance(settings, str):
        return settings
    return Replacement("rms_norm_weightless" if weight is None else "rms_norm_weighted", rms_norm_forward, settings)


@torch.no_grad()
def _probe(module, eps):
    """Settings under which the kernel gives what the module does, or why there are none."""
    weight = getattr(module, "weight", None)
    generator = torch.Generator().manual_seed(0)
    row = torch.randn(_ROWS, _WIDTH if weight is None else weight.shape[0], generator=generator)
    try:
        twin = copy.deepcopy(module).to("cpu", torch.float32)
        # Fresh weights are ones or zeros, which hide what is done with them.
        for parameter in twin.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        want = twin(row)
        for offset in (0.0, 1.0):
            settings = NormSettings(eps, offset)
            if _agree(_kernel(twin, row, settings), want, 1e-5):
                return _with_rounding(twin, row, settings)
    except Exception as error:  # noqa: BLE001 - a module of any make; whatever it raises is the reason
        return f"it cannot be probed: {type(error).__name__}: {error}"
    return "it computes something else than an RMS norm"


def _with_rounding(twin, row, settings):
    """Where the module rounds, from how it treats bf16."""
    short = row.bfloat16()
    keeps_dtype = twin(short).dtype == torch.bfloat16 or getattr(twin, "weight", None) is None
    twin = twin.to(torch.bfloat16)
    want = twin(short)
    if want.dtype != torch.bfloat16:
        return f"it gives {want.dtype} for bf16"
    choices = [NormSettings(settings.eps, settings.weight_offset, before, keeps_dtype)
               for before in ((False, True) if settings.weight_offset == 0 else (False,))]
    return min(choices, key=lambda choice: (_kernel(twin, short, choice) != want).sum().item())


def _kernel(twin, row, settings):
    return norms.rmsnorm(row, getattr(twin, "weight", None), settings.eps, bias=getattr(twin, "bias", None),
                         weight_offset=settings.weight_offset, round_before_weight=settings.round_before_weight)


def _agree(got, want, bound):
    return got.shape == want.shape and bool(((got - want).abs() <= bound * (1 + want.abs())).all())


def _t5_gate(module, approx_ok):
    if not approx_ok:
        return "its GELU is rounded at every step, the kernel's once: patched with approx_ok=True"
    if type(module.act).__name__ not in ("NewGELUActivation", "GELUTanh"):
        return f"its activation is a {type(module.act).__name__}"
    return Replacement("gated_feed_forward", _t5_gate_forward)


def _t5_gate_forward(self, hidden_states):
    gated = activations.geglu(self.wi_0(hidden_states), value=self.wi_1(hidden_states))
    gated = self.dropout(gated)
    # Some checkpoints keep this one matrix in fp32.
    weight = self.wo.weight
    if isinstance(weight, torch.Tensor) and weight.dtype not in (gated.dtype, torch.int8):
        gated = gated.to(weight.dtype)
    return self.wo(gated)
