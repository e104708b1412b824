#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lateness and waiting against load, by the plan and in order of arrival, without a clock.

  tests/bench/scheduling/load_picture.py [--build build/check]

Runs load-simulation and writes results/scheduling.json, its page, and a picture of four charts. The page shows a few loads, the JSON has all (`more_rows`).
"""

import argparse
import json
import pathlib
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[3]
RESULTS = TREE / "tests/bench/results"
PICTURE = "scheduling_load.svg"
COLOURS = {"plan": "#4269d0", "fifo": "#ff725c"}
CHARTS = [("in_time", "in time, % of all"), ("late", "late, % of those admitted"),
          ("short_p90", "short videos' wait, s p90"), ("other_p90", "quiet tenants' wait, s p90")]
ABOUT = ("How: [tests/bench/scheduling](../scheduling/README.md). Figures do not depend on the machine. All loads: [scheduling.json](scheduling.json).")
ON_THE_PAGE = {"plan": ("0.5", "0.9", "1", "1.5", "2"), "fifo": ("0.5", "0.9", "1", "1.5", "2"), "plan, one tenant": ("1", "2")}
SCENE = ("Two single devices and a group that is twice as fast. Short videos take 2 s on a single device, a quarter are long and take 20 s; each has three to twelve of its runs and "
         "5 s until its deadline. Of three tenants one asks for six videos of ten, two are quiet. Steps take up to a tenth more or less than predicted, and are not shared. "
         "600 videos for each of five seeds; a load of 1 is what the pool can do. Both orders refuse what would be late. \"One tenant\": as if it had sent all.")


def chart(figures, path):
    highest_load, parts = max(one["load"] for one in figures), []
    for place, (key, title) in enumerate(CHARTS):
        left, top, highest = 60 + place * 250, 40, max(one[key] for one in figures)
        parts.append(f'<text x="{left}" y="25">{title}</text><path d="M{left} {top}v150h190" fill="none" stroke="#888"/>'
                     f'<text x="{left - 4}" y="{top + 8}" text-anchor="end">{highest:.3g}</text>'
                     f'<text x="{left + 190}" y="{top + 168}" text-anchor="end">load {highest_load:g}</text>')
        for number, (order, colour) in enumerate(COLOURS.items()):
            line = [(one["load"], one[key]) for one in figures if one["order"] == order]
            points = " ".join(f"{left + 190 * load / highest_load:.1f},{top + 150 - 150 * value / highest:.1f}" for load, value in line)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
            if place == 0:
                parts.append(f'<text x="{60 + number * 130}" y="235" fill="{colour}">{order}</text>')
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="1060" height="250" font-family="sans-serif" font-size="12">'
                    f'<rect width="1060" height="250" fill="white"/>{"".join(parts)}</svg>\n', encoding="utf-8")


def table(figures):
    columns = ["load", "order", "refused, %", "in time, % of all", "late, % of those admitted", "short, wait s p50", "p90", "long, p90", "flooding tenant, p90", "quiet tenants, p90"]
    keys = ("refused", "in_time", "late", "short_p50", "short_p90", "long_p90", "flood_p90", "other_p90")
    rows = [[f"{one['load']:g}", one["order"]] + [f"{one[key]:.1f}" for key in keys] for one in sorted(figures, key=lambda one: (one["order"] not in COLOURS, one["load"]))]
    return columns, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=TREE / "build/release")
    arguments = parser.parse_args()
    run = subprocess.run([arguments.build / "tests/load-simulation"], check=True, capture_output=True, text=True)
    figures = json.loads(run.stdout)
    chart([one for one in figures if one["order"] in COLOURS], RESULTS / PICTURE)
    columns, rows = table(figures)
    section = {"title": "Load", "about": SCENE, "command": ["load_picture.py"], "columns": columns,
               "rows": [row for row in rows if row[0] in ON_THE_PAGE[row[1]]], "more_rows": [row for row in rows if row[0] not in ON_THE_PAGE[row[1]]],
               "picture": [PICTURE, "Lateness and waits against load, by the plan and in order of arrival"],
               "notes": ["Long videos of the flooding tenant wait for longer by the plan: it is asked for more than its share, and more of them are admitted.",
                         "What is admitted and late lost its turn to videos that came later, of tenants that had had less: as one tenant's videos hardly any is late. From a load of 1.5 on most are long videos of the flooding tenant: admission does not foresee that the quiet ones, whose share is 40 % of all, go on coming."]}
    page = {"title": "Scheduling, simulated", "about": ABOUT, "sections": [section]}
    (RESULTS / "scheduling.json").write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")
    sys.path.append(str(TREE / "tests/bench"))
    import result_pages
    result_pages.main()


if __name__ == "__main__":
    main()
