# SPDX-License-Identifier: Apache-2.0
"""Films of LTX-2 in two passes: the pipeline at a part of the sides, the latent upsampler, and the pipeline again on what it made.

One generator draws everything. Latents are those behind the last step of each pass, normalised, as tokens. Of frames every 97th value is kept,
of waves every 31st.
"""
import golden_ltx2
import golden_ltx2_calls
import golden_ltx2_films
import golden_ltx2_vae

FOLDER = golden_ltx2.FOLDER / "two_passes"
FRAME_STRIDE, WAVE_STRIDE = 97, 31
FIRST, SECOND = [1.0, 0.909375, 0.421875], [0.909375, 0.725, 0.421875]
# name -> generation, upsampler, sides of the first pass, of the second
FILMS = {"2.0": ("2.0", "rational-x2", (96, 64), (192, 128)), "2.3": ("2.3", "x2", (96, 64), (192, 128)),
         "2.3-x1.5": ("2.3", "rational-x1.5", (128, 64), (192, 96)), "2.5": ("2.5", "x2", (96, 64), (192, 128))}


def upsampler(name):
    from diffusers.pipelines.ltx2.latent_upsampler import LTX2LatentUpsamplerModel
    model = LTX2LatentUpsamplerModel.from_config(golden_ltx2_vae.UPSAMPLERS[name]).eval()
    golden_ltx2.fill(model, 6)
    return model


def one_pass(pipe, size, sigmas, generator, **more):
    """What the call returns, and the tokens behind its last step."""
    last = {}

    def keep(pipe, i, t, now):
        if i < len(FIRST):  # the ancestral scheduler stands still at the 0
            last.update({key: value[0].clone() for key, value in now.items()})
        return {}
    made = pipe(
        prompt=golden_ltx2_films.PROMPT, width=size[0], height=size[1], num_frames=17, frame_rate=24.0, **golden_ltx2_calls.NONE, sigmas=sigmas,
        num_inference_steps=len(sigmas), generator=generator, callback_on_step_end=keep,
        callback_on_step_end_tensor_inputs=["latents", "audio_latents"], max_sequence_length=golden_ltx2_films.LENGTH, **more)
    return made, last


def film(name, encoder):
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, LTXEulerAncestralRFScheduler
    from diffusers.pipelines.ltx2 import LTX2LatentUpsamplePipeline
    variant, between, small, large = FILMS[name]
    ancestral = variant == "2.5"
    euler = FlowMatchEulerDiscreteScheduler(**golden_ltx2_calls.STATIC)
    generator = torch.Generator().manual_seed(golden_ltx2_films.SEED)
    pipe = golden_ltx2_films.pipeline(variant, LTXEulerAncestralRFScheduler() if ancestral else euler, encoder)
    torch.manual_seed(golden_ltx2_films.SEED + 10000)  # the ancestral scheduler's noise
    low, first = one_pass(pipe, small, FIRST + [0.0] * ancestral, generator, output_type="latent")
    upsample = LTX2LatentUpsamplePipeline(vae=pipe.vae, latent_upsampler=upsampler(between))
    high = upsample(latents=low.frames, width=small[0], height=small[1], num_frames=17, output_type="latent").frames
    pipe = golden_ltx2_films.pipeline(variant, euler, encoder)
    made, second = one_pass(pipe, large, SECOND, generator, latents=high, audio_latents=low.audio, noise_scale=SECOND[0], output_type="pt")
    frames = made.frames[0].permute(0, 2, 3, 1)  # [T, H, W, 3] in 0..1
    print("ltx2/two_passes", name, list(frames.shape), list(made.audio.shape), "rms of the wave %.3f" % made.audio.pow(2).mean().sqrt(),
          "spread of the frames %.3f" % frames.std())
    return {"first.video": first["latents"], "first.audio": first["audio_latents"], "video": second["latents"], "audio": second["audio_latents"],
            "frames": frames.flatten()[::FRAME_STRIDE], "wave": made.audio[0].flatten()[::WAVE_STRIDE]}


def generate():
    import torch
    torch.set_grad_enabled(False)
    for name, (variant, *_) in FILMS.items():
        golden_ltx2.save(FOLDER / name, film(name, golden_ltx2_films.gemma(variant)[0]))
