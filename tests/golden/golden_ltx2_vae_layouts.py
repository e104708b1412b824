# SPDX-License-Identifier: Apache-2.0
"""Names and shapes of LTX-2's released autoencoders, vocoders and upsamplers, and their configurations, without any weights."""
import json
import pathlib

FOLDER = pathlib.Path(__file__).parent / "ltx2" / "layouts"
VAES = {
    "2.0": {"_class_name": "AutoencoderKLLTX2Video", "decoder_causal": False},
    "2.3": {"_class_name": "AutoencoderKLLTX2Video", "block_out_channels": [256, 512, 1024, 1024], "layers_per_block": [4, 6, 4, 2, 2],
            "decoder_block_out_channels": [256, 512, 512, 1024], "decoder_layers_per_block": [4, 6, 4, 2, 2],
            "decoder_spatio_temporal_scaling": [True] * 4, "decoder_inject_noise": [False] * 5,
            "upsample_type": ["spatiotemporal", "spatiotemporal", "temporal", "spatial"], "upsample_residual": [False] * 4,
            "upsample_factor": [2, 2, 1, 2], "decoder_causal": False, "decoder_spatial_padding_mode": "zeros"}}
AUDIO_VAES = {"2.0": {"_class_name": "AutoencoderKLLTX2Audio"}}
VOCODERS = {"2.0": {"_class_name": "LTX2Vocoder"}, "2.3": {"_class_name": "LTX2VocoderWithBWE"}}
UPSAMPLERS = {"2.0": {"_class_name": "LTX2LatentUpsamplerModel"},
              "2.3": {"_class_name": "LTX2LatentUpsamplerModel", "use_rational_resampler": False}}


def generate():
    import torch
    from diffusers import AutoencoderKLLTX2Audio, AutoencoderKLLTX2Video
    from diffusers.pipelines.ltx2 import latent_upsampler, vocoder
    kinds = {"AutoencoderKLLTX2Audio": AutoencoderKLLTX2Audio, "AutoencoderKLLTX2Video": AutoencoderKLLTX2Video,
             "LTX2Vocoder": vocoder.LTX2Vocoder, "LTX2VocoderWithBWE": vocoder.LTX2VocoderWithBWE,
             "LTX2LatentUpsamplerModel": latent_upsampler.LTX2LatentUpsamplerModel}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for part, configs in (("vae", VAES), ("audio_vae", AUDIO_VAES), ("vocoder", VOCODERS), ("latent_upsampler", UPSAMPLERS)):
        for name, config in configs.items():
            with torch.device("meta"):
                state = kinds[config["_class_name"]].from_config(config).state_dict()
            shapes = {key: list(value.shape) for key, value in state.items()}
            text = json.dumps({"config": config, "shapes": shapes}, separators=(",", ":"))
            (FOLDER / f"{part}-{name}.json").write_text(text + "\n")
            print(part, name, len(state), "tensors,", sum(value.numel() for value in state.values()), "numbers")
