# SPDX-License-Identifier: Apache-2.0
"""Captions say what the scene shows, in many wordings, and keep some forms for the score."""

import random
import re
import unittest

import demo_sources  # noqa: F401
import torch
from captions import COLOUR_WORDS, MOTION_WORDS, SHAPE_WORDS, caption
from world import COLOURS, GROUNDS, INTS, MOTIONS, SHAPES, Mix, draw

ONE_OBJECT = Mix(two_objects=0.0, over_scene=0.1, ground_only=0.0)


def row(**values):
    named = {"objects": 1, "size": 1, "shape": 0, "colour": 0, "motion": 0, "ground": 0, "ground_colour": 0, "shape2": 0,
             "colour2": 0}
    return [{**named, **values}[name] for name in INTS]


class Captions(unittest.TestCase):
    def test_name_colour_shape_and_motion(self):
        rng = random.Random(1)
        for ints in draw(500, torch.Generator().manual_seed(1), ONE_OBJECT).ints.tolist():
            value = dict(zip(INTS, ints))
            text = caption(ints, rng, unseen=True)
            colour = list(COLOURS)[value["colour"]]
            for words in (COLOUR_WORDS.get(colour, (colour,)), SHAPE_WORDS[SHAPES[value["shape"]]],
                          [word for pair in MOTION_WORDS[MOTIONS[value["motion"]]] for word in pair]):
                self.assertTrue(any(word in text for word in words), f"{words} in {text!r}")

    def test_vary_for_one_scene(self):
        rng = random.Random(2)
        ints = row(motion=MOTIONS.index("bounce"), ground=GROUNDS.index("waves"), ground_colour=2)
        self.assertGreater(len({caption(ints, rng) for _ in range(100)}), 60)

    def test_articles_fit_their_words(self):
        rng = random.Random(3)
        for ints in draw(1000, torch.Generator().manual_seed(3), ONE_OBJECT).ints.tolist():
            self.assertIsNone(re.search(r"\ba (?:orange)\b|\ban (?!orange|animation\b)[^aeiou ]", caption(ints, rng, unseen=True)))

    def test_two_objects_do_things_in_the_plural(self):
        rng = random.Random(4)
        ints = row(objects=2, colour2=1, motion=MOTIONS.index("spin"), shape=1, shape2=2)
        texts = " | ".join(caption(ints, rng) for _ in range(200))
        self.assertRegex(texts, r"\b(spin|rotate|turn)\b")
        self.assertNotRegex(texts, r"\b(spins|rotates|turns)\b")


if __name__ == "__main__":
    unittest.main()
