# SPDX-License-Identifier: Apache-2.0
"""The flags that the trainings of both demo models have in common."""

import argparse
import pathlib

import torch

import compile_ahead


def run_parser(text: str, minutes: float, bank: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, default=minutes, help="of training; the clock decides, not a count of steps")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bank", type=int, default=bank, help="encoded clips that are kept")
    parser.add_argument("--refill-every", type=int, default=16, help="steps of the transformer between refills of the bank")
    parser.add_argument("--again", nargs="+", default=[], metavar="STAGE",
                        help="go through these finished stages once more, from the weights that they left")
    parser.add_argument("--batch", type=int, default=0, help="of the video autoencoder, instead of each stage's own")
    parser.add_argument("--compile", action="store_true", help="compile the losses on a GPU, ahead, in processes of their own")
    parser.add_argument("--cpu", action="store_true", help="even where there is a GPU")
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    options = parser.parse_args()
    options.gpu = torch.cuda.is_available() and not options.cpu
    if options.gpu:
        compile_ahead.prepare()
    return options
