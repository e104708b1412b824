# SPDX-License-Identifier: Apache-2.0
"""Whole calls of LTX2Pipeline on tiny models of each generation, from prompts to pictures and sound.

The models are the components of `golden_ltx2.py`, `golden_ltx2_vae.py` and `golden_ltx2_sound.py`, behind a Gemma whose vocabulary is that of
`bpe_tokenizer/`: Gemma 4 for 2.5, else Gemma 3. Latents are those behind the last step, normalised, as tokens. Of frames every 31st value is kept, of waves every 7th.
"""
import json
import pathlib

import golden_gemma
import golden_ltx2
import golden_ltx2_calls
import golden_ltx2_sound
import golden_ltx2_vae

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "ltx2" / "films"
TOKENIZERS = HERE / "bpe_tokenizer"
FRAME_STRIDE, WAVE_STRIDE = 31, 7
PROMPT, NEGATIVE = "a red fox walks through a snowy forest. its steps crunch", "blurry, silent"
LENGTH, STEPS, SEED = 64, 3, 77
TEXT, TEXT4 = {**golden_gemma.TEXT, "vocab_size": 651}, {**golden_gemma.TINY4, "vocab_size": 651}
VOCODERS = {"2.0": "vocoder", "2.3": "vocoder_extended", "2.5": "vocoder_extended"}
NO_STG = {"stg_scale": 0.0, "audio_stg_scale": 0.0}  # 2.0 ignores it
FILMS = {
    "2.0": {"guided": (24.0, {**golden_ltx2_calls.ALL, **NO_STG})},
    "2.3": {"guided": (25.0, golden_ltx2_calls.ALL), "plain": (24.0, golden_ltx2_calls.NONE),
            "distilled": (24.0, {**golden_ltx2_calls.NONE, "sigmas": [1.0, 0.909375, 0.421875]})},
    # As a preset asks; and a plain call, whose other prompt has no token at all.
    "2.5": {"ancestral": golden_ltx2_calls.CALLS["ancestral"], "guided": (25.0, {**golden_ltx2_calls.ALL, "negative_prompt": ""})}}


def gemma(variant):
    """And the shapes of its weights by their names in the file."""
    if variant == "2.5":
        return golden_gemma.gemma4(TEXT4)
    import torch
    from transformers import Gemma3TextConfig, Gemma3TextModel
    encoder = Gemma3TextModel(Gemma3TextConfig(**TEXT)).eval()
    generator = torch.Generator().manual_seed(5)
    state, shapes = {}, {}
    for name, old in sorted(encoder.state_dict().items(), key=lambda item: item[0].encode()):
        r = torch.randn(old.shape, generator=generator)
        shapes[f"language_model.model.{name}"] = list(old.shape)
        state[name] = 0.1 * r if old.ndim == 1 else r / old[0].numel() ** 0.5
    encoder.load_state_dict(state)
    return encoder, shapes


def stored(name, model_class):
    import torch
    from safetensors.torch import load_file
    folder = golden_ltx2_sound.FOLDER / name
    model = model_class.from_config(json.loads((folder / "config.json").read_text())).eval()
    model.load_state_dict({key: value.to(torch.float32) for key, value in load_file(folder / "diffusion_pytorch_model.safetensors").items()})
    return model


def mark_first_latents(transformer):
    """As the releases' own programs call 2.5: the pictures' tokens of the first latent frame are those of a key frame."""
    import torch
    plain = transformer.forward

    def marked(hidden_states, *given, height, width, **more):
        marks = torch.zeros(*hidden_states.shape[:2], 1)
        marks[:, :height * width] = 1
        return plain(hidden_states, *given, height=height, width=width, video_keyframes_mask=marks, **more)
    transformer.forward = marked


