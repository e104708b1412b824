# SPDX-License-Identifier: Apache-2.0
"""A folder as train_films.py writes it, before any training: small, and the same pictures and sound in Reel as in diffusers. The shipped one."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import demo_sources
import carried_weights
import film_folder
import film_networks
import folder
import numpy as np
import torch
from diffusers import LTX2Pipeline
from safetensors.numpy import load_file

NEEDS = ("numpy", "diffusers", "transformers", "tokenizers", "sentencepiece", "google.protobuf")
RENDER = pathlib.Path(os.environ.get("REEL_BIN", demo_sources.ROOT / "build/release/bin"), "reel-render")
PROMPT, NEGATIVE = "A red circle bouncing over blue waves, and a zebra", "a green star"
SIDE, FRAMES, STEPS, GUIDANCE, SEED = 128, 17, 3, 4.0, 7
FRAME_BOUND, WAVE_BOUND = 2e-3, 1e-4


def new_modules():
    torch.manual_seed(1)
    modules = {name: getattr(film_networks, f"new_{name}")() for name, *_ in film_folder.PARTS}
    carried_weights.into_transformer(modules["transformer"])
    carried_weights.into_decoder(modules["vae"])
    torch.nn.init.normal_(modules["transformer"].audio_proj_out.weight, std=0.05)
    return modules


def with_reel(model, output):
    subprocess.run(
        [RENDER, "--model", model, "--prompt", PROMPT, "--negative-prompt", NEGATIVE, "--width", str(SIDE), "--height", str(SIDE),
         "--num-frames", str(FRAMES), "--steps", str(STEPS), "--seed", str(SEED), "--dtype", "fp32", "--device", "cpu", "--output",
         output], check=True, stdout=subprocess.DEVNULL)
    return load_file(output)


def with_diffusers(model):
    pipeline = LTX2Pipeline.from_pretrained(model, torch_dtype=torch.float32)
    pipeline.set_progress_bar_config(disable=True)
    made = pipeline(prompt=PROMPT, negative_prompt=NEGATIVE, width=SIDE, height=SIDE, num_frames=FRAMES, num_inference_steps=STEPS,
                    guidance_scale=GUIDANCE, audio_guidance_scale=GUIDANCE, guidance_rescale=0.0, audio_guidance_rescale=0.0, stg_scale=0.0,
                    audio_stg_scale=0.0, modality_scale=1.0, audio_modality_scale=1.0, frame_rate=24, output_type="pt",
                    max_sequence_length=film_networks.TEXT, generator=torch.Generator().manual_seed(SEED))
    return made.frames[0].permute(0, 2, 3, 1).numpy(), made.audio[0].numpy()


class FilmFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.model = pathlib.Path(cls.scratch.name, "model")
        cls.modules = new_modules()
        film_folder.write(cls.model, cls.modules)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_is_small(self):
        self.assertLess(folder.size(self.model), 30_000_000)

    def test_reads_back_what_it_wrote(self):
        torch.manual_seed(2)
        fresh = {name: getattr(film_networks, f"new_{name}")() for name in self.modules}
        film_folder.read(self.model, fresh)
        for name, module in fresh.items():
            for key, value in module.state_dict().items():
                self.assertTrue(torch.equal(value, self.modules[name].state_dict()[key].bfloat16().to(value)), f"{name}.{key}")

    def test_reel_makes_the_film_of_diffusers_and_the_same_bytes_twice(self):
        ours, again = (with_reel(self.model, pathlib.Path(self.scratch.name, f"{n}.safetensors")) for n in "ab")
        for name in ("frames", "wave"):
            self.assertEqual(ours[name].tobytes(), again[name].tobytes())
        frames, wave = with_diffusers(self.model)
        self.assertEqual((ours["frames"].shape, ours["wave"].shape), (frames.shape, wave.shape))
        self.assertLess(float(np.abs(ours["frames"] - frames).max()), FRAME_BOUND)
        self.assertLess(float(np.abs(ours["wave"] - wave).max()), WAVE_BOUND)
        self.assertGreater(float(frames.std()), 0.05, "a picture, not a grey field")


class ShippedFilmWeights(unittest.TestCase):
    def test_are_whole_and_small(self):
        demo_sources.check_manifest(self, demo_sources.FILM_WEIGHTS)
        self.assertLessEqual(folder.size(demo_sources.FILM_WEIGHTS), 30_000_000)

    def test_say_of_themselves_what_the_code_says(self):
        self.assertEqual(json.loads((demo_sources.FILM_WEIGHTS / "reel.json").read_text(encoding="utf-8")), film_folder.CARD)

    def test_can_begin_a_run(self):
        film_folder.read(demo_sources.FILM_WEIGHTS, new_modules())


if __name__ == "__main__":
    unittest.main()
