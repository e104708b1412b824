#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the demo model from nothing: autoencoder, then transformer and text encoder, into a folder for LTXPipeline.

  train.py --out DIR                    25 minutes on one GPU
  train.py --out DIR --minutes 240      some hours on two CPU cores, with the batches of a CPU

Run again after a kill it goes on from DIR/checkpoint.safetensors, which is at most a minute old. The folder of
weights is DIR/weights, the losses are in DIR/train.log, the sample sheets beside them.
"""

import argparse
import pathlib
import platform
import sys

import diffusers
import torch
import transformers

import autoencoder_stages
import compile_ahead
import denoiser_stage
import folder
import networks
import run_flags
import sheets
import tokenizer
from autoencoder_stages import AutoencoderStage, Stage
from latent_bank import LatentBank
from staged_run import StagedRun
from training import Clock, Optimiser

DENOISER_SHARE = 0.48


class Training:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        device = torch.device("cuda" if options.gpu else "cpu")
        options.out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(options.seed)
        self.vae = networks.new_vae().to(device)
        self.transformer = networks.new_transformer().to(device)
        self.text_encoder = networks.new_text_encoder().to(device)
        self.run = StagedRun(options, {"vae": self.vae, "transformer": self.transformer, "text_encoder": self.text_encoder})
        self.device = device
        self.compiler = None
        if options.gpu and options.compile:
            self.compiler = compile_ahead.begin(options.out, self.run.facts["finished"])

    def all_stages(self) -> None:
        self.run.say(run=self.run.facts["runs"], device=torch.cuda.get_device_name() if self.options.gpu else platform.processor(),
                     torch=torch.__version__, diffusers=diffusers.__version__, transformers=transformers.__version__,
                     minutes=self.options.minutes, seed=self.options.seed,
                     parameters={name: networks.parameter_count(module) for name, module in self.run.modules.items()})
        for stage in autoencoder_stages.STAGES:
            if not self.run.is_finished(stage.name):
                self.autoencoder(stage)
        if not self.run.is_finished("denoiser"):
            self.denoiser()
        self.export()
        if self.compiler is not None:
            self.compiler.kill()

    def autoencoder(self, stage: Stage) -> None:
        modules = autoencoder_stages.trained_modules(stage, self.vae)
        optimiser = Optimiser(modules, stage.mean_decay, skip=("timestep_scale_multiplier",))
        compiled = stage.compile and compile_ahead.works(self.options.out, stage.name)
        loss = autoencoder_stages.loss_of(stage, self.vae)
        feed = AutoencoderStage(stage, loss, optimiser, self.run.seed, self.options, compiled)
        self.run.stage(stage.name, stage.share, optimiser, feed)
        clips = 16 if self.options.gpu else 4
        frames, side = (49, 256) if self.options.gpu else (17, 128)
        self.run.say(stage=stage.name, psnr_at=[frames, side], psnr=round(autoencoder_stages.psnr(self.vae, clips, frames, side), 2),
                     psnr_128=round(autoencoder_stages.psnr(self.vae, clips, 17, 128), 2))
        sheets.reconstructions(self.options.out / f"vae-{stage.name}.png", self.vae, 8, 17, 128)
        if stage == autoencoder_stages.STAGES[-1]:
            sheets.reconstructions(self.options.out / "vae-full.png", self.vae, 8, frames, side)

    def denoiser(self) -> None:
        bank = LatentBank(self.vae, tokenizer.model_bytes(), self.options.bank, self.run.seed, self.options.gpu)
        minutes = self.options.minutes * DENOISER_SHARE
        if self.run.facts["stage"] != "denoiser" and "denoiser" not in self.run.facts["results"]:
            bank.measure()
        filling = Clock((0.08 if self.options.gpu else 0.15) * minutes)
        while filling.share() < 1 or not bank.ready():
            bank.add()
        self.run.say(stage="denoiser", bank=bank.size(), latents_mean=round(float(self.vae.latents_mean.abs().mean()), 3),
                     latents_std=[round(float(self.vae.latents_std.min()), 3), round(float(self.vae.latents_std.max()), 3)])
        modules = denoiser_stage.trained_modules(self.transformer, self.text_encoder)
        optimiser = Optimiser(modules, denoiser_stage.MEAN_DECAY, denoiser_stage.WEIGHT_DECAY)
        if compile_ahead.works(self.options.out, compile_ahead.DENOISER):
            compile_ahead.compile_blocks(self.transformer)
        feed = denoiser_stage.DenoiserStage(self.transformer, self.text_encoder, bank, optimiser, self.run.seed, self.options)
        self.run.stage("denoiser", (0.92 if self.options.gpu else 0.85) * DENOISER_SHARE, optimiser, feed)
        self.run.say(stage="denoiser", gap=[round(e, 3) for e in feed.caption_gap()], bank=bank.size())

    def export(self) -> None:
        weights = self.options.out / "weights"
        folder.write(weights, self.vae, self.transformer, self.text_encoder)
        self.run.say(weights=str(weights.name), bytes=folder.size(weights), results=self.run.facts["results"])
        frames, side = (49, 256) if self.options.gpu else (17, 128)
        sheets.generated(self.options.out / "samples.png", weights, self.device, frames, side)


def main() -> int:
    options = run_flags.parsed(run_flags.run_parser(__doc__, minutes=25.0, bank=60000))
    Training(options).all_stages()
    return 0


if __name__ == "__main__":
    sys.exit(main())
