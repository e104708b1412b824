# SPDX-License-Identifier: Apache-2.0
"""Drills of hours on a real device in minutes: many small videos, quotes of a mixture, models replaced and bad ones offered under load,
numbers that are not finite, weights that are on the disk alone."""

import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import tempfile
import threading
import time

from device_faults import worker_of
from device_memory import gib, smi_bytes
from door_client import seconds
from figures import must, serving, spread
from server import resident_bytes, scrape, until


def state_of(door, worker):
    """What a leak would make larger."""
    pids = {"reeld": door.server.process.pid, "worker": worker}
    return {"device, GiB": gib(smi_bytes())} | {f"{name}, MiB": round(resident_bytes(pid) / 2**20, 1) for name, pid in pids.items()} | {
        f"descriptors of {name}": len(os.listdir(f"/proc/{pid}/fd")) for name, pid in pids.items()}


def many(setup):
    """`--count` small videos, sixteen at a time: memory and descriptors at each tenth."""
    with serving(setup) as door, concurrent.futures.ThreadPoolExecutor(16) as pool:
        must(door.generate(setup.small))
        worker, tenth, states = worker_of(door.server), setup.count // 10, []
        began = time.monotonic()
        for part in range(10):
            for heard in pool.map(door.generate, [setup.small | {"seed": str(tenth * part + n)} for n in range(tenth)]):
                must(heard)
            states.append({"videos": tenth * (part + 1), "s": round(time.monotonic() - began, 1)} | state_of(door, worker))
        if worker_of(door.server) != worker:
            raise AssertionError("the worker began anew")
    return {"videos a second": round(10 * tenth / states[-1]["s"], 1), "at each tenth": states}


def quotes_kept(server):
    """How many runs the server compared with its quotes, and how many were within their p90."""
    results = {"within": 0.0, "over": 0.0}
    for line in scrape(server).splitlines():
        if line.startswith("reel_estimate_within_p90_total{"):
            results["within" if 'result="within"' in line else "over"] += float(line.rsplit(" ", 1)[1])
    return results["within"], sum(results.values())


