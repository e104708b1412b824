# SPDX-License-Identifier: Apache-2.0
"""The weights that the demo with sound starts from: ltx-demo's transformer and decoder, as far as the classes are alike.

The video stream begins as ltx-demo's transformer. Both turn channels by a token's place with the same angles: there
neighbours, here a channel and the one half a head further, so rows of queries and keys change places. The decoder begins as
ltx-demo's without its times; where it is wider, channels are there twice.
"""

import pathlib

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from film_networks import HEADS, WIDTH

FILE = "diffusion_pytorch_model.safetensors"
LTX_DEMO = pathlib.Path(__file__).resolve().parents[1] / "weights"
ROWS = 6  # of ltx-demo's modulation; behind them come those of the text's queries


def split_order() -> Tensor:
    """For each channel where halves of heads are turned: the channel that it is where neighbours are."""
    half = WIDTH // HEADS // 2
    pair = torch.arange(WIDTH // 2).view(HEADS, half)
    return torch.stack([2 * pair, 2 * pair + 1], dim=1).flatten()


@torch.no_grad()
def into_transformer(transformer: nn.Module, folder: pathlib.Path = LTX_DEMO) -> int:
    """Returns how many tensors were carried."""
    old = {name: tensor.float() for name, tensor in load_file(folder / "transformer" / FILE).items()}
    order, count = split_order(), 0
    for name, new in transformer.state_dict().items():
        if name not in old:
            continue
        value = old[name]
        if ".attn1." in name and name.split(".attn1.")[1].startswith(("to_q", "to_k", "norm_q", "norm_k")):
            value = value[order]
        if name.endswith(("scale_shift_table", "time_embed.linear.weight", "time_embed.linear.bias")) and new.shape != value.shape:
            rows = value.unflatten(0, (ROWS, -1)) if "linear" in name else value
            kept = new.unflatten(0, (9, -1)) if "linear" in name else new
            kept[:ROWS] = rows
            if "linear" in name:
                kept[ROWS:] = 0
        else:
            new.copy_(value)
        count += 1
    return count


def widened(value: Tensor, shape: torch.Size) -> Tensor:
    """Each channel once more, or as often as it takes; what comes in is divided among them, so that sums stay."""
    for axis in range(min(2, value.ndim)):
        times = shape[axis] // value.shape[axis]
        if times > 1:
            value = torch.cat([value] * times, dim=axis) / (times if axis == 1 else 1)
    return value


@torch.no_grad()
def into_decoder(vae: nn.Module, folder: pathlib.Path = LTX_DEMO, unlike: float = 0.02) -> int:
    """And the latents' statistics. New layers change nothing until they learn; twins are made a little unlike, so that they can."""
    old = {name: tensor.float() for name, tensor in load_file(folder / "vae" / FILE).items()}
    count = 0
    for name, new in vae.state_dict().items():
        if name in old and (name.startswith("decoder.") or name.startswith("latents_")):
            value = widened(old[name], new.shape)
            if value.shape != old[name].shape:
                value = value * (1 + unlike * torch.randn_like(value))
            new.copy_(value)
            count += 1
        elif name.startswith("decoder.") and ".conv2.conv" in name:
            new.zero_()
    return count


def teacher(device) -> nn.Module:
    """ltx-demo's video autoencoder, whose latents this model has too."""
    from diffusers import AutoencoderKLLTXVideo
    return AutoencoderKLLTXVideo.from_pretrained(LTX_DEMO / "vae", torch_dtype=torch.float32).to(device).requires_grad_(False)
