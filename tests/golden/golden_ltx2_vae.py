# SPDX-License-Identifier: Apache-2.0
"""LTX-2's tiny video autoencoders and latent upsamplers, and what diffusers makes of them, in fp32 and bf16.

Weights are drawn as golden_ltx2.fill does it. Of frames every 7th value is kept.
"""
import pathlib

import golden_ltx2

FOLDER = pathlib.Path(__file__).parent / "ltx2"
STRIDE = 7
VAE = {"_class_name": "AutoencoderKLLTX2Video", "in_channels": 3, "out_channels": 3, "latent_channels": 8, "block_out_channels": [8, 16, 32, 32],
       "down_block_types": ["LTX2VideoDownBlock3D"] * 4, "layers_per_block": [1, 1, 1, 1, 1], "spatio_temporal_scaling": [True] * 4,
       "downsample_type": ["spatial", "temporal", "spatiotemporal", "spatiotemporal"], "timestep_conditioning": False, "patch_size": 4,
       "patch_size_t": 1, "resnet_norm_eps": 1e-06, "scaling_factor": 1.0, "encoder_causal": True, "decoder_causal": False,
       "encoder_spatial_padding_mode": "zeros", "spatial_compression_ratio": 32, "temporal_compression_ratio": 8}
VAES = {
    "2.0": {**VAE, "decoder_block_out_channels": [8, 16, 32], "decoder_layers_per_block": [1] * 4, "decoder_spatio_temporal_scaling": [True] * 3,
            "decoder_inject_noise": [False] * 4, "upsample_type": ["spatiotemporal"] * 3, "upsample_residual": [True] * 3,
            "upsample_factor": [2] * 3, "decoder_spatial_padding_mode": "reflect"},
    "2.3": {**VAE, "decoder_block_out_channels": [8, 16, 16, 32], "decoder_layers_per_block": [1] * 5, "decoder_spatio_temporal_scaling": [True] * 4,
            "decoder_inject_noise": [False] * 5, "upsample_type": ["spatiotemporal", "spatiotemporal", "temporal", "spatial"],
            "upsample_residual": [False] * 4, "upsample_factor": [2, 2, 1, 2], "decoder_spatial_padding_mode": "zeros"}}
UPSAMPLER = {"_class_name": "LTX2LatentUpsamplerModel", "in_channels": 8, "mid_channels": 32, "num_blocks_per_stage": 1, "dims": 3,
             "spatial_upsample": True, "temporal_upsample": False, "rational_spatial_scale": 2.0, "use_rational_resampler": True}
UPSAMPLERS = {
    "rational-x2": UPSAMPLER,
    "rational-x1.5": {**UPSAMPLER, "rational_spatial_scale": 1.5},
    "x2": {**UPSAMPLER, "use_rational_resampler": False},
    "temporal": {**UPSAMPLER, "spatial_upsample": False, "temporal_upsample": True, "use_rational_resampler": False}}


def draw(seed, *shape):
    import torch
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def clip(frames):
    import torch
    base = torch.arange(3 * 64 * 96).reshape(3, 64, 96)
    return torch.stack([(base * (i + 1) % 251) / 255 for i in range(frames)], 1).unsqueeze(0) * 2 - 1


def autoencoder(variant):
    import torch
    from diffusers import AutoencoderKLLTX2Video
    model = AutoencoderKLLTX2Video.from_config(VAES[variant]).eval()
    shapes = golden_ltx2.fill(model, 1)
    out = {}
    for dtype, suffix in ((torch.float32, ""), (torch.bfloat16, ".bf16")):
        model.to(dtype)
        for frames in (1, 9):
            out[f"encode.{frames}{suffix}"] = model.encode(clip(frames).to(dtype)).latent_dist.mode().float()
        for frames in (1, 3):
            out[f"decode.{frames}{suffix}"] = model.decode(draw(31, 1, 8, frames, 2, 3).to(dtype), return_dict=False)[0].float().flatten()[::STRIDE]
    golden_ltx2.write(FOLDER / "vae" / variant, VAES[variant], shapes, out)


def upsampler(variant):
    import torch
    from diffusers.pipelines.ltx2.latent_upsampler import LTX2LatentUpsamplerModel
    model = LTX2LatentUpsamplerModel.from_config(UPSAMPLERS[variant]).eval()
    shapes = golden_ltx2.fill(model, 6)
    low = draw(41, 1, 8, 3, 2, 3), draw(42, 1, 8, 3, 4, 6)
    out = {}
    for dtype, suffix in ((torch.float32, ""), (torch.bfloat16, ".bf16")):
        model.to(dtype)
        for name, latents in zip(("small", "large"), low):
            out[name + suffix] = model(latents.to(dtype)).float()
    golden_ltx2.write(FOLDER / "latent_upsampler" / variant, UPSAMPLERS[variant], shapes, out)


def generate():
    import torch
    torch.set_grad_enabled(False)
    for variant in VAES:
        autoencoder(variant)
    for variant in UPSAMPLERS:
        upsampler(variant)
