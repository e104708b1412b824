# SPDX-License-Identifier: Apache-2.0
"""Waves to what LTX-2's audio autoencoder takes: logarithms of a mel spectrum of 64 bins, a frame each 10 ms."""

import math

import torch
from torch import Tensor

from film_networks import BINS
from sounds import FRAME, RATE

WINDOW = 1024  # samples
FLOOR = 1e-5   # below it a bin is silent


class Spectra:
    """[N, 2, S] to [N, 2, frames, BINS], float32. A frame is centred on its first sample."""

    def __init__(self, device, window: int = WINDOW, bins: int = BINS, hop: int = FRAME):
        self.window, self.hop = window, hop
        self.shape = torch.hann_window(window, device=device)
        self.filters = filters(window, bins).to(device)

    def __call__(self, waves: Tensor) -> Tensor:
        return self.mel(self.magnitude(waves)).clamp(min=FLOOR).log()

    def magnitude(self, waves: Tensor) -> Tensor:
        """[N, 2, frames, WINDOW / 2 + 1]"""
        half = self.window // 2
        padded = torch.nn.functional.pad(waves, (half, half - self.hop))
        pieces = padded.unfold(2, self.window, self.hop) * self.shape
        found = torch.view_as_real(torch.fft.rfft(pieces, dim=-1))
        return (found.square().sum(dim=-1) + 1e-12).sqrt()

    def mel(self, magnitude: Tensor) -> Tensor:
        return magnitude @ self.filters


def filters(window: int, bins: int) -> Tensor:
    """[window / 2 + 1, bins]: triangles even on the mel scale from 0 to half the rate."""
    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    edges = torch.linspace(0, mel(RATE / 2), bins + 2, dtype=torch.float64)
    edges = 700 * (10 ** (edges / 2595) - 1)
    hertz = torch.linspace(0, RATE / 2, window // 2 + 1, dtype=torch.float64)[:, None]
    rising = (hertz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - hertz) / (edges[2:] - edges[1:-1])
    triangles = torch.minimum(rising, falling).clamp(min=0)
    return (triangles / triangles.sum(dim=0).clamp(min=1e-9)).float()
