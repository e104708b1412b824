# SPDX-License-Identifier: Apache-2.0
"""LTX-2's connectors and transformer one by one, in fp32 and in bf16."""
import pathlib

GEMMA = pathlib.Path(__file__).parent / "gemma3" / "golden.safetensors"
FRAMES, HEIGHT, WIDTH, FRAME_RATE, SPECTRA = 3, 2, 5, 25, 7  # of latents
TEXT_TOKENS = 16


def draw(seed, *shape):
    import torch
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def both_types(module, run):
    """name -> tensor: what `run` makes in fp32, then the same with `.bf16` behind the name."""
    import torch
    out = {}
    for name, dtype in (("", torch.float32), (".bf16", torch.bfloat16)):
        module.to(dtype)
        out.update({key + name: value.float() for key, value in run(dtype).items()})
    return out


def connectors(module):
    import torch
    from safetensors.torch import load_file
    gemma = load_file(GEMMA)
    full = draw(31, 1, TEXT_TOKENS, 24, 8)  # no token is padding

    def run(dtype):
        states = gemma["states.bf16" if dtype == torch.bfloat16 else "states.fp32"]
        out = {}
        for name, text, mask in (("text", states, gemma["mask"]), ("full", full, torch.ones(1, TEXT_TOKENS, dtype=torch.long))):
            out[f"{name}.video"], out[f"{name}.audio"], after = module(text.to(dtype), mask)
            assert (after == 1).all()
        return out
    return both_types(module, run)


def tables(module, out):
    """Cosines and sines of every channel, of both streams by themselves and towards each other."""
    video = module.rope.prepare_video_coords(1, FRAMES, HEIGHT, WIDTH, "cpu", fps=FRAME_RATE)
    audio = module.audio_rope.prepare_audio_coords(1, SPECTRA, "cpu")
    ropes = {"video": (module.rope, video), "audio": (module.audio_rope, audio),
             "video_cross": (module.cross_attn_rope, video[:, 0:1]), "audio_cross": (module.cross_attn_audio_rope, audio[:, 0:1])}
    for name, (rope, coordinates) in ropes.items():
        out[f"rope.{name}.cos"], out[f"rope.{name}.sin"] = rope(coordinates)


def cases(module):
    """name -> what a call is told beside latents and texts."""
    import torch
    tokens = FRAMES * HEIGHT * WIDTH
    given = {"timestep": torch.tensor([725.0, 31.0]), "sigma": torch.tensor([725.0, 31.0])}
    video_times = torch.where(torch.arange(tokens) < HEIGHT * WIDTH, 0.0, 409.5).repeat(2, 1)
    each = {"timestep": video_times, "audio_timestep": torch.tensor([[409.5], [31.0]]).repeat(1, SPECTRA), "sigma": torch.tensor([409.5, 31.0]),
            "audio_sigma": torch.tensor([511.0, 25.5])}
    mask = torch.ones(2, TEXT_TOKENS)
    mask[0, 9:], mask[1, 3:] = 0, 0
    self_mask = (draw(29, 2, tokens, tokens) > -0.5).float() * 0.75 + 0.25
    found = {"scalar": given, "scalar_cross": {**given, "use_cross_timestep": True, "audio_sigma": torch.tensor([511.0, 25.5])}, "per_token": each,
             "per_token_cross": {**each, "use_cross_timestep": True},
             "masked": {**given, "encoder_attention_mask": mask, "audio_encoder_attention_mask": mask},
             "isolated": {**given, "isolate_modalities": True}, "self_mask": {**given, "video_self_attention_mask": self_mask}}
    if module.config.perturbed_attn:
        found["perturbed"] = {**given, "spatio_temporal_guidance_blocks": [1]}
    if module.config.use_keyframes_abs_pos_embedding:
        marks = (torch.arange(tokens) < HEIGHT * WIDTH).float().reshape(1, tokens, 1).repeat(2, 1, 1)
        found["keyframes"] = {**given, "video_keyframes_mask": marks}
    return found


def transformer(module):
    config = module.config
    widths = [config.caption_channels] * 2 if config.use_prompt_embeddings else [config.cross_attention_dim, config.audio_cross_attention_dim]
    video, audio = draw(21, 2, FRAMES * HEIGHT * WIDTH, 8), draw(22, 2, SPECTRA, 8)
    text, audio_text = draw(23, 2, TEXT_TOKENS, widths[0]), draw(24, 2, TEXT_TOKENS, widths[1])
    every = cases(module)

    def run(dtype):
        out = {}
        for name, told in every.items():
            out[f"{name}.video"], out[f"{name}.audio"] = module(
                video.to(dtype), audio.to(dtype), text.to(dtype), audio_text.to(dtype), num_frames=FRAMES, height=HEIGHT, width=WIDTH,
                fps=FRAME_RATE, audio_num_frames=SPECTRA, return_dict=False, **told)
        return out
    out = both_types(module, run)
    tables(module, out)
    for name, told in every.items():
        out.update({f"{name}.{key}": value.float() for key, value in told.items() if hasattr(value, "float")})
    return out
