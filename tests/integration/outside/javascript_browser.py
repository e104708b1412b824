#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reel-client in a headless Chromium, as npm installs it, in a page of another origin than the server's: it renders, plays, follows files and events
through connections that break, is refused and leaves; a page whose origin the server does not list gets nothing.
"""

import contextlib
import functools
import http.server
import pathlib
import sys
import tempfile
import threading
import urllib.parse

from browser import opened_page
from cut_proxy import CutProxy
from javascript_client import install
from server import ROOT, find_tool, running_server, wait_until_serving

# A file grows for a second.
CARD = "models { name: 'testcard' test_card { step_time { nanos: 20000000 } decode_time_per_frame { nanos: 20000000 } } }\n"
# Bytes of the first connections. Each begins with the answer that lets the other origin in.
FILE_CUTS, EVENT_CUTS = (3_000, 100_000), (4_000, 3_000)
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>use</title><link rel="icon" href="data:,">
<script type="importmap">{"imports": {"reel-client": "/node_modules/reel-client/reel.js"}}</script></head>
<body><script type="module" src="/use.js"></script></body></html>
"""
STRANGER = "import('reel-client').then(({ ReelClient }) => new ReelClient(%r, { attempts: 1 }).models()).then(() => 'served', (error) => error.name)"


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """The port at which a folder's files are."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def use(page, port, server):
    with CutProxy(server.http, FILE_CUTS) as file, CutProxy(server.http, EVENT_CUTS) as events:
        addresses = urllib.parse.urlencode({"server": server.http, "file": file.address, "events": events.address})
        page.open(f"http://127.0.0.1:{port}/?{addresses}", 1280)
        outcome = page.wait("window.outcome")
        assert "figures" in outcome, outcome["error"]
        assert (file.broken, events.broken) == (len(FILE_CUTS), len(EVENT_CUTS)), f"broken: {file.broken}, {events.broken}"
        return outcome["figures"], file.broken + events.broken


def main():
    find_tool("npm")
    with tempfile.TemporaryDirectory(prefix="reel-browser-client-") as name, opened_page() as page:
        folder = install(pathlib.Path(name))
        (folder / "index.html").write_text(PAGE, encoding="utf-8")
        (folder / "use.js").write_bytes((ROOT / "tests/integration/outside/clients/use_browser.js").read_bytes())
        with served(folder) as port, running_server("--http", "127.0.0.1:0", config=CARD + f'http {{ allow_origins: "http://127.0.0.1:{port}" }}') as server:
            wait_until_serving(server)
            figures, broken = use(page, port, server)
            # The same page by another name is another origin.
            page.open(f"http://localhost:{port}/?server={server.http}", 1280)
            assert page.evaluate(STRANGER % f"http://{server.http}") == "TypeError", "a page of an origin that is not listed was served"
    print(f"FIGURE reel-client in Chromium: {figures['bytes']} bytes in {figures['pieces']} pieces, {figures['events']} events, "
          f"{broken} of {broken} connections that broke survived")


if __name__ == "__main__":
    sys.exit(main())
