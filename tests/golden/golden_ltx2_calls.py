# SPDX-License-Identifier: Apache-2.0
"""Whole calls of LTX2Pipeline on the tiny components of `golden_ltx2.py`: the latents of both streams behind every step, normalised, as tokens."""
from types import SimpleNamespace

import golden_ltx2_stages

SEED, STEPS = 77, 3
SIZE = {"width": 96, "height": 64, "num_frames": 17}
DYNAMIC = {"num_train_timesteps": 1000, "shift": 1.0, "use_dynamic_shifting": True, "base_shift": 0.95, "max_shift": 2.05, "base_image_seq_len": 1024,
           "max_image_seq_len": 4096, "shift_terminal": 0.1}
STATIC = {**DYNAMIC, "use_dynamic_shifting": False, "shift_terminal": None}
ALL = {"guidance_scale": 3.0, "audio_guidance_scale": 7.0, "stg_scale": 1.0, "audio_stg_scale": 1.5, "modality_scale": 3.0, "audio_modality_scale": 2.5,
       "guidance_rescale": 0.7, "audio_guidance_rescale": 0.6}
NONE = {"guidance_scale": 1.0, "audio_guidance_scale": 1.0, "stg_scale": 0.0, "audio_stg_scale": 0.0, "modality_scale": 1.0, "audio_modality_scale": 1.0,
        "guidance_rescale": 0.0, "audio_guidance_rescale": 0.0}
# name -> frame rate, what else the call is given; a list of sigmas makes the scheduler static
CALLS = {
    "all": (25.0, ALL),
    "none": (24.0, NONE),
    "text": (30.0, {**NONE, "guidance_scale": 4.0, "audio_guidance_scale": 0.0}),  # 0: as the video
    "sound_text": (50.0, {**NONE, "audio_guidance_scale": 7.0}),
    "perturbed": (25.0, {**NONE, "stg_scale": 1.0, "audio_stg_scale": None}),
    "isolated": (25.0, {**NONE, "modality_scale": 3.0, "audio_modality_scale": 3.0, "guidance_rescale": 0.5}),
    "given": (25.0, {**NONE, "sigmas": [0.99375, 0.725, 0.421875]}),
    "ancestral": (24.0, {**NONE, "sigmas": [0.99375, 0.725, 0.421875, 0.0]}),  # the scheduler wants the 0
}
CALLS_OF = {"2.0": ("all", "none"), "2.3": tuple(CALLS), "2.5": ("all", "ancestral")}


def scheduler(name):
    from diffusers import FlowMatchEulerDiscreteScheduler, LTXEulerAncestralRFScheduler
    if name == "ancestral":
        return LTXEulerAncestralRFScheduler()
    return FlowMatchEulerDiscreteScheduler(**(STATIC if "sigmas" in CALLS[name][1] else DYNAMIC))


def pipeline(parts, name):
    """Without encoders and decoders; their latents' statistics change nothing here."""
    import torch
    from diffusers.pipelines.ltx2 import LTX2Pipeline
    pipe = LTX2Pipeline(scheduler=scheduler(name), vae=None, audio_vae=None, text_encoder=None, tokenizer=None, vocoder=None,
                        **parts)
    still = {"latents_mean": torch.zeros(8), "latents_std": torch.ones(8)}
    object.__setattr__(pipe, "vae", SimpleNamespace(config=SimpleNamespace(scaling_factor=1.0), **still))
    object.__setattr__(pipe, "audio_vae", SimpleNamespace(config=SimpleNamespace(mel_bins=16, latent_channels=2), **still))
    pipe._callback_tensor_inputs = pipe._callback_tensor_inputs + ["audio_latents"]
    pipe.set_progress_bar_config(disable=True)
    return pipe


def texts(dtype):
    """The two texts of Gemma's golden: the prompt, and a shorter negative one."""
    import torch
    from safetensors.torch import load_file
    gemma = load_file(golden_ltx2_stages.GEMMA)
    states = gemma["states.bf16" if dtype == torch.bfloat16 else "states.fp32"].flatten(2, 3).to(dtype)
    return {"prompt_embeds": states[:1], "prompt_attention_mask": gemma["mask"][:1], "negative_prompt_embeds": states[1:],
            "negative_prompt_attention_mask": gemma["mask"][1:]}


def call(parts, name, dtype):
    import torch
    frame_rate, given = CALLS[name]
    steps = []

    def keep(pipe, i, t, now):
        steps.append((now["latents"][0].clone(), now["audio_latents"][0].clone()))
        return {}
    torch.manual_seed(SEED + 10000)  # the ancestral scheduler's noise
    pipeline(parts, name)(**SIZE, **given, **texts(dtype), frame_rate=frame_rate, num_inference_steps=STEPS, generator=torch.Generator().manual_seed(SEED),
         spatio_temporal_guidance_blocks=[1], callback_on_step_end=keep, callback_on_step_end_tensor_inputs=["latents", "audio_latents"],
         output_type="latent")
    steps = steps[:STEPS]  # the ancestral scheduler stands still at the 0
    return {f"{name}.video": torch.stack([video for video, _ in steps]), f"{name}.audio": torch.stack([audio for _, audio in steps])}


def calls(variant, parts):
    import torch
    out = {}
    for suffix, dtype in (("", torch.float32), (".bf16", torch.bfloat16)):
        for part in parts.values():
            part.to(dtype)
        for name in CALLS_OF[variant]:
            out.update({key + suffix: value for key, value in call(parts, name, dtype).items()})
    return out
