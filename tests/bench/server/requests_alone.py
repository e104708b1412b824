# SPDX-License-Identifier: Apache-2.0
"""One request at a time: how long it takes, whether it was known before, and what it costs to be told."""

import contextlib
import itertools
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from door_client import parts_of, seconds
from figures import ProcessClocks, interval, kept_apart, must, serving, spread
from server import find_binary, scrape


def start(setup):
    """From the start of the process to ready, and the first video after it beside the second."""
    began = time.monotonic()
    with serving(setup) as door:
        ready = time.monotonic() - began
        videos = [must(door.generate(setup.small | {"seed": str(n)})).ended for n in range(3)]
    return {"ready s": round(ready, 2), "first, second, third small video, ms": [round(v * 1000, 1) for v in videos]}


def requests(setup):
    """The usual request by each profile, in turn."""
    profiles = setup.profiles.split(",")
    heard = {profile: [] for profile in profiles}
    with serving(setup) as door:
        for profile in profiles:
            must(door.generate(setup.usual | {"kernels": {"profile": profile}}))
        for number in range(setup.repeat):
            for profile in profiles:
                heard[profile].append(must(door.generate(setup.usual | {"kernels": {"profile": profile}, "seed": str(number)})))
    result = {}
    for profile, videos in heard.items():
        bills = [parts_of(video) for video in videos]
        stats = [video.video["stats"] for video in videos]
        result[profile] = {
            "to the last byte, ms": spread(video.ended for video in videos),
            "to the first byte, ms": spread(video.first_media for video in videos),
            "a step, ms": spread(seconds(s.get("denoise")) / setup.usual["numInferenceSteps"] for s in stats),
            "energy, J": spread((s["energyJoules"] for s in stats if "energyJoules" in s), 1),
            "parts, ms": {part: round(1000 * statistics.median(bill.get(part, 0.0) for bill in bills), 2) for part in bills[0]},
        }
    return result


