# SPDX-License-Identifier: Apache-2.0
"""Tiny models of three generations and what diffusers and transformers make of them, stage by stage.

Weights are not stored: `fill` draws them from seeds in an order that the C++ tests repeat
(tests/unit/model/ltx/tiny_folder.cc), so a folder here holds configurations, names and shapes, and
the expected tensors.
"""
import json
import pathlib
import tempfile

import golden_stages

FOLDER = pathlib.Path(__file__).parent / "models"
TOKENIZER = pathlib.Path(__file__).parent / "tokenizer"
SEEDS = {"transformer": 0, "vae": 1, "text_encoder": 2}

INDEX = {"_class_name": "LTXPipeline", "_diffusers_version": "0.42.1",
         "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
         "text_encoder": ["transformers", "T5EncoderModel"],
         "tokenizer": ["transformers", "T5Tokenizer"],
         "transformer": ["diffusers", "LTXVideoTransformer3DModel"],
         "vae": ["diffusers", "AutoencoderKLLTXVideo"]}
TRANSFORMER = {"_class_name": "LTXVideoTransformer3DModel", "in_channels": 8, "out_channels": 8,
               "patch_size": 1, "patch_size_t": 1, "num_attention_heads": 4, "attention_head_dim": 8,
               "cross_attention_dim": 32, "num_layers": 2, "activation_fn": "gelu-approximate",
               "qk_norm": "rms_norm_across_heads", "norm_elementwise_affine": False,
               "norm_eps": 1e-06, "caption_channels": 32, "attention_bias": True,
               "attention_out_bias": True}
TEXT_ENCODER = {"architectures": ["T5EncoderModel"], "model_type": "t5", "vocab_size": 1103,
                "d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 2, "num_decoder_layers": 2,
                "num_heads": 4, "relative_attention_num_buckets": 32,
                "relative_attention_max_distance": 128, "dropout_rate": 0.1,
                "layer_norm_epsilon": 1e-06, "initializer_factor": 1.0,
                "feed_forward_proj": "gated-gelu", "is_encoder_decoder": False, "use_cache": False,
                "pad_token_id": 0, "eos_token_id": 1, "tie_word_embeddings": False}
DYNAMIC = {"_class_name": "FlowMatchEulerDiscreteScheduler", "num_train_timesteps": 1000,
           "shift": 1.0, "use_dynamic_shifting": True, "base_shift": 0.95, "max_shift": 2.05,
           "base_image_seq_len": 1024, "max_image_seq_len": 4096, "invert_sigmas": False,
           "shift_terminal": 0.1, "use_karras_sigmas": False, "use_exponential_sigmas": False,
           "use_beta_sigmas": False, "time_shift_type": "exponential", "stochastic_sampling": False}
STATIC = {**DYNAMIC, "use_dynamic_shifting": False, "base_shift": 0.5, "max_shift": 1.15,
          "base_image_seq_len": 256, "shift_terminal": None}
VAE = {"_class_name": "AutoencoderKLLTXVideo", "in_channels": 3, "out_channels": 3,
       "latent_channels": 8, "patch_size": 4, "patch_size_t": 1, "resnet_norm_eps": 1e-06,
       "scaling_factor": 1.0, "encoder_causal": True, "decoder_causal": False}
OLD_ENCODER = {"block_out_channels": [8, 16, 32, 32], "layers_per_block": [1, 1, 1, 1, 1],
               "spatio_temporal_scaling": [True, True, True, False]}
NEW_DECODER = {"decoder_block_out_channels": [16, 32, 64], "decoder_layers_per_block": [1, 1, 1, 1],
               "decoder_spatio_temporal_scaling": [True, True, True],
               "upsample_residual": [True, True, True], "upsample_factor": [2, 2, 2],
               "timestep_conditioning": True}
