# SPDX-License-Identifier: Apache-2.0
"""A tiny Gemma 3 text encoder (its weights too, which are small) and all hidden states that transformers gives for two texts."""
import json
import pathlib

FOLDER = pathlib.Path(__file__).parent / "gemma3"
LENGTH = 16
TEXT = {"model_type": "gemma3_text", "vocab_size": 64, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 7, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "rms_norm_eps": 1e-06, "query_pre_attn_scalar": 8, "sliding_window": 6,
        "sliding_window_pattern": 6, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "max_position_embeddings": 64, "hidden_activation": "gelu_pytorch_tanh"}
TEXTS = [[2, 5, 9, 33, 17, 60, 41, 8, 25, 19, 3], [2, 7]]


def model():
    import torch
    from transformers import Gemma3TextConfig, Gemma3TextModel
    torch.set_grad_enabled(False)
    encoder = Gemma3TextModel(Gemma3TextConfig(**TEXT)).eval()
    generator = torch.Generator().manual_seed(5)
    state = {}
    for name, old in sorted(encoder.state_dict().items(), key=lambda item: item[0].encode()):
        r = torch.randn(old.shape, generator=generator)
        state[name] = 0.1 * r if old.ndim == 1 else r / old[0].numel() ** 0.5
    encoder.load_state_dict(state)
    return encoder, state


def padded():
    import torch
    ids = torch.zeros(len(TEXTS), LENGTH, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, text in enumerate(TEXTS):
        ids[row, LENGTH - len(text):] = torch.tensor(text)
        mask[row, LENGTH - len(text):] = 1
    return ids, mask


def generate():
    import torch
    from safetensors.torch import save_file
    FOLDER.mkdir(exist_ok=True)
    encoder, state = model()
    save_file({f"language_model.model.{name}": value.contiguous() for name, value in state.items()}, FOLDER / "model.safetensors")
    (FOLDER / "config.json").write_text(json.dumps({"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": TEXT}) + "\n")
    ids, mask = padded()
    golden = {"ids": ids, "mask": mask}
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        states = encoder.to(dtype)(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        golden[f"states.{name}"] = torch.stack(states, -1).float().contiguous()  # [B, S, width, layers + 1]
    save_file(golden, FOLDER / "golden.safetensors")
    print("gemma3", len(states), "states", (FOLDER / "golden.safetensors").stat().st_size, "bytes")
