# SPDX-License-Identifier: Apache-2.0
"""Encoded clips with their sound and captions, a ring for each size, refilled while the transformer learns from it."""

import random
import string

import torch
from torch import Tensor

import captions
from film_networks import CHANNELS, SOUND_CHANNELS
from film_tokenizer import LONGEST, Encoder
from latent_bank import BUCKETS, CLIPS, WORDINGS, Bucket, shares
from networks import encode_video
from render import render_whole
from ring import Ring
from sound_stages import encode_sound
from sounds import samples, sound, tokens
from spectra import Spectra
from world import draw

FRAME_RATES = {BUCKETS[2]: 30.0, BUCKETS[5]: 25.0, BUCKETS[8]: 16.0}
STRANGERS = 0.05  # of the captions have a word that no caption has, so that those change little
NOTHING = 0.10    # of the captions say nothing of their clip, for guidance


def frame_rate(bucket: Bucket) -> float:
    return FRAME_RATES.get(bucket, 24.0)


def sound_tokens(bucket: Bucket) -> int:
    return tokens(bucket.frames, frame_rate(bucket))


class FilmBank:
    """`teacher` is the video autoencoder whose latents the transformer learns; `vae` holds their statistics."""

    def __init__(self, teacher, vae, sound_vae, capacity: int, seed: int, gpu: bool):
        self._teacher, self._vae, self._sound_vae, self._gpu = teacher, vae, sound_vae, gpu
        self._encoder = Encoder()
        self._device = next(vae.parameters()).device
        self._spectra = Spectra(self._device)
        self._generator = torch.Generator(self._device).manual_seed(seed)
        self._rng = random.Random(seed)
        self._shares = shares(gpu)
        self._rings = {bucket: Ring(max(8, int(capacity * (share + 0.02))), {
            "video": ((bucket.tokens, CHANNELS), torch.bfloat16), "sound": ((sound_tokens(bucket), SOUND_CHANNELS), torch.bfloat16),
            "ids": ((WORDINGS, LONGEST), torch.int64), "lengths": ((WORDINGS,), torch.int64)}, self._device)
            for bucket, share in self._shares.items()}
        junk = [" ".join(self._rng.choices(captions.FILLERS, k=self._rng.randint(1, 8))) for _ in range(512)]
        junk[:384] = [""] * 384
        self._junk, self._junk_lengths = (tensor.to(self._device) for tensor in self._encoder(junk))

    @torch.no_grad()
    def measure(self) -> None:
        """Puts the statistics of audio tokens into the audio autoencoder."""
        found = [self._sound(*self._clips(bucket))[0].flatten(0, 1) for bucket in self._shares for _ in range(4 if self._gpu else 1)]
        flat = torch.cat(found)
        self._sound_vae.latents_mean.copy_(flat.mean(dim=0))
        self._sound_vae.latents_std.copy_(flat.std(dim=0).clamp(min=1e-3))

    @torch.no_grad()
    def add(self) -> int:
        """Encodes a few clips of the size that most lacks them."""
        bucket = min(self._shares, key=lambda b: self._rings[b].written / (self._shares[b] + 0.01))
        heard, scenes = self._sound(*self._clips(bucket))
        video = render_whole(scenes, bucket.frames, bucket.height, bucket.width)
        with torch.autocast(self._device.type, dtype=torch.bfloat16):
            seen = encode_video(self._teacher, video)[0].float()
        mean, std = (value[None, :, None, None, None] for value in (self._vae.latents_mean, self._vae.latents_std))
        packed = ((seen - mean) / std).flatten(2).transpose(1, 2)
        heard = (heard - self._sound_vae.latents_mean) / self._sound_vae.latents_std
        texts = [self._said(row) for row in scenes.ints.tolist() for _ in range(WORDINGS)]
        ids, lengths = self._encoder(texts)
        self._rings[bucket].put(len(scenes), video=packed, sound=heard, ids=ids.view(len(scenes), WORDINGS, -1),
                                lengths=lengths.view(len(scenes), WORDINGS))
        return len(scenes)

    def ready(self) -> bool:
        return all(ring.written for ring in self._rings.values())

    def size(self) -> int:
        return sum(ring.filled for ring in self._rings.values())

    def batch(self, bucket: Bucket, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Latents of both streams [N, tokens, channels], ids [N, LONGEST] and their lengths."""
        ring, device = self._rings[bucket], self._device
        pick = torch.randint(ring.filled, (count,), generator=self._generator, device=device)
        wording = torch.randint(WORDINGS, (count,), generator=self._generator, device=device)
        ids, lengths = ring.tensors["ids"][pick, wording], ring.tensors["lengths"][pick, wording]
        drop = torch.rand(count, generator=self._generator, device=device) < NOTHING
        junk = torch.randint(len(self._junk), (count,), generator=self._generator, device=device)
        ids = torch.where(drop[:, None], self._junk[junk], ids)
        lengths = torch.where(drop, self._junk_lengths[junk], lengths)
        return ring.tensors["video"][pick], ring.tensors["sound"][pick], ids, lengths

    def _clips(self, bucket: Bucket) -> tuple[Bucket, int]:
        pixels = 60_000_000 if self._gpu else 3_300_000
        return bucket, max(1, min(256 if self._gpu else 8, pixels // (bucket.frames * bucket.height * bucket.width)))

    def _sound(self, bucket: Bucket, count: int):
        """Latents [N, tokens, SOUND_CHANNELS], not normalised, and the scenes that they are of."""
        scenes = draw(count, self._generator, CLIPS)
        waves = sound(scenes, bucket.frames, frame_rate(bucket), samples(sound_tokens(bucket)))
        with torch.autocast(self._device.type, dtype=torch.bfloat16):
            latents = encode_sound(self._sound_vae, self._spectra(waves))[0].float()
        return latents.transpose(1, 2).flatten(2), scenes

    def _said(self, row: list[int]) -> str:
        text = captions.caption(row, self._rng)
        if self._rng.random() < STRANGERS:
            words = text.split(" ")
            stranger = "".join(self._rng.choices(string.ascii_letters, k=self._rng.randint(2, 8)))
            words.insert(self._rng.randint(0, len(words)), stranger)
            text = " ".join(words)
        return text
