# SPDX-License-Identifier: Apache-2.0
"""Puts the kernels into existing models: diffusers' LTX-Video and the norms of transformers."""

from .ltx import patch_ltx, patch_ltx_vae
from .replacement import PatchReport, unpatch
from .transformers_modules import patch_transformers

__all__ = ["PatchReport", "patch_ltx", "patch_ltx_vae", "patch_transformers", "unpatch"]
