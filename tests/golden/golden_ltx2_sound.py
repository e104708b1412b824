# SPDX-License-Identifier: Apache-2.0
"""LTX-2's way from latents to sound: a tiny audio autoencoder and two tiny vocoders with their weights, which are small, and what diffusers makes of them."""
import json
import pathlib

FOLDER = pathlib.Path(__file__).parent / "ltx2_sound"
SEEDS = {"audio_vae": 3, "vocoder": 4, "vocoder_extended": 4}
AUDIO_VAE = {"_class_name": "AutoencoderKLLTX2Audio", "base_channels": 8, "output_channels": 2, "ch_mult": [1, 2, 4], "num_res_blocks": 1,
             "attn_resolutions": None, "in_channels": 2, "resolution": 256, "latent_channels": 2, "norm_type": "pixel", "causality_axis": "height",
             "dropout": 0.0, "mid_block_add_attention": False, "sample_rate": 16000, "mel_hop_length": 160, "is_causal": True, "mel_bins": 16,
             "double_z": True}
VOCODER = {"_class_name": "LTX2Vocoder", "in_channels": 32, "hidden_channels": 16, "out_channels": 2, "upsample_kernel_sizes": [4, 3],
           "upsample_factors": [2, 3], "resnet_kernel_sizes": [3, 5], "resnet_dilations": [[1, 3], [1, 2]], "act_fn": "leaky_relu",
           "leaky_relu_negative_slope": 0.1, "antialias": False, "antialias_ratio": 2, "antialias_kernel_size": 12, "final_act_fn": "tanh",
           "final_bias": True, "output_sampling_rate": 600}
EXTENDED = {"_class_name": "LTX2VocoderWithBWE", "in_channels": 32, "hidden_channels": 32, "out_channels": 2,
            "upsample_kernel_sizes": [11, 4, 4, 4, 8], "upsample_factors": [5, 2, 2, 2, 4], "resnet_kernel_sizes": [3, 7, 11],
            "resnet_dilations": [[1, 3, 5], [1, 3, 5], [1, 3, 5]], "act_fn": "snakebeta", "leaky_relu_negative_slope": 0.1, "antialias": True,
            "antialias_ratio": 2, "antialias_kernel_size": 12, "final_act_fn": None, "final_bias": False, "bwe_in_channels": 16,
            "bwe_hidden_channels": 16, "bwe_out_channels": 2, "bwe_upsample_kernel_sizes": [12, 11, 16], "bwe_upsample_factors": [6, 5, 8],
            "bwe_resnet_kernel_sizes": [3, 7], "bwe_resnet_dilations": [[1, 3, 5], [1, 3, 5]], "bwe_act_fn": "snakebeta",
            "bwe_leaky_relu_negative_slope": 0.1, "bwe_antialias": True, "bwe_antialias_ratio": 2, "bwe_antialias_kernel_size": 12,
            "bwe_final_act_fn": None, "bwe_final_bias": False, "filter_length": 128, "hop_length": 80, "window_length": 128,
            "num_mel_channels": 8, "input_sampling_rate": 16000, "output_sampling_rate": 48000}
TOKENS = 9  # audio latents; 33 frames of the spectrum


