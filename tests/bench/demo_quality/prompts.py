# SPDX-License-Identifier: Apache-2.0
"""The prompts of the score: combinations that training never drew, in wordings that it never used."""

import random
from dataclasses import dataclass

import torch

import captions
from judge import Verdict
from sound_judge import Wanted, wanted_sound
from world import COLOURS, GROUND_COLOURS, GROUNDS, INTS, MOTIONS, PATTERNS, SHAPES, Mix, draw

SCENE_SHARE = 0.12  # of the prompts have a scene behind the object, the others a pattern


@dataclass
class Prompt:
    text: str
    seed: int
    wanted: Verdict
    sound: Wanted


def unseen_prompts(count: int, seed: int = 20) -> list[Prompt]:
    scenes = draw(count, torch.Generator().manual_seed(seed), Mix(0.0, SCENE_SHARE, 0.0), unseen=True)
    rng = random.Random(seed)
    return [Prompt(captions.caption(row, rng, unseen=True), number, wanted(row), wanted_sound(row))
            for number, row in enumerate(scenes.ints.tolist())]


def wanted(row: list[int]) -> Verdict:
    value = dict(zip(INTS, row))
    ground = GROUNDS[value["ground"]]
    return Verdict(list(COLOURS)[value["colour"]], SHAPES[value["shape"]], MOTIONS[value["motion"]], ground,
                   list(GROUND_COLOURS)[value["ground_colour"]] if ground in PATTERNS else "")