def pipeline(variant, scheduler, encoder, plain=False):
    """Of 2.5 as a preset calls it, which begins prompts with <bos>, as the files of the others say; or a plain call, which does not."""
    from diffusers import AutoencoderKLLTX2Audio, AutoencoderKLLTX2Video
    from diffusers.pipelines.ltx2 import LTX2Pipeline
    from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder, LTX2VocoderWithBWE
    from transformers import PreTrainedTokenizerFast
    vae = AutoencoderKLLTX2Video.from_config(golden_ltx2_vae.VAES["2.3" if variant == "2.5" else variant]).eval()
    golden_ltx2.fill(vae, 1)
    name = VOCODERS[variant]
    vocoder = stored(name, LTX2Vocoder if name == "vocoder" else LTX2VocoderWithBWE)
    bos = "without_bos" if plain and variant == "2.5" else "with_bos"
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / bos / "tokenizer.json"), pad_token="<pad>", bos_token="<bos>", padding_side="left",
                                        truncation_side="right")
    pipe = LTX2Pipeline(scheduler=scheduler, vae=vae, audio_vae=stored("audio_vae", AutoencoderKLLTX2Audio),
                        text_encoder=encoder, tokenizer=tokenizer, vocoder=vocoder, **golden_ltx2.both(variant))
    pipe._callback_tensor_inputs = pipe._callback_tensor_inputs + ["audio_latents"]
    pipe.set_progress_bar_config(disable=True)
    if variant == "2.5" and not plain:
        mark_first_latents(pipe.transformer)
    return pipe


def call(variant, name, encoder, generator, **more):
    """The pipeline, and what it makes."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, LTXEulerAncestralRFScheduler
    frame_rate, given = FILMS[variant][name]
    ancestral = name == "ancestral"
    settings = golden_ltx2_calls.STATIC if "sigmas" in given else golden_ltx2_calls.DYNAMIC
    scheduler = LTXEulerAncestralRFScheduler() if ancestral else FlowMatchEulerDiscreteScheduler(**settings)
    pipe = pipeline(variant, scheduler, encoder, plain=not ancestral)
    torch.manual_seed(SEED + 10000)  # the ancestral scheduler's noise
    return pipe, pipe(
        prompt=PROMPT, **golden_ltx2_calls.SIZE, **{"negative_prompt": NEGATIVE, **given}, frame_rate=frame_rate, num_inference_steps=STEPS,
        generator=generator, spatio_temporal_guidance_blocks=[1], max_sequence_length=LENGTH, **more)


def film(variant, name, encoder):
    import torch
    last = {}

    def keep(pipe, i, t, now):
        if i < STEPS:  # the ancestral scheduler stands still at the 0
            last.update({key: value[0].clone() for key, value in now.items()})
        return {}
    _, made = call(variant, name, encoder, torch.Generator().manual_seed(SEED), callback_on_step_end=keep,
                   callback_on_step_end_tensor_inputs=["latents", "audio_latents"], output_type="pt")
    frames = made.frames[0].permute(0, 2, 3, 1)  # [T, H, W, 3] in 0..1
    print("ltx2/films", variant, name, list(frames.shape), list(made.audio.shape), "rms of the wave %.3f" % made.audio.pow(2).mean().sqrt(),
          "spread of the frames %.3f" % frames.std())
    return {f"{name}.video": last["latents"], f"{name}.audio": last["audio_latents"], f"{name}.frames": frames.flatten()[::FRAME_STRIDE],
            f"{name}.wave": made.audio[0].flatten()[::WAVE_STRIDE]}


def generate():
    import torch
    torch.set_grad_enabled(False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": TEXT}
    for name, variant, config in (("text_encoder", "2.3", config), ("text_encoder-2.5", "2.5", golden_gemma.config4(TEXT4))):
        made = {"config": config, "shapes": gemma(variant)[1]}
        (FOLDER / f"{name}.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
    for variant, films in FILMS.items():
        tensors, encoder = {}, gemma(variant)[0]
        for name in films:
            tensors.update(film(variant, name, encoder))
        golden_ltx2.save(FOLDER / variant, tensors)
