# SPDX-License-Identifier: Apache-2.0
"""The operators of the library, each of which torch.compile can trace."""

import torch

from ._ops import library_path, ops

__all__ = ["library_path", "ops"]


@torch.library.register_fake(f"{ops.name}::ltx_rope_table")
def _fake_ltx_rope_table(grid, frame_rate, channels):
    frames, height, width = grid
    return (torch.empty(frames + height + width, channels // 6, 2),
            torch.empty(1, frames * height * width, 3, dtype=torch.int32))
