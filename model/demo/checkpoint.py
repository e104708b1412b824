# SPDX-License-Identifier: Apache-2.0
"""The state of a training run as one safetensors file that is replaced as a whole, so that a kill costs a minute."""

import json
import os
import pathlib

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn


class Checkpoint:
    """`facts` is small and JSON; `tensors` are the modules' weights and the optimiser's state."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.facts: dict = {"finished": [], "stage": "", "used": 0.0, "steps": 0, "runs": 0, "results": {}}

    def save(self, modules: dict[str, nn.Module], optimiser_state: dict[str, Tensor]) -> None:
        tensors = {f"{prefix}.{name}": tensor for prefix, module in modules.items()
                   for name, tensor in module.state_dict().items() if name != "encoder.embed_tokens.weight"}
        tensors |= {f"optimiser.{name}": tensor for name, tensor in optimiser_state.items()}
        tensors = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
        fresh = self.path.with_suffix(".tmp")
        save_file(tensors, fresh, metadata={"facts": json.dumps(self.facts)})
        os.replace(fresh, self.path)

    def load(self, modules: dict[str, nn.Module]) -> dict[str, Tensor]:
        """Fills the modules and `facts`; returns the optimiser's state. Nothing happens without a file."""
        if not self.path.exists():
            return {}
        with safe_open(self.path, framework="pt") as file:
            self.facts = json.loads(file.metadata()["facts"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}
        with torch.no_grad():
            for prefix, module in modules.items():
                for name, tensor in module.state_dict().items():
                    if f"{prefix}.{name}" in tensors:
                        tensor.copy_(tensors[f"{prefix}.{name}"])
        return {name.removeprefix("optimiser."): tensor for name, tensor in tensors.items() if name.startswith("optimiser.")}
