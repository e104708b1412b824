# SPDX-License-Identifier: Apache-2.0
"""The stages of a pipeline one by one, then whole pipelines with the latents of every step."""
HEIGHT, WIDTH, FRAME_RATE, STEPS, GUIDANCE, RESCALE = 64, 96, 25, 3, 3.0, 0.7
PROMPT = "a red fox walks through a snowy forest. cinematic, 35mm film"
NEGATIVE = "worst quality, blurry"
FRAME_STRIDE = 7  # of the frames every 7th value is kept
TEXT_TOKENS = 24


def image():
    import torch
    return (torch.arange(3 * HEIGHT * WIDTH).reshape(1, 3, HEIGHT, WIDTH) % 251) / 255


def clip():
    import torch
    base = torch.arange(3 * HEIGHT * WIDTH).reshape(3, HEIGHT, WIDTH)
    return torch.stack([(base * (i + 1) % 251) / 255 for i in range(9)])


def draw(seed, *shape):
    import torch
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def text(parts, out):
    import torch
    tokens = parts["tokenizer"]([PROMPT, NEGATIVE], padding="max_length", max_length=TEXT_TOKENS,
                                truncation=True, return_tensors="pt")
    encoder = parts["text_encoder"]
    out["text.ids"], out["text.mask"] = tokens.input_ids, tokens.attention_mask
    out["text.unmasked"] = encoder(tokens.input_ids)[0]
    out["text.masked"] = encoder(tokens.input_ids, attention_mask=tokens.attention_mask)[0]
    long = (torch.arange(150) * 7 % 1000).unsqueeze(0)  # past the farthest bucket
    out["text.long"] = encoder(long)[0]


def transformer(parts, out):
    import torch
    model = parts["transformer"]
    shape = {"num_frames": 2, "height": 3, "width": 5}
    x, caption = draw(21, 2, 30, 8), draw(22, 2, 6, 32)
    mask = torch.tensor([[1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0]])
    scale = (8 / FRAME_RATE, 32, 32)
    coords = draw(23, 1, 3, 30).abs().repeat(2, 1, 1) * 100
    cos, sin = model.rope(x, 2, 3, 5, scale)
    out["rope.plain.cos"], out["rope.plain.sin"] = cos[:1], sin[:1]
    cos, sin = model.rope(x, video_coords=coords)
    out["rope.given.coords"], out["rope.given.cos"] = coords[:1], cos[:1]
    out["time.sinusoid"] = model.time_embed.emb.time_proj(torch.tensor([725.0, 50.0, 0.03]))
    bias = ((1 - mask.float()) * -10000).unsqueeze(1)
    temb, _ = model.time_embed(torch.tensor([725.0, 31.0]), hidden_dtype=torch.float32)
    out["block"] = model.transformer_blocks[0](
        draw(24, 2, 30, 32), draw(25, 2, 6, 32), temb.view(2, 1, -1), model.rope(x, 2, 3, 5, scale),
        bias)
    call = lambda t, **where: model(x, caption, t, mask, return_dict=False, **where)[0]
    out["transformer.scalar"] = call(torch.tensor([725.0, 31.0]), rope_interpolation_scale=scale,
                                     **shape)
    times = torch.where(torch.arange(30) < 15, 0.0, 409.5).repeat(2, 1)
    out["transformer.per_token"] = call(times, video_coords=coords, **shape)


def vae(parts, out):
    import torch
    model = parts["vae"]
    for name, frames in (("image", image()[0].unsqueeze(0)), ("clip", clip())):
        x = frames.permute(1, 0, 2, 3).unsqueeze(0) * 2 - 1
        out["encode." + name] = model.encode(x).latent_dist.parameters[:, :9]
    z = draw(31, 1, 8, 3, 2, 3)
    torch.manual_seed(7)
    temb = torch.tensor([0.05]) if model.config.timestep_conditioning else None
    out["decode"] = model.decode(z, temb, return_dict=False)[0].flatten()[::FRAME_STRIDE]


def pipelines(parts, static, out):
    import torch
    from diffusers import (FlowMatchEulerDiscreteScheduler, LTXConditionPipeline,
                           LTXImageToVideoPipeline, LTXPipeline)
    from diffusers.pipelines.ltx.pipeline_ltx_condition import LTXVideoCondition
    static = FlowMatchEulerDiscreteScheduler.from_config(static)

    def run(name, pipeline, **call):
        steps = []

        def keep(_pipe, _step, _t, values):
            steps.append(values["latents"].clone())
            return values

        pipeline.set_progress_bar_config(disable=True)
        torch.manual_seed(0)  # the decoder's noise of 0.9.1, which takes no generator
        frames = pipeline(
            prompt=PROMPT, negative_prompt=NEGATIVE, height=HEIGHT, width=WIDTH,
            frame_rate=FRAME_RATE, num_inference_steps=STEPS, guidance_scale=GUIDANCE,
            guidance_rescale=RESCALE, generator=torch.Generator().manual_seed(0),
            decode_timestep=0.05, decode_noise_scale=0.025, max_sequence_length=TEXT_TOKENS,
            output_type="pt", callback_on_step_end=keep, **call).frames
        out[name + ".latents"] = torch.stack(steps)
        out[name + ".frames"] = frames.permute(0, 1, 3, 4, 2).flatten()[::FRAME_STRIDE]

    run("text", LTXPipeline(**parts), num_frames=17)
    run("image", LTXImageToVideoPipeline(**parts), num_frames=17, image=image())
    condition = LTXConditionPipeline(**{**parts, "scheduler": static})
    run("condition", condition, num_frames=33, conditions=[
        LTXVideoCondition(image=image(), frame_index=0, strength=1.0),
        LTXVideoCondition(image=1 - image(), frame_index=16, strength=0.8),
        LTXVideoCondition(video=clip(), frame_index=24, strength=0.9)])


def stages(parts, static):
    out = {}
    text(parts, out)
    transformer(parts, out)
    vae(parts, out)
    pipelines(parts, static, out)
    return out
