# SPDX-License-Identifier: Apache-2.0
"""Puts the demo model's generator and the judge of its score on the path of imports."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
WEIGHTS = ROOT / "model/demo/weights"
sys.path[:0] = [str(ROOT / "model/demo"), str(ROOT / "model/demo/films"), str(ROOT / "tests/bench/demo_quality")]
