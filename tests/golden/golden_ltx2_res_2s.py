# SPDX-License-Identifier: Apache-2.0
"""The sampler res_2s around diffusers' transformer, which has no such scheduler: written from its formulas, in fp64."""
import math

import golden_ltx2_calls

STEPS = (1.0, 0.975, 0.725, 0.421875)  # sigmas, the first of which are close enough to be refined
LAST = 0.0011
SHAPE = {"num_frames": 3, "height": 2, "width": 3, "fps": 24.0}


def weights(sigma, after):
    h = math.log(sigma / after)
    phi_1, phi_2 = lambda z: (math.exp(z) - 1) / z, lambda z: (math.exp(z) - 1 - z) / z ** 2
    second = 2 * phi_2(-h)
    return h, h * phi_1(-h / 2) / 2, phi_1(-h) - second, second


def new_noise(like, generator):
    import torch
    noise = torch.randn(like.shape, generator=generator, dtype=torch.float64)
    noise = (noise - noise.mean()) / noise.std()
    return (noise - noise.mean(dim=(1, 2), keepdim=True)) / noise.std(dim=(1, 2), keepdim=True)


def renoised(x, y, sigma, after, noise):
    up = after / 2
    kept = math.sqrt(after ** 2 - up ** 2)
    alpha = 1 - after + kept
    e = (x - y) / (sigma - after)
    return alpha * (x - sigma * e + kept / alpha * e) + up * noise


def call(parts, dtype):
    """The latents of both streams behind every step, by the prompt alone."""
    import torch
    given = golden_ltx2_calls.texts(dtype)
    text, audio_text, _ = parts["connectors"](given["prompt_embeds"], given["prompt_attention_mask"])
    generator = torch.Generator().manual_seed(golden_ltx2_calls.SEED)
    video, audio = torch.randn(1, 8, 3, 2, 3, generator=generator), torch.randn(1, 2, 18, 4, generator=generator)
    state = [video.permute(0, 2, 3, 4, 1).flatten(1, 3), audio.transpose(1, 2).flatten(2)]
    at_end, at_middle = (torch.Generator().manual_seed(golden_ltx2_calls.SEED + more) for more in (0, 10000))

    def clean(latents, sigma):
        level = torch.tensor(sigma, dtype=torch.float32)
        time = (level * 1000).reshape(1)
        velocity = parts["transformer"](latents[0].to(dtype), latents[1].to(dtype), text, audio_text, timestep=time, sigma=time, audio_num_frames=18,
                                        use_cross_timestep=True, return_dict=False, **SHAPE)
        return [(x.float() - v.float() * level).double() for x, v in zip(latents, velocity)]

    steps = []
    sigmas = [float(torch.tensor(sigma, dtype=torch.float32)) for sigma in STEPS + (LAST,)]
    for sigma, after in zip(sigmas, sigmas[1:]):
        h, to_middle, first, second = weights(sigma, after)
        middle_sigma = math.sqrt(sigma * after)
        anchors, d1 = [x.double() for x in state], clean(state, sigma)
        middles = [renoised(x, x + to_middle * (d - x), sigma, middle_sigma, new_noise(x, at_middle)) for x, d in zip(anchors, d1)]
        if h < 0.5 and sigma > 0.03:
            for _ in range(100):
                anchors = [m - to_middle * (d - x) for m, d, x in zip(middles, d1, anchors)]
        d2 = clean([m.to(dtype).float() for m in middles], middle_sigma)
        ends = [x + h * (first * (a - x) + second * (b - x)) for x, a, b in zip(anchors, d1, d2)]
        state = [renoised(x, y, sigma, after, new_noise(x, at_end)).to(dtype).float() for x, y in zip(anchors, ends)]
        steps.append(state)
    steps.append([x.to(dtype).float() for x in clean(state, LAST)])
    return {f"res_2s.{name}": torch.stack([step[i][0] for step in steps]) for i, name in enumerate(("video", "audio"))}


def calls(parts):
    import torch
    out = {}
    for suffix, dtype in (("", torch.float32), (".bf16", torch.bfloat16)):
        for part in parts.values():
            part.to(dtype)
        out.update({key + suffix: value for key, value in call(parts, dtype).items()})
    return out
