# SPDX-License-Identifier: Apache-2.0
"""The networks of the demo with sound: LTX-2.3's classes of diffusers and transformers, small, and how their weights begin."""

import math

import torch
import torch.nn.functional as F
from diffusers import AutoencoderKLLTX2Audio, AutoencoderKLLTX2Video, LTX2VideoTransformer3DModel
from diffusers.pipelines.ltx2.connectors import LTX2TextConnectors
from torch import Tensor, nn
from transformers import Gemma3Config, Gemma3ForConditionalGeneration, Gemma3TextConfig, Gemma3TextModel

import sounds
from ears import Ears
from film_tokenizer import LONGEST, VOCABULARY

CHANNELS = 64  # of a video token's latents
TEXT = 64      # tokens of a text with the registers that fill it
BINS = 64      # of a spectrum
SOUND_LATENTS = 4
SOUND_CHANNELS = SOUND_LATENTS * BINS // 4  # of an audio token's latents
HEADS, WIDTH, SOUND_WIDTH = 3, 192, 72
HIDDEN, STATES = 128, 3  # of the text encoder: its width; its embeddings and the outputs of its layers

VAE = {
    "in_channels": 3, "out_channels": 3, "latent_channels": CHANNELS, "patch_size": 4, "patch_size_t": 1,
    "block_out_channels": (32, 32, 64, 64), "down_block_types": ("LTX2VideoDownBlock3D",) * 4, "layers_per_block": (0, 1, 1, 0, 1),
    "spatio_temporal_scaling": (True,) * 4, "downsample_type": ("spatial", "temporal", "spatiotemporal", "spatiotemporal"),
    "decoder_block_out_channels": (32, 64, 128), "decoder_layers_per_block": (1, 2, 1, 1),
    "decoder_spatio_temporal_scaling": (True,) * 3, "decoder_inject_noise": (False,) * 4,
    "upsample_type": ("spatiotemporal",) * 3, "upsample_residual": (True,) * 3, "upsample_factor": (1, 2, 2),
    "timestep_conditioning": False, "resnet_norm_eps": 1e-6, "scaling_factor": 1.0, "encoder_causal": True, "decoder_causal": False,
    "encoder_spatial_padding_mode": "zeros", "decoder_spatial_padding_mode": "zeros", "spatial_compression_ratio": 32,
    "temporal_compression_ratio": 8,
}
SOUND_VAE = {
    "base_channels": SOUND_CHANNELS, "output_channels": 2, "ch_mult": (1, 1, 1), "num_res_blocks": 1, "attn_resolutions": None,
    "in_channels": 2, "resolution": 256, "latent_channels": SOUND_LATENTS, "norm_type": "pixel", "causality_axis": "height",
    "dropout": 0.0, "mid_block_add_attention": False, "sample_rate": sounds.RATE, "mel_hop_length": sounds.FRAME, "is_causal": True,
    "mel_bins": BINS, "double_z": True,
}
VOCODER = {
    "in_channels": 2 * BINS, "hidden_channels": 160, "out_channels": 2, "upsample_kernel_sizes": (11, 8, 8, 4),
    "upsample_factors": (5, 4, 4, 2), "resnet_kernel_sizes": (3, 7), "resnet_dilations": ((1, 3, 5), (1, 3, 5)),
    "act_fn": "leaky_relu", "leaky_relu_negative_slope": 0.1, "antialias": False, "final_act_fn": "tanh", "final_bias": True,
    "output_sampling_rate": sounds.RATE,
}
TRANSFORMER = {
    "in_channels": CHANNELS, "out_channels": CHANNELS, "patch_size": 1, "patch_size_t": 1, "num_attention_heads": HEADS,
    "attention_head_dim": WIDTH // HEADS, "cross_attention_dim": WIDTH, "vae_scale_factors": (8, 32, 32), "pos_embed_max_pos": 20,
    "base_height": 2048, "base_width": 2048, "gated_attn": True, "cross_attn_mod": True, "audio_in_channels": SOUND_CHANNELS,
    "audio_out_channels": SOUND_CHANNELS, "audio_patch_size": 1, "audio_patch_size_t": 1, "audio_num_attention_heads": HEADS,
    "audio_attention_head_dim": SOUND_WIDTH // HEADS, "audio_cross_attention_dim": SOUND_WIDTH, "audio_scale_factor": 4,
    "audio_pos_embed_max_pos": 20, "audio_sampling_rate": sounds.RATE, "audio_hop_length": sounds.FRAME, "audio_gated_attn": True,
    "audio_cross_attn_mod": True, "num_layers": 8, "activation_fn": "gelu-approximate", "qk_norm": "rms_norm_across_heads",
    "norm_elementwise_affine": False, "norm_eps": 1e-6, "caption_channels": HIDDEN, "attention_bias": True, "attention_out_bias": True,
    "rope_theta": 10000.0, "rope_double_precision": True, "causal_offset": 1, "timestep_scale_multiplier": 1000,
    "cross_attn_timestep_scale_multiplier": 1000, "rope_type": "split", "use_prompt_embeddings": False, "perturbed_attn": True,
}
CONNECTORS = {
    "caption_channels": HIDDEN, "text_proj_in_factor": STATES, "video_connector_num_attention_heads": HEADS,
    "video_connector_attention_head_dim": WIDTH // HEADS, "video_connector_num_layers": 1,
    "video_connector_num_learnable_registers": TEXT, "video_gated_attn": True, "audio_connector_num_attention_heads": HEADS,
    "audio_connector_attention_head_dim": SOUND_WIDTH // HEADS, "audio_connector_num_layers": 1,
    "audio_connector_num_learnable_registers": TEXT, "audio_gated_attn": True, "connector_rope_base_seq_len": TEXT,
    "rope_theta": 10000.0, "rope_double_precision": True, "causal_temporal_positioning": False, "rope_type": "split",
    "per_modality_projections": True, "video_hidden_dim": WIDTH, "audio_hidden_dim": SOUND_WIDTH, "proj_bias": True,
}
GEMMA = {
    "model_type": "gemma3_text", "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "intermediate_size": 256,
    "num_hidden_layers": STATES - 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "rms_norm_eps": 1e-6,
    "query_pre_attn_scalar": 32, "sliding_window": 1024, "layer_types": ["full_attention"] * (STATES - 1), "rope_theta": 10000.0,
    "rope_local_base_freq": 10000.0, "max_position_embeddings": 1024, "hidden_activation": "gelu_pytorch_tanh",
    "attention_bias": False, "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 2, "tie_word_embeddings": True,
}
# What the class of the pipeline's text encoder has besides, and nobody asks: the smallest eyes.
EYES = {"model_type": "siglip_vision_model", "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
        "image_size": 16, "patch_size": 16, "vision_use_head": False}
