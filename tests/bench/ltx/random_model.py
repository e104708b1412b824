# SPDX-License-Identifier: Apache-2.0
"""Writes a diffusers folder of LTX-Video's 2B shape with random weights: what speed is measured on where no weights are.

The text encoder has one layer, so times of the text are not those of the real one, unless `--whole-text` asks for all of T5-XXL
(9.5 GB). `--layers 48 --head-width 128` is the 13B shape. `--configurations` leaves the weights out, for `random_weights`.
"""

import argparse
import json
import pathlib
import shutil

import torch
from diffusers import AutoencoderKLLTXVideo, LTXVideoTransformer3DModel
from transformers import T5Config, T5EncoderModel

DOWN = ["LTXVideo095DownBlock3D"] * 4
VAE = {
    "latent_channels": 128, "block_out_channels": [128, 256, 512, 1024, 2048], "down_block_types": DOWN,
    "layers_per_block": [4, 6, 6, 2, 2], "spatio_temporal_scaling": [True] * 4,
    "downsample_type": ["spatial", "temporal", "spatiotemporal", "spatiotemporal"],
    "decoder_block_out_channels": [256, 512, 1024], "decoder_layers_per_block": [5, 5, 5, 5],
    "decoder_spatio_temporal_scaling": [True] * 3, "decoder_inject_noise": [False] * 4,
    "upsample_residual": [True] * 3, "upsample_factor": [2, 2, 2], "timestep_conditioning": True,
    "patch_size": 4, "patch_size_t": 1, "encoder_causal": True, "decoder_causal": False,
    "spatial_compression_ratio": 32, "temporal_compression_ratio": 8,
}
TEXT = {"vocab_size": 32128, "d_model": 4096, "d_kv": 64, "d_ff": 1024, "num_heads": 4, "num_layers": 1,
        "feed_forward_proj": "gated-gelu", "is_encoder_decoder": False, "use_cache": False, "tie_word_embeddings": False}
WHOLE_TEXT = TEXT | {"d_ff": 10240, "num_heads": 64, "num_layers": 24}
SCHEDULER = {"_class_name": "FlowMatchEulerDiscreteScheduler", "num_train_timesteps": 1000, "shift": 1.0,
             "use_dynamic_shifting": False}
INDEX = {"_class_name": "LTXPipeline", "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
         "text_encoder": ["transformers", "T5EncoderModel"], "tokenizer": ["transformers", "T5Tokenizer"],
         "transformer": ["diffusers", "LTXVideoTransformer3DModel"], "vae": ["diffusers", "AutoencoderKLLTXVideo"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True, help="folder with a spiece.model")
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--head-width", type=int, default=64, help="of 32 heads; with 48 layers 128 is the 13B shape")
    parser.add_argument("--whole-text", action="store_true", help="a text encoder of full size")
    parser.add_argument("--configurations", action="store_true", help="no weights")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta" if args.configurations else args.device):
        transformer = LTXVideoTransformer3DModel(num_layers=args.layers, attention_head_dim=args.head_width,
                                                  cross_attention_dim=32 * args.head_width)
        vae = AutoencoderKLLTXVideo(**VAE)
        text = T5EncoderModel(T5Config(**(WHOLE_TEXT if args.whole_text else TEXT)))
    for part, model in (("transformer", transformer), ("vae", vae), ("text_encoder", text)):
        if not args.configurations:
            model.save_pretrained(args.folder / part)
        elif part == "text_encoder":
            model.config.save_pretrained(args.folder / part)
        else:
            model.save_config(args.folder / part)
    (args.folder / "scheduler").mkdir(parents=True, exist_ok=True)
    (args.folder / "scheduler/scheduler_config.json").write_text(json.dumps(SCHEDULER))
    (args.folder / "model_index.json").write_text(json.dumps(INDEX))
    shutil.copytree(args.tokenizer, args.folder / "tokenizer", dirs_exist_ok=True)


if __name__ == "__main__":
    main()
