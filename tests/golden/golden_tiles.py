# SPDX-License-Identifier: Apache-2.0
"""The tiny autoencoders of models/ in tiles of space and of frames, as diffusers cuts and blends them."""
import pathlib

import golden_models
import golden_stages

FOLDER = pathlib.Path(__file__).parent / "tiles"
SIZE, STRIDE = 96, 64  # pixels; frames keep diffusers' 16 and 8
STRIDE_KEPT = 257      # of the frames every 257th value is kept
LATENTS = (1, 8, 5, 4, 5)


def decode(vae, tiles, frames):
    import torch
    vae.use_tiling = tiles
    vae.use_framewise_decoding = frames
    torch.manual_seed(7)  # noise inside the 0.9.1 decoder
    time = torch.tensor([0.05]) if vae.config.timestep_conditioning else None
    return vae.decode(golden_stages.draw(61, *LATENTS), time, return_dict=False)[0].flatten()[::STRIDE_KEPT]


def clip():
    import torch
    base = torch.arange(3 * 128 * 160).reshape(3, 1, 128, 160)
    frames = [(base * (i + 1) % 251) / 255 for i in range(25)]
    return torch.cat(frames, 1).unsqueeze(0) * 2 - 1


def generate():
    from safetensors.torch import save_file
    out = {}
    for version in golden_models.VAES:
        vae = golden_models.build(version)[0]["vae"]
        vae.enable_tiling(tile_sample_min_height=SIZE, tile_sample_min_width=SIZE, tile_sample_stride_height=STRIDE,
                          tile_sample_stride_width=STRIDE)
        for name, tiles, frames in (("space", True, False), ("frames", False, True), ("both", True, True)):
            out[f"{version}.decode.{name}"] = decode(vae, tiles, frames)
            out[f"{version}.encode.{name}"] = vae.encode(clip()).latent_dist.parameters[:, :9]
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "golden.safetensors"
    save_file({k: v.contiguous().clone() for k, v in out.items()}, path)
    print("tiles", len(out), "tensors,", path.stat().st_size, "bytes")