WHOLE_GEMMA = {"model_type": "gemma3", "text_config": GEMMA, "vision_config": EYES, "mm_tokens_per_image": 1, "boi_token_index": 4,
               "eoi_token_index": 5, "image_token_index": 6, "tie_word_embeddings": True}


def new_vae() -> AutoencoderKLLTX2Video:
    return AutoencoderKLLTX2Video(**VAE)


def new_sound_vae() -> AutoencoderKLLTX2Audio:
    """Begins near the middle of a spectrum's logarithms, with residual blocks that change nothing."""
    vae = AutoencoderKLLTX2Audio(**SOUND_VAE)
    for name, parameter in vae.named_parameters():
        if name.endswith("conv2.conv.weight"):
            nn.init.zeros_(parameter)
    nn.init.constant_(vae.decoder.conv_out.conv.bias, -7.0)
    last = vae.encoder.conv_out.conv  # behind its middle row: logarithms of variances
    with torch.no_grad():
        last.weight[SOUND_LATENTS:].zero_()
        last.bias[SOUND_LATENTS:] = -5.0
    return vae


def new_vocoder() -> Ears:
    vocoder = Ears(VOCODER)
    first = vocoder.ear.conv_in
    with torch.no_grad():  # spectra go from -11.5 in silence to about 5
        first.weight.mul_(0.3)
        first.bias.add_(5.0 * first.weight.sum(dim=(1, 2)))
    return vocoder


def new_transformer() -> LTX2VideoTransformer3DModel:
    transformer = LTX2VideoTransformer3DModel(**TRANSFORMER)
    for layer in (transformer.proj_out, transformer.audio_proj_out):
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    for name, parameter in transformer.named_parameters():
        if "to_gate_logits" in name:
            nn.init.zeros_(parameter)  # gates of 1
        elif name.endswith("prompt_scale_shift_table") or name.endswith("a2v_cross_attn_scale_shift_table"):
            nn.init.normal_(parameter, std=0.02)
    for net in (transformer.prompt_adaln, transformer.audio_prompt_adaln, transformer.av_cross_attn_video_scale_shift,
                transformer.av_cross_attn_audio_scale_shift, transformer.av_cross_attn_video_a2v_gate,
                transformer.av_cross_attn_audio_v2a_gate):
        nn.init.zeros_(net.linear.weight)
        nn.init.zeros_(net.linear.bias)
    with torch.no_grad():
        for block in transformer.transformer_blocks:
            for table in (block.scale_shift_table, block.audio_scale_shift_table):
                table[2] = table[5] = table[8] = 1.0  # what comes out of each part counts from the start
                table[6:8] = 0.0
            block.video_a2v_cross_attn_scale_shift_table[4] = block.audio_a2v_cross_attn_scale_shift_table[4] = 0.5
    return transformer


