# SPDX-License-Identifier: Apache-2.0
"""Workers of several kinds, as a group beside single devices: where videos go, and what the pool makes of it beside the same devices one by one."""

import collections
import itertools
import json
import statistics
import threading
import time

from door_client import seconds
from figures import must, serving, spread
from server import scrape

FEW = 3  # repeats of what takes long
EACH = 12  # videos of a device while others wait


class Flood:
    """Keeps so many videos in flight until it is left. With `quoted` each asks first what it would wait."""

    def __init__(self, door, spec, width, quoted=False):
        self.door, self.spec, self.quoted = door, spec, quoted
        self.numbers, self.heard, self.errors = itertools.count(1), [], []  # heard: what ended, in that order
        self.changed, self.closed = threading.Condition(), False
        self.threads = [threading.Thread(target=self._work) for _ in range(width)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.closed = True
        for thread in self.threads:
            thread.join()

    def _work(self):
        while not self.closed:
            spec = self.spec | {"seed": str(next(self.numbers))}
            try:
                quote = self.door.estimate(spec) if self.quoted else {}
                heard = must(self.door.generate(spec))
            except (AssertionError, OSError) as error:
                self.closed = True
                with self.changed:
                    self.errors.append(error)
                    self.changed.notify_all()
                return
            with self.changed:
                self.heard.append((quote, heard))
                self.changed.notify_all()

    def wait_for(self, count):
        """Until so many have ended."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.heard) >= count or self.errors)
        if self.errors:
            raise self.errors[0]


def workers_of(door):
    """Device by name, as "cuda:0+cuda:1 2 x NVIDIA H100"."""
    return {worker["name"]: worker["device"] for worker in door.call("GET", "server")["workers"]}


def kind_of(device):
    return device.partition(" ")[2] or device


def one_of_each_kind(door):
    return {kind_of(device): name for name, device in reversed(workers_of(door).items())}


def learn(door, specs):
    """Each of them by each worker, so that nothing is quoted that nobody has seen."""
    for spec in specs:
        for name in workers_of(door):
            for seed in range(2):
                must(door.generate(spec | {"worker": name, "seed": str(seed)}))


def singles_of(setup):
    return setup.devices.replace("+", ",")


def counted(heard):
    return dict(collections.Counter(h.video["stats"]["device"] for h in heard))


def busy_seconds(door):
    """Of each worker, by name."""
    prefix = "reel_gpu_busy_seconds_total{"
    lines = [line for line in scrape(door.server).splitlines() if line.startswith(prefix)]
    return {line.partition('device="')[2].partition('"')[0]: float(line.rpartition(" ")[2]) for line in lines}


def long_alone(setup, door):
    learn(door, [setup.long])
    heard = [must(door.generate(setup.long | {"seed": str(100 + n)})) for n in range(min(FEW, setup.repeat))]
    return {"made by": counted(heard), "each, ms": spread(h.ended for h in heard)}


def flooded(setup, door):
    """More usual videos than there are workers, always: what is made while others wait, and by whom."""
    learn(door, [setup.usual])
    workers = workers_of(door)
    width = 3 * len(workers)
    count = max(EACH, setup.repeat) * len(singles_of(setup).split(","))
    with Flood(door, setup.usual, width, quoted=True) as flood:
        flood.wait_for(width)
        began, busy, first = time.monotonic(), busy_seconds(door), len(flood.heard)
        flood.wait_for(first + count)
        took, after, last = time.monotonic() - began, busy_seconds(door), len(flood.heard)
    made = flood.heard[first:last]
    idle = {workers[name]: round(100 * max(0.0, 1 - (after[name] - busy.get(name, 0.0)) / took), 1) for name in workers}
    waits = [(seconds(quote.get("queue")), seconds(heard.video["stats"].get("queued"))) for quote, heard in made]
    return {"videos a second": round(len(made) / took, 3), "in flight": width, "made by": counted(h for _, h in made),
            "each, ms": spread(h.ended for _, h in made), "idle while others waited, %": idle, "most idle, %": max(idle.values()),
            "quoted wait, ms": spread(quoted for quoted, _ in waits), "wait, ms": spread(came for _, came in waits),
            "quoted wait over wait": round(statistics.mean(q for q, _ in waits) / max(1e-9, statistics.mean(w for _, w in waits)), 3)}


def arrives(door, body):
    """A video that comes while others keep all busy."""
    heard = door.ask(body)
    if heard.ok:
        stats = heard.video["stats"]
        return {"made by": stats["device"], "ms": round(1000 * heard.ended), "queued ms": round(1000 * seconds(stats.get("queued")))}
    error = json.loads(heard.error)
    error = error.get("error", error)
    details = [d for d in error.get("details", []) if "reason" in d]
    return {"after ms": round(1000 * heard.ended), "error": error.get("message", ""), "facts": details[0].get("metadata", {}) if details else {}}


def due(door, spec, timeout):
    """With a deadline; where that is refused, once more with a tenth more than the refusal says that it takes."""
    came = [{"due in, s": timeout} | arrives(door, {"spec": spec, "timeout": f"{timeout}s"})]
    facts = came[0].get("facts", {})
    if "run_p90_seconds" in facts:
        later = round(1.1 * (float(facts["queue_seconds"]) + float(facts["run_p90_seconds"])), 2)
        came.append({"due in, s": later} | arrives(door, {"spec": spec, "timeout": f"{later}s"}))
    return came


def urgent(setup, door):
    """A long one with a deadline that only the fastest kind meets, once it has finished what it does; one of HIGH priority; and one that is like
    all others."""
    learn(door, [setup.usual, setup.long])
    kinds = {name: door.estimate(spec)["devices"] for name, spec in (("usual", setup.usual), ("long", setup.long))}
    fastest = {name: seconds(devices[0]["runP50"]) for name, devices in kinds.items()}
    timeout = round(1.15 * fastest["long"] + fastest["usual"], 2)
    result = {"quoted for the long one, s": {d["device"]: seconds(d["runP50"]) for d in kinds["long"]}, "with a deadline": [], "HIGH": [],
              "like the others": []}
    width = 3 * len(workers_of(door))
    with Flood(door, setup.usual, width) as flood:
        flood.wait_for(width)
        for number in range(min(FEW, setup.repeat)):
            spec = setup.long | {"seed": str(number)}
            result["with a deadline"] += due(door, spec, timeout)
            flood.wait_for(len(flood.heard) + width)
            result["HIGH"].append(arrives(door, {"spec": spec, "priority": "PRIORITY_HIGH"}))
            flood.wait_for(len(flood.heard) + width)
            result["like the others"].append(arrives(door, {"spec": spec}))
    return result


def quotes(setup, door):
    """What is quoted for each kind of device, against what a video takes there, one at a time."""
    result = {}
    for name, spec in (("small", setup.small), ("usual", setup.usual), ("long", setup.long)):
        learn(door, [spec])
        quoted = {d["device"]: (seconds(d["runP50"]), seconds(d["runP90"])) for d in door.estimate(spec)["devices"]}
        for kind, worker in one_of_each_kind(door).items():
            heard = [must(door.generate(spec | {"worker": worker, "seed": str(50 + n)})) for n in range(min(2 * FEW, setup.repeat))]
            took = [h.ended - h.accepted for h in heard]
            result[f"{name} by {kind}"] = {
                "quoted p50, ms": round(1000 * quoted[kind][0], 1), "took, ms": spread(took),
                "error of the quote, %": round(100 * (quoted[kind][0] / statistics.median(took) - 1), 1),
                "within the quoted p90": f"{sum(t <= quoted[kind][1] for t in took)} of {len(took)}"}
    return result


def mixed(setup):
    """All of it."""
    devices = setup.devices.split(",")
    if len({device.count("+") for device in devices}) < 2:
        return {"skipped": f"all workers are of one kind: {setup.devices}; try --devices cuda:0+cuda:1,cuda:2,cuda:3"}
    result = {}
    with serving(setup, devices=singles_of(setup)) as door:
        result["a long one, idle pool"] = {singles_of(setup): long_alone(setup, door)}
        result["usual ones, pool that is full"] = {singles_of(setup): flooded(setup, door)}
    with serving(setup) as door:
        result["a long one, idle pool"][setup.devices] = long_alone(setup, door)
        result["usual ones, pool that is full"][setup.devices] = flooded(setup, door)
        result["a long one, pool that is full"] = urgent(setup, door)
        result["quotes by kind"] = quotes(setup, door)
    for figures, what in ((result["a long one, idle pool"], lambda f: f["each, ms"]["median"]),
                          (result["usual ones, pool that is full"], lambda f: f["videos a second"])):
        figures["mixed over singles"] = round(what(figures[setup.devices]) / what(figures[singles_of(setup)]), 3)
    return result
