# SPDX-License-Identifier: Apache-2.0
"""Numbers of repeated measurements, in milliseconds where they are times."""

import contextlib
import statistics
import time
import urllib.request

from door_client import Door
from server import running_server


def spread(values, scale=1000.0):
    """Median, tenth and ninetieth percentile, least, most."""
    ordered = sorted(v * scale for v in values)

    def at(share):
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)

    return {"n": len(ordered), "median": round(statistics.median(ordered), 3), "p10": at(0.1), "p90": at(0.9), "p95": at(0.95),
            "least": round(ordered[0], 3), "most": round(ordered[-1], 3)} if ordered else {"n": 0}


@contextlib.contextmanager
def serving(setup, config="", devices=None):
    """A reeld with the model and devices of `setup`, ready. Yields its door; `door.server` is the process."""
    flags = ["--model", setup.model, "--devices", devices or setup.devices, "--http", "127.0.0.1:0"]
    with running_server(*flags, config=config) as server:
        ready_within(server, setup.load_limit)
        door = Door(server.http)
        door.server = server
        yield door


def ready_within(server, limit):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise AssertionError(f"reeld ended with {server.process.returncode}:\n{server.log.read_text()[-3000:]}")
        try:
            with urllib.request.urlopen(f"http://{server.metrics}/readyz", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"not ready within {limit} s:\n{server.log.read_text()[-3000:]}")


def must(heard):
    if not heard.ok:
        raise AssertionError(f"a video failed: {heard.error}")
    return heard
