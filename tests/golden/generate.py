#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the goldens beside this file with the reference implementations.

  python3 -m venv venv && venv/bin/pip install -r tests/golden/requirements.txt
  venv/bin/python tests/golden/generate.py [tokenizer] [bpe] [gemma] [schedules] [models] [pictures] [layouts]
        [upsampler] [guidance] [tiles] [bf16] [gguf] [ltx2] [ltx2_sound] [ltx2_vae]
        [ltx2_vae_layouts] [ltx2_films] [ltx2_passes] [ltx2_conditions] [ltx2_references] [ltx2_diffusion] [adapters]

Nothing is downloaded: vocabularies are trained here, weights are drawn from seeds. The tests only
read what this leaves; run it again when a reference's version changes.
"""
import sys

import golden_adapters
import golden_bf16
import golden_bpe
import golden_gemma
import golden_gguf
import golden_guidance
import golden_layouts
import golden_ltx2
import golden_ltx2_conditions
import golden_ltx2_diffusion
import golden_ltx2_films
import golden_ltx2_passes
import golden_ltx2_references
import golden_ltx2_sound
import golden_ltx2_vae
import golden_ltx2_vae_layouts
import golden_models
import golden_pictures
import golden_schedules
import golden_tiles
import golden_tokenizer
import golden_upsampler

PARTS = {
    "tokenizer": golden_tokenizer.generate,
    "bpe": golden_bpe.generate,
    "gemma": golden_gemma.generate,
    "schedules": golden_schedules.generate,
    "models": golden_models.generate,
    "pictures": golden_pictures.generate,
    "upsampler": golden_upsampler.generate,
    "guidance": golden_guidance.generate,
    "tiles": golden_tiles.generate,
    "bf16": golden_bf16.generate,
    "layouts": golden_layouts.generate,
    "gguf": golden_gguf.generate,
    "ltx2_vae": golden_ltx2_vae.generate,
    "ltx2_vae_layouts": golden_ltx2_vae_layouts.generate,
    "ltx2": golden_ltx2.generate,
    "ltx2_sound": golden_ltx2_sound.generate,
    "ltx2_films": golden_ltx2_films.generate,
    "ltx2_passes": golden_ltx2_passes.generate,
    "ltx2_conditions": golden_ltx2_conditions.generate,
    "adapters": golden_adapters.generate,
    "ltx2_references": golden_ltx2_references.generate,
    "ltx2_diffusion": golden_ltx2_diffusion.generate,
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(PARTS)
    for name in chosen:
        PARTS[name]()
