# SPDX-License-Identifier: Apache-2.0
"""Writes the trained networks as a folder that diffusers' LTX2Pipeline and Reel load, and reads it back."""

import pathlib

import torch
from safetensors.torch import load_file, save_file
from torch import nn

import ears
import film_networks
import film_tokenizer
import folder as pictures_alone
from folder import write_json, write_manifest

VERSION = {"_diffusers_version": "0.42.1"}
INDEX = {
    "_class_name": "LTX2Pipeline", "_diffusers_version": "0.42.1", "audio_vae": ["diffusers", "AutoencoderKLLTX2Audio"],
    "connectors": ["ltx2", "LTX2TextConnectors"], "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
    "text_encoder": ["transformers", "Gemma3ForConditionalGeneration"], "tokenizer": ["transformers", "PreTrainedTokenizerFast"],
    "transformer": ["diffusers", "LTX2VideoTransformer3DModel"], "vae": ["diffusers", "AutoencoderKLLTX2Video"],
    "vocoder": ["ltx2", "LTX2Vocoder"],
}
# Dynamic, since a static one is a distilled model's, which takes no guidance; but without a shift at any size.
SCHEDULER = {
    "_class_name": "FlowMatchEulerDiscreteScheduler", "_diffusers_version": "0.42.1", "num_train_timesteps": 1000, "shift": 1.0,
    "use_dynamic_shifting": True, "base_shift": 0.0, "max_shift": 0.0, "base_image_seq_len": 1024, "max_image_seq_len": 4096,
}
# One guidance for both streams, and a text of 64 tokens: what it was trained with. It is none of the releases.
CARD = {
    "family": "LTX-2.3 demo",
    "defaults": pictures_alone.CARD["defaults"] | {
        "max_text_tokens": 64, "guidance_rescale": 0, "stg_scale": 0, "modality_scale": 1,
        "audio_guidance_scale": 4, "audio_guidance_rescale": 0, "audio_stg_scale": 0, "audio_modality_scale": 1,
    },
    "limits": pictures_alone.CARD["limits"] | {"max_text_tokens": 64},
    "presets": [],
    "prompt_words": pictures_alone.CARD["prompt_words"],
}
STEM = "diffusion_pytorch_model.safetensors"
# Module, folder, class, configuration, file of the weights, prefix of their names.
PARTS = (
    ("vae", "vae", "AutoencoderKLLTX2Video", film_networks.VAE, STEM, ""),
    ("sound_vae", "audio_vae", "AutoencoderKLLTX2Audio", film_networks.SOUND_VAE, STEM, ""),
    ("vocoder", "vocoder", "LTX2Vocoder", film_networks.VOCODER, STEM, ""),
    ("transformer", "transformer", "LTX2VideoTransformer3DModel", film_networks.TRANSFORMER, STEM, ""),
    ("connectors", "connectors", "LTX2TextConnectors", film_networks.CONNECTORS, STEM, ""),
    ("text_encoder", "text_encoder", "", film_networks.WHOLE_GEMMA, "model.safetensors", "model.language_model."),
)


def write(folder: pathlib.Path, modules: dict[str, nn.Module]) -> None:
    write_json(folder / "model_index.json", INDEX)
    write_json(folder / "reel.json", CARD)
    write_json(folder / "scheduler/scheduler_config.json", SCHEDULER)
    film_tokenizer.save(folder / "tokenizer")
    for name, part, kind, config, file, prefix in PARTS:
        head = {"_class_name": kind} | VERSION if kind else {"architectures": ["Gemma3ForConditionalGeneration"], "dtype": "bfloat16"}
        write_json(folder / part / "config.json", head | config)
        module = modules[name] if kind else film_networks.whole_text_encoder(modules[name])
        weights = ears.both_ears(module.ear.state_dict()) if name == "vocoder" else module.state_dict()
        tensors = {key: value.detach().to("cpu", torch.bfloat16).contiguous() for key, value in weights.items()
                   if key != "lm_head.weight"}  # an alias of the embedding
        save_file(tensors, folder / part / file, metadata={"format": "pt"})
        (folder / part / file).chmod(0o644)  # save_file's is the owner's alone
    write_manifest(folder)


@torch.no_grad()
def read(folder: pathlib.Path, modules: dict[str, nn.Module]) -> None:
    for name, part, _, _, file, prefix in PARTS:
        stored = {key.removeprefix(prefix): value for key, value in load_file(folder / part / file).items()}
        if name == "vocoder":
            stored = {f"ear.{key}": value for key, value in ears.one_ear(stored).items()}
        for key, value in modules[name].state_dict().items():
            value.copy_(stored[key])
