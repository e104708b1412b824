# SPDX-License-Identifier: Apache-2.0
"""A training run of several stages that share its minutes, with a log and a checkpoint that it resumes from."""

import argparse
import json
import time

import torch
from torch import nn

from checkpoint import Checkpoint
from training import Clock, Optimiser

LOG_SECONDS, SAVE_SECONDS = 10.0, 60.0


class StagedRun:
    """`options` has out, minutes, seed, again and gpu."""

    def __init__(self, options: argparse.Namespace, modules: dict[str, nn.Module]):
        self.options, self.modules = options, modules
        self.checkpoint = Checkpoint(options.out / "checkpoint.safetensors")
        self.restored = self.checkpoint.load(modules)
        self.facts = self.checkpoint.facts
        if options.again != self.facts.get("again", []):  # a run that is killed and goes on does not begin them anew
            self.facts["finished"] = [name for name in self.facts["finished"] if name not in options.again]
            self.facts.update(again=options.again, stage="", used=0.0, steps=0)
        self.facts["runs"] += 1
        self.seed = options.seed + 1000 * self.facts["runs"]
        torch.manual_seed(self.seed)
        self.began = time.monotonic()

    def say(self, **facts) -> None:
        line = json.dumps({"t": round(time.monotonic() - self.began, 1)} | facts)
        print(line, flush=True)
        with open(self.options.out / "train.log", "a", encoding="utf-8") as log:
            log.write(line + "\n")

    def is_finished(self, name: str) -> bool:
        return name in self.facts["finished"]

    def stage(self, name: str, share: float, optimiser: Optimiser, feed) -> None:
        """Runs one stage for its share of the minutes, from where the checkpoint left it."""
        steps, used = 0, 0.0
        if self.facts["stage"] == name:
            optimiser.restore(self.restored)
            steps, used = self.facts["steps"], self.facts["used"]
        clock = Clock(share * self.options.minutes, used)
        said = saved = clock.used()
        while clock.share() < 1:
            steps += feed.advance(clock.share(), steps)
            if self.options.gpu:
                torch.cuda.synchronize()
            if clock.used() - said >= LOG_SECONDS:
                said = clock.used()
                gap = {"gap": [round(e, 3) for e in feed.caption_gap()]} if hasattr(feed, "caption_gap") else {}
                self.say(stage=name, share=round(clock.share(), 3), steps=steps, loss=round(feed.mean_loss(), 4), **gap)
            if clock.used() - saved >= SAVE_SECONDS:
                saved = clock.used()
                self.facts.update(stage=name, used=clock.used(), steps=steps)
                self.checkpoint.save(self.modules, optimiser.state())
        optimiser.settle()
        self.facts["finished"].append(name)
        self.facts.update(stage="", used=0.0, steps=0)
        self.facts["results"][name] = {"steps": steps, "loss": round(feed.mean_loss(), 4)}
        self.say(stage=name, finished=True, steps=steps)
        self.checkpoint.save(self.modules, {})
