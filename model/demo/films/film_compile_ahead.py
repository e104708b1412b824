# SPDX-License-Identifier: Apache-2.0
"""Compiles the decoder's loss and the transformer's blocks, each in a process of its own, while the sound's stages train.

As compile_ahead.py of ltx-demo does: into the compiler's own cache, and a stage takes it only when it is known to work.
"""

import pathlib
import subprocess
import sys
import time
from types import SimpleNamespace

import torch

import ways  # noqa: F401, first: it puts ltx-demo's scripts on the path

import carried_weights
import film_networks
import film_stage
import picture_stages
from autoencoder_stages import AutoencoderStage
from compile_ahead import compile_blocks, prepare
from film_bank import FilmBank
from latent_bank import BUCKETS
from training import Optimiser


def begin(out: pathlib.Path, names: list[str]) -> list[subprocess.Popen]:
    started = []
    for name in names:
        (out / f"compiled-{name}").unlink(missing_ok=True)
        log = open(out / f"compile-{name}.log", "w", encoding="utf-8")  # noqa: SIM115, the child writes to it
        started.append(subprocess.Popen([sys.executable, __file__, str(out), name], stdout=log, stderr=subprocess.STDOUT))
    return started


def main() -> int:
    out, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    prepare()
    torch.manual_seed(0)
    began = time.monotonic()
    options = SimpleNamespace(batch=0, gpu=True, refill_every=1000)
    vae, teacher = film_networks.new_vae().cuda(), carried_weights.teacher("cuda")
    if name == picture_stages.DECODER.name:
        stage = picture_stages.DECODER
        optimiser = Optimiser(picture_stages.trained_modules(stage, vae), 0.99)
        loss = picture_stages.decoder_loss(vae, teacher)
        AutoencoderStage(stage, loss, optimiser, 0, options, compiled=True).advance(0.5, 0)
    else:
        modules = {"transformer": film_networks.new_transformer().cuda(), "connectors": film_networks.new_connectors().cuda(),
                   "text_encoder": film_networks.new_text_encoder().cuda()}
        bank = FilmBank(teacher, vae, film_networks.new_sound_vae().cuda(), 100, 0, True)
        while not bank.ready():
            bank.add()
        compile_blocks(modules["transformer"])
        optimiser = Optimiser(film_stage.trained_modules(modules), 0.99)
        feed = film_stage.FilmFeed(modules, bank, optimiser, 0, options)
        for bucket in (BUCKETS[0], BUCKETS[2]):
            feed.step(bucket)
            torch.cuda.synchronize()
            print(f"{bucket} after {time.monotonic() - began:.0f} s", flush=True)
    torch.cuda.synchronize()
    (out / f"compiled-{name}").touch()
    print(f"compiled in {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
