# SPDX-License-Identifier: Apache-2.0
"""Tiny text encoders, Gemma 3 (its weights too, which are small) and Gemma 4, with all hidden states that transformers gives for two texts;
and the names and shapes of Gemma 4 12B, of its outside and one layer of each kind.

`gemma4/shared` is written as Gemma 4 12B's configuration is, with layers whose keys are their values; `gemma4/apart` has none of these, and its
configuration is what transformers saves.
"""
import json
import pathlib
import re

import golden_ltx2

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "gemma3"
LENGTH = 16
TEXT = {"model_type": "gemma3_text", "vocab_size": 64, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 7, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "rms_norm_eps": 1e-06, "query_pre_attn_scalar": 8, "sliding_window": 6,
        "sliding_window_pattern": 6, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "max_position_embeddings": 64, "hidden_activation": "gelu_pytorch_tanh"}
TEXTS = [[2, 5, 9, 33, 17, 60, 41, 8, 25, 19, 3], [2, 7]]
GEMMA4_12B = {
    "attention_bias": False, "attention_dropout": 0.0, "attention_k_eq_v": True, "bos_token_id": 2, "enable_moe_block": False, "eos_token_id": 1,
    "final_logit_softcapping": 30.0, "global_head_dim": 512, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 3840,
    "hidden_size_per_layer_input": 0, "initializer_range": 0.02, "intermediate_size": 15360,
    "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 8, "max_position_embeddings": 262144, "model_type": "gemma4_unified_text",
    "moe_intermediate_size": None, "num_attention_heads": 16, "num_experts": None, "num_global_key_value_heads": 1, "num_hidden_layers": 48,
    "num_key_value_heads": 8, "num_kv_shared_layers": 0, "pad_token_id": 0, "rms_norm_eps": 1e-06,
    "rope_parameters": {"full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"},
                        "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"}},
    "sliding_window": 1024, "tie_word_embeddings": True, "top_k_experts": None, "use_bidirectional_attention": "vision", "use_cache": True,
    "use_double_wide_mlp": False, "vocab_size": 262144, "vocab_size_per_layer_input": 262144}
# The last layer sees everything whatever is said of it.
TINY4 = {**GEMMA4_12B, "vocab_size": 64, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 7, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 8, "global_head_dim": 16, "sliding_window": 6, "max_position_embeddings": 64,
         "layer_types": ["sliding_attention"] * 5 + ["full_attention", "sliding_attention"]}
PREFIX4 = "model.language_model."


def model():
    import torch
    from transformers import Gemma3TextConfig, Gemma3TextModel
    encoder = Gemma3TextModel(Gemma3TextConfig(**TEXT)).eval()
    generator = torch.Generator().manual_seed(5)
    state = {}
    for name, old in sorted(encoder.state_dict().items(), key=lambda item: item[0].encode()):
        r = torch.randn(old.shape, generator=generator)
        state[name] = 0.1 * r if old.ndim == 1 else r / old[0].numel() ** 0.5
    encoder.load_state_dict(state)
    return encoder, state


def gemma4(text):
    """The whole model without its parts for pictures and sounds; the shapes of its weights by their names in the file."""
    text = json.loads(json.dumps(text))  # the configuration's class changes its lists
    from transformers import Gemma4UnifiedConfig, Gemma4UnifiedForConditionalGeneration
    whole = Gemma4UnifiedForConditionalGeneration(Gemma4UnifiedConfig(text_config=text, vision_config=None, audio_config=None)).eval()
    shapes = golden_ltx2.fill(whole.model.language_model, 5)
    return whole, {PREFIX4 + name: shape for name, shape in shapes.items()}


def config4(text):
    return {"architectures": ["Gemma4UnifiedForConditionalGeneration"], "model_type": "gemma4_unified", "text_config": text}


def padded():
    import torch
    ids = torch.zeros(len(TEXTS), LENGTH, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, text in enumerate(TEXTS):
        ids[row, LENGTH - len(text):] = torch.tensor(text)
        mask[row, LENGTH - len(text):] = 1
    return ids, mask


def save_states(encoder, folder):
    import torch
    from safetensors.torch import save_file
    ids, mask = padded()
    golden = {"ids": ids, "mask": mask}
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        states = encoder.to(dtype)(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        golden[f"states.{name}"] = torch.stack(states, -1).float().contiguous()  # [B, S, width, layers + 1]
    save_file(golden, folder / "golden.safetensors")
    print(folder.relative_to(HERE), len(states), "states", (folder / "golden.safetensors").stat().st_size, "bytes")


def generate4(name, text):
    folder = HERE / "gemma4" / name
    folder.mkdir(parents=True, exist_ok=True)
    encoder, shapes = gemma4(text)
    saved = text if name == "shared" else encoder.config.text_config.to_diff_dict()
    (folder / "config.json").write_text(json.dumps(config4(saved)) + "\n")
    (folder / "shapes.json").write_text(json.dumps(shapes) + "\n")
    save_states(encoder, folder)


def layout():
    import torch
    from transformers import Gemma4UnifiedTextConfig, Gemma4UnifiedTextModel
    with torch.device("meta"):
        state = Gemma4UnifiedTextModel(Gemma4UnifiedTextConfig(**GEMMA4_12B)).state_dict()
    shapes = {PREFIX4 + key: list(value.shape) for key, value in state.items() if not re.search(r"layers\.(?!0\.|5\.)", key)}
    made = {"config": config4(GEMMA4_12B), "parameters": sum(value.numel() for value in state.values()), "tensors": len(state), "shapes": shapes}
    (HERE / "ltx2" / "layouts" / "text_encoder-2.5.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
    print("gemma4 12b", made["tensors"], "tensors,", made["parameters"], "parameters")


def generate():
    import torch
    from safetensors.torch import save_file
    torch.set_grad_enabled(False)
    FOLDER.mkdir(exist_ok=True)
    encoder, state = model()
    save_file({f"language_model.model.{name}": value.contiguous() for name, value in state.items()}, FOLDER / "model.safetensors")
    (FOLDER / "config.json").write_text(json.dumps({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": TEXT}) + "\n")
    save_states(encoder, FOLDER)
    generate4("shared", TINY4)
    generate4("apart", {**TINY4, "attention_k_eq_v": False, "global_head_dim": 12})
    layout()
