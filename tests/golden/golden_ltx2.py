# SPDX-License-Identifier: Apache-2.0
"""Tiny connectors and transformers of LTX-2's generations, and what diffusers makes of them.

Weights are not stored: `fill` draws them from seeds in an order that the C++ tests repeat (tests/unit/model/ltx2/tiny_ltx2.cc), so a
folder here holds configurations, names and shapes, and the expected tensors. Texts are the hidden states of `gemma3/`.
"""
import json
import pathlib

import golden_ltx2_calls
import golden_ltx2_layouts
import golden_ltx2_res_2s
import golden_ltx2_stages

FOLDER = pathlib.Path(__file__).parent / "ltx2"
SEEDS = {"transformer": 0, "connectors": 2}

TRANSFORMER = {"_class_name": "LTX2VideoTransformer3DModel", "in_channels": 8, "out_channels": 8, "num_attention_heads": 4, "attention_head_dim": 12,
               "cross_attention_dim": 48, "audio_in_channels": 8, "audio_out_channels": 8, "audio_num_attention_heads": 4,
               "audio_attention_head_dim": 8, "audio_cross_attention_dim": 32, "num_layers": 2, "caption_channels": 24}
SPLIT = {"rope_type": "split"}
NEWER = {**SPLIT, "gated_attn": True, "audio_gated_attn": True, "cross_attn_mod": True, "audio_cross_attn_mod": True,
         "perturbed_attn": True, "use_prompt_embeddings": False}
KEYFRAMES = {**NEWER, "ff_bias": False, "use_keyframes_abs_pos_embedding": True}
TRANSFORMERS = {
    "2.0": TRANSFORMER,
    "2.0-split": {**TRANSFORMER, **SPLIT, "cross_attn_timestep_scale_multiplier": 500, "rope_double_precision": False},
    "2.3": {**TRANSFORMER, **NEWER},
    # The width is no multiple of three axes: the first channels are not turned.
    "2.3-narrow": {**TRANSFORMER, **NEWER, "attention_head_dim": 8, "cross_attention_dim": 32},
    "2.5": {**TRANSFORMER, **KEYFRAMES},
    "2.5-tables": {**TRANSFORMER, **KEYFRAMES, "use_prompt_adaln_single": False}}

CONNECTORS = {"_class_name": "LTX2TextConnectors", "caption_channels": 24, "text_proj_in_factor": 8, "video_connector_num_attention_heads": 4,
              "video_connector_attention_head_dim": 6, "video_connector_num_learnable_registers": 4, "audio_connector_num_attention_heads": 4,
              "audio_connector_attention_head_dim": 6, "audio_connector_num_learnable_registers": 8, "connector_rope_base_seq_len": 64}
ALL_CONNECTORS = {
    "2.0": CONNECTORS,
    "2.0-split": {**CONNECTORS, **SPLIT},
    "2.3": {**CONNECTORS, **SPLIT, "video_connector_attention_head_dim": 12, "audio_connector_attention_head_dim": 8, "video_gated_attn": True,
            "audio_gated_attn": True, "per_modality_projections": True, "video_hidden_dim": 48, "audio_hidden_dim": 32, "proj_bias": True}}


def fill(module, seed):
    """Names and shapes of the weights that it draws, in the order of drawing."""
    import torch
    generator = torch.Generator().manual_seed(seed)
    state, shapes = {}, {}
    for name, old in sorted(module.state_dict().items(), key=lambda item: item[0].encode()):
        shapes[name] = list(old.shape)
        r = torch.randn(old.shape, generator=generator)
        if "table" in name or "abs_pos" in name:
            state[name] = 0.1 * r
        elif old.ndim == 1:
            around_one = "norm" in name or name == "latents_std" or name.endswith("layer_scalar")
            state[name] = 1 + 0.1 * r if around_one else 0.1 * r
        else:
            state[name] = r / old[0].numel() ** 0.5
    module.load_state_dict(state)
    return shapes


def transformer(variant):
    from diffusers import LTX2VideoTransformer3DModel
    return LTX2VideoTransformer3DModel.from_config(TRANSFORMERS[variant]).eval()


def connectors(variant):
    from diffusers.pipelines.ltx2.connectors import LTX2TextConnectors
    return LTX2TextConnectors.from_config(ALL_CONNECTORS[variant]).eval()


def both(variant):
    parts = {"transformer": transformer(variant), "connectors": connectors(variant if variant in ALL_CONNECTORS else "2.3")}
    for name, part in parts.items():
        fill(part, SEEDS[name])
    return parts


def save(folder, tensors):
    from safetensors.torch import save_file
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: value.contiguous().clone() for name, value in tensors.items()}, folder / "golden.safetensors")
    print(folder.relative_to(FOLDER), len(tensors), "tensors,", (folder / "golden.safetensors").stat().st_size, "bytes")


def write(folder, config, shapes, tensors):
    save(folder, tensors)
    (folder / "config.json").write_text(json.dumps(config) + "\n")
    (folder / "shapes.json").write_text(json.dumps(shapes, separators=(",", ":")) + "\n")


def generate():
    import torch
    torch.set_grad_enabled(False)
    for variant, config in ALL_CONNECTORS.items():
        module = connectors(variant)
        shapes = fill(module, SEEDS["connectors"])
        write(FOLDER / "connectors" / variant, config, shapes, golden_ltx2_stages.connectors(module))
    for variant, config in TRANSFORMERS.items():
        module = transformer(variant)
        shapes = fill(module, SEEDS["transformer"])
        write(FOLDER / "transformer" / variant, config, shapes, golden_ltx2_stages.transformer(module))
    for variant in golden_ltx2_calls.CALLS_OF:
        tensors = golden_ltx2_calls.calls(variant, both(variant))
        if variant == "2.3":
            tensors.update(golden_ltx2_res_2s.calls(both(variant)))
        save(FOLDER / "calls" / variant, tensors)
    golden_ltx2_layouts.generate()
