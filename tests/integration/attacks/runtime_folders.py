#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A killed server leaves no folder behind for good, and a deleted one does not keep workers away."""

import os
import pathlib
import shutil
import signal
import sys
import tempfile

from target import TEST_CARD, expect, get, running_server, until, wait_until_ready


def folders(base):
    return sorted(path.name for path in base.iterdir() if path.is_dir())


def children(process):
    return [int(pid) for pid in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()] or \
        [int(pid) for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir()
         for pid in (task / "children").read_text(encoding="ascii").split()]


def kill_server(environment, base):
    """Its folder stays."""
    try:
        with running_server(config=TEST_CARD, environment=environment) as server:
            wait_until_ready(server)
            server.process.kill()
            server.process.wait()
    except (AssertionError, ProcessLookupError):
        pass
    return folders(base)


def main():
    with tempfile.TemporaryDirectory(prefix="reel-runtime-") as folder:
        base = pathlib.Path(folder)
        environment = {"XDG_RUNTIME_DIR": folder}
        left = kill_server(environment, base)
        expect(len(left) == 1, f"a killed server's folder: {left}")
        with running_server(config=TEST_CARD, environment=environment) as server:
            wait_until_ready(server)
            mine = folders(base)
            expect(len(mine) == 1 and mine != left, f"what was left is still there: {mine}")
            with running_server(config=TEST_CARD, environment=environment) as second:
                wait_until_ready(second)
                expect(len(folders(base)) == 2, "another server's folder was taken away")
            shutil.rmtree(base / mine[0])
            workers = children(server.process)
            expect(len(workers) == 1, f"{workers} are its children")
            os.kill(workers[0], signal.SIGKILL)
            until("the worker is gone", lambda: get(server.metrics, "/readyz")[0] == 503)
            until("a new worker is ready", lambda: get(server.metrics, "/readyz")[0] == 200)
        expect(folders(base) == [], f"left behind: {folders(base)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
