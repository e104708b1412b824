# SPDX-License-Identifier: Apache-2.0
"""The networks of the demo with sound: texts as the pipeline makes them, what they carry over from ltx-demo, and their spectra."""

import unittest

import demo_sources  # noqa: F401
import carried_weights
import film_networks
import torch
from diffusers import AutoencoderKLLTXVideo, LTXVideoTransformer3DModel
from film_tokenizer import LONGEST, Encoder, build, forms
from sounds import RATE
from spectra import FLOOR, Spectra
from tokenizer import words

NEEDS = ("numpy", "diffusers", "transformers", "tokenizers", "sentencepiece", "google.protobuf")
torch.manual_seed(0)


class Tokenizer(unittest.TestCase):
    def test_each_form_of_a_word_is_one_token(self):
        tokenizer = build()
        for word in words():
            for form in forms(word):
                self.assertEqual(tokenizer.encode(form).tokens, ["<bos>", form])

    def test_a_caption_is_its_words_wherever_they_stand(self):
        self.assertEqual(build().encode("A red circle, spinning.").tokens, ["<bos>", "A", " red", " circle", ",", " spinning", "."])

    def test_other_words_are_spelled_and_lose_nothing(self):
        tokens = build().encode("a zyx \u00e9").tokens
        self.assertEqual(tokens, ["<bos>", "a", "\u2581", "z", "y", "x", "\u2581", "<0xC3>", "<0xA9>"])

    def test_captions_are_padded_behind_and_cut(self):
        ids, lengths = Encoder()(["a red circle", "a red " * 60, ""])
        self.assertEqual(lengths.tolist(), [4, LONGEST, 1])
        self.assertTrue(bool((ids[0, 4:] == 0).all()))


class Texts(unittest.TestCase):
    def test_are_those_of_the_pipeline_without_its_masks(self):
        encoder, connectors = film_networks.new_text_encoder(), film_networks.new_connectors()
        ids, lengths = Encoder()(["a red circle bouncing over blue waves", "a star", ""])
        padded, mask = torch.zeros(3, film_networks.TEXT, dtype=torch.int64), torch.zeros(3, film_networks.TEXT, dtype=torch.int64)
        for row, length in enumerate(lengths.tolist()):
            padded[row, film_networks.TEXT - length:] = ids[row, :length]
            mask[row, film_networks.TEXT - length:] = 1
        with torch.no_grad():
            states = encoder(input_ids=padded, attention_mask=mask, output_hidden_states=True).hidden_states
            theirs = connectors(torch.stack(states, dim=-1).flatten(2, 3), mask, padding_side="left")
            ours = film_networks.encode_text(encoder, connectors, ids, lengths)
        for one, other in zip(ours, theirs):
            self.assertLess(float((one - other).abs().max()), 1e-5)


@unittest.skipUnless((demo_sources.WEIGHTS / "model_index.json").exists(), "the weights are not here")
class CarriedWeights(unittest.TestCase):
    def test_the_decoder_is_that_of_ltx_demo_without_its_times(self):
        old, new = AutoencoderKLLTXVideo.from_pretrained(demo_sources.WEIGHTS / "vae"), film_networks.new_vae()
        carried_weights.into_decoder(new, unlike=0.0)
        latents = torch.randn(1, film_networks.CHANNELS, 2, 3, 3)
        with torch.no_grad():
            for name, parameter in old.named_parameters():
                if name.endswith("scale_shift_table") or "time_embedder" in name:
                    parameter.zero_()
            error = old.decoder(latents, torch.zeros(1)) - new.decoder(latents)
        self.assertLess(float(error.abs().max()), 1e-4)

    def test_the_stream_of_pictures_is_ltx_demos_transformer_but_for_the_text(self):
        old = LTXVideoTransformer3DModel.from_pretrained(demo_sources.WEIGHTS / "transformer")
        new = film_networks.new_transformer()
        carried_weights.into_transformer(new)
        places = new.rope.prepare_video_coords(2, 2, 3, 3, "cpu")
        moments = new.audio_rope.prepare_audio_coords(2, 5, "cpu")
        latents, time = torch.randn(2, 18, film_networks.CHANNELS), torch.tensor([700.0, 300.0])
        with torch.no_grad():
            for transformer in (old, new):
                for block in transformer.transformer_blocks:
                    block.attn2.to_out[0].weight.zero_()
                    block.attn2.to_out[0].bias.zero_()
            theirs = old(latents, torch.zeros(2, 4, 128), time[:, None], torch.ones(2, 4), video_coords=places.mean(-1), return_dict=False)[0]
            ours = new(latents, torch.randn(2, 5, film_networks.SOUND_CHANNELS), torch.zeros(2, 4, film_networks.WIDTH),
                       torch.zeros(2, 4, film_networks.SOUND_WIDTH), timestep=time, sigma=time, video_coords=places, audio_coords=moments,
                       isolate_modalities=True, use_cross_timestep=True, return_dict=False)[0]
        self.assertGreater(float(theirs.std()), 0.5)
        self.assertLess(float((ours - theirs).abs().max()), 5e-3)


class SpectraOfWaves(unittest.TestCase):
    def test_have_a_frame_for_each_hundredth_second_and_silence_at_the_floor(self):
        found = Spectra("cpu")(torch.zeros(1, 2, 160 * 9))
        self.assertEqual(found.shape, (1, 2, 9, film_networks.BINS))
        self.assertTrue(torch.allclose(found, torch.tensor(FLOOR).log()))

    def test_a_tone_peaks_where_its_pitch_is_and_in_its_ear(self):
        time = torch.arange(RATE) / RATE
        found = Spectra("cpu")(torch.stack([(2 * torch.pi * 1000 * time).sin(), 0 * time])[None])[0, :, 50]
        mel = 2595 * torch.log10(torch.tensor(1 + 1000 / 700)) / (2595 * torch.log10(torch.tensor(1 + 8000 / 700)))
        self.assertAlmostEqual(int(found[0].argmax()), round(float(mel) * (film_networks.BINS + 1)) - 1, delta=1)
        self.assertTrue(bool((found[1] == found[1].min()).all()))


if __name__ == "__main__":
    unittest.main()
