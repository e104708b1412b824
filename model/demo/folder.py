# SPDX-License-Identifier: Apache-2.0
"""Writes the trained networks as a folder that diffusers' LTXPipeline loads: same files, classes and keys as the big models."""

import hashlib
import json
import pathlib

import torch
from safetensors.torch import save_file
from torch import nn

import networks
import tokenizer

INDEX = {
    "_class_name": "LTXPipeline", "_diffusers_version": "0.42.1",
    "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"], "text_encoder": ["transformers", "T5EncoderModel"],
    "tokenizer": ["transformers", "T5TokenizerFast"], "transformer": ["diffusers", "LTXVideoTransformer3DModel"],
    "vae": ["diffusers", "AutoencoderKLLTXVideo"],
}
SCHEDULER = {
    "_class_name": "FlowMatchEulerDiscreteScheduler", "_diffusers_version": "0.42.1", "num_train_timesteps": 1000,
    "shift": 1.0, "use_dynamic_shifting": False,
}
# Reel's defaults and limits for the model (model/family/card_file.h). diffusers ignores the file.
CARD = {
    "family": "LTX-Video demo",
    "defaults": {"width": 256, "height": 256, "num_frames": 49, "frame_rate": 24, "steps": 20, "guidance_scale": 4,
                 "negative_prompt": "", "max_text_tokens": 128},
    "limits": {"min_size": 128, "max_size": 512, "max_frames": 97, "max_text_tokens": 128},
    # As people say them: captions.py has more wordings.
    "prompt_words": [
        {"name": "shapes", "words": ["circle", "square", "triangle", "star"]},
        {"name": "colours", "words": ["red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "white"]},
        {"name": "sizes", "words": ["small", "big"]},
        {"name": "motions", "words": ["sliding left", "sliding right", "rising", "falling", "bouncing", "orbiting", "spinning",
                                      "growing", "shrinking", "fading away", "appearing", "standing still"]},
        {"name": "grounds", "words": ["waves", "stripes", "checkerboard", "starfield", "fire", "sunrise"]},
    ],
}
MANIFEST = "SHA256SUMS"


def write(folder: pathlib.Path, vae: nn.Module, transformer: nn.Module, text_encoder: nn.Module) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "model_index.json", INDEX)
    write_json(folder / "reel.json", CARD)
    write_json(folder / "scheduler/scheduler_config.json", SCHEDULER)
    version = {"_diffusers_version": "0.42.1"}
    write_json(folder / "vae/config.json", {"_class_name": "AutoencoderKLLTXVideo"} | version | networks.VAE)
    write_json(folder / "transformer/config.json",
                {"_class_name": "LTXVideoTransformer3DModel"} | version | networks.TRANSFORMER)
    write_json(folder / "text_encoder/config.json",
                {"architectures": ["T5EncoderModel"], "model_type": "t5", "dtype": "bfloat16"} | networks.TEXT_ENCODER)
    tokenizer.save(folder / "tokenizer")
    _write_weights(folder / "vae/diffusion_pytorch_model.safetensors", vae)
    _write_weights(folder / "transformer/diffusion_pytorch_model.safetensors", transformer)
    _write_weights(folder / "text_encoder/model.safetensors", text_encoder)
    write_manifest(folder)


def write_json(path: pathlib.Path, value: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _write_weights(path: pathlib.Path, module: nn.Module) -> None:
    tensors = {name: tensor.detach().to("cpu", torch.bfloat16).contiguous() for name, tensor in module.state_dict().items()
               if name != "encoder.embed_tokens.weight"}  # an alias of shared.weight
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata={"format": "pt"})
    path.chmod(0o644)  # save_file's is the owner's alone


def write_manifest(folder: pathlib.Path) -> None:
    """As sha256sum writes it: `sha256sum --check SHA256SUMS` in the folder, and reeld before it serves the model."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / MANIFEST).write_text("".join(lines), encoding="utf-8")


def size(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
