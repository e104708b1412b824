# SPDX-License-Identifier: Apache-2.0
"""Counts of verdicts as a table."""

import argparse
import pathlib

from judge import Verdict
from prompts import Prompt

COLUMNS = ("colour", "shape", "motion", "ground colour", "pattern", "background", "all", "swapped")
# Bars at 256x256x49 for a model that was trained on a GPU.
BARS = {"colour": 95, "shape": 85, "motion": 90, "background": 95}


def rates(prompts: list[Prompt], seen: list[Verdict]) -> dict[str, float]:
    """Percent of the clips for each of COLUMNS. `background` is right when its colour and its pattern are."""
    counts = dict.fromkeys(COLUMNS, 0)
    for prompt, verdict in zip(prompts, seen):
        right = {
            "colour": verdict.colour == prompt.wanted.colour, "shape": verdict.shape == prompt.wanted.shape,
            "motion": verdict.motion == prompt.wanted.motion,
            "ground colour": verdict.ground_colour == prompt.wanted.ground_colour,
            "pattern": verdict.ground == prompt.wanted.ground,
        }
        right["background"] = right["ground colour"] and right["pattern"]
        right["all"] = all(right.values())
        right["swapped"] = swapped(prompt.wanted, verdict)
        for name, good in right.items():
            counts[name] += good
    return {name: 100 * count / len(prompts) for name, count in counts.items()}


def swapped(wanted: Verdict, seen: Verdict) -> bool:
    """The object took the ground's colour, or the ground the object's."""
    if wanted.colour == wanted.ground_colour:
        return False
    object_took = seen.colour != wanted.colour and seen.colour == wanted.ground_colour
    ground_took = seen.ground_colour != wanted.ground_colour and seen.ground_colour == wanted.colour
    return object_took or (ground_took and wanted.ground_colour != "")


def table(options: argparse.Namespace, rows: dict[float, dict[str, float]]) -> str:
    maker = f"diffusers on {options.device}"
    if options.truth:
        maker = "the generator itself"
    elif options.reel:
        maker = f"reel-render on {options.device}, {options.dtype}, {options.kernels}"
    lines = [f"{options.count} unseen prompts, {options.width}x{options.height}x{options.frames} at {options.frame_rate} fps, "
             f"{options.steps} steps, by {maker}; percent of the clips", "",
             "| guidance | " + " | ".join(COLUMNS) + " |", "|" + "---|" * (len(COLUMNS) + 1)]
    for guidance, row in rows.items():
        name = f"{guidance:g}" if guidance > 1 else "off"
        lines.append(f"| {name} | " + " | ".join(f"{row[column]:.1f}" for column in COLUMNS) + " |")
    lines.append("| bar | " + " | ".join(str(BARS.get(column, "")) for column in COLUMNS) + " |")
    return "\n".join(lines) + "\n"


def write_prompts(path: pathlib.Path, prompts: list[Prompt], seen: list[Verdict]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write("seed\tprompt\twanted\tseen\n")
        for prompt, verdict in zip(prompts, seen):
            file.write(f"{prompt.seed}\t{prompt.text}\t{_words(prompt.wanted)}\t{_words(verdict)}\n")


def _words(verdict: Verdict) -> str:
    return " ".join(value or "-" for value in vars(verdict).values())
