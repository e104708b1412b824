# SPDX-License-Identifier: Apache-2.0
"""Encoded clips with their captions, a ring for each size, refilled while the denoiser learns from it."""

import random
from dataclasses import dataclass

import torch
from torch import Tensor

import captions
from networks import CHANNELS, TEXT, encode_video
from render import render_whole
from ring import Ring
from tokenizer import LONGEST, Encoder
from world import Mix, draw

WORDINGS = 4  # captions kept of a clip
# A caption is ambiguous only if both of its colours are words for objects and for grounds. Drawn evenly, such
# captions are so few that the text encoder never learns which noun a colour belongs to.
CLIPS = Mix(two_objects=0.13, clash=0.35)


@dataclass(frozen=True)
class Bucket:
    frames: int
    height: int
    width: int
    share: float        # of the denoiser's steps
    batch: int          # of a step on a GPU
    small_share: float  # instead of the share, on a CPU: sizes that cost it too much are left out

    @property
    def latent_shape(self) -> tuple[int, int, int]:
        return (self.frames - 1) // 8 + 1, self.height // 32, self.width // 32

    @property
    def tokens(self) -> int:
        frames, height, width = self.latent_shape
        return frames * height * width


BUCKETS = (
    Bucket(49, 256, 256, 0.46, 72, 0.40), Bucket(17, 128, 128, 0.06, 400, 0.25), Bucket(33, 192, 192, 0.09, 176, 0.20),
    Bucket(25, 256, 256, 0.09, 124, 0.15), Bucket(9, 256, 256, 0.03, 240, 0.0), Bucket(25, 256, 384, 0.07, 84, 0.0),
    Bucket(25, 384, 256, 0.05, 84, 0.0), Bucket(97, 256, 256, 0.06, 38, 0.0), Bucket(17, 512, 512, 0.05, 42, 0.0),
    Bucket(25, 320, 512, 0.04, 50, 0.0),
)


def shares(gpu: bool) -> dict[Bucket, float]:
    """The sizes that a run samples, and how often."""
    return {b: b.share if gpu else b.small_share for b in BUCKETS if gpu or b.small_share > 0}


class LatentBank:
    def __init__(self, vae, vocabulary: bytes, capacity: int, seed: int, gpu: bool):
        self._vae, self._encoder, self._gpu = vae, Encoder(vocabulary), gpu
        self._device = next(vae.parameters()).device
        self._generator = torch.Generator(self._device).manual_seed(seed)
        self._rng = random.Random(seed)
        self._shares = shares(gpu)
        self._rings = {bucket: Ring(max(8, int(capacity * (share + 0.02))), {
            "latents": ((bucket.tokens, CHANNELS), torch.bfloat16), "ids": ((WORDINGS, LONGEST), torch.int64),
            "lengths": ((WORDINGS,), torch.int64)}, self._device) for bucket, share in self._shares.items()}
        junk = [" ".join(self._rng.choices(captions.FILLERS, k=self._rng.randint(1, 8))) for _ in range(512)]
        junk[:256] = [""] * 256  # half of what is said of no clip in particular is nothing at all
        self._junk, self._junk_lengths = (tensor.to(self._device) for tensor in self._encoder(junk))

    def measure(self) -> None:
        """Puts the statistics of the latents, over the mix that is sampled, into the autoencoder."""
        total, squares, weight = (torch.zeros(CHANNELS, device=self._device) for _ in range(3))
        for bucket, share in self._shares.items():
            latents = self._encode(bucket, self._clips(bucket) * (4 if self._gpu else 1))[0]
            flat = latents.movedim(1, 0).flatten(1)
            total += share * flat.mean(dim=1)
            squares += share * flat.square().mean(dim=1)
            weight += share
        mean = total / weight
        self._vae.latents_mean.copy_(mean)
        self._vae.latents_std.copy_((squares / weight - mean.square()).clamp(min=1e-6).sqrt())

    def add(self) -> int:
        """Encodes a few clips of the size that most lacks them."""
        bucket = min(self._shares, key=lambda b: self._rings[b].written / (self._shares[b] + 0.01))
        latents, ints = self._encode(bucket, self._clips(bucket))
        mean = self._vae.latents_mean[None, :, None, None, None]
        std = self._vae.latents_std[None, :, None, None, None]
        packed = ((latents - mean) / std).flatten(2).transpose(1, 2).to(torch.bfloat16)
        texts = [captions.caption(row, self._rng) for row in ints.tolist() for _ in range(WORDINGS)]
        ids, lengths = self._encoder(texts)
        self._rings[bucket].put(len(ints), latents=packed, ids=ids.view(len(ints), WORDINGS, -1),
                                lengths=lengths.view(len(ints), WORDINGS))
        return len(ints)

    def ready(self) -> bool:
        return all(ring.written for ring in self._rings.values())

    def size(self) -> int:
        return sum(ring.filled for ring in self._rings.values())

    def batch(self, bucket: Bucket, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Latents [N, tokens, CHANNELS], ids [N, TEXT] and their lengths; one caption in ten says nothing."""
        ring, device = self._rings[bucket], self._device
        pick = torch.randint(ring.filled, (count,), generator=self._generator, device=device)
        wording = torch.randint(WORDINGS, (count,), generator=self._generator, device=device)
        ids, lengths = ring.tensors["ids"][pick, wording], ring.tensors["lengths"][pick, wording]
        drop = torch.rand(count, generator=self._generator, device=device) < 0.1
        junk = torch.randint(len(self._junk), (count,), generator=self._generator, device=device)
        ids = torch.where(drop[:, None], self._junk[junk], ids)
        lengths = torch.where(drop, self._junk_lengths[junk], lengths)
        return ring.tensors["latents"][pick], torch.nn.functional.pad(ids, (0, TEXT - LONGEST)), lengths

    def _clips(self, bucket: Bucket) -> int:
        pixels = 60_000_000 if self._gpu else 3_300_000
        return max(1, min(256 if self._gpu else 8, pixels // (bucket.frames * bucket.height * bucket.width)))

    @torch.no_grad()
    def _encode(self, bucket: Bucket, count: int) -> tuple[Tensor, Tensor]:
        scenes = draw(count, self._generator, CLIPS)
        parts = []
        for part in range(0, count, self._clips(bucket)):
            video = render_whole(scenes[part:part + self._clips(bucket)], bucket.frames, bucket.height, bucket.width)
            with torch.autocast(self._device.type, dtype=torch.bfloat16):
                parts.append(encode_video(self._vae, video)[0].float())
        return torch.cat(parts), scenes.ints
