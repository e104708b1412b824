# SPDX-License-Identifier: Apache-2.0
"""Compares a server's account of a device's memory with nvidia-smi, and shows what it does when there is too little."""

import concurrent.futures
import contextlib
import json
import subprocess
import threading
import time
import urllib.request

from figures import must, ready_within, serving
from door_client import Door
from server import running_server


def spec_of(setup, shape, steps=2, **more):
    width, height, frames = (int(n) for n in shape.split("x"))
    return setup.usual | {"width": width, "height": height, "numFrames": frames, "numInferenceSteps": steps} | more


def smi_bytes():
    """Memory in use of the first GPU; 0 without one."""
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0"], capture_output=True, text=True,
                              check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(float(text.splitlines()[0]) * 2**20)


@contextlib.contextmanager
def watched():
    """nvidia-smi over and over; the list fills with what it says."""
    seen, stop = [], threading.Event()

    def look():
        while not stop.is_set():
            seen.append(smi_bytes())
            time.sleep(0.02)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        stop.set()
        watcher.join()


def told(door):
    """reel_gpu_memory_bytes by kind."""
    with urllib.request.urlopen(f"http://{door.server.metrics}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {line.split('kind="')[1].split('"')[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("reel_gpu_memory_bytes{")}


def gib(value):
    return round(float(value) / 2**30, 3)


def accounts(setup):
    """Each shape: the formula's peak, what was learned of it, what nvidia-smi saw during it, and what the worker said after it."""
    found = {}
    with serving(setup) as door:
        for shape in setup.shapes.split(","):
            spec = spec_of(setup, shape)
            formula = int(door.estimate(spec).get("peakMemoryBytes", 0))
            with watched() as seen:
                must(door.generate(spec))
                heard = must(door.generate(spec | {"seed": "2"}))
            time.sleep(2.5)  # the worker looks at an idle device every two seconds
            says, smi = told(door), smi_bytes()
            found[shape] = {
                "formula": gib(formula), "learned": gib(door.estimate(spec).get("peakMemoryBytes", 0)),
                "stats: at most": gib(heard.video.get("stats", {}).get("peakMemoryBytes", 0)),
                "nvidia-smi at most": gib(max(seen, default=0)), "then nvidia-smi": gib(smi),
                "then told": {kind: gib(value) for kind, value in says.items()}}
    return {"GiB": found}


@contextlib.contextmanager
def bounded(setup, memory, models=("m",), on_demand=False):
    """A server whose worker may take so many bytes, with the model under each of these names."""
    config = "".join(f'models {{ name: "{name}" path: "{setup.model}" warm_up {{ off: true }} on_demand: {str(on_demand).lower()} }}\n'
                     for name in models) + f'workers {{ name: "w" device: "{setup.devices}" memory_bytes: {memory} }}\n'
    with running_server("--http", "127.0.0.1:0", config=config) as server:
        ready_within(server, setup.load_limit)
        door = Door(server.http)
        door.server = server
        yield door


def too_little(setup):
    """Twelve videos at a time where three have room, one that no device could hold, and the fullest that the worker's tensors were."""
    spec = setup.usual | {"numInferenceSteps": 8, "model": "m"}
    with bounded(setup, 1 << 40) as door:
        must(door.generate(spec))
        one = int(door.estimate(spec)["peakMemoryBytes"])
        weights = int(door.call("GET", "models")["models"][0].get("weightBytes", 0))
    memory = int((weights + 3.5 * one) / 0.95)
    with bounded(setup, memory) as door:
        must(door.generate(spec))
        refused = door.generate(spec_of(setup, "1536x1536x97", model="m"))
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            heard = list(pool.map(lambda seed: door.generate(spec | {"seed": str(seed)}), range(12)))
        says = told(door)
        return {"weights, GiB": gib(weights), "one video, GiB": gib(one), "bound, GiB": gib(memory), "refused": refused.error[:400],
                "12 at a time": [h.error or "succeeded" for h in heard if h.error] or "all succeeded", "restarts": sum(h.restarts for h in heard),
                "told, GiB": {kind: gib(value) for kind, value in says.items()}}


def swaps(setup):
    """The model under two names, and memory for one of them: what a request for the other one takes, and the device's memory."""
    with bounded(setup, 1 << 40) as door:
        weights = int(door.call("GET", "models")["models"][0].get("weightBytes", 0))
    with bounded(setup, int(1.7 * weights / 0.95) + setup.beside, ("one", "two"), on_demand=True) as door:
        times, quoted, hashes = [], [], set()
        for name in ("one", "two", "one", "two"):
            spec = setup.small | {"model": name, "seed": "7"}
            quoted.append(door.estimate(spec).get("modelLoad", "0s"))
            heard = must(door.generate(spec))
            times.append(round(heard.ended, 2))
            hashes.add(heard.sha256)
        again = must(door.generate(setup.small | {"model": "two", "seed": "7"}))
        return {"weights, GiB": gib(weights), "with the load, s": times, "quoted for the load": quoted, "loaded already, s": round(again.ended, 2),
                "the same bytes": len(hashes) == 1, "told, GiB": {kind: gib(value) for kind, value in told(door).items()},
                "models": json.dumps({m["name"]: m.get("state") for m in door.call("GET", "models")["models"]})}
