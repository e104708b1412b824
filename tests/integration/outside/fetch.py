# SPDX-License-Identifier: Apache-2.0
"""Packages of PyPI by name, in a folder of this run."""

import contextlib
import importlib.util
import subprocess
import sys
import tempfile

from server import skip


@contextlib.contextmanager
def fetched(*packages, alone=()):
    """`packages` with what they need, `alone` without; importable, and yields where they lie. The test skips where they cannot be had."""
    with tempfile.TemporaryDirectory(prefix="reel-fetched-") as folder:
        python, commands = sys.executable, []  # an environment takes longer than most packages
        if importlib.util.find_spec("pip") is None:
            python = f"{folder}/environment/bin/python"
            commands = [[sys.executable, "-m", "venv", f"{folder}/environment"]]
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "-q", "--no-compile", "--target", f"{folder}/packages"]
        commands += [[*pip, "--no-deps", *alone]] if alone else []
        commands += [[*pip, *packages]]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                skip(f"{' '.join([*alone, *packages])} cannot be fetched: {(done.stderr or done.stdout)[-300:]}")
        sys.path.insert(0, f"{folder}/packages")
        yield f"{folder}/packages"
