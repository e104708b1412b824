# SPDX-License-Identifier: Apache-2.0
"""Counts of verdicts as a table."""

import argparse
import pathlib

from judge import Verdict
from prompts import Prompt

COLUMNS = ("colour", "shape", "motion", "ground colour", "pattern", "background", "all", "swapped")
# Bars at 256x256x49 for a model that was trained on a GPU.
BARS = {"colour": 95, "shape": 85, "motion": 90, "background": 95}
# Scores of the clips whose prompts name each: pitch within a semitone, the side that a sound moves to, whether it
# swells, hits within 80 ms of the touches.
SOUND_BARS = {"pitch": 90, "pan": 90, "loudness": 90, "hits": 80}


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


def sound_rates(answers: list[dict[str, bool]]) -> dict[str, tuple[float, int]]:
    """Percent of the clips that ask for each of SOUND_BARS, and how many those are."""
    asked = {name: [each[name] for each in answers if name in each] for name in SOUND_BARS}
    return {name: (100 * sum(good) / max(1, len(good)), len(good)) for name, good in asked.items()}


def sound_table(rows: dict[float, dict[str, tuple[float, int]]]) -> str:
    if not rows:
        return ""
    counts = next(iter(rows.values()))
    lines = ["", "| sound, guidance | " + " | ".join(f"{name} (of {counts[name][1]})" for name in SOUND_BARS) + " |",
             "|" + "---|" * (len(SOUND_BARS) + 1)]
    for guidance, row in rows.items():
        name = f"{guidance:g}" if guidance > 1 else "off"
        lines.append(f"| {name} | " + " | ".join(f"{row[column][0]:.1f}" for column in SOUND_BARS) + " |")
    lines.append("| bar | " + " | ".join(str(bar) for bar in SOUND_BARS.values()) + " |")
    return "\n".join(lines) + "\n"


def write_prompts(path: pathlib.Path, prompts: list[Prompt], seen: list[Verdict], heard: list) -> None:
    """`heard` has a Heard and answers for each prompt, or nothing."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("seed\tprompt\twanted\tseen\theard\twrong sound\n")
        for number, (prompt, verdict) in enumerate(zip(prompts, seen)):
            sound, wrong = "", ""
            if heard:
                what, answers = heard[number]
                sound = f"{what.pitch:.0f} Hz {what.pan or '-'} {what.loudness or '-'} {' '.join(f'{hit:.2f}' for hit in what.hits)}"
                wrong = " ".join(name for name, good in answers.items() if not good)
            file.write(f"{prompt.seed}\t{prompt.text}\t{_words(prompt.wanted)}\t{_words(verdict)}\t{sound}\t{wrong}\n")


def _words(verdict: Verdict) -> str:
    return " ".join(value or "-" for value in vars(verdict).values())
