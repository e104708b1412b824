# SPDX-License-Identifier: Apache-2.0
"""Several requests at a time: what sharing a device gains, what it costs a neighbour, and that nobody's bytes change."""

import collections
import concurrent.futures
import functools
import multiprocessing
import random
import time

from door_client import generate_at, seconds
from figures import must, serving, spread


def keep_in_flight(door, specs, width):
    """Renders all, `width` at a time. Returns the time and what was heard of each, in order."""
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        return hear_all(pool, door.generate, specs)


def hear_all(pool, generate, specs):
    began = time.monotonic()
    heard = list(pool.map(generate, specs))
    return time.monotonic() - began, [must(h) for h in heard]


def process_each(width):
    """Callers with a process each: in one, Python hears one event at a time, and several devices tell more than that."""
    return concurrent.futures.ProcessPoolExecutor(width, mp_context=multiprocessing.get_context("spawn"))


def device_share(took, heard, devices=1):
    """Where devices' time went, in ms of each video; `nobody's` is what no video was charged for."""
    stats = [h.video["stats"] for h in heard]
    of = {"text": sum(seconds(s.get("textEncode")) for s in stats), "decode": sum(seconds(s.get("decode")) for s in stats)}
    charged = sum(float(s.get("deviceSeconds", 0)) for s in stats)
    of |= {"steps": charged - sum(of.values()), "nobody's": devices * took - charged}
    return {part: round(1000 * value / len(heard), 2) for part, value in of.items()}


def rate_of(took, heard, devices=1):
    count = len(heard)
    return {"videos a second": round(count / took, 3), "each, ms": spread(h.ended for h in heard),
            "mean batch": round(sum(float(h.video["stats"].get("meanBatch", 1)) for h in heard) / count, 2),
            "by worker": collections.Counter(h.video.get("worker") for h in heard),
            "device, ms a video": device_share(took, heard, devices)}


def seeded(specs, count):
    return [specs[n % len(specs)] | {"seed": str(n)} for n in range(count)]


def curve(setup):
    """By each profile small videos at 1, 2, 4, 8 and 16 in flight, then a mixture of three small sizes at 1 and 8. So many that
    the first ones, which nobody was there before, and the last, which nobody follows, count little."""
    mixed = [setup.small, setup.small | {"width": 512, "height": 320}, setup.small | {"width": 384, "height": 256}]
    found = {}
    with serving(setup) as door:
        for profile in setup.profiles.split(","):
            rates = {}
            for name, sizes, widths in (("equal", [setup.small], (1, 2, 4, 8, 16)), ("mixture", mixed, (1, 8))):
                specs = [size | {"kernels": {"profile": profile}} for size in sizes]
                for width in widths:
                    keep_in_flight(door, seeded(specs, max(width, len(specs))), width)  # sizes that share for the first time
                rates[name] = {width: rate_of(*keep_in_flight(door, seeded(specs, max(24, setup.repeat * width)), width)) for width in widths}
            gains = {name: round(of[8]["videos a second"] / of[1]["videos a second"], 3) for name, of in rates.items()}
            found[profile] = rates | {"gain of 8 over 1": gains}
    return found


def behind(setup):
    """A short video that comes while a long one runs."""
    draw = random.Random(2)
    with serving(setup) as door:
        for spec in (setup.long, setup.small, setup.small):
            must(door.generate(spec))
        alone = [must(door.generate(setup.small | {"seed": str(n)})) for n in range(setup.repeat)]
        first_step, ended, steps, waited, parked = [], [], [], [], []
        for number in range(setup.repeat):
            name = door.create(setup.long | {"seed": str(number)})
            seen = []  # when the long one told each of its steps

            def note(event, now, data):
                progress = data.get("progress", {})
                if event == "progress" and int(progress.get("step", 0)) >= 1:
                    seen.append(time.monotonic())

            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                long = pool.submit(door.watch, name, note)
                while not seen and not long.done():
                    time.sleep(0.002)
                time.sleep(draw.uniform(0, 0.3))
                called = time.monotonic()
                heard = must(door.generate(setup.small | {"seed": str(100 + number)}))
                times = [at for at, progress in heard.progress if int(progress.get("step", 0)) >= 1]
                until_first = called + (times[0] if times else heard.ended)
                waited.append(sum(called < step < until_first for step in list(seen)))
                first_step.append(times[0] if times else heard.ended)
                ended.append(heard.ended)
                whole = must(long.result())
                parked.append(whole.video["stats"].get("preemptions", 0))
                steps.append(float(whole.video["stats"]["denoise"].rstrip("s")) / setup.long["numInferenceSteps"])
    solo, beside = spread(h.ended for h in alone), spread(ended)
    return {"alone, ms": solo, "behind, ms": beside, "p95 behind over median alone": round(beside["p95"] / solo["median"], 2),
            "to its first step, ms": spread(first_step), "steps of the long one meanwhile": waited, "parked": parked,
            "a step of the long one, ms": spread(steps)}


def same_bytes(setup):
    """A hundred videos, alone and eight at a time, by `auto` and by `batch_invariant`."""
    result = {}
    count = 50
    with serving(setup) as door:
        for profile in ("batch_invariant", "auto"):
            shapes = [setup.small, setup.small | {"numInferenceSteps": 8}, setup.small | {"width": 384}]
            specs = [shapes[n % 3] | {"seed": str(n % 10), "kernels": {"profile": profile}} for n in range(count)]
            alone = {}
            for spec in specs:
                key = str(sorted(spec.items(), key=str))
                if key not in alone:
                    alone[key] = must(door.generate(spec)).sha256
            _, heard = keep_in_flight(door, specs, 8)
            same = sum(h.sha256 == alone[str(sorted(spec.items(), key=str))] for h, spec in zip(heard, specs))
            result[profile] = f"{same} of {count} have the bytes of the same video alone"
    return result


def pool(setup):
    """Videos a second on the first device, and on all of them; of so many for each device that the last ones, which some of them wait for, count little.
    Where there is one group alone, on its first member and on the group."""
    devices = setup.devices.split(",")
    first = devices[0] if len(devices) > 1 else devices[0].split("+")[0]
    result = {}
    for name, spec, count in (("usual", setup.usual, 36), ("small", setup.small, 240)):
        rates = {}
        for some in ([first], devices):
            width = 2 * len(some) if name == "usual" else 8 * len(some)
            with serving(setup, devices=",".join(some)) as door, process_each(width) as callers:
                generate = functools.partial(generate_at, door.address)
                for seed in ("1", "2"):
                    hear_all(callers, generate, [spec | {"seed": seed}] * width)
                found = rate_of(*hear_all(callers, generate, seeded([spec], count * len(some))), len(some))
            rates[",".join(some)] = found
        gain = rates[setup.devices]["videos a second"] / rates[first]["videos a second"]
        result[name] = {"by devices": rates, "gain": round(gain, 3)}
    return result
