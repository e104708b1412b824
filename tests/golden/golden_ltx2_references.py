# SPDX-License-Identifier: Apache-2.0
"""Films of LTX-2 with a reference clip: LTX2InContextPipeline on the tiny models of `golden_ltx2_films.py`, with the adapter `adapters/ltx2/style`.

Clips have the size and the frames that the adapter wants, so nothing is scaled. The pipeline knows a factor of the sides; that of the frames is put
into the coordinates here. Latents are those behind the last step, normalised, as tokens, with the tokens that conditions add. Of frames every 97th
value is kept, of waves every 31st.
"""
import golden_adapters
import golden_ltx2
import golden_ltx2_calls
import golden_ltx2_conditions
import golden_ltx2_films
import golden_ltx2_passes

FOLDER = golden_ltx2.FOLDER / "references"
FRAME_RATE, SCALE, ALPHA = 25.0, 0.7, 3
GIVEN, GUIDED = golden_ltx2_conditions.GIVEN, golden_ltx2_calls.ALL
# A film: sides, frames, call, factors of the reference, its frames, its strength, conditions (frames, latent index, strength).
FILMS = {
    "guided": ((96, 64), 17, GUIDED, (1, 1), 17, 1.0, []),
    "half": ((128, 64), 17, GIVEN, (2, 1), 17, 0.6, []),
    "slow": ((96, 64), 33, GIVEN, (1, 4), 9, 1.0, []),
    "half-slow": ((128, 64), 33, GIVEN, (2, 4), 9, 1.0, []),
    "short": ((96, 64), 17, GIVEN, (1, 1), 9, 0.8, [(1, 0, 1.0), (9, 1, 0.6)])}
# Of two passes, the second at twice the sides; the reference is in both, at the size of each.
PASSES = {"two-passes": ((128, 64), (2, 1), 17, 1.0)}


def with_references(pipe, frames_factor):
    """The reference's pictures as they are, and its frames `frames_factor` apart."""
    plain = pipe._encode_reference_conditions

    def preprocess_video(frames, height, width, resize_mode):
        assert list(frames.shape[2:]) == [height, width]
        return (frames.float() / 255 * 2 - 1).transpose(0, 1).unsqueeze(0)

    def encode(*given, frame_rate, **more):
        latents, coords, mask, counts = plain(*given, frame_rate=frame_rate, **more)
        coords[:, 0] = (coords[:, 0] * frames_factor - (frames_factor - 1) / frame_rate).clamp(min=0)
        return latents, coords, mask, counts
    pipe.video_processor.preprocess_video = preprocess_video
    pipe._encode_reference_conditions = encode
    return pipe


def add_style(transformer):
    """The adapter's products in the weights, in fp32."""
    from safetensors.torch import load_file
    state = load_file(golden_adapters.FOLDER / "ltx2" / "style.safetensors")
    for key, down in state.items():
        name, _, half = key.removeprefix("transformer.").partition(".lora_")
        if half == "A.weight":
            up = state[key.replace("lora_A", "lora_B")]
            transformer.get_submodule(name).weight += SCALE * ALPHA / len(down) * up @ down


def pipeline(settings, encoder, frames_factor):
    from diffusers import FlowMatchEulerDiscreteScheduler
    from diffusers.pipelines.ltx2.pipeline_ltx2_ic_lora import LTX2InContextPipeline
    parts = golden_ltx2_films.pipeline("2.3", FlowMatchEulerDiscreteScheduler(**settings), encoder).components
    pipe = LTX2InContextPipeline(**{name: part for name, part in parts.items() if name not in ("processor", "duration_head")})
    add_style(pipe.transformer)
    pipe._callback_tensor_inputs = pipe._callback_tensor_inputs + ["audio_latents"]
    pipe.set_progress_bar_config(disable=True)
    return with_references(pipe, frames_factor)


def reference_of(clip, strength):
    from diffusers.pipelines.ltx2.pipeline_ltx2_ic_lora import LTX2ReferenceCondition
    return LTX2ReferenceCondition(frames=clip, strength=strength)


def clip_of(frames, width, height):
    """Others than those of conditions."""
    return golden_ltx2_conditions.pictures(frames, 6, width, height)


def called(pipe, frames, **call):
    last = {}

    def keep(pipe, i, t, now):
        last.update({key: value[0].clone() for key, value in now.items()})
        return {}
    made = pipe(prompt=golden_ltx2_films.PROMPT, negative_prompt=golden_ltx2_films.NEGATIVE, num_frames=frames, frame_rate=FRAME_RATE,
                spatio_temporal_guidance_blocks=[1], callback_on_step_end=keep, callback_on_step_end_tensor_inputs=["latents", "audio_latents"],
                max_sequence_length=golden_ltx2_films.LENGTH, **call)
    return made, last


def film(name, encoder):
    import torch
    (width, height), frames, given, (sides, apart), count, strength, wanted = FILMS[name]
    pipe = pipeline(golden_ltx2_calls.STATIC if "sigmas" in given else golden_ltx2_calls.DYNAMIC, encoder, apart)
    reference = reference_of(clip_of(count, width // sides, height // sides), strength)
    made, last = called(pipe, frames, width=width, height=height, **given, num_inference_steps=3, reference_conditions=reference,
                        reference_downscale_factor=sides, conditions=golden_ltx2_conditions.conditions_of(wanted, width, height),
                        generator=torch.Generator().manual_seed(golden_ltx2_films.SEED), output_type="pt")
    return golden_ltx2_conditions.results(made, last)


def two_passes(name, encoder):
    import torch
    from diffusers.pipelines.ltx2 import LTX2LatentUpsamplePipeline
    (width, height), (sides, apart), count, strength = PASSES[name]
    pipe = pipeline(golden_ltx2_calls.STATIC, encoder, apart)
    clip = clip_of(count, 2 * width // sides, 2 * height // sides)
    call = {**golden_ltx2_calls.NONE, "reference_downscale_factor": sides, "generator": torch.Generator().manual_seed(golden_ltx2_films.SEED)}
    low, first = called(pipe, 17, width=width, height=height, sigmas=golden_ltx2_passes.FIRST, output_type="latent",
                        reference_conditions=reference_of(golden_ltx2_conditions.halved(clip), strength), **call)
    upsample = LTX2LatentUpsamplePipeline(vae=pipe.vae, latent_upsampler=golden_ltx2_passes.upsampler("x2"))
    high = upsample(latents=low.frames, width=width, height=height, num_frames=17, output_type="latent").frames
    made, second = called(pipe, 17, width=2 * width, height=2 * height, sigmas=golden_ltx2_passes.SECOND, output_type="pt", latents=high,
                          audio_latents=low.audio, noise_scale=golden_ltx2_passes.SECOND[0], reference_conditions=reference_of(clip, strength), **call)
    return {"first.video": first["latents"], "first.audio": first["audio_latents"], **golden_ltx2_conditions.results(made, second)}


def generate():
    golden_ltx2_conditions.save_all(FOLDER, (FILMS, film), (PASSES, two_passes))
