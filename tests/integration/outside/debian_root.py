# SPDX-License-Identifier: Apache-2.0
"""A Debian in a folder, from where this machine has its packages."""

import re
import subprocess

from server import find_tool, run, skip

PATIENCE_SECONDS = 600


def apt_options():
    """The host's own ways of getting packages."""
    told = run("apt-config", "dump", "--no-empty")
    return [f"--aptopt={line}" for line in told.splitlines() if re.match(r"Acquire::(?!IndexTargets)", line)]


def mirror():
    targets = run("apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Identifier: Packages")
    return [line.split()[2] for line in targets.splitlines() if line.startswith("Debian Debian ")][:1]


def make_debian(root, suite, variant, *packages):
    """As root. The test skips where it cannot be had. dpkg waits for no disk there, as in Debian's images for containers."""
    made = subprocess.run([find_tool("mmdebstrap"), f"--variant={variant}", f"--include={','.join(packages)}", "--dpkgopt=force-unsafe-io",
                           *apt_options(), suite, root, *mirror()],
                          capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    if made.returncode:
        skip(f"mmdebstrap makes no {suite} here: {made.stderr[-500:]}")
