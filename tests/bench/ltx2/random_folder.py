#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a folder of LTX-2's released configurations without weights, for `random_weights`: speed is measured on it where no weights are.

The tokenizer is the small one of the tests; of the text encoder's vocabulary only its first entries are used.
"""

import argparse
import json
import pathlib
import shutil

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden"
GEMMA_3_12B = {"vocab_size": 262208, "hidden_size": 3840, "intermediate_size": 15360, "num_hidden_layers": 48, "num_attention_heads": 16,
               "num_key_value_heads": 8, "head_dim": 256, "rms_norm_eps": 1e-6, "query_pre_attn_scalar": 256, "sliding_window": 1024,
               "sliding_window_pattern": 6, "rope_theta": 1e6, "rope_local_base_freq": 1e4, "max_position_embeddings": 131072,
               "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "hidden_activation": "gelu_pytorch_tanh", "model_type": "gemma3_text"}
SCHEDULER = {"_class_name": "FlowMatchEulerDiscreteScheduler", "num_train_timesteps": 1000, "shift": 1.0}
DYNAMIC = {"use_dynamic_shifting": True, "base_shift": 0.95, "max_shift": 2.05, "base_image_seq_len": 1024, "max_image_seq_len": 4096,
           "shift_terminal": 0.1}
CLASSES = {"transformer": "LTX2VideoTransformer3DModel", "connectors": "LTX2TextConnectors", "vae": "AutoencoderKLLTX2Video",
           "audio_vae": "AutoencoderKLLTX2Audio", "vocoder": "LTX2VocoderWithBWE", "latent_upsampler": "LTX2LatentUpsamplerModel"}
RATIOS = {"spatial_compression_ratio": 32, "temporal_compression_ratio": 8}  # of the video autoencoder; diffusers guesses others
LIBRARIES = {"connectors": "ltx2", "vocoder": "ltx2"}
LAYOUTS = GOLDEN / "ltx2/layouts"


def configuration(part: str, version: str) -> dict:
    # What a version has not changed is as in the one before.
    found = next(path for path in (LAYOUTS / f"{part}-{name}.json" for name in (version, "2.3", "2.0")) if path.exists())
    return {"_class_name": CLASSES[part]} | json.loads(found.read_text())["config"] | (RATIOS if part == "vae" else {})


def text_encoder(version: str) -> dict:
    if version == "2.5":
        return json.loads((LAYOUTS / "text_encoder-2.5.json").read_text())["config"]
    return {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": GEMMA_3_12B}


def write(folder: pathlib.Path, version: str, distilled: bool) -> None:
    parts = {part: configuration(part, version) for part in CLASSES}
    parts["text_encoder"] = text_encoder(version)
    parts["scheduler"] = SCHEDULER | ({"use_dynamic_shifting": False} if distilled else DYNAMIC)
    index = {"_class_name": "LTX2Pipeline", "text_encoder": ["transformers", *parts["text_encoder"]["architectures"]],
             "tokenizer": ["transformers", "GemmaTokenizer"], "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"]}
    for part, config in parts.items():
        name = "scheduler_config.json" if part == "scheduler" else "config.json"
        (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / part / name).write_text(json.dumps(config, indent=1))
        if part in CLASSES and part != "latent_upsampler":
            index[part] = [LIBRARIES.get(part, "diffusers"), config["_class_name"]]
    (folder / "model_index.json").write_text(json.dumps(index, indent=1))
    bos = "without_bos" if version == "2.5" else "with_bos"
    shutil.copytree(GOLDEN / "bpe_tokenizer" / bos, folder / "tokenizer", dirs_exist_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--version", choices=["2.0", "2.3", "2.5"], default="2.3")
    parser.add_argument("--distilled", action="store_true", help="a static scheduler")
    args = parser.parse_args()
    write(args.folder, args.version, args.distilled)


if __name__ == "__main__":
    main()
