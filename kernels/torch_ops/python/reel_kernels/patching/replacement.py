# SPDX-License-Identifier: Apache-2.0
"""Replaces forwards of modules, and undoes it.

A replaced forward is a method of the one module, and what it needs lies on the module: a deep copy of a patched model
is a patched model, and torch.compile sees plain functions.
"""

import collections
import dataclasses
import types

import torch

from ..listing import calls

SETTINGS = "_reel_kernels"


@dataclasses.dataclass
class PatchReport:
    """How many modules were patched, by kind; and by name those that were left, with the reason."""

    patched: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    skipped: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Replacement:
    """What a module's forward becomes."""

    kind: str
    forward: object
    settings: object = None


@dataclasses.dataclass(frozen=True)
class _Patch:
    settings: object = None
    processor: object = None  # the one before


def settings_of(module):
    return getattr(module, SETTINGS).settings


def refuse_hooked(model, doing):
    """accelerate's hooks wrap forwards: one that is replaced under them would skip them, or be lost with them."""
    for name, module in model.named_modules():
        if hasattr(module, "_hf_hook"):
            raise ValueError(
                f"cannot {doing}: '{name or 'the model'}' has an offload hook of accelerate. Move the model to its "
                "device, patch it, and then enable offloading; unpatch after the hooks are removed")


def replace_modules(model, choose, check=None):
    """Replaces the forward of each module for which `choose(name, module)` gives a Replacement.

    A reason (a string) is reported, None is not of interest. With `check`, a function that runs the model once and
    returns a tensor, the results before and after are compared; if they differ, or no kernel ran, the model is
    unpatched and RuntimeError is raised.
    """
    refuse_hooked(model, "patch")
    if any(hasattr(module, SETTINGS) for module in model.modules()):
        raise ValueError("the model is patched already; unpatch it first")
    before = _run(check)
    report = PatchReport()
    for name, module in list(model.named_modules()):
        chosen = choose(name, module)
        if isinstance(chosen, str):
            report.skipped[name] = chosen
        elif chosen is not None:
            _replace(module, chosen)
            report.patched[chosen.kind] += 1
    if not report.patched:
        raise ValueError(f"there is nothing to patch in {type(model).__name__}; left out: {report.skipped or 'nothing'}")
    _compare(model, check, before)
    return report


def _replace(module, chosen):
    if isinstance(chosen.forward, types.FunctionType):
        setattr(module, SETTINGS, _Patch(settings=chosen.settings))
        module.forward = types.MethodType(chosen.forward, module)
    else:  # the processor of an attention
        setattr(module, SETTINGS, _Patch(processor=module.processor))
        module.set_processor(chosen.forward)


def unpatch(model):
    """Gives every module its own forward back. Returns how many there were."""
    refuse_hooked(model, "unpatch")
    count = 0
    for module in model.modules():
        patch = module.__dict__.pop(SETTINGS, None)
        if patch is None:
            continue
        if patch.processor is not None:
            module.set_processor(patch.processor)
        else:
            del module.forward
        count += 1
    return count


def _run(check):
    if check is None:
        return None
    with torch.no_grad():
        return check()


def _compare(model, check, before):
    if check is None:
        return
    counted = calls()
    try:
        after = _run(check)
        if calls() == counted:
            raise RuntimeError("the model was patched, but no kernel ran in its forward")
        # Kernels round once where the modules round at each step.
        bound = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}[before.dtype]
        difference = (after.float() - before.float()).abs().max().item()
        if not difference <= bound * max(1.0, before.float().abs().max().item()):
            raise RuntimeError(f"the patched model computes something else: it differs by {difference}")
    except Exception:
        unpatch(model)
        raise
