# SPDX-License-Identifier: Apache-2.0
"""Writes the trained networks as a folder that diffusers' LTXPipeline loads: same files, classes and keys as the big models."""

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


def write(folder: pathlib.Path, vae: nn.Module, transformer: nn.Module, text_encoder: nn.Module) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "model_index.json", INDEX)
    _write_json(folder / "scheduler/scheduler_config.json", SCHEDULER)
    version = {"_diffusers_version": "0.42.1"}
    _write_json(folder / "vae/config.json", {"_class_name": "AutoencoderKLLTXVideo"} | version | networks.VAE)
    _write_json(folder / "transformer/config.json",
                {"_class_name": "LTXVideoTransformer3DModel"} | version | networks.TRANSFORMER)
    _write_json(folder / "text_encoder/config.json",
                {"architectures": ["T5EncoderModel"], "model_type": "t5", "dtype": "bfloat16"} | networks.TEXT_ENCODER)
    tokenizer.save(folder / "tokenizer")
    _write_weights(folder / "vae/diffusion_pytorch_model.safetensors", vae)
    _write_weights(folder / "transformer/diffusion_pytorch_model.safetensors", transformer)
    _write_weights(folder / "text_encoder/model.safetensors", text_encoder)


def _write_json(path: pathlib.Path, value: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def _write_weights(path: pathlib.Path, module: nn.Module) -> None:
    tensors = {name: tensor.detach().to("cpu", torch.bfloat16).contiguous() for name, tensor in module.state_dict().items()
               if name != "encoder.embed_tokens.weight"}  # an alias of shared.weight
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata={"format": "pt"})


def size(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
