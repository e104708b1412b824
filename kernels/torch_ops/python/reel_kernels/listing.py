# SPDX-License-Identifier: Apache-2.0
"""Lists the variants that can run, and the calls that did."""

import torch

from ._library import library_path, ops

__all__ = ["calls", "device_report", "operators", "variants"]


def operators():
    """The kernels, by the names that variants() and calls() use."""
    return list(ops.keys())


def variants(op, device="cpu"):
    """The variants of a kernel that run on a device, best first: the first that takes a call gets it."""
    return [name for name, reason in ops.variants(op, torch.device(device)).items() if not reason]


def calls():
    """Calls so far, {"rms_norm/cpu": 3}: the proof of what ran."""
    return dict(ops.calls())


def device_report():
    """Per device, what each kernel can run and why the rest cannot; or why the device runs nothing."""
    devices = ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    report = {"library": str(library_path()), "torch": torch.__version__, "devices": {}}
    for device in devices:
        try:
            listed = {op: dict(ops.variants(op, torch.device(device))) for op in ops.keys()}
        except RuntimeError as error:
            report["devices"][device] = {"unavailable": str(error)}
            continue
        report["devices"][device] = {
            op: {name: reason or "runs" for name, reason in variants.items()} for op, variants in listed.items()}
    return report