def estimates(setup):
    """Quotes before and in the middle, against what came of it: shapes mixed, one video at a time."""
    draw = random.Random(1)
    shapes = [setup.small, setup.usual, setup.usual | {"numInferenceSteps": setup.usual["numInferenceSteps"] // 2},
              setup.small | {"numFrames": 2 * setup.small["numFrames"] - 1}]
    quoted, within, middle = [], 0, []
    with serving(setup) as door:
        for spec in shapes:  # what nobody has asked for before is not judged
            for seed in range(2):
                must(door.generate(spec | {"seed": str(seed)}))
        count = 3 * setup.repeat
        for number in range(count):
            spec = draw.choice(shapes) | {"seed": str(number)}
            run = door.estimate(spec)
            heard = must(door.generate(spec))
            took = heard.ended - heard.accepted
            quoted.append(abs(seconds(run.get("runP50")) / took - 1))
            within += took <= seconds(run.get("runP90"))
            early = [(at, p) for at, p in heard.progress if p.get("fraction", 0) >= 0.2 and p.get("remaining")]
            if early:
                at, progress = early[0]
                middle.append(abs(seconds(progress["remaining"]) / (heard.ended - at) - 1))
    return {"error of the quote, %": spread(quoted, 100), "within the quoted p90": f"{within} of {count}",
            "error of the time left at 20 %, %": spread(middle, 100)}


TRACED = 'otlp_endpoint: "http://127.0.0.1:9" trace_share: 1'
OBSERVED = f"telemetry {{ {TRACED} }}"
EVERY_STEP = f"telemetry {{ {TRACED} kernel_sample_every: 1 }}"
BEGINNINGS = 6
SCRAPES = 15.0  # seconds between two, as Prometheus does it
UNOBSERVED = "telemetry { kernel_sample_every: -1 }"
EVERY_OTHER_STEP = "telemetry { kernel_sample_every: 2 }"


def observed_beside_plain(setup, doors, clocks, more, steps):
    """Adds what each server took more than the plain one, of each round, and the steps that were timed."""
    for door in (*doors.values(), *doors.values()):
        must(door.generate(setup.usual))
    due = dict.fromkeys(more, 0.0)
    # At random, but none after itself: its weights would be in the caches still.
    draw, order = random.Random(1), [""]
    end = time.monotonic() + 0.8 * setup.part_limit / BEGINNINGS  # fewer turns tell less, but something
    for number in range(setup.repeat // BEGINNINGS):
        if time.monotonic() > end:
            break
        took, used = {}, {}
        order = draw.choice([other for other in itertools.permutations(doors) if other[0] != order[-1]])
        for name in order:
            before = clocks[name].read()
            heard = must(doors[name].generate(setup.usual | {"seed": str(number)}))
            took[name] = heard.ended
            if time.monotonic() >= due.get(name, math.inf):
                due[name] = time.monotonic() + SCRAPES
                scrape(doors[name].server)
            if name == "observed":
                steps.append(heard.video["stats"].get("timedSteps", 0))
            used[name] = [now - then for now, then in zip(clocks[name].read(), before)]
        of_all = sum(used["plain"])
        for name, (wall, cpu, front) in more.items():
            wall.append(took[name] / took["plain"] - 1)
            cpu.append(sum(used[name]) / of_all - 1)
            front.append((used[name][0] - used["plain"][0]) / of_all)


def sampling(setup):
    """What all that is observed costs, in turns of one video each: a server as by default, whose videos are traced too (nobody takes the
    traces) and which is scraped as by Prometheus, beside one that times no operator, has no traces and is not asked. Times to the last
    byte, and the CPU time of reeld and its workers. A third one times the operators of every step, where by default it is a few: what
    that costs shows where noise hides the usual. Servers begin anew several times, each time in another order: one process is faster
    than another for as long as it lives, by where its memory lies."""
    configs = {"observed": OBSERVED, "every step": EVERY_STEP, "plain": UNOBSERVED}
    more, steps = {name: ([], [], []) for name in configs if name != "plain"}, []
    for beginning in range(BEGINNINGS):
        names = sorted(configs)[beginning % 3:] + sorted(configs)[:beginning % 3]
        with contextlib.ExitStack() as servers:
            doors = {name: servers.enter_context(serving(setup, config=configs[name])) for name in names}
            clocks = {name: ProcessClocks(door.server.process.pid) for name, door in doors.items()}
            if setup.apart:
                servers.enter_context(kept_apart(clocks.values()))
            observed_beside_plain(setup, doors, clocks, more, steps)
    return {f"{name}: more {what}, %": spread(values, 100) | interval(values, 100)
            for name, lists in more.items()
            for what, values in zip(("time to the last byte", "CPU time of all processes", "of that reeld's own"), lists)} | {
                "steps that are timed by default, of each video": spread(steps, 1)}


def timed_steps(setup):
    """What it costs a step that its operators are timed: every other one of one server, beside its neighbour in the same video. Where a
    device is asked for a step before the one ahead is done (a GPU), it tells nothing."""
    more = []
    with serving(setup, config=EVERY_OTHER_STEP) as door:
        for number in range(setup.repeat):
            spans = must(door.generate(setup.usual | {"seed": str(number)})).video["stats"]["spans"]
            steps = [span for span in spans if int(span.get("step", 0)) > 1]
            for pair in zip(steps[::2], steps[1::2]):
                timed, plain = sorted(pair, key=lambda span: not span.get("timed", False))
                if timed.get("timed", False) and not plain.get("timed", False):
                    more.append(seconds(timed["duration"]) / seconds(plain["duration"]) - 1)
    return {"more for a step that is timed, %": spread(more, 100) | interval(more, 100)}


def bare(setup):
    """reel-render's own stages beside the same request through the server. One step is the difference to look at: no queue, no
    stream, no store."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "a.mp4")
        spec = setup.usual
        command = [find_binary("reel-render"), "--model", setup.model, "--device", setup.devices.split(",")[0], "--prompt",
                   spec["prompt"], "--width", spec["width"], "--height", spec["height"], "--num-frames", spec["numFrames"], "--steps",
                   spec["numInferenceSteps"], "--timings", "--output", output]
        answer = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)
    with serving(setup) as door:
        must(door.generate(setup.usual))
        videos = [must(door.generate(setup.usual | {"seed": str(n)})) for n in range(setup.repeat)]
    return {"reel-render says": (answer.stdout + answer.stderr).strip().splitlines(),
            "through reeld, ms": spread(v.ended for v in videos),
            "its parts, ms": json.loads(json.dumps({k: round(v * 1000, 1) for k, v in parts_of(videos[-1]).items()}))}
