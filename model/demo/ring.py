# SPDX-License-Identifier: Apache-2.0
"""Samples in a fixed amount of memory: new ones take the places of the oldest."""

import torch
from torch import Tensor


class Ring:
    """`shapes` are those of one sample's tensors, with their types."""

    def __init__(self, capacity: int, shapes: dict[str, tuple[tuple[int, ...], torch.dtype]], device):
        self.tensors = {name: torch.zeros(capacity, *shape, dtype=dtype, device=device) for name, (shape, dtype) in shapes.items()}
        self.capacity, self.written = capacity, 0

    @property
    def filled(self) -> int:
        return min(self.written, self.capacity)

    def put(self, count: int, **tensors: Tensor) -> None:
        """`count` new samples, of each tensor that the ring has."""
        for name, kept in self.tensors.items():
            where = (self.written + torch.arange(count, device=kept.device)) % self.capacity
            kept[where] = tensors[name].to(kept)
        self.written += count