def draw(seed, *shape):
    import torch
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def basis(shape):
    """Cosines, then sines, under a Hann window."""
    import math

    import torch
    rows, _, length = shape
    time = torch.arange(length)
    angle = 2 * math.pi * torch.arange(rows // 2).unsqueeze(1) * time / length
    return (torch.cat([torch.cos(angle), -torch.sin(angle)]) * torch.hann_window(length)).unsqueeze(1)


def fill(model, seed):
    import torch
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, old in sorted(model.state_dict().items(), key=lambda item: item[0].encode()):
        r = torch.randn(old.shape, generator=generator)
        if name.endswith(".filter"):
            state[name] = old
        elif name.endswith("forward_basis"):
            state[name] = basis(old.shape)
        elif name.endswith("mel_basis"):
            state[name] = r.abs()
        elif name == "latents_mean":
            state[name] = 0.1 * draw(8, *old.shape)
        elif name == "latents_std":
            state[name] = 1 + 0.1 * draw(9, *old.shape)
        elif old.ndim == 1:
            state[name] = 1 + 0.1 * r if "norm" in name else 0.1 * r
        else:
            # Most of a wave at its limits would say little.
            quiet = 0.1 if name in ("vocoder.conv_out.weight", "bwe_generator.conv_out.weight") else 1
            state[name] = quiet * r / old[0].numel() ** 0.5
    model.load_state_dict(state)
    return {name: value.clone().contiguous() for name, value in state.items()}


def build(name, model_class, config, dtype):
    """The model in fp32, of weights that are stored in `dtype`."""
    import torch
    from safetensors.torch import save_file
    model = model_class.from_config(config).eval()
    state = {key: value.to(dtype) for key, value in fill(model, SEEDS[name]).items()}
    model.load_state_dict({key: value.to(torch.float32) for key, value in state.items()})
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    save_file(state, folder / "diffusion_pytorch_model.safetensors")
    (folder / "config.json").write_text(json.dumps(config) + "\n")
    return model


def mel_spectrum(wave, bins):
    """Of a wave [channels, samples], by transformers: [1, channels, frames, bins]."""
    import torch
    from transformers.audio_utils import mel_filter_bank, spectrogram, window_function
    filters = mel_filter_bank(513, bins, 0.0, 8000.0, 16000, norm="slaney", mel_scale="slaney")
    frames = [spectrogram(channel, window_function(1024, "hann"), 1024, 160, power=1.0, mel_filters=filters, mel_floor=1e-5, log_mel="log")
              for channel in wave.double().numpy()]
    return torch.stack([torch.from_numpy(channel.T.copy()).float() for channel in frames]).unsqueeze(0)


def generate():
    import torch
    from diffusers import AutoencoderKLLTX2Audio
    from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder, LTX2VocoderWithBWE
    from safetensors.torch import save_file
    torch.set_grad_enabled(False)
    vae = build("audio_vae", AutoencoderKLLTX2Audio, AUDIO_VAE, torch.float32)
    plain = build("vocoder", LTX2Vocoder, VOCODER, torch.float32)
    extended = build("vocoder_extended", LTX2VocoderWithBWE, EXTENDED, torch.bfloat16)  # as it is released
    spectrum, odd = draw(51, 1, 2, 33, 16), draw(52, 1, 2, 1, 16)
    out = {"vocoder": plain(spectrum), "vocoder.frame": plain(odd), "vocoder_extended": extended(spectrum), "vocoder_extended.frame": extended(odd)}
    tokens = draw(53, 1, TOKENS, 8)
    latents = (tokens * vae.latents_std + vae.latents_mean).unflatten(2, (-1, 4)).transpose(1, 2)
    out["spectrum"] = vae.decode(latents, return_dict=False)[0]
    out["wave"] = plain(out["spectrum"])
    out["wave_extended"] = extended(out["spectrum"])
    sound = draw(54, 1, 2, 33, 16)
    out["latents"] = vae.encode(sound).latent_dist.mode()
    out["latents.tokens"] = (out["latents"].transpose(1, 2).flatten(2) - vae.latents_mean) / vae.latents_std
    for bins in (16, 64):
        out["mel.%d" % bins] = mel_spectrum(0.1 * draw(57, 2, 4000), bins)
    half = vae.to(torch.bfloat16)
    out["spectrum.bf16"] = half.decode(latents.to(torch.bfloat16), return_dict=False)[0].float()
    out["latents.bf16"] = half.encode(sound.to(torch.bfloat16)).latent_dist.mode().float()
    path = FOLDER / "golden.safetensors"
    save_file({key: value.contiguous().clone() for key, value in out.items()}, path)
    for key, value in out.items():
        print("ltx2_sound", key, list(value.shape), "rms %.3f, largest %.3f" % (value.pow(2).mean().sqrt(), value.abs().max()),
              "at the limits: %.3f" % (value.abs() == 1).float().mean())
