# SPDX-License-Identifier: Apache-2.0
"""Puts the demo model's generator and the judge of its score on the path of imports."""

import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
WEIGHTS, FILM_WEIGHTS = ROOT / "model/demo/weights", ROOT / "model/demo/films/weights"
sys.path[:0] = [str(ROOT / "model/demo"), str(ROOT / "model/demo/films"), str(ROOT / "tests/bench/demo_quality")]


def check_manifest(case, weights):
    """Every file of the folder is in its sums, and has them."""
    lines = [line.split("  ") for line in (weights / "SHA256SUMS").read_text(encoding="utf-8").splitlines()]
    for digest, name in lines:
        case.assertEqual(hashlib.sha256((weights / name).read_bytes()).hexdigest(), digest, name)
    there = {path.relative_to(weights).as_posix() for path in weights.rglob("*") if path.is_file()}
    case.assertEqual(there - {name for _, name in lines}, {"SHA256SUMS"})