VAES = {
    "0.9.0": {**VAE, **OLD_ENCODER, "decoder_block_out_channels": [8, 16, 32, 32],
              "decoder_layers_per_block": [1, 1, 1, 1, 1],
              "decoder_spatio_temporal_scaling": [True, True, True, False]},
    "0.9.1": {**VAE, **OLD_ENCODER, **NEW_DECODER,
              "decoder_inject_noise": [True, True, True, False]},
    "0.9.5": {**VAE, **NEW_DECODER, "block_out_channels": [8, 16, 32, 64, 64],
              "down_block_types": ["LTXVideo095DownBlock3D"] * 4, "layers_per_block": [1] * 5,
              "spatio_temporal_scaling": [True] * 4,
              "downsample_type": ["spatial", "temporal", "spatiotemporal", "spatiotemporal"],
              "decoder_inject_noise": [False] * 4, "spatial_compression_ratio": 32,
              "temporal_compression_ratio": 8}}
SCHEDULERS = {"0.9.0": DYNAMIC, "0.9.1": DYNAMIC, "0.9.5": STATIC}


def fill(module, seed):
    """Names and shapes of the weights that it draws, in the order of drawing."""
    import torch
    generator = torch.Generator().manual_seed(seed)
    state, shapes = {}, {}
    for name, old in sorted(module.state_dict().items(), key=lambda item: item[0].encode()):
        if name == "encoder.embed_tokens.weight":
            continue
        shapes[name] = list(old.shape)
        if name == "decoder.timestep_scale_multiplier":
            state[name] = torch.tensor(1000.0)
            continue
        r = torch.randn(old.shape, generator=generator)
        if name == "latents_std":
            state[name] = 1 + 0.1 * r
        elif name == "latents_mean" or "per_channel_scale" in name or "scale_shift_table" in name:
            state[name] = 0.1 * r
        elif old.ndim == 1:
            state[name] = 1 + 0.1 * r if "norm" in name else 0.1 * r
        elif name == "shared.weight":
            state[name] = r
        else:
            state[name] = r / old[0].numel() ** 0.5
    module.load_state_dict(state, strict=False)
    return shapes


def build(version):
    """The components of one generation, filled, and their shapes."""
    import torch
    from diffusers import (AutoencoderKLLTXVideo, FlowMatchEulerDiscreteScheduler,
                           LTXVideoTransformer3DModel)
    from transformers import T5Config, T5EncoderModel, T5Tokenizer
    torch.set_grad_enabled(False)
    parts = {"transformer": LTXVideoTransformer3DModel.from_config(TRANSFORMER).eval(),
             "vae": AutoencoderKLLTXVideo.from_config(VAES[version]).eval(),
             "text_encoder": T5EncoderModel(T5Config(**TEXT_ENCODER)).eval()}
    shapes = {name: fill(part, SEEDS[name]) for name, part in parts.items()}
    parts["scheduler"] = FlowMatchEulerDiscreteScheduler.from_config(SCHEDULERS[version])
    parts["tokenizer"] = T5Tokenizer.from_pretrained(TOKENIZER)
    return parts, shapes


def write_configs(version, shapes):
    folder = FOLDER / version
    configs = {"model_index.json": INDEX, "transformer/config.json": TRANSFORMER,
               "text_encoder/config.json": TEXT_ENCODER, "vae/config.json": VAES[version],
               "scheduler/scheduler_config.json": SCHEDULERS[version]}
    for path, config in configs.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(config) + "\n")
    (folder / "shapes.json").write_text(json.dumps(shapes, separators=(",", ":")) + "\n")


def generate():
    from safetensors.torch import save_file
    for version in VAES:
        parts, shapes = build(version)
        write_configs(version, shapes)
        tensors = golden_stages.stages(parts, STATIC)
        path = FOLDER / version / "golden.safetensors"
        save_file({k: v.contiguous().clone() for k, v in tensors.items()}, path)
        print(version, len(tensors), "tensors,", path.stat().st_size, "bytes")
