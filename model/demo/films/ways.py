# SPDX-License-Identifier: Apache-2.0
"""Puts this folder and ltx-demo's scripts, which it shares, on the path of imports."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
