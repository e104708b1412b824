# SPDX-License-Identifier: Apache-2.0
"""The three networks: diffusers' and transformers' own classes, small, and how their weights begin."""

import math

import torch
from diffusers import AutoencoderKLLTXVideo, LTXVideoTransformer3DModel
from torch import Tensor, nn
from transformers import T5Config, T5EncoderModel

from tokenizer import VOCABULARY

CHANNELS = 64  # of the latents
TEXT = 128     # positions of text that the pipeline feeds
VAE = {
    "in_channels": 3, "out_channels": 3, "latent_channels": CHANNELS, "patch_size": 4, "patch_size_t": 1,
    "block_out_channels": (24, 48, 48, 96, 96), "down_block_types": ("LTXVideo095DownBlock3D",) * 4,
    "layers_per_block": (1, 1, 1, 1, 1), "spatio_temporal_scaling": (True, True, True, True),
    "downsample_type": ("spatial", "temporal", "spatiotemporal", "spatiotemporal"),
    "decoder_block_out_channels": (32, 64, 128), "decoder_layers_per_block": (1, 1, 1, 1),
    "decoder_spatio_temporal_scaling": (True, True, True), "decoder_inject_noise": (False,) * 4,
    "upsample_residual": (True, True, True), "upsample_factor": (2, 2, 2), "timestep_conditioning": True,
    "encoder_causal": True, "decoder_causal": False, "resnet_norm_eps": 1e-6, "scaling_factor": 1.0,
    "spatial_compression_ratio": 32, "temporal_compression_ratio": 8,
}
TRANSFORMER = {
    "in_channels": CHANNELS, "out_channels": CHANNELS, "patch_size": 1, "patch_size_t": 1, "num_attention_heads": 3,
    "attention_head_dim": 64, "cross_attention_dim": 192, "num_layers": 8, "activation_fn": "gelu-approximate",
    "qk_norm": "rms_norm_across_heads", "norm_elementwise_affine": False, "norm_eps": 1e-6, "caption_channels": 128,
    "attention_bias": True, "attention_out_bias": True,
}
TEXT_ENCODER = {
    "vocab_size": VOCABULARY, "d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 3, "num_heads": 4,
    "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128, "dropout_rate": 0.0,
    "layer_norm_epsilon": 1e-6, "feed_forward_proj": "gated-gelu", "is_encoder_decoder": False, "use_cache": False,
    "pad_token_id": 0, "eos_token_id": 1, "tie_word_embeddings": False,
}


def new_vae() -> AutoencoderKLLTXVideo:
    """An autoencoder that begins as a blurred copy: with default weights it never leaves a constant picture."""
    vae = AutoencoderKLLTXVideo(**VAE)
    for name, module in vae.named_modules():
        if isinstance(module, nn.Conv3d):
            fan_in = module.weight[0].numel()
            scale = 0.3 if "samplers" in name else 1.0
            nn.init.normal_(module.weight, std=scale / math.sqrt(fan_in))
            nn.init.zeros_(module.bias)
            if name.endswith("conv2.conv"):
                nn.init.zeros_(module.weight)
    for name, parameter in vae.named_parameters():
        if name.endswith("scale_shift_table") or name.endswith("linear_2.weight") or name.endswith("linear_2.bias"):
            nn.init.zeros_(parameter)  # the decoder's timestep changes nothing yet
    with torch.no_grad():
        first = vae.encoder.conv_in.conv
        first.weight.mul_(2.0)
        first.bias.copy_(0.5 * first.weight.sum(dim=(1, 2, 3, 4)))  # a dark picture is about -0.5 everywhere
        first.bias.add_(0.7 * torch.randn_like(first.bias))
        vae.decoder.conv_in.conv.bias.normal_(std=0.7)
        last = vae.encoder.conv_out.conv  # its last row is the logarithm of the variance
        last.weight[-1].zero_()
        last.bias[-1] = -5.0
    return vae


