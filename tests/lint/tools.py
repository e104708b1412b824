# SPDX-License-Identifier: Apache-2.0
"""Finds the tools that deploy/build/setup --tests installs, and reports that one is absent."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77


def skip(what):
    print(f"SKIPPED: {what}")
    sys.exit(SKIPPED)


def find_tool(name):
    """The path of a tool; ends the process with the status of a skip without it."""
    found = shutil.which(name, path=f"{ROOT}/.deps/bin:{os.environ.get('PATH', '')}")
    return found or skip(f"{name} is not installed; run deploy/build/setup --tests")


def site_packages():
    """Of the project's Python environment, which also works for the system's interpreter."""
    found = glob.glob(f"{ROOT}/.deps/venv/lib/python3*/site-packages")
    return found[0] if found else skip("there is no .deps/venv; run deploy/build/setup --tests")


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
