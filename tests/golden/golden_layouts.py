# SPDX-License-Identifier: Apache-2.0
"""Names and shapes of the released models' tensors, and their configurations, without any weights."""
import json
import pathlib

FOLDER = pathlib.Path(__file__).parent / "layouts"
NEW_DECODER = {"decoder_block_out_channels": [256, 512, 1024], "decoder_spatio_temporal_scaling": [True] * 3,
               "upsample_residual": [True] * 3, "upsample_factor": [2] * 3, "timestep_conditioning": True}
VAES = {
    "0.9.0": {},
    "0.9.1": {**NEW_DECODER, "decoder_layers_per_block": [5, 6, 7, 8],
              "decoder_inject_noise": [True, True, True, False]},
    "0.9.5": {**NEW_DECODER, "decoder_layers_per_block": [5, 5, 5, 5], "decoder_inject_noise": [False] * 4,
              "block_out_channels": [128, 256, 512, 1024, 2048],
              "down_block_types": ["LTXVideo095DownBlock3D"] * 4, "layers_per_block": [4, 6, 6, 2, 2],
              "spatio_temporal_scaling": [True] * 4,
              "downsample_type": ["spatial", "temporal", "spatiotemporal", "spatiotemporal"],
              "spatial_compression_ratio": 32, "temporal_compression_ratio": 8}}
TRANSFORMERS = {"2b": {}, "13b": {"attention_head_dim": 128, "cross_attention_dim": 4096, "num_layers": 48}}


def generate():
    import torch
    from diffusers import AutoencoderKLLTXVideo, LTXVideoTransformer3DModel
    FOLDER.mkdir(exist_ok=True)
    for part, kind, configs in (("vae", AutoencoderKLLTXVideo, VAES),
                                ("transformer", LTXVideoTransformer3DModel, TRANSFORMERS)):
        for name, config in configs.items():
            with torch.device("meta"):
                state = kind.from_config(config).state_dict()
            layout = {"config": config, "shapes": {key: list(value.shape) for key, value in state.items()}}
            text = json.dumps(layout, separators=(",", ":"))
            (FOLDER / f"{part}-{name}.json").write_text(text + "\n")
            print(part, name, len(state), "tensors")