def new_transformer() -> LTXVideoTransformer3DModel:
    transformer = LTXVideoTransformer3DModel(**TRANSFORMER)
    nn.init.zeros_(transformer.proj_out.weight)
    nn.init.zeros_(transformer.proj_out.bias)
    return transformer


def new_text_encoder() -> T5EncoderModel:
    encoder = T5EncoderModel(T5Config(**TEXT_ENCODER))
    width, inner = TEXT_ENCODER["d_model"], TEXT_ENCODER["num_heads"] * TEXT_ENCODER["d_kv"]
    for name, parameter in encoder.named_parameters():
        if name.endswith(("q.weight",)):
            nn.init.normal_(parameter, std=(width * TEXT_ENCODER["d_kv"]) ** -0.5)  # T5 does not scale its scores
        elif name.endswith(("k.weight", "v.weight", "wi_0.weight", "wi_1.weight")):
            nn.init.normal_(parameter, std=width ** -0.5)
        elif name.endswith("o.weight"):
            nn.init.normal_(parameter, std=inner ** -0.5)
        elif name.endswith("wo.weight"):
            nn.init.normal_(parameter, std=TEXT_ENCODER["d_ff"] ** -0.5)
    nn.init.normal_(encoder.shared.weight, std=1.0)
    look_at_neighbours(encoder)
    return encoder


@torch.no_grad()
def look_at_neighbours(encoder: T5EncoderModel, strength: float = 4.0) -> None:
    """Turns one head to the next word and one to the word before.

    A colour belongs to the noun beside it. Over 128 positions, most of them padding, a head that looks everywhere
    sees so little of that noun that it hardly learns to look there.
    """
    bias = encoder.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    one_after, one_before = TEXT_ENCODER["relative_attention_num_buckets"] // 2 + 1, 1
    bias[one_after, 0] += strength
    bias[one_before, 1] += strength


def encode_video(vae: AutoencoderKLLTXVideo, video: Tensor) -> tuple[Tensor, Tensor]:
    """Mean [N, CHANNELS, F, H, W] and the logarithm of the variance, one number for all channels."""
    moments = vae.encoder(video)
    return moments[:, :CHANNELS], moments[:, CHANNELS:CHANNELS + 1].clamp(-12, 4)


def encode_text(encoder: T5EncoderModel, ids: Tensor, mask: Tensor | None) -> Tensor:
    """What the encoder's own forward gives for [N, TEXT] ids, without the host's look at the mask.

    CUDA graphs need that. `mask` is [N, TEXT], true for real ids; without it each position sees the padding too.
    """
    stack = encoder.encoder
    hidden = stack.embed_tokens(ids)
    first = stack.block[0].layer[0].SelfAttention
    place = torch.arange(ids.shape[1], device=ids.device)
    bucket = first._relative_position_bucket(
        place[None, :] - place[:, None], bidirectional=True, num_buckets=TEXT_ENCODER["relative_attention_num_buckets"],
        max_distance=TEXT_ENCODER["relative_attention_max_distance"])
    bias = first.relative_attention_bias(bucket).permute(2, 0, 1)[None]
    if mask is not None:
        bias = torch.where(mask[:, None, None, :], bias, -30000.0)
    for block in stack.block:
        attention, feed = block.layer[0], block.layer[1]
        normed = attention.layer_norm(hidden)
        heads = [project(normed).unflatten(2, (TEXT_ENCODER["num_heads"], -1)).transpose(1, 2)
                 for project in (attention.SelfAttention.q, attention.SelfAttention.k, attention.SelfAttention.v)]
        weights = (heads[0] @ heads[1].transpose(2, 3) + bias).float().softmax(dim=-1)
        mixed = (weights.to(heads[2].dtype) @ heads[2]).transpose(1, 2).flatten(2)
        hidden = hidden + attention.SelfAttention.o(mixed)
        hidden = hidden + feed.DenseReluDense(feed.layer_norm(hidden))
    return stack.final_layer_norm(hidden)


def parameter_count(*modules: nn.Module) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())
