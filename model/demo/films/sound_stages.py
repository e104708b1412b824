# SPDX-License-Identifier: Apache-2.0
"""Stages that train the audio autoencoder on spectra, and the vocoder on waves."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from film_networks import SOUND_LATENTS
from sounds import FRAME, TOKEN, sound
from spectra import Spectra
from training import Step, rate_at
from world import Mix, draw

CLIPS = Mix(two_objects=0.2, over_scene=0.2, ground_only=0.06)
FRAMES = ((49, 24.0), (33, 30.0), (25, 25.0), (97, 24.0), (17, 24.0))  # of clips, and their rates
RESOLUTIONS = ((2048, 512), (1024, 256), (512, 128), (128, 32))  # window and hop of the vocoder's losses, in samples
SILENCE = 1e-4  # of a magnitude: below it all is alike
# Most clips sound alike in both ears: with those alone, the autoencoder settles on one sound for the two.
UNLIKE_SHARE = 0.6    # of the windows get a loudness for each ear
UNLIKE_OCTAVES = 5.0  # of amplitude, down to which


@dataclass(frozen=True)
class SoundStage:
    name: str
    share: float  # of the run's minutes
    tokens: int   # latents of a window
    batch: int    # on a GPU
    small_batch: int
    rate: float
    mean_decay: float = 0.995
    flat: float = 0.4


AUTOENCODER = SoundStage("sound", 0.08, 26, 24, 6, 2e-3)
VOCODER = SoundStage("vocoder", 0.14, 13, 32, 4, 1e-3, mean_decay=0.998)
# The autoencoder's decoder against latents that stay, so that no film has to be learnt again.
DECODER = SoundStage("sound_decoder", 0.08, 26, 24, 6, 1e-3)
STAGES = (AUTOENCODER, DECODER, VOCODER)


def encode_sound(vae, spectra: Tensor) -> tuple[Tensor, Tensor]:
    """Mean [N, SOUND_LATENTS, tokens, bins / 4] and the logarithm of the variance."""
    moments = vae.encoder(spectra)
    return moments[:, :SOUND_LATENTS], moments[:, SOUND_LATENTS:].clamp(-12, 4)


def autoencoder_loss(vae, spectra: Spectra, latents_stay: bool = False) -> Callable[..., Tensor]:
    def loss(waves: Tensor) -> Tensor:
        with torch.no_grad(), torch.autocast(waves.device.type, enabled=False):
            wanted = spectra(waves)
        with torch.set_grad_enabled(not latents_stay):
            mean, log_variance = encode_sound(vae, wanted)
        mean, log_variance = mean.float(), log_variance.float()
        latents = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        error = vae.decoder(latents).float() - wanted
        divergence = 0.5 * (mean.square().mean() + log_variance.exp().mean() - 1 - log_variance.mean())
        between = (error[:, 0] - error[:, 1]).abs().mean()
        # A tone is in a few of the bins: what is loudest in a frame is what one hears.
        loud = (wanted - wanted.amax(dim=(1, 3), keepdim=True)).exp()
        heard = (loud * error.abs()).sum() / loud.sum()
        return error.abs().mean() + 0.2 * error.square().mean() + 0.5 * between + 0.5 * heard + 1e-3 * divergence
    return loss


def vocoder_loss(vocoder, vae, spectra: Spectra) -> Callable[..., Tensor]:
    """Half of the spectra are true, half have been through the audio autoencoder, as those that it will meet."""
    device = next(vocoder.parameters()).device
    views = [Spectra(device, window, min(64, window // 8), hop) for window, hop in RESOLUTIONS]

    def loss(waves: Tensor) -> Tensor:
        with torch.no_grad():
            with torch.autocast(waves.device.type, enabled=False):
                wanted = spectra(waves)
            decoded = vae.decoder(encode_sound(vae, wanted)[0].float()).float()
            half = len(waves) // 2
            given = torch.cat([wanted[:half], decoded[half:]])
        made = vocoder(given).float()
        with torch.autocast(waves.device.type, enabled=False):
            value = 2 * (made - waves).abs().mean() + 10 * (made - waves).square().mean()
            for view in views:
                ours, theirs = view.magnitude(made), view.magnitude(waves)
                error = (ours + SILENCE * view.window).log() - (theirs + SILENCE * view.window).log()
                value = value + 0.5 * error.abs().mean()
                value = value + 0.25 * (ours - theirs).square().sum().sqrt() / (theirs.square().sum().sqrt() + 1e-3)
        return value
    return loss


class SoundFeed:
    """Feeds one stage with windows of waves, drawn many at a time."""

    def __init__(self, stage: SoundStage, loss: Callable[..., Tensor], optimiser, seed: int, options):
        self._stage, self._optimiser = stage, optimiser
        self._generator = torch.Generator(optimiser.device).manual_seed(seed)
        self._batch = stage.batch if options.gpu else stage.small_batch
        self._clips = 512 if options.gpu else 24
        self._step = Step(loss, optimiser, options.gpu)
        self._waves = torch.zeros(0)
        self._left = 0

    def advance(self, share: float, steps: int) -> int:
        self._optimiser.set_rate(rate_at(self._stage.rate, share, steps, self._stage.flat))
        count = 20 if self._optimiser.device.type == "cuda" else 5
        for _ in range(count):
            if self._left == 0:
                self._fill()
            self._left -= 1
            self._step(self._window())
        return count

    def mean_loss(self) -> float:
        return self._step.mean_loss()

    def _fill(self) -> None:
        device = self._optimiser.device
        pick = int(torch.randint(len(FRAMES), (), generator=self._generator, device=device))
        frames, rate = FRAMES[pick]
        length = max(self._length(), round(frames / rate * FRAME * 100))
        self._waves = sound(draw(self._clips, self._generator, CLIPS), frames, rate, length)
        self._left = 40 if device.type == "cuda" else 20

    def _length(self) -> int:
        return FRAME * (TOKEN * (self._stage.tokens - 1) + 1)

    def _window(self) -> Tensor:
        """Windows begin with a frame, half of them with the clip: there attacks are."""
        length, device = self._length(), self._waves.device
        clip = torch.randint(len(self._waves), (self._batch,), generator=self._generator, device=device)
        room = (self._waves.shape[2] - length) // FRAME + 1
        start = torch.randint(room, (self._batch,), generator=self._generator, device=device) * FRAME
        start = torch.where(torch.rand(self._batch, generator=self._generator, device=device) < 0.3, 0, start)
        at = start[:, None] + torch.arange(length, device=device)
        waves = self._waves[clip[:, None, None], torch.arange(2, device=device)[None, :, None], at[:, None]]
        gains = torch.exp2(-UNLIKE_OCTAVES * torch.rand(self._batch, 2, 1, generator=self._generator, device=device))
        unlike = torch.rand(self._batch, 1, 1, generator=self._generator, device=device) < UNLIKE_SHARE
        return waves * torch.where(unlike, gains, 1.0)


def trained_modules(stage: SoundStage, vae, vocoder) -> dict[str, nn.Module]:
    if stage is DECODER:
        return {"sound_decoder": vae.decoder}
    return {"sound_vae": vae} if stage is AUTOENCODER else {"vocoder": vocoder}


@torch.no_grad()
def measures(vae, vocoder, clips: int) -> dict[str, float]:
    """Mean error of spectra through the autoencoder, and signal over error in dB of waves through both."""
    device = next(vae.parameters()).device
    waves = sound(draw(clips, torch.Generator().manual_seed(5), Mix(0.1, 0.0, 0.0)).to(device), 49, 24.0, FRAME * 201)
    wanted = Spectra(device)(waves)
    decoded = vae.decoder(encode_sound(vae, wanted)[0])
    made = vocoder(decoded)
    return {"spectra_error": round(float((decoded - wanted).abs().mean()), 4),
            "wave_db": round(float(10 * torch.log10(waves.square().mean() / (made - waves).square().mean())), 2)}
