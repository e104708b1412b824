#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a fresh clone to a video that plays in Chromium, in seconds by stage. By hand, since it builds the tree:

  first_video.py [--deps FOLDER]     --deps: packages fetched before, linked as .deps; without it they are fetched

The compiler's cache is the user's own: CCACHE_DISABLE=1 goes without.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from browser import opened_page
from server import ROOT, run

PROMPT = "a red circle bouncing over blue waves"
PATIENCE_SECONDS = 3000


def play(page, address):
    page.open(f"http://{address}/", 1280)
    page.wait("models.length > 0")
    page.evaluate(f"byId('prompt').value = {PROMPT!r}; byId('prompt').dispatchEvent(new Event('input', {{ bubbles: true }}));"
                  "window.playing = false; document.addEventListener('playing', () => { playing = true; }, true); byId('make').click()")
    page.wait("playing")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deps", type=pathlib.Path)
    deps = parser.parse_args().deps
    stages, last = [], time.monotonic()

    def note(name):
        nonlocal last
        now = time.monotonic()
        stages.append((name, now - last))
        last = now
    with tempfile.TemporaryDirectory(prefix="reel-first-") as name:
        clone = pathlib.Path(name, "reel")
        run("git", "clone", "-q", ROOT, clone)
        if deps:
            (clone / ".deps").symlink_to(deps.resolve())
        note("clone")
        told = run(clone / "deploy/quickstart", PROMPT, "--keep", "--data", pathlib.Path(name, "data"), timeout=PATIENCE_SECONDS, cwd=name)
        process = int(re.search(r"keeps running as process (\d+)", told)[1])
        try:
            note("quickstart")
            with opened_page() as page:
                play(page, re.search(r"http://(\S+)/ in a browser", told)[1])
                note("page, to a video that plays")
        finally:
            os.kill(process, signal.SIGTERM)
            subprocess.run(["tail", f"--pid={process}", "-f", "/dev/null"], timeout=30, check=False)
    print(re.search(r"^Took: (.*)$", told, re.MULTILINE)[0])
    print(f"FIGURE from a fresh clone to a video that plays: {sum(seconds for _, seconds in stages):.1f} s ("
          + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in stages) + ")")


if __name__ == "__main__":
    sys.exit(main())