def new_connectors() -> LTX2TextConnectors:
    connectors = LTX2TextConnectors(**CONNECTORS)
    for name, parameter in connectors.named_parameters():
        if "to_gate_logits" in name:
            nn.init.zeros_(parameter)
    return connectors


def new_text_encoder() -> Gemma3TextModel:
    encoder = Gemma3TextModel(Gemma3TextConfig(**GEMMA))
    for name, parameter in encoder.named_parameters():
        if parameter.ndim == 2 and "embed" not in name:
            nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5 * (0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1))
    nn.init.normal_(encoder.embed_tokens.weight, std=HIDDEN ** -0.5)  # the encoder multiplies by the root of its width
    return encoder


def whole_text_encoder(encoder: Gemma3TextModel) -> Gemma3ForConditionalGeneration:
    """The class that the pipeline wants, around a copy of the encoder's weights."""
    torch.manual_seed(0)
    whole = Gemma3ForConditionalGeneration(Gemma3Config(**WHOLE_GEMMA))
    whole.model.language_model.load_state_dict(encoder.state_dict())
    return whole


def encode_text(encoder: Gemma3TextModel, connectors: LTX2TextConnectors, ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The texts of both streams, [N, TEXT, WIDTH] and [N, TEXT, SOUND_WIDTH], as the pipeline makes them of ids padded in front.

    Here padding stands behind: no token looks ahead, so those that count come out the same, and they are already where the
    connectors move them to. Without a mask there is nothing that the host has to look at, which CUDA graphs need.
    """
    hidden = encoder.embed_tokens(ids)
    place = torch.arange(ids.shape[1], device=ids.device)
    half = GEMMA["head_dim"] // 2
    angle = place[:, None] * GEMMA["rope_theta"] ** (-torch.arange(half, device=ids.device) / half)
    cos, sin = angle.cos(), angle.sin()

    def turned(x: Tensor) -> Tensor:
        first, second = x.float().chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)

    states = [hidden]
    for layer in encoder.layers:
        attention, normed = layer.self_attn, layer.input_layernorm(hidden)
        query, key, value = (project(normed).unflatten(2, (-1, GEMMA["head_dim"])).transpose(1, 2)
                             for project in (attention.q_proj, attention.k_proj, attention.v_proj))
        query, key = turned(attention.q_norm(query)), turned(attention.k_norm(key))
        repeats = GEMMA["num_attention_heads"] // GEMMA["num_key_value_heads"]
        key, value = (x.repeat_interleave(repeats, dim=1) for x in (key, value))
        mixed = F.scaled_dot_product_attention(query.to(value.dtype), key.to(value.dtype), value, is_causal=True,
                                               scale=GEMMA["query_pre_attn_scalar"] ** -0.5)
        hidden = hidden + layer.post_attention_layernorm(attention.o_proj(mixed.transpose(1, 2).flatten(2)))
        hidden = hidden + layer.post_feedforward_layernorm(layer.mlp(layer.pre_feedforward_layernorm(hidden)))
        states.append(hidden)
    states[-1] = encoder.norm(hidden)
    stacked = torch.stack(states, dim=-1)
    normed = stacked * torch.rsqrt(stacked.square().mean(dim=2, keepdim=True) + 1e-6)
    flat = normed.flatten(2, 3)
    real = (torch.arange(TEXT, device=ids.device)[None] < lengths[:, None])[..., None]
    texts = []
    for project, connector, width in ((connectors.video_text_proj_in, connectors.video_connector, WIDTH),
                                      (connectors.audio_text_proj_in, connectors.audio_connector, SOUND_WIDTH)):
        words = F.pad(project(flat * math.sqrt(width / HIDDEN)), (0, 0, 0, TEXT - LONGEST))
        text = torch.where(real, words, connector.learnable_registers.to(words.dtype))
        turns = connector.rope(len(ids), TEXT, device=ids.device)
        for block in connector.transformer_blocks:
            text = block(text, rotary_emb=turns)
        texts.append(connector.norm_out(text))
    return texts[0], texts[1]
