# SPDX-License-Identifier: Apache-2.0
"""Perturbed guidance and CFG*, which diffusers has not: their formulas around its transformer and scheduler.

The course changes from step to step: none, all together, the perturbed alone.
"""
import pathlib

import golden_models
import golden_stages

FOLDER = pathlib.Path(__file__).parent / "guidance"
SHAPE = {"num_frames": 2, "height": 3, "width": 5}
STEPS = 4
# From sigma down: guidance scale, rescale (0: off), scale of the perturbed, perturbed blocks.
COURSE = [(1.0, (1.0, 0.0, 0.0, [])), (0.6, (3.0, 0.7, 1.5, [1])), (0.3, (1.0, 0.0, 1.0, [0, 1]))]


class Perturbed:
    """Attention whose last row keeps its values."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, attn, hidden_states, *args, **kwargs):
        out = self.inner(attn, hidden_states, *args, **kwargs).clone()
        out[-1] = attn.to_out[0](attn.to_v(hidden_states[-1:]))[0]
        return out


def velocity(model, x, text, mask, time, blocks):
    rows = text.shape[0]
    kept = {i: model.transformer_blocks[i].attn1.processor for i in blocks}
    for i, processor in kept.items():
        model.transformer_blocks[i].attn1.processor = Perturbed(processor)
    out = model(x.repeat(rows, 1, 1), text, time.expand(rows), mask, **SHAPE,
                rope_interpolation_scale=(8 / golden_stages.FRAME_RATE, 32, 32), return_dict=False)[0]
    for i, processor in kept.items():
        model.transformer_blocks[i].attn1.processor = processor
    return out


def guide(rows, scale, rescale, perturbed, star):
    """rows: a list [negative,] text [, perturbed], as the scales say."""
    text = rows[1] if scale > 1 else rows[0]
    guided = text
    if scale > 1:
        negative = rows[0]
        if star:
            negative = negative * ((text * negative).sum() / ((negative ** 2).sum() + 1e-8))
        guided = negative + scale * (text - negative)
    if perturbed > 0:
        guided = guided + perturbed * (text - rows[-1])
    if rescale > 0:
        guided = guided * (rescale * text.std() / guided.std() + (1 - rescale))
    return guided


def generate():
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler
    from safetensors.torch import save_file
    parts, _ = golden_models.build("0.9.5")
    model, out = parts["transformer"], {}
    captions = golden_stages.draw(52, 2, 6, 32)  # negative, text
    mask = torch.tensor([[1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0]])
    for name, star in (("plain", False), ("star", True)):
        scheduler = FlowMatchEulerDiscreteScheduler.from_config(golden_models.STATIC)
        scheduler.set_timesteps(sigmas=[1 - i / STEPS for i in range(STEPS)])
        x, steps = golden_stages.draw(51, 1, 30, 8), []
        for time in scheduler.timesteps:
            point = next((p for sigma, p in COURSE if sigma <= time / 1000), COURSE[-1][1])
            scale, rescale, perturbed, blocks = point
            used = ([0] if scale > 1 else []) + [1] + ([1] if perturbed > 0 else [])
            rows = velocity(model, x, captions[used], mask[used], time, blocks)
            x = scheduler.step(guide(list(rows), scale, rescale, perturbed, star)[None], time, x, return_dict=False)[0]
            steps.append(x.clone())
        out[name] = torch.stack(steps)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "golden.safetensors"
    save_file(out, path)
    print("guidance", len(out), "tensors,", path.stat().st_size, "bytes")
