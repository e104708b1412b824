# SPDX-License-Identifier: Apache-2.0
"""Random scenes: the same for a seed, without the held-out combinations, and with objects that can be seen."""

import unittest

import demo_sources  # noqa: F401
import torch
from world import COLOURS, GROUND_COLOURS, GROUNDS, INTS, MOTIONS, PATTERNS, SAME_HUE, Mix, curves, draw, held_out


def generator(seed=3):
    return torch.Generator().manual_seed(seed)


def column(scenes, name):
    return scenes.ints[:, INTS.index(name)]


class World(unittest.TestCase):
    def test_the_same_seed_draws_the_same_scenes(self):
        first, second, other = draw(50, generator()), draw(50, generator()), draw(50, generator(4))
        self.assertTrue(torch.equal(first.ints, second.ints) and torch.equal(first.reals, second.reals))
        self.assertFalse(torch.equal(first.ints, other.ints))

    def test_training_and_score_share_no_combination(self):
        self.assertFalse(held_out(draw(2000, generator()).ints).any())
        self.assertTrue(held_out(draw(200, generator(), unseen=True).ints).all())

    def test_no_object_hides_on_its_own_hue(self):
        scenes = draw(4000, generator(), Mix(clash=0.5))
        on_pattern = (column(scenes, "ground") < len(PATTERNS)) & (column(scenes, "objects") >= 1)
        for colour, ground in SAME_HUE:
            same = (column(scenes, "colour") == list(COLOURS).index(colour)) & (
                column(scenes, "ground_colour") == list(GROUND_COLOURS).index(ground))
            self.assertFalse((same & on_pattern).any(), f"{colour} on {ground}")

    def test_every_word_is_drawn(self):
        scenes = draw(3000, generator())
        for name, words in (("motion", MOTIONS), ("ground", GROUNDS), ("colour", COLOURS), ("ground_colour", GROUND_COLOURS)):
            self.assertEqual(column(scenes, name).unique().tolist(), list(range(len(words))), name)

    def test_motions_go_where_their_names_say(self):
        x, y, scale, _, opacity = (curves(torch.tensor([0.0, 1.0]))[:, i] for i in range(5))
        for motion, values, rises in (("left", x, False), ("right", x, True), ("up", y, False), ("down", y, True),
                                      ("grow", scale, True), ("shrink", scale, False), ("appear", opacity, True),
                                      ("fade", opacity, False)):
            begin, end = values[MOTIONS.index(motion)].tolist()
            self.assertEqual(end > begin, rises, motion)


if __name__ == "__main__":
    unittest.main()
