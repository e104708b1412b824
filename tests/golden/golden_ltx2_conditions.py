# SPDX-License-Identifier: Apache-2.0
"""Films of LTX-2 from pictures and clips: LTX2ImageToVideoPipeline and LTX2ConditionPipeline on the tiny models of `golden_ltx2_films.py`.

Pictures have the video's size and are not compressed. Latents are those behind the last step, normalised, as tokens, with the tokens that
conditions add. Of frames every 97th value is kept, of waves every 31st.
"""
import golden_ltx2
import golden_ltx2_calls
import golden_ltx2_films
import golden_ltx2_passes

FOLDER = golden_ltx2.FOLDER / "conditions"
FRAME_STRIDE, WAVE_STRIDE = 97, 31
WIDTH, HEIGHT, FRAMES = 96, 64, 17
GIVEN = {**golden_ltx2_calls.NONE, "sigmas": [0.99375, 0.725, 0.421875]}
GUIDED = golden_ltx2_calls.ALL
NO_STG = golden_ltx2_films.NO_STG
# A condition: its frames, latent index, strength. None: the image pipeline.
FILMS = {
    "image-2.0": ("2.0", {**GUIDED, **NO_STG}, None), "image-2.3": ("2.3", GUIDED, None), "image-given-2.3": ("2.3", GIVEN, None),
    "weak-2.0": ("2.0", {**GUIDED, **NO_STG}, [(1, 0, 0.7), (1, 2, 0.8)]), "weak-2.3": ("2.3", GUIDED, [(1, 0, 0.7), (1, 2, 0.8)]),
    "clips-2.3": ("2.3", GIVEN, [(12, 1, 1.0), (9, 0, 0.9)]), "cut-2.3": ("2.3", GIVEN, [(5, 2, 1.0)]),
    "nothing-2.3": ("2.3", golden_ltx2_calls.NONE, [(1, 0, 0.0), (1, 1, 0.0)])}
# Of two passes, the second at twice the sides.
PASSES = {"two-passes-2.3": [(1, 0, 1.0), (9, 1, 0.6)], "two-passes-image-2.3": None}


def pictures(frames, index, width=WIDTH, height=HEIGHT):
    """Bytes [frames, 3, H, W], others for each condition."""
    import torch
    base = torch.arange(3 * height * width).reshape(3, height, width)
    return torch.stack([base * (i + 1 + index) % 251 for i in range(frames)]).to(torch.uint8)


