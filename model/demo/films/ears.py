# SPDX-License-Identifier: Apache-2.0
"""A vocoder of one ear that both ears share. In a folder of weights it is LTX2Vocoder's two ears, which never meet: a network
that hears both at once learns what they have in common, which is nearly all, and loses where a sound comes from."""

import torch
from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder
from torch import Tensor, nn


class Ears(nn.Module):
    """`config` is of LTX2Vocoder for both ears."""

    def __init__(self, config: dict):
        super().__init__()
        halves = {key: config[key] // 2 for key in ("in_channels", "hidden_channels", "out_channels")}
        self.ear = LTX2Vocoder(**config | halves)

    def forward(self, spectra: Tensor) -> Tensor:
        """[N, 2, frames, bins] to waves [N, 2, S]."""
        return self.ear(spectra.flatten(0, 1)[:, None]).reshape(len(spectra), 2, -1)


def both_ears(ear: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights of LTX2Vocoder: everywhere the left ear's channels stand before the right ear's."""
    return {key: torch.cat([value, value]) if value.ndim == 1 else torch.stack(
        [torch.block_diag(tap, tap) for tap in value.unbind(dim=2)], dim=2) for key, value in ear.items()}


def one_ear(both: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: value[tuple(slice(size // 2) for size in value.shape[:2])] for key, value in both.items()}
