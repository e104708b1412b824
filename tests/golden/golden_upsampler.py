# SPDX-License-Identifier: Apache-2.0
"""Tiny latent upsamplers, and the two passes of the distilled models with one of them between.

Weights are drawn as golden_models.fill does it, with seed 3; the other parts are those of models/0.9.5.
"""
import json
import pathlib

import golden_models
import golden_stages

FOLDER = pathlib.Path(__file__).parent / "upsampler"
SEED = 3
CONFIGS = {
    "spatial": {"dims": 3, "spatial_upsample": True, "temporal_upsample": False},
    "temporal": {"dims": 3, "spatial_upsample": False, "temporal_upsample": True},
    "both": {"dims": 3, "spatial_upsample": True, "temporal_upsample": True},
    "flat": {"dims": 2, "spatial_upsample": True, "temporal_upsample": False},
}
SIDE, FRAMES = 96, 9  # the first pass is 64 wide and high, the second 128
FIRST = [1000, 993.7, 987.5, 981.2, 975, 909.4, 725]
SECOND = [1000, 909.4, 725, 421.9, 0]  # the first is not run, and the last changes nothing
STRIDE = 31  # of the frames every 31st value is kept


def build(name):
    """One upsampler, filled, and its shapes."""
    from diffusers.pipelines.ltx.modeling_latent_upsampler import LTXLatentUpsamplerModel
    config = {"_class_name": "LTXLatentUpsamplerModel", "in_channels": 8, "mid_channels": 32,
              "num_blocks_per_stage": 1, **CONFIGS[name]}
    model = LTXLatentUpsamplerModel.from_config(config).eval()
    return model, config, golden_models.fill(model, SEED)


def picture(side):
    """A condition at the size of one pass: scaled on the way down as Reel scales it."""
    import torch
    base = (torch.arange(3 * SIDE * SIDE).reshape(1, 3, SIDE, SIDE) % 251).float() / 255
    if side == SIDE:
        return base
    return torch.nn.functional.interpolate(base, (side, side), mode="bilinear", antialias=True).clamp(0, 1)


def two_passes(parts, upsampler, out, name, guidance, with_picture):
    import torch
    from diffusers import LTXConditionPipeline, LTXLatentUpsamplePipeline
    from diffusers.pipelines.ltx.pipeline_ltx_condition import LTXVideoCondition
    pipeline = LTXConditionPipeline(**parts)
    pipeline.set_progress_bar_config(disable=True)
    between = LTXLatentUpsamplePipeline(vae=parts["vae"], latent_upsampler=upsampler)

    def run(key, side, output_type, **call):
        steps = []

        def keep(_pipe, _step, _t, values):
            steps.append(values["latents"].clone())
            return values

        if with_picture:
            call["conditions"] = [LTXVideoCondition(image=picture(side), frame_index=0, strength=1.0)]
        result = pipeline(
            prompt=golden_stages.PROMPT, negative_prompt=golden_stages.NEGATIVE, width=side, height=side,
            num_frames=FRAMES, frame_rate=golden_stages.FRAME_RATE, guidance_scale=guidance,
            generator=torch.Generator().manual_seed(0), image_cond_noise_scale=0.0, decode_timestep=0.05,
            decode_noise_scale=0.025, max_sequence_length=golden_stages.TEXT_TOKENS, output_type=output_type,
            callback_on_step_end=keep, **call).frames
        out[f"{name}.{key}"] = torch.stack(steps)
        return result

    latents = run("first", 64, "latent", timesteps=FIRST)
    latents = between(latents=latents, adain_factor=1.0, tone_map_compression_ratio=0.6, output_type="latent").frames
    out[name + ".between"] = latents
    frames = run("second", 128, "pt", timesteps=SECOND, denoise_strength=0.999, latents=latents)[0]
    frames = torch.nn.functional.interpolate(frames, (SIDE, SIDE), mode="bilinear", align_corners=False)
    out[name + ".frames"] = frames.permute(0, 2, 3, 1).flatten()[::STRIDE]


def generate():
    import torch
    from safetensors.torch import save_file
    parts, _ = golden_models.build("0.9.5")
    out = {}
    for name in CONFIGS:
        model, config, shapes = build(name)
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config) + "\n")
        (folder / "shapes.json").write_text(json.dumps(shapes, separators=(",", ":")) + "\n")
        out[name] = model(golden_stages.draw(41, 1, 8, 3, 2, 3))
        if name == "spatial":
            low = golden_stages.draw(42, 1, 8, 3, 2, 3)
            from diffusers import LTXLatentUpsamplePipeline
            pipeline = LTXLatentUpsamplePipeline(vae=parts["vae"], latent_upsampler=model)
            for adain, tone in ((0.0, 0.0), (1.0, 0.0), (0.4, 0.6)):
                out[f"pipeline.{adain}.{tone}"] = pipeline(
                    latents=low, adain_factor=adain, tone_map_compression_ratio=tone, output_type="latent").frames
            two_passes(parts, model, out, "distilled", 1.0, False)
            two_passes(parts, model, out, "pinned", 3.0, True)
    path = FOLDER / "golden.safetensors"
    save_file({k: v.contiguous().clone() for k, v in out.items()}, path)
    print("upsampler", len(out), "tensors,", path.stat().st_size, "bytes")
