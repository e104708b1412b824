#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenAI's own package for Node, which knows nothing of Reel, makes, polls, lists, downloads and deletes videos at the HTTP door. It is fetched from the npm
registry by name, into a folder of this run."""

import base64
import pathlib
import sys
import tempfile

from npm_package import fetch
from openai_sdk import red_png
from server import ROOT, find_tool, run, running_server, wait_until_serving

VERSION = "6.49.0"


def main():
    with tempfile.TemporaryDirectory(prefix="reel-openai-") as name, running_server("--http", "127.0.0.1:0") as server:
        folder = pathlib.Path(name)
        fetch(folder, f"openai@{VERSION}")
        (folder / "use.mjs").write_bytes((ROOT / "tests/integration/outside/clients/use_openai.mjs").read_bytes())
        wait_until_serving(server)
        print(f"openai {VERSION} of npm:", run(find_tool("node"), "use.mjs", server.http, base64.b64encode(red_png()).decode(), cwd=folder).strip())


if __name__ == "__main__":
    sys.exit(main())
