# SPDX-License-Identifier: Apache-2.0
"""A tiny diffusion decoder of LTX-2.5 and what diffusers makes of it, in fp32 and bf16; and a whole film of a tiny 2.5 that it decodes.

Weights are drawn as golden_ltx2.fill does it. Of frames every 31st value is kept. The film is that of golden_ltx2_films up to its latents.
"""
import pathlib

import golden_ltx2
import golden_ltx2_films
import golden_ltx2_vae

FOLDER = pathlib.Path(__file__).parent / "ltx2" / "diffusion_decoder"
STRIDE = 31
SEED, NOISE_SEED = 7, 52
# Windows of the released sizes where the grids of a film of 96x64 pixels and 17 frames allow it.
DECODER = {"_class_name": "LTX2VideoDiffusionDecoderModel", "out_channels": 3, "latent_channels": 8, "patch_size": 4, "scaling_factor": 1.0,
           "decoder_head_dim": 16, "decoder_stage_channels": [64, 32, 32, 32, 32], "decoder_stage_depths": [1, 2, 1, 1, 2],
           "decoder_stage_kernels": [[3, 1, 1], [3, 3, 3], [3, 3, 3], [3, 5, 5]],
           "decoder_upsample_strides": [[1, 2, 2], [2, 1, 1], [2, 2, 2], [2, 2, 2]], "decoder_upsample_channel_reductions": [2, 1, 1, 1],
           "decoder_stage5_kernel": [11, 11, 11], "decoder_t_emb_dim": 24, "decoder_timestep_scale_multiplier": 1000.0,
           "decoder_model_output_type": "x0", "decoder_num_inference_steps": 1, "spatial_compression_ratio": 32,
           "temporal_compression_ratio": 8}


def decoder():
    """And the shapes of its weights."""
    from diffusers import LTX2VideoDiffusionDecoderModel
    model = LTX2VideoDiffusionDecoderModel.from_config(DECODER).eval()
    return model, golden_ltx2.fill(model, SEED)


def by_noise(model, latents, noise):
    decoder = model.decoder
    return decoder.denoise(decoder.forward_stage_4(decoder.forward_stages_1_to_3(latents)), noise, 1)


def decodes(model):
    """In both types of the noise that is drawn in fp32; "drawn" of that which a call in bf16 draws, which is another."""
    import torch
    out = {}
    for dtype, suffix in ((torch.float32, ""), (torch.bfloat16, ".bf16")):
        model.to(dtype)
        for frames in (3, 4):
            latents = golden_ltx2_vae.draw(51, 1, 8, frames, 2, 3).to(dtype)
            drawn = model.decode(latents, generator=torch.Generator().manual_seed(NOISE_SEED), return_dict=False)[0].float()
            made = by_noise(model, latents, golden_ltx2_vae.draw(NOISE_SEED, 1, 3, 8 * frames - 7, 64, 96).to(dtype)).float()
            print("ltx2/diffusion_decoder", frames, list(made.shape), "rms %.3f" % made.pow(2).mean().sqrt())
            out[f"decode.{frames}{suffix}"] = made.flatten()[::STRIDE]
            if dtype == torch.float32:
                assert drawn.equal(made)
            elif frames == 3:
                out["drawn.bf16"] = drawn.flatten()[::STRIDE]
    return out


def film(model):
    """The ancestral film of 2.5, its latents decoded with noise from the request's generator."""
    import torch
    from diffusers.pipelines.ltx2.pipeline_ltx2_diffusion_decode import LTX2VideoDiffusionDecodePipeline
    generator = torch.Generator().manual_seed(golden_ltx2_films.SEED)
    pipe, made = golden_ltx2_films.call("2.5", "ancestral", golden_ltx2_films.gemma("2.5")[0], generator, output_type="latent")
    decode = LTX2VideoDiffusionDecodePipeline(model, pipe.scheduler, pipe.vae)
    frames = decode(made.frames, generator=generator, output_type="pt", denormalize=False).frames[0].permute(0, 2, 3, 1)  # [T, H, W, 3] in 0..1
    print("ltx2/diffusion_decoder film", list(frames.shape), "spread of the frames %.3f" % frames.std())
    return {"film.frames": frames.flatten()[::STRIDE]}


def generate():
    import torch
    torch.set_grad_enabled(False)
    model, shapes = decoder()
    golden_ltx2.write(FOLDER / "2.5", DECODER, shapes, {**decodes(model), **film(decoder()[0])})
