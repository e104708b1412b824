# SPDX-License-Identifier: Apache-2.0
"""The stage that trains transformer, connectors and text encoder together: rectified flow over the latents of pictures and sound."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from bucket_feed import BucketFeed
from denoiser_stage import ANY_LEVEL_SHARE, NOISIEST, NOISIEST_SHARE
from film_bank import FilmBank, frame_rate, sound_tokens
from film_networks import encode_text
from latent_bank import BUCKETS, Bucket
from training import Optimiser, Step

NAME = "films"
SHARE = 0.48  # of the run's minutes, with the filling of the bank
FILLING = 0.10  # of those
RATE, FLAT, MEAN_DECAY, WEIGHT_DECAY = 1e-3, 0.50, 0.998, 0.01
SOUND_WEIGHT = 1.0  # of the sound's error
PART = 3  # of ltx-demo's batch is one step's: many small steps teach more in a few minutes


def loss_of(transformer, connectors, text_encoder, bucket: Bucket) -> Callable[..., Tensor]:
    """Pictures and sound are at the same level of noise, as in the pipeline."""
    device = next(transformer.parameters()).device
    places = transformer.rope.prepare_video_coords(1, *bucket.latent_shape, device, fps=frame_rate(bucket))
    moments = transformer.audio_rope.prepare_audio_coords(1, sound_tokens(bucket), device)

    def loss(video: Tensor, sound: Tensor, ids: Tensor, lengths: Tensor) -> Tensor:
        count = len(video)
        video, sound = video.float(), sound.float()
        text, sound_text = encode_text(text_encoder, connectors, ids, lengths)
        level = torch.sigmoid(torch.randn(count, device=ids.device) + 0.5)
        kind, anywhere = torch.rand(2, count, device=ids.device)
        level = torch.where(kind < ANY_LEVEL_SHARE, anywhere, level)
        level = torch.where(kind > 1 - NOISIEST_SHARE, 1 - (1 - NOISIEST) * anywhere, level)
        noise, sound_noise = torch.randn_like(video), torch.randn_like(sound)
        time = level * 1000
        flow, sound_flow = transformer(
            torch.lerp(video, noise, level[:, None, None]), torch.lerp(sound, sound_noise, level[:, None, None]), text, sound_text,
            timestep=time, sigma=time, video_coords=places.expand(count, -1, -1, -1), audio_coords=moments.expand(count, -1, -1, -1),
            use_cross_timestep=True, return_dict=False)
        error = (flow.float() - (noise - video)).square().mean()
        return error + SOUND_WEIGHT * (sound_flow.float() - (sound_noise - sound)).square().mean()
    return loss


class FilmFeed(BucketFeed):
    rate, flat = RATE, FLAT

    def __init__(self, modules: dict[str, nn.Module], bank: FilmBank, optimiser: Optimiser, seed: int, options):
        super().__init__(bank, optimiser, seed, options)
        self._networks = modules["transformer"], modules["connectors"], modules["text_encoder"]

    def draw(self, bucket: Bucket) -> None:
        self.step(bucket)

    def step(self, bucket: Bucket) -> None:
        count = bucket.batch // PART if self._options.gpu else max(2, 1800 // bucket.tokens)
        if bucket not in self._steps:
            self._steps[bucket] = Step(loss_of(*self._networks, bucket), self._optimiser, self._options.gpu)
        self._steps[bucket](*self._bank.batch(bucket, count))

    @torch.no_grad()
    @torch.compiler.set_stance("force_eager")
    def caption_gap(self) -> tuple[float, float, float, float]:
        """Errors at level 0.9 of pictures and of sound, with the right captions and with another clip's."""
        bucket, device = BUCKETS[0], self._optimiser.device
        transformer, connectors, text_encoder = self._networks
        video, sound, ids, lengths = self._bank.batch(bucket, 64 if self._options.gpu else 4)
        generator = torch.Generator().manual_seed(3)
        noise, sound_noise = (torch.randn(x.shape, generator=generator).to(device) for x in (video, sound))
        time = torch.full((len(video),), 900.0, device=device)
        errors = []
        for turn in (0, 1):
            with torch.autocast(device.type, dtype=torch.bfloat16):
                text, sound_text = encode_text(text_encoder, connectors, ids.roll(turn, 0), lengths.roll(turn, 0))
                frames, height, width = bucket.latent_shape
                flow, sound_flow = transformer(
                    torch.lerp(video.float(), noise, 0.9), torch.lerp(sound.float(), sound_noise, 0.9), text, sound_text, timestep=time,
                    sigma=time, num_frames=frames, height=height, width=width, fps=frame_rate(bucket),
                    audio_num_frames=sound.shape[1], use_cross_timestep=True, return_dict=False)
            errors += [float((flow.float() - (noise - video.float())).square().mean()),
                       float((sound_flow.float() - (sound_noise - sound.float())).square().mean())]
        return errors[0], errors[2], errors[1], errors[3]


def trained_modules(modules: dict[str, nn.Module]) -> dict[str, nn.Module]:
    return {name: modules[name] for name in ("transformer", "connectors", "text_encoder")}
