#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a folder of LTX-Video's released configurations without weights, for --random-weights: with the whole text encoder, in no time."""

import argparse
import json
import pathlib
import shutil

GOLDEN = pathlib.Path(__file__).parents[2] / "golden"
T5_XXL = {"vocab_size": 32128, "d_model": 4096, "d_kv": 64, "d_ff": 10240, "num_heads": 64, "num_layers": 24,
          "feed_forward_proj": "gated-gelu"}
UPSAMPLER = {"_class_name": "LTXLatentUpsamplerModel", "in_channels": 128, "mid_channels": 512, "num_blocks_per_stage": 4, "dims": 3,
             "spatial_upsample": True, "temporal_upsample": False}


def config(layout: str) -> dict:
    return json.loads((GOLDEN / f"layouts/{layout}.json").read_text())["config"]


def write(folder: pathlib.Path, size: str, upsampler: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(GOLDEN / "tokenizer", folder / "tokenizer", dirs_exist_ok=True)
    shutil.copytree(GOLDEN / "models/0.9.5/scheduler", folder / "scheduler", dirs_exist_ok=True)
    shutil.copy(GOLDEN / "models/0.9.5/model_index.json", folder)
    parts = {"transformer": config(f"transformer-{size}"), "vae": config("vae-0.9.5"), "text_encoder": T5_XXL}
    for part, values in (parts | ({"latent_upsampler": UPSAMPLER} if upsampler else {})).items():
        (folder / part).mkdir(exist_ok=True)
        (folder / part / "config.json").write_text(json.dumps(values, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", choices=["2b", "13b"], default="13b")
    parser.add_argument("--upsampler", action="store_true", help="for presets of two passes")
    args = parser.parse_args()
    write(args.folder, args.size, args.upsampler)


if __name__ == "__main__":
    main()
