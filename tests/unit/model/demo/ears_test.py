# SPDX-License-Identifier: Apache-2.0
"""The vocoder of one ear, and LTX2Vocoder's two ears that are written from it."""

import unittest

import demo_sources  # noqa: F401
import torch
from diffusers.pipelines.ltx2.vocoder import LTX2Vocoder
from ears import both_ears, one_ear
from film_networks import BINS, VOCODER, new_vocoder

NEEDS = ("numpy", "diffusers", "transformers", "tokenizers")


class TwoEars(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        cls.ears = new_vocoder()
        for parameter in cls.ears.parameters():  # tones, not a whisper
            parameter.data.mul_(1.5)
        cls.both = LTX2Vocoder(**VOCODER)
        cls.both.load_state_dict(both_ears(cls.ears.ear.state_dict()))
        cls.spectra = torch.randn(2, 2, 6, BINS) * 3 - 5

    @torch.no_grad()
    def test_sound_as_the_network_of_one_ear(self):
        waves = self.both(self.spectra)
        self.assertGreater(float(waves.std()), 0.01)
        self.assertLess(float((waves - self.ears(self.spectra)).abs().max()), 1e-5)
        for ear in range(2):
            alone = self.ears.ear(self.spectra[:, ear:ear + 1])[:, 0]
            self.assertLess(float((waves[:, ear] - alone).abs().max()), 1e-5)

    @torch.no_grad()
    def test_do_not_hear_each_other(self):
        waves = self.both(self.spectra)
        for ear in range(2):
            spectra = self.spectra.clone()
            spectra[:, 1 - ear] = torch.randn(2, 6, BINS)
            changed = self.both(spectra)
            self.assertTrue(torch.equal(changed[:, ear], waves[:, ear]))
            self.assertFalse(torch.equal(changed[:, 1 - ear], waves[:, 1 - ear]))

    def test_give_back_the_one_ear(self):
        again = one_ear(self.both.state_dict())
        for key, value in self.ears.ear.state_dict().items():
            self.assertTrue(torch.equal(again[key], value), key)


if __name__ == "__main__":
    unittest.main()
