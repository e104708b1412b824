#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the demo with sound, into a folder for LTX2Pipeline. It begins with what ltx-demo's weights have in common with it.

  train_films.py --out DIR --compile             9 minutes on one GPU
  train_films.py --out DIR --minutes 240         some hours on two CPU cores, with the batches of a CPU
  train_films.py --out DIR --start WEIGHTS --only vocoder films   some stages more, from a folder of weights

Run again after a kill it goes on from DIR/checkpoint.safetensors, which is at most a minute old. The folder of weights is
DIR/weights, the losses are in DIR/train.log, a sheet of samples and their sound beside them.
"""

import argparse
import pathlib
import platform
import sys

import diffusers
import torch
import transformers

import ways  # noqa: F401, first: it puts ltx-demo's scripts on the path

import carried_weights
import compile_ahead
import film_compile_ahead
import film_folder
import film_networks
import film_sheets
import film_stage
import folder
import picture_stages
import run_flags
import sheets
import sound_stages
from autoencoder_stages import AutoencoderStage, Stage
from film_bank import FilmBank
from film_tokenizer import Encoder
from networks import encode_video, parameter_count
from sound_stages import SoundFeed, SoundStage
from spectra import Spectra
from staged_run import StagedRun
from training import Clock, Optimiser

NAMES = ("sound", "vocoder", "encoder", "decoder", "films")
LATER = (sound_stages.DECODER.name,)  # of --only alone, behind --start


class Training:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.device = torch.device("cuda" if options.gpu else "cpu")
        options.out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(options.seed)
        parts = ("vae", "sound_vae", "vocoder", "transformer", "connectors", "text_encoder")
        modules = {name: getattr(film_networks, f"new_{name}")().to(self.device) for name in parts}
        carried = self._begin(modules)
        self.teacher = carried_weights.teacher(self.device)
        self.run = StagedRun(options, modules)
        waiting = [name for name in options.only if not self.run.is_finished(name)]
        shares = {stage.name: stage.share for stage in (*sound_stages.STAGES, *picture_stages.STAGES)} | {film_stage.NAME: film_stage.SHARE}
        self.shares = {name: shares[name] / sum(shares[n] for n in options.only) for name in options.only}
        self.compilers = []
        if options.gpu and options.compile:
            self.compilers = film_compile_ahead.begin(options.out, [name for name in ("films", "decoder") if name in waiting])
        self.run.say(run=self.run.facts["runs"], device=torch.cuda.get_device_name() if options.gpu else platform.processor(),
                     torch=torch.__version__, diffusers=diffusers.__version__, transformers=transformers.__version__,
                     minutes=options.minutes, seed=options.seed, stages=waiting, carried=carried,
                     parameters={name: parameter_count(module) for name, module in modules.items()})

    def _begin(self, modules) -> list[int]:
        if self.options.start is not None:
            film_folder.read(self.options.start, modules)
            return []
        embedding = modules["text_encoder"].embed_tokens.weight
        with torch.no_grad():
            for form, first in Encoder().same_word():
                embedding[form] = embedding[first]
        return [carried_weights.into_transformer(modules["transformer"]), carried_weights.into_decoder(modules["vae"])]

    def all_stages(self) -> None:
        """What the finished stages learned is in the folder of weights even if a later one fails."""
        try:
            self._learn()
        finally:
            for process in self.compilers:
                process.kill()
            film_folder.write(self.options.out / "weights", self.run.modules)
        self._show()

    def _learn(self) -> None:
        for stage in (*sound_stages.STAGES, picture_stages.ENCODER, picture_stages.DECODER):
            if stage.name in self.options.only and not self.run.is_finished(stage.name):
                self._sound(stage) if isinstance(stage, SoundStage) else self._pictures(stage)
        if film_stage.NAME in self.options.only and not self.run.is_finished(film_stage.NAME):
            self._films()

    def _sound(self, stage: SoundStage) -> None:
        vae, vocoder = self.run.modules["sound_vae"], self.run.modules["vocoder"]
        optimiser = Optimiser(sound_stages.trained_modules(stage, vae, vocoder), stage.mean_decay)
        spectra = Spectra(self.device)
        if stage is sound_stages.VOCODER:
            loss = sound_stages.vocoder_loss(vocoder, vae, spectra)
        else:
            loss = sound_stages.autoencoder_loss(vae, spectra, latents_stay=stage is sound_stages.DECODER)
        feed = SoundFeed(stage, loss, optimiser, self.run.seed, self.options)
        self.run.stage(stage.name, self.shares[stage.name], optimiser, feed)
        self.run.say(stage=stage.name, **sound_stages.measures(vae, vocoder, 64 if self.options.gpu else 8))

    def _pictures(self, stage: Stage) -> None:
        vae = self.run.modules["vae"]
        optimiser = Optimiser(picture_stages.trained_modules(stage, vae), stage.mean_decay)
        compiled = stage.compile and compile_ahead.works(self.options.out, stage.name)
        loss_of = picture_stages.decoder_loss if stage is picture_stages.DECODER else picture_stages.encoder_loss
        feed = AutoencoderStage(stage, loss_of(vae, self.teacher), optimiser, self.run.seed, self.options, compiled)
        self.run.stage(stage.name, self.shares[stage.name], optimiser, feed)
        frames, side = (49, 256) if self.options.gpu else (17, 128)

        def old(video):
            return encode_video(self.teacher, video)[0]

        def new(video):
            return vae.encoder(video)[:, :film_networks.CHANNELS]

        self.run.say(stage=stage.name, compiled=compiled, psnr_at=[frames, side],
                     psnr={name: round(picture_stages.psnr(vae, encode, 16 if self.options.gpu else 4, frames, side), 2)
                           for name, encode in (("their latents", old), ("own latents", new))})
        sheets.reconstructions(self.options.out / "decoder.png", PairOf(vae, self.teacher), 8, frames, side)

    def _films(self) -> None:
        modules = self.run.modules
        bank = FilmBank(self.teacher, modules["vae"], modules["sound_vae"], self.options.bank, self.run.seed, self.options.gpu)
        share = self.shares[film_stage.NAME]
        new_sound = self.options.start is None or sound_stages.AUTOENCODER.name in self.options.only
        if self.run.facts["stage"] != film_stage.NAME and new_sound:
            bank.measure()
        filling = Clock(film_stage.FILLING * share * self.options.minutes)
        while filling.share() < 1 or not bank.ready():
            bank.add()
        optimiser = Optimiser(film_stage.trained_modules(modules), film_stage.MEAN_DECAY, film_stage.WEIGHT_DECAY)
        compiled = compile_ahead.works(self.options.out, film_stage.NAME)
        self.run.say(stage=film_stage.NAME, bank=bank.size(), compiled=compiled)
        if compiled:
            compile_ahead.compile_blocks(modules["transformer"])
        feed = film_stage.FilmFeed(modules, bank, optimiser, self.run.seed, self.options)
        self.run.stage(film_stage.NAME, (1 - film_stage.FILLING) * share, optimiser, feed)
        self.run.say(stage=film_stage.NAME, gap=[round(e, 3) for e in feed.caption_gap()], bank=bank.size())

    def _show(self) -> None:
        weights = self.options.out / "weights"
        self.run.say(weights=weights.name, bytes=folder.size(weights), results=self.run.facts["results"])
        frames, side = (49, 256) if self.options.gpu else (17, 128)
        film_sheets.generated(self.options.out, weights, self.device, frames, side)
        self.run.say(samples="samples.png")


class PairOf:
    """What sheets.reconstructions wants of an autoencoder: one encodes, the other decodes."""

    def __init__(self, vae, teacher):
        self.encoder, self.decoder = teacher.encoder, lambda latents, _: vae.decoder(latents)
        self.parameters = vae.parameters


def main() -> int:
    parser = run_flags.run_parser(__doc__, minutes=8.0, bank=40000)
    parser.add_argument("--start", type=pathlib.Path, help="a folder of weights to begin with, instead of ltx-demo's")
    parser.add_argument("--only", nargs="+", choices=NAMES + LATER, default=NAMES, metavar="STAGE", help="these stages share the minutes")
    options = run_flags.parsed(parser)
    Training(options).all_stages()
    return 0


if __name__ == "__main__":
    sys.exit(main())
