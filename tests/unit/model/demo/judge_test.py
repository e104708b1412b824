# SPDX-License-Identifier: Apache-2.0
"""The judge of the score reads the generator's own clips right, and does not take one thing for another."""

import unittest

import demo_sources  # noqa: F401
import numpy as np
import torch
from judge import judge
from prompts import unseen_prompts, wanted
from render import render_whole
from report import rates, swapped
from world import MOTIONS, Mix, draw

NEEDS = ("numpy",)
CLIPS, FRAMES, SIDE = 24, 25, 160


def clips():
    scenes = draw(CLIPS, torch.Generator().manual_seed(5), Mix(0.0, 0.2, 0.0), unseen=True)
    for number, row in enumerate(scenes.ints.tolist()):
        video = render_whole(scenes[number:number + 1], FRAMES, SIDE, SIDE)[0]
        yield ((video + 1) / 2).permute(1, 2, 3, 0).numpy(), wanted(row)


class Judge(unittest.TestCase):
    def test_reads_what_the_generator_drew(self):
        for number, (clip, truth) in enumerate(clips()):
            self.assertEqual(judge(clip), truth, number)

    def test_sees_when_a_clip_runs_backwards(self):
        clip, truth = next((c, t) for c, t in clips() if t.motion in ("left", "right", "up", "down"))
        back = {"left": "right", "right": "left", "up": "down", "down": "up"}
        self.assertEqual(judge(clip[::-1]).motion, back[truth.motion])

    def test_an_empty_ground_has_no_object(self):
        verdict = judge(np.full((9, 64, 64, 3), 0.2, np.float32))
        self.assertEqual((verdict.colour, verdict.shape, verdict.motion, verdict.ground), ("", "", "", "plain"))

    def test_counts_swaps_apart(self):
        prompt = next(p for p in unseen_prompts(40) if p.wanted.ground_colour in ("red", "blue", "green", "purple"))
        seen = type(prompt.wanted)(**{**vars(prompt.wanted), "colour": prompt.wanted.ground_colour})
        self.assertTrue(swapped(prompt.wanted, seen))
        self.assertEqual(rates([prompt], [seen])["colour"], 0)
        self.assertEqual(rates([prompt], [prompt.wanted])["all"], 100)

    def test_prompts_are_the_same_every_time(self):
        self.assertEqual([p.text for p in unseen_prompts(20)], [p.text for p in unseen_prompts(20)])
        self.assertTrue(all(p.wanted.motion in MOTIONS for p in unseen_prompts(20)))


if __name__ == "__main__":
    unittest.main()
