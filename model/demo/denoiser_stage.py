# SPDX-License-Identifier: Apache-2.0
"""The stage that trains transformer and text encoder together: rectified flow over the latents of captioned clips."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from bucket_feed import BucketFeed
from latent_bank import BUCKETS, Bucket, LatentBank
from networks import TEXT, encode_text
from tokenizer import LONGEST
from training import Optimiser, Step

RATE, FLAT, MEAN_DECAY, WEIGHT_DECAY = 1e-3, 0.55, 0.999, 0.01
IMAGE_SHARE = 0.30   # of the steps keep the first latent frame clean, at timestep 0
MASKED_SHARE = 0.30  # of the steps do as the condition pipeline: masked text, causal time
# A clip of hundreds of tokens shows its colours through all but the most noise: what the words decide, they decide there.
NOISIEST, NOISIEST_SHARE, ANY_LEVEL_SHARE = 0.80, 0.30, 0.12
FRAME_RATES = (25.0, 25.0, 25.0, 24.0, 24.0, 24.0, 30.0, 16.0)


def coordinates(bucket: Bucket, count: int, rates: Tensor, causal: bool) -> Tensor:
    """[N, 3, tokens]: seconds, rows and columns of pixels, as the pipelines give them to the transformer."""
    frames, height, width = bucket.latent_shape
    device = rates.device
    time = torch.arange(frames, device=device) * 8.0
    if causal:
        time = (time - 7).clamp(min=0)
    grid = torch.meshgrid(time, torch.arange(height, device=device) * 32.0, torch.arange(width, device=device) * 32.0,
                          indexing="ij")
    grid = torch.stack(grid).flatten(1)[None].repeat(count, 1, 1)
    grid[:, 0] /= rates[:, None]
    return grid


def loss_of(transformer, text_encoder, bucket: Bucket, image: bool) -> Callable[..., Tensor]:
    """The loss of a batch. With `image` the first latent frame is given: clean, at timestep 0, and not scored."""
    first = bucket.tokens // bucket.latent_shape[0]

    def loss(latents: Tensor, ids: Tensor, lengths: Tensor, grid: Tensor, masked: Tensor) -> Tensor:
        count = len(latents)
        latents = latents.float()
        place = torch.arange(TEXT, device=ids.device)
        real = place[None] < lengths[:, None]
        text = encode_text(text_encoder, ids, real | ~masked)[:, :LONGEST]
        level = torch.sigmoid(torch.randn(count, device=ids.device) + 0.5)
        kind, anywhere = torch.rand(2, count, device=ids.device)
        level = torch.where(kind < ANY_LEVEL_SHARE, anywhere, level)
        level = torch.where(kind > 1 - NOISIEST_SHARE, 1 - (1 - NOISIEST) * anywhere, level)
        level = level[:, None].expand(count, bucket.tokens) if image else level[:, None]
        if image:
            level = level * (torch.arange(bucket.tokens, device=ids.device) >= first)
        noise = torch.randn_like(latents)
        mixed = torch.lerp(latents, noise, level[..., None])
        flow = transformer(mixed, text, level * 1000, real[:, :LONGEST].to(torch.int64), video_coords=grid,
                           return_dict=False)[0].float()
        error = (flow - (noise - latents)).square()
        return error[:, first:].mean() if image else error.mean()
    return loss


class DenoiserStage(BucketFeed):
    rate, flat = RATE, FLAT

    def __init__(self, transformer, text_encoder, bank: LatentBank, optimiser: Optimiser, seed: int,
                 options):
        super().__init__(bank, optimiser, seed, options)
        self._transformer, self._text_encoder = transformer, text_encoder
        self._generator = torch.Generator(optimiser.device).manual_seed(seed)

    def draw(self, bucket: Bucket) -> None:
        self.step(bucket, self._rng.random() < IMAGE_SHARE, self._rng.random() < MASKED_SHARE)

    def step(self, bucket: Bucket, image: bool, masked: bool) -> None:
        count = self._count(bucket)
        latents, ids, lengths = self._bank.batch(bucket, count)
        if (bucket, image) not in self._steps:
            loss = loss_of(self._transformer, self._text_encoder, bucket, image)
            self._steps[bucket, image] = Step(loss, self._optimiser, self._options.gpu)
        device = latents.device
        pick = torch.randint(len(FRAME_RATES), (count,), generator=self._generator, device=device)
        rates = torch.tensor(FRAME_RATES, device=device)[pick]
        grid = coordinates(bucket, count, rates, masked)
        self._steps[bucket, image](latents, ids, lengths, grid, torch.tensor(masked, device=device))

    def _count(self, bucket: Bucket) -> int:
        return bucket.batch if self._options.gpu else max(2, 1800 // bucket.tokens)

    @torch.no_grad()
    @torch.compiler.set_stance("force_eager")
    def caption_gap(self) -> tuple[float, float]:
        """Error at level 0.9 with the right captions and with another clip's: the first sign that words count."""
        bucket, device = BUCKETS[0], self._optimiser.device
        latents, ids, lengths = self._bank.batch(bucket, 64 if self._options.gpu else 4)
        grid = coordinates(bucket, len(latents), torch.full((len(latents),), 25.0, device=device), causal=False)
        noise = torch.randn(latents.shape, generator=torch.Generator().manual_seed(3)).to(device)
        mixed = torch.lerp(latents.float(), noise, 0.9)
        errors = []
        for turn in (0, 1):
            said, many = ids.roll(turn, 0), lengths.roll(turn, 0)
            real = torch.arange(TEXT, device=device)[None] < many[:, None]
            with torch.autocast(device.type, dtype=torch.bfloat16):
                text = encode_text(self._text_encoder, said, None)[:, :LONGEST]
                flow = self._transformer(mixed, text, torch.full((len(latents), 1), 900.0, device=device),
                                         real[:, :LONGEST].to(torch.int64), video_coords=grid, return_dict=False)[0]
            errors.append(float((flow.float() - (noise - latents.float())).square().mean()))
        return errors[0], errors[1]


def trained_modules(transformer, text_encoder) -> dict[str, nn.Module]:
    return {"transformer": transformer, "text_encoder": text_encoder}
