# SPDX-License-Identifier: Apache-2.0
"""Films on paper: a few frames in a row, and below them the waves of both ears and their spectrum over the same time."""

import pathlib
import wave

import numpy as np
import torch
from PIL import Image

import sheets

FRAMES, WAVE_HEIGHT, SPECTRUM_HEIGHT = 6, 48, 96
HIGHEST = 6000.0  # hertz that are drawn

SAMPLES = (
    "a red circle bouncing over blue waves", "a yellow star spinning on a purple background",
    "a green triangle sliding left over a gray checkerboard", "a cyan square growing on brown stripes",
    "a white circle appearing over a fire", "a pink square and a blue star bouncing over green waves",
)


def waves(samples: np.ndarray, width: int, height: int = WAVE_HEIGHT) -> np.ndarray:
    """[2, S] as two bands, the left ear above, [2 * height, width, 3] of uint8."""
    picture = np.full((2 * height, width, 3), 18, np.uint8)
    edges = np.linspace(0, samples.shape[1], width + 1).astype(int)
    for ear, colour in ((0, (120, 200, 255)), (1, (255, 190, 110))):
        for x in range(width):
            piece = samples[ear, edges[x]:max(edges[x + 1], edges[x] + 1)]
            top, bottom = ((0.5 - 0.5 * np.clip(v, -1, 1)) * (height - 1) for v in (piece.max(), piece.min()))
            picture[ear * height + int(top):ear * height + int(bottom) + 1, x] = colour
    return picture


def spectrum(samples: np.ndarray, rate: int, width: int, height: int = SPECTRUM_HEIGHT) -> np.ndarray:
    """The sum of both ears, low pitches at the bottom, in 70 dB from black to white."""
    wave_of = torch.from_numpy(samples.sum(axis=0).astype(np.float32))
    window, hop = 1024, max(1, len(wave_of) // width)
    found = torch.stft(wave_of, window, hop, window=torch.hann_window(window), return_complex=True).abs()
    found = found[:int(HIGHEST / rate * window)].clamp(min=1e-6).log10().mul(20).numpy()
    light = np.clip((found - found.max() + 70) / 70, 0, 1) if found.max() > -60 else np.zeros_like(found)
    image = Image.fromarray((light[::-1] * 255).astype(np.uint8)).resize((width, height), Image.Resampling.BILINEAR)
    return np.repeat(np.asarray(image)[..., None], 3, axis=2)


def film(frames: np.ndarray, samples: np.ndarray, rate: int) -> np.ndarray:
    """`frames` [T, H, W, 3] in 0..1, `samples` [2, S]."""
    strip = sheets.strip((frames * 255).round().clip(0, 255).astype(np.uint8), FRAMES)
    side = 128 * FRAMES
    strip = np.asarray(Image.fromarray(strip).resize((side, round(strip.shape[0] * side / strip.shape[1])), Image.Resampling.LANCZOS))
    return np.concatenate([strip, waves(samples, side), spectrum(samples, rate, side)], axis=0)


def save_wave(path: pathlib.Path, samples: np.ndarray, rate: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples.T.clip(-1, 1) * 32767).round().astype("<i2").tobytes())


@torch.no_grad()
def generated(out: pathlib.Path, folder: pathlib.Path, device, frames: int, side: int) -> None:
    """What the saved folder makes of SAMPLES, through diffusers: a sheet, and a file of sound for each."""
    from diffusers import LTX2Pipeline
    pipeline = LTX2Pipeline.from_pretrained(folder, torch_dtype=torch.float32).to(device)
    pipeline.set_progress_bar_config(disable=True)
    rows = []
    for number, prompt in enumerate(SAMPLES):
        made = pipeline(prompt=prompt, height=side, width=side, num_frames=frames, frame_rate=24, num_inference_steps=20,
                        guidance_scale=4.0, audio_guidance_scale=4.0, guidance_rescale=0.0, audio_guidance_rescale=0.0, stg_scale=0.0,
                        audio_stg_scale=0.0, modality_scale=1.0, audio_modality_scale=1.0, max_sequence_length=64,
                        generator=torch.Generator().manual_seed(number), output_type="pt")
        samples = made.audio[0].float().cpu().numpy()
        rows.append(film(made.frames[0].permute(0, 2, 3, 1).float().cpu().numpy(), samples, pipeline.vocoder.config.output_sampling_rate))
        save_wave(out / f"sample{number}.wav", samples, pipeline.vocoder.config.output_sampling_rate)
    columns = [np.concatenate(rows[at::2], axis=0) for at in (0, 1)]
    Image.fromarray(np.concatenate(columns, axis=1)).save(out / "samples.png", optimize=True)
