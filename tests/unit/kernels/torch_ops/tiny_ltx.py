# SPDX-License-Identifier: Apache-2.0
"""A tiny LTX-Video of diffusers with random weights, and calls of its parts."""

import torch
from op_cases import DEVICE
from diffusers import AutoencoderKLLTXVideo, FlowMatchEulerDiscreteScheduler, LTXPipeline, LTXVideoTransformer3DModel

GRID = (2, 3, 4)
LATENT_CHANNELS = 8
TEXT_WIDTH = 24

# Else a GPU's convolutions round to 10 bits, and a difference of one unit in fp32 becomes a thousand of them.
torch.backends.cudnn.allow_tf32 = False


def randomise(model):
    """Norm weights are ones at first, which hide what is done with them."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = 0.3 if parameter.dim() < 2 else parameter.shape[-1] ** -0.5
            offset = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            parameter.copy_(offset + scale * torch.randn(parameter.shape, generator=generator))
    return model.eval().to(DEVICE)


def transformer():
    return randomise(LTXVideoTransformer3DModel(
        in_channels=LATENT_CHANNELS, out_channels=LATENT_CHANNELS, num_attention_heads=2, attention_head_dim=16,
        cross_attention_dim=32, num_layers=2, caption_channels=TEXT_WIDTH))


def transformer_inputs(dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)
    tokens = GRID[0] * GRID[1] * GRID[2]
    return (torch.randn(2, tokens, LATENT_CHANNELS, generator=generator).to(DEVICE, dtype),
            torch.randn(2, 5, TEXT_WIDTH, generator=generator).to(DEVICE, dtype),
            torch.tensor([900.0, 30.0], dtype=dtype, device=DEVICE),
            torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], device=DEVICE), *GRID)


def vae():
    return randomise(AutoencoderKLLTXVideo(
        latent_channels=LATENT_CHANNELS, block_out_channels=(8, 8, 8, 8),
        decoder_block_out_channels=(8, 8, 8, 8), layers_per_block=(1, 1, 1, 1, 1),
        decoder_layers_per_block=(1, 1, 1, 1, 1), spatio_temporal_scaling=(True, True, False, False),
        decoder_spatio_temporal_scaling=(True, True, False, False), decoder_inject_noise=(False,) * 5,
        upsample_residual=(False,) * 4, upsample_factor=(1,) * 4, timestep_conditioning=False, patch_size=1,
        patch_size_t=1, encoder_causal=True, decoder_causal=False))


def pipeline():
    """Takes embeddings: no text encoder, no tokenizer."""
    made = LTXPipeline(scheduler=FlowMatchEulerDiscreteScheduler(), vae=vae(), text_encoder=None, tokenizer=None,
                       transformer=transformer())
    made.set_progress_bar_config(disable=True)
    return made


def frames(made):
    generator = torch.Generator().manual_seed(2)
    embeds, negative = torch.randn(2, 1, 5, TEXT_WIDTH, generator=generator).to(DEVICE).unbind(0)
    mask = torch.ones(1, 5, dtype=torch.long, device=DEVICE)
    return made(prompt_embeds=embeds, prompt_attention_mask=mask, negative_prompt_embeds=negative,
                negative_prompt_attention_mask=mask, height=32, width=32, num_frames=9, num_inference_steps=2,
                guidance_scale=3.0, generator=torch.Generator().manual_seed(3), output_type="pt").frames
