# SPDX-License-Identifier: Apache-2.0
"""Sounds of scenes: what the judge of sound hears of them, and that they follow the picture."""

import unittest

import demo_sources  # noqa: F401
import numpy as np
import torch
from render import render_whole
from sound_judge import Heard, Wanted, listen, right, touches, wanted_sound
from sounds import PITCHES, RATE, samples, sound, tokens
from world import GROUNDS, INTS, MOTIONS, Mix, Scenes, draw

NEEDS = ("numpy",)
FRAMES, FRAME_RATE, SIDE = 49, 24.0, 96
LENGTH = samples(tokens(FRAMES, FRAME_RATE))


def scenes(count=120, **values):
    drawn = draw(count, torch.Generator().manual_seed(9), Mix(0.0, 0.2, 0.0))
    ints = drawn.ints.clone()
    for name, value in values.items():
        ints[:, INTS.index(name)] = value
    return Scenes(ints, drawn.reals)


def heard_of(which):
    return [listen(wave.numpy(), RATE) for wave in sound(which, FRAMES, FRAME_RATE, LENGTH)]


class Sounds(unittest.TestCase):
    def test_are_heard_as_what_they_are(self):
        which = scenes()
        asked = {"pitch": [], "pan": [], "loudness": [], "hits": []}
        for number, heard in enumerate(heard_of(which)):
            wanted = wanted_sound(which.ints[number].tolist())
            seen = []
            if wanted.bounces:
                video = render_whole(which[number:number + 1], FRAMES, SIDE, SIDE)[0]
                seen = touches(((video + 1) / 2).permute(1, 2, 3, 0).numpy(), FRAME_RATE)
            for name, good in right(wanted, heard, seen).items():
                asked[name].append(good)
        for name, answers in asked.items():
            self.assertGreater(len(answers), 5, name)
            self.assertGreaterEqual(np.mean(answers), 0.97, name)

    def test_are_as_long_as_the_latents_that_the_pipeline_counts(self):
        self.assertEqual((tokens(49, 24.0), tokens(121, 24.0), tokens(1, 24.0), tokens(121, 50.0)), (51, 126, 1, 60))
        self.assertEqual(sound(scenes(2), FRAMES, FRAME_RATE, samples(51)).shape, (2, 2, 32160))

    def test_two_objects_are_two_tones_left_and_right(self):
        which = draw(40, torch.Generator().manual_seed(2), Mix(1.0, 0.0, 0.0))
        still = which[which.ints[:, INTS.index("motion")] == MOTIONS.index("still")]
        self.assertGreater(len(still), 0)
        names = list(PITCHES)
        for row, wave in zip(still.ints.tolist(), sound(still, FRAMES, FRAME_RATE, LENGTH).numpy()):
            value = dict(zip(INTS, row))
            for ear, colour in ((0, "colour"), (1, "colour2")):
                self.assertAlmostEqual(listen(np.stack([wave[ear]] * 2), RATE).pitch, PITCHES[names[value[colour]]], delta=10)

    def test_grounds_are_a_bed_or_silence(self):
        for name, silent in (("plain", True), ("stripes", True), ("starfield", True), ("waves", False), ("fire", False)):
            wave = sound(scenes(4, objects=0, ground=GROUNDS.index(name)), FRAMES, FRAME_RATE, LENGTH)
            loud = wave.square().mean(dim=(1, 2)).sqrt()
            self.assertTrue(bool((loud == 0).all()) if silent else bool((loud > 0.005).all() and (loud < 0.1).all()), f"{name} {loud}")

    def test_are_the_same_every_time(self):
        first, second = (sound(scenes(8), FRAMES, FRAME_RATE, LENGTH) for _ in range(2))
        self.assertTrue(torch.equal(first, second))


class SoundJudge(unittest.TestCase):
    def test_hears_a_clip_that_runs_backwards(self):
        which = scenes(2, motion=MOTIONS.index("right"))
        wave = sound(which, FRAMES, FRAME_RATE, LENGTH)[0].numpy()
        self.assertEqual((listen(wave, RATE).pan, listen(wave[:, ::-1], RATE).pan), ("right", "left"))
        growing = sound(scenes(2, motion=MOTIONS.index("grow")), FRAMES, FRAME_RATE, LENGTH)[0].numpy()
        self.assertEqual((listen(growing, RATE).loudness, listen(growing[:, ::-1], RATE).loudness), ("louder", "softer"))

    def test_hears_nothing_in_silence(self):
        self.assertEqual(listen(np.zeros((2, 16000), np.float32), RATE), Heard())

    def test_a_wrong_note_a_late_hit_and_an_unseen_touch_are_wrong(self):
        wanted = Wanted("red", bounces=True)
        self.assertEqual(right(wanted, Heard(pitch=300, hits=[1.0]), [1.05]), {"pitch": True, "hits": True})
        self.assertEqual(right(wanted, Heard(pitch=325, hits=[1.0]), [1.09]), {"pitch": False, "hits": False})
        self.assertFalse(right(wanted, Heard(pitch=300, hits=[1.0]), [])["hits"])


if __name__ == "__main__":
    unittest.main()