def halved(clip):
    """As Reel scales what a first pass is given, in 0..255."""
    import torch
    unit = clip.float() / 255
    return torch.nn.functional.interpolate(unit, (clip.shape[2] // 2, clip.shape[3] // 2), mode="bilinear", antialias=True) * 255


def called(pipe, **call):
    last = {}

    def keep(pipe, i, t, now):
        last.update({key: value[0].clone() for key, value in now.items()})
        return {}
    made = pipe(prompt=golden_ltx2_films.PROMPT, negative_prompt=golden_ltx2_films.NEGATIVE, num_frames=FRAMES, frame_rate=25.0,
                spatio_temporal_guidance_blocks=[1], callback_on_step_end=keep, callback_on_step_end_tensor_inputs=["latents", "audio_latents"],
                max_sequence_length=golden_ltx2_films.LENGTH, **call)
    return made, last


def pipelines(variant, settings, encoder):
    """The image pipeline and that for conditions, of the same parts."""
    from diffusers import FlowMatchEulerDiscreteScheduler
    from diffusers.pipelines.ltx2 import LTX2ConditionPipeline, LTX2ImageToVideoPipeline
    parts = golden_ltx2_films.pipeline(variant, FlowMatchEulerDiscreteScheduler(**settings), encoder).components
    made = []
    for cls in (LTX2ImageToVideoPipeline, LTX2ConditionPipeline):
        pipe = cls(**{name: part for name, part in parts.items() if name != "processor"})
        pipe._callback_tensor_inputs = pipe._callback_tensor_inputs + ["audio_latents"]
        pipe.set_progress_bar_config(disable=True)
        made.append(pipe)
    return made


def picture_of_call(clip):
    import PIL.Image
    return PIL.Image.fromarray(clip[0].permute(1, 2, 0).numpy())


def conditions_of(wanted, width, height, scale=lambda clip: clip):
    from diffusers.pipelines.ltx2.pipeline_ltx2_condition import LTX2VideoCondition
    return [LTX2VideoCondition(frames=scale(pictures(frames, index, width, height)), index=index, strength=strength, crf=0)
            for frames, index, strength in wanted]


def results(made, last):
    frames = made.frames[0].permute(0, 2, 3, 1)  # [T, H, W, 3] in 0..1
    return {"video": last["latents"], "audio": last["audio_latents"], "frames": frames.flatten()[::FRAME_STRIDE],
            "wave": made.audio[0].flatten()[::WAVE_STRIDE]}


def film(name, encoder):
    import torch
    variant, given, wanted = FILMS[name]
    image, condition = pipelines(variant, golden_ltx2_calls.STATIC if "sigmas" in given else golden_ltx2_calls.DYNAMIC, encoder)
    call = {"width": WIDTH, "height": HEIGHT, **given, "num_inference_steps": 3, "use_cross_timestep": variant != "2.0",
            "generator": torch.Generator().manual_seed(golden_ltx2_films.SEED), "output_type": "pt"}
    if wanted is None:
        return results(*called(image, image=picture_of_call(pictures(1, 0)), image_crf=0, **call))
    return results(*called(condition, conditions=conditions_of(wanted, WIDTH, HEIGHT), **call))


def two_passes(name, encoder):
    """As golden_ltx2_passes.film, with conditions in both."""
    import torch
    from diffusers.pipelines.ltx2 import LTX2LatentUpsamplePipeline
    wanted = PASSES[name]
    image, condition = pipelines("2.3", golden_ltx2_calls.STATIC, encoder)
    generator = torch.Generator().manual_seed(golden_ltx2_films.SEED)
    large = (2 * WIDTH, 2 * HEIGHT)
    call = {"width": WIDTH, "height": HEIGHT, **golden_ltx2_calls.NONE, "sigmas": golden_ltx2_passes.FIRST, "generator": generator,
            "output_type": "latent"}
    if wanted is None:
        # [1, 3, H, W] in 0..1, as the pipeline takes tensors.
        low, first = called(image, image=halved(pictures(1, 0, *large)) / 255, image_crf=0, **call)
    else:
        low, first = called(condition, conditions=conditions_of(wanted, *large, scale=halved), **call)
    upsample = LTX2LatentUpsamplePipeline(vae=image.vae, latent_upsampler=golden_ltx2_passes.upsampler("x2"))
    high = upsample(latents=low.frames, width=WIDTH, height=HEIGHT, num_frames=FRAMES, output_type="latent").frames
    call = {**call, "width": large[0], "height": large[1], "sigmas": golden_ltx2_passes.SECOND, "output_type": "pt"}
    again = conditions_of([(1, 0, 1.0)] if wanted is None else wanted, *large)
    made, second = called(condition, conditions=again, latents=high, audio_latents=low.audio, noise_scale=golden_ltx2_passes.SECOND[0], **call)
    return {"first.video": first["latents"], "first.audio": first["audio_latents"], **results(made, second)}


def save_all(folder, *films):
    """Of each pair, the names and how one is made."""
    import torch
    torch.set_grad_enabled(False)
    encoder, _ = golden_ltx2_films.gemma("2.3")
    for names, make in films:
        for name in names:
            tensors = make(name, encoder)
            print(f"ltx2/{folder.name}", name, list(tensors["video"].shape), "spread of the frames %.3f" % tensors["frames"].std())
            golden_ltx2.save(folder / name, tensors)


def generate():
    save_all(FOLDER, (FILMS, film), (PASSES, two_passes))
