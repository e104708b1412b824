# SPDX-License-Identifier: Apache-2.0
"""The pipelines of models/ in 16 bits: how far diffusers itself is then from its own 32.

Only what a test needs of it: the latents after the last step.
"""
import pathlib

import golden_models
import golden_stages

FOLDER = pathlib.Path(__file__).parent / "bf16"


def generate():
    import torch
    from safetensors.torch import save_file
    out = {}
    for version in golden_models.VAES:
        parts, _ = golden_models.build(version)
        for name in ("transformer", "vae", "text_encoder"):
            parts[name] = parts[name].to(torch.bfloat16)
        made = {}
        golden_stages.pipelines(parts, golden_models.STATIC, made)
        for kind in ("text", "image", "condition"):
            out[f"{version}.{kind}"] = made[kind + ".latents"][-1].float().contiguous()
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "golden.safetensors"
    save_file(out, path)
    print("bf16", len(out), "tensors,", path.stat().st_size, "bytes")
