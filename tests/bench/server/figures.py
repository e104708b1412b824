# SPDX-License-Identifier: Apache-2.0
"""Numbers of repeated measurements, in milliseconds where they are times."""

import contextlib
import math
import os
import pathlib
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


def interval(values, scale=1.0):
    """Of the median, with at least 95 %, whatever the values' distribution: between two of them in order, by the binomial."""
    ordered, n = sorted(v * scale for v in values), len(values)
    below, rank = 0.0, 0
    while below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    return {"95 % of the median": [round(ordered[rank - 1], 3), round(ordered[-rank], 3)] if rank else None}


class ProcessClocks:
    """CPU time, user and system, of a process and of its children, of threads that have ended too."""

    def __init__(self, pid):
        # None comes or goes while a bench measures.
        self.pids = [pid] + [int(p.parent.name) for p in pathlib.Path("/proc").glob("[0-9]*/stat") if parent_of(p) == pid]

    def read(self):
        """Seconds of each, the process itself first."""
        return [time.clock_gettime(~pid << 3 | 2) for pid in self.pids]  # clock_getcpuclockid(3)


@contextlib.contextmanager
def kept_apart(servers):
    """This process and each server of these clocks on the first core, their children on the others: what is measured of one is nothing
    of the other's."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise AssertionError("to keep them apart takes two cores")
    for clocks in servers:
        for place, pid in enumerate(clocks.pids):
            for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), cores[:1] if place == 0 else cores[1:])
    os.sched_setaffinity(0, cores[:1])
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def parent_of(stat):
    with contextlib.suppress(OSError):
        return int(stat.read_text().rpartition(")")[2].split()[1])
    return 0


@contextlib.contextmanager
def serving(setup, config="", devices=None):
    """A reeld with the model and devices of `setup`, ready. Yields its door; `door.server` is the process."""
    flags = ["--model", setup.model, "--http", "127.0.0.1:0"]
    names = (devices or setup.devices).split(",")
    if len(set(names)) == len(names):
        flags += ["--devices", ",".join(names)]
    else:  # one CPU several times: its workers want names of their own
        config += "".join(f'\nworkers {{ name: "{name}-{i}" device: "{name}" }}' for i, name in enumerate(names))
    # Videos of random weights are long files, and nobody takes them away.
    with running_server(*flags, config=f"{config}\ndata {{ max_bytes: {40 << 30} }}\n") as server:
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
