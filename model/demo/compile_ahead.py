# SPDX-License-Identifier: Apache-2.0
"""Compiles the stages' losses in a second process while the first stage trains, into the compiler's own cache.

A stage takes the compiled loss only when this process said that it works; otherwise it runs as written.
"""

import pathlib
import subprocess
import sys
import time
from types import SimpleNamespace

import torch

import autoencoder_stages
import denoiser_stage
import networks
import tokenizer
from latent_bank import BUCKETS, LatentBank
from training import Optimiser

DENOISER = "denoiser"


def prepare() -> None:
    """Settings that the compiler's cache is keyed by: the same in both processes."""
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch._dynamo.config.recompile_limit = 64
    torch.fx.experimental._config.use_duck_shape = False  # a batch as long as a clip is a coincidence


def begin(out: pathlib.Path, finished: list[str]) -> subprocess.Popen:
    for marker in out.glob("compiled-*"):
        marker.unlink()
    log = open(out / "compile.log", "w", encoding="utf-8")  # noqa: SIM115, the child writes to it
    return subprocess.Popen([sys.executable, __file__, str(out), *finished], stdout=log, stderr=subprocess.STDOUT)


def works(out: pathlib.Path, name: str) -> bool:
    return (out / f"compiled-{name}").exists()


def compile_blocks(transformer) -> None:
    """One block's code serves all blocks and all sizes of clips."""
    for block in transformer.transformer_blocks:
        block.compile(dynamic=True)


def main() -> int:
    out = pathlib.Path(sys.argv[1])
    prepare()
    torch.manual_seed(0)
    vae = networks.new_vae().cuda()
    options = SimpleNamespace(batch=0, gpu=True, refill_every=1000)

    def said(name: str, began: float) -> None:
        (out / f"compiled-{name}").touch()
        print(f"{name}: compiled in {time.monotonic() - began:.0f} s", flush=True)

    for stage in autoencoder_stages.STAGES:
        if stage.compile and stage.name not in sys.argv[2:]:
            began = time.monotonic()
            optimiser = Optimiser(autoencoder_stages.trained_modules(stage, vae), 0.99, skip=("timestep_scale_multiplier",))
            loss = autoencoder_stages.loss_of(stage, vae)
            autoencoder_stages.AutoencoderStage(stage, loss, optimiser, 0, options, compiled=True).advance(0.5, 0)
            torch.cuda.synchronize()
            said(stage.name, began)
    began = time.monotonic()
    bank = LatentBank(vae, tokenizer.model_bytes(), 100, 0, True)
    while not bank.ready():
        bank.add()
    transformer, text_encoder = networks.new_transformer().cuda(), networks.new_text_encoder().cuda()
    compile_blocks(transformer)
    optimiser = Optimiser(denoiser_stage.trained_modules(transformer, text_encoder), 0.99)
    feed = denoiser_stage.DenoiserStage(transformer, text_encoder, bank, optimiser, 0, options)
    for bucket in (BUCKETS[0], BUCKETS[2]):
        for image in (False, True):
            feed.step(bucket, image, False)
            torch.cuda.synchronize()
            print(f"denoiser: {bucket} {image} after {time.monotonic() - began:.0f} s", flush=True)
    said(DENOISER, began)
    return 0


if __name__ == "__main__":
    sys.exit(main())
