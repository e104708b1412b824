# SPDX-License-Identifier: Apache-2.0
"""The shipped folder: whole, small, the same frames in Reel as in diffusers, and the same bytes twice."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import demo_sources
import folder
import numpy as np
import torch
from diffusers import LTXPipeline
from safetensors.numpy import load_file

NEEDS = ("numpy", "diffusers", "transformers", "sentencepiece", "google.protobuf")
RENDER = pathlib.Path(os.environ.get("REEL_BIN", demo_sources.ROOT / "build/release/bin"), "reel-render")
PROMPT, NEGATIVE = "a red circle bouncing over blue waves", "a green star"
SIDE, FRAMES, STEPS, GUIDANCE, SEED = 128, 17, 4, 4.0, 7
BOUND = 2e-3  # of frames in 0..1: kFrameBound of tests/unit/model/ltx


def with_reel(output):
    subprocess.run(
        [RENDER, "--model", demo_sources.WEIGHTS, "--prompt", PROMPT, "--negative-prompt", NEGATIVE, "--width", str(SIDE),
         "--height", str(SIDE), "--num-frames", str(FRAMES), "--steps", str(STEPS), "--guidance-scale", str(GUIDANCE), "--seed",
         str(SEED), "--frame-rate", "24", "--dtype", "fp32", "--device", "cpu", "--output", output], check=True,
        stdout=subprocess.DEVNULL)
    return load_file(output)["frames"]


def with_diffusers():
    pipeline = LTXPipeline.from_pretrained(demo_sources.WEIGHTS, torch_dtype=torch.float32)
    pipeline.set_progress_bar_config(disable=True)
    video = pipeline(prompt=PROMPT, negative_prompt=NEGATIVE, width=SIDE, height=SIDE, num_frames=FRAMES,
                     num_inference_steps=STEPS, guidance_scale=GUIDANCE, frame_rate=24, max_sequence_length=128, output_type="pt",
                     generator=torch.Generator().manual_seed(SEED)).frames[0]
    return video.permute(0, 2, 3, 1).float().numpy()


@unittest.skipUnless((demo_sources.WEIGHTS / "model_index.json").exists(), "the weights are not here")
class Weights(unittest.TestCase):
    def test_are_whole_and_small(self):
        demo_sources.check_manifest(self, demo_sources.WEIGHTS)
        self.assertLess(folder.size(demo_sources.WEIGHTS), 24_000_000)

    def test_say_of_themselves_what_the_code_says(self):
        self.assertEqual(json.loads((demo_sources.WEIGHTS / "reel.json").read_text(encoding="utf-8")), folder.CARD)

    def test_reel_makes_the_frames_of_diffusers_and_the_same_bytes_twice(self):
        with tempfile.TemporaryDirectory() as scratch:
            ours = with_reel(pathlib.Path(scratch, "a.safetensors"))
            again = with_reel(pathlib.Path(scratch, "b.safetensors"))
        self.assertEqual(ours.tobytes(), again.tobytes())
        theirs = with_diffusers()
        self.assertEqual(ours.shape, theirs.shape)
        worst = float(np.abs(ours - theirs).max())
        print(f"worst difference {worst:.2g}, bound {BOUND:g}")
        self.assertLess(worst, BOUND)
        self.assertGreater(float(theirs.std()), 0.05, "a picture, not a grey field")


if __name__ == "__main__":
    unittest.main()