def calibration(setup):
    """`--count` videos of mixed sizes, lengths, steps and profiles: how many runs stay within the quoted p90, as the server counts them,
    and how many videos end for their caller within the quoted wait and p90; one at a time and then, a second half, four at a time."""
    draw = random.Random(7)
    profiles = setup.profiles.split(",")

    def spec(seed):
        base = draw.choice([setup.small, setup.small, setup.usual])
        frames = draw.choice([9, 25, 49, base["numFrames"]])
        return base | {"numFrames": frames, "numInferenceSteps": draw.choice([4, 8, 15, 30]), "seed": str(seed),
                       "kernels": {"profile": draw.choice(profiles)}}

    def judged(door, wanted):
        quote = door.estimate(wanted)
        heard = must(door.generate(wanted))
        wait = seconds(quote.get("queue"))
        took = heard.ended - heard.accepted
        return took - wait, seconds(quote.get("runP50")), seconds(quote.get("runP90"))

    def summary(door, before, found):
        within, checked = (now - then for now, then in zip(quotes_kept(door.server), before))
        return {"videos": len(found), "quotes of runs": int(checked), "runs within p90": round(within / max(1, checked), 3),
                "for the caller within p50": round(sum(t <= p50 for t, p50, _ in found) / len(found), 3),
                "within p90": round(sum(t <= p90 for t, _, p90 in found) / len(found), 3),
                "ms over p50": spread((t - p50 for t, p50, _ in found), 1000), "took over p50": spread((t / p50 for t, p50, _ in found), 1), "p90 over p50": spread((p90 / p50 for _, p50, p90 in found), 1)}

    with serving(setup) as door:
        before = quotes_kept(door.server)
        alone = [judged(door, spec(n)) for n in range(setup.count // 2)]
        result = {"one at a time": summary(door, before, alone)}
        before = quotes_kept(door.server)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda wanted: judged(door, wanted), [spec(n) for n in range(setup.count // 2)]))
        return result | {"four at a time": summary(door, before, together)}


class Callers:
    """Callers who ask for small videos one after the other until they are stopped."""

    def __init__(self, door, spec, width=4):
        self.errors, self.done, self.took, self._stop = [], 0, [], threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(door, spec, n)) for n in range(width)]
        for thread in self._threads:
            thread.start()

    def _call(self, door, spec, number):
        while not self._stop.is_set():
            heard = door.generate(spec | {"seed": str(number)})
            self.done += 1
            self.took.append(heard.ended)
            if not heard.ok:
                self.errors.append(heard.error[:300])

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def shorten(file):
    os.truncate(file, file.stat().st_size // 2)


def spoil(file):
    """The last tensor's values become NaN, in any 16- or 32-bit type."""
    with file.open("r+b") as opened:
        opened.seek(-4096, os.SEEK_END)
        opened.write(b"\xff" * 4096)


def scramble(file):
    with file.open("r+b") as opened:
        opened.seek(16)
        opened.write(b"\x00" * 64)


def link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def harmed(file, harm):
    """A file of its own in the place of a link."""
    copy = file.with_suffix(".copy")
    shutil.copyfile(file, copy)
    copy.replace(file)
    harm(file)


BAD = {"half a file": shorten, "values that are no numbers": spoil, "a header of zeros": scramble}


def replaced(setup):
    """Models are replaced under load by SIGHUP, good ones and bad ones in turn: no video fails, and what is bad is told."""
    told, replaced_count = {}, 0
    with tempfile.TemporaryDirectory() as holder, serving(setup) as door:
        def offer(path):
            config = next(pathlib.Path(door.server.log).parent.glob("*.textproto"))
            config.write_text(f'models {{ name: "replaced" path: "{path}" }}\ndata {{ max_bytes: {40 << 30} }}\n')
            door.server.process.send_signal(signal.SIGHUP)

        def model():
            return next((m for m in door.call("GET", "models")["models"] if m["name"] == "replaced"), {})

        offer(setup.model)
        until("the model", lambda: model().get("ready"), setup.load_limit)
        spec = setup.small | {"model": "replaced"}
        before = must(door.generate(spec | {"seed": "9"}))
        callers = Callers(door, spec)
        for round_number in range(setup.repeat):
            for name, harm in BAD.items():
                folder = pathlib.Path(holder, f"{round_number}-{len(told)}-{name.replace(' ', '-')}")
                shutil.copytree(setup.model, folder, copy_function=link)
                harmed(max(folder.glob("transformer/*.safetensors"), key=lambda f: f.stat().st_size), harm)
                offer(folder)
                until(name, lambda: model().get("problem"), setup.load_limit)
                told[name] = model()["problem"].replace(str(folder), "FOLDER")[:300]
                shutil.rmtree(folder)
                good = pathlib.Path(holder, f"{round_number}-{name}-good")
                shutil.copytree(setup.model, good, copy_function=link)
                offer(good)
                until("the good one", lambda: model().get("ready") and not model().get("problem"), setup.load_limit)
                replaced_count += 1
        callers.stop()
        after = must(door.generate(spec | {"seed": "9"}))
        return {"models replaced": replaced_count, "bad ones refused": setup.repeat * len(BAD), "what was told": told,
                "videos meanwhile": callers.done, "of them failed": callers.errors[:5], "a video, ms": spread(callers.took),
                "bytes before and after": "the same" if before.sha256 == after.sha256 else "others"}


def not_finite(setup):
    """Plug-in `nan` (trap_norm.cu with -DREEL_NAN): its video fails with a reason, the ones beside it do not, and nothing begins anew."""
    folder = pathlib.Path(setup.nan)
    config = f'plugin_root: "{folder.parent}"\nplugins {{ name: "trap" folder: "{folder.name}" }}\n'
    poison = setup.usual | {"kernels": {"variants": {"rms_norm": "trap"}}}
    with serving(setup, config=config) as door:
        good = must(door.generate(setup.small | {"seed": "1"}))
        worker, callers, failed = worker_of(door.server), Callers(door, setup.small | {"seed": "1"}), []
        for number in range(setup.repeat):
            failed.append(door.generate(poison | {"seed": str(number)}))
        callers.stop()
        after = must(door.generate(setup.small | {"seed": "1"}))
        return {"the poisoned": sorted({heard.error[:300] or "succeeded" for heard in failed}), "told after, ms": spread(f.ended for f in failed),
                "videos beside": callers.done, "of them failed": callers.errors[:5], "bytes": "the same" if after.sha256 == good.sha256 else "others",
                "the worker": "the same process" if worker_of(door.server) == worker else "another process"}


def cold(setup):
    """From start to ready with the weights in the page cache and without them, in turn."""
    files = [file for file in pathlib.Path(setup.model).rglob("*.safetensors")]

    def forget():
        for file in files:
            with file.open("rb") as opened:
                os.fsync(opened.fileno())
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def read():
        for file in files:
            with file.open("rb") as opened:
                while opened.read(1 << 26):
                    pass

    times = {"cold": [], "warm": []}
    for _ in range(setup.repeat):
        for name, before in (("cold", forget), ("warm", read)):
            before()
            began = time.monotonic()
            with serving(setup):
                times[name].append(time.monotonic() - began)
    return {"bytes of weights": sum(file.stat().st_size for file in files)} | {f"{name}: ready, ms": spread(took) for name, took in times.items()}
