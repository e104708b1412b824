# SPDX-License-Identifier: Apache-2.0
"""A package of the npm registry by name."""

import subprocess

from server import find_tool, skip


def fetch(folder, package):
    """Into node_modules of `folder`; nothing of it is run. The test skips where it cannot be had."""
    fetched = subprocess.run([find_tool("npm"), "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", package], cwd=folder,
                             capture_output=True, text=True, check=False)
    if fetched.returncode:
        skip(f"{package} cannot be fetched: {fetched.stderr[-300:]}")
