# SPDX-License-Identifier: Apache-2.0
"""Faults on a real device: cancels at any time, a killed worker, no memory left."""

import concurrent.futures
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from device_memory import smi_bytes
from figures import must, serving, spread

# Takes all of a GPU's memory but what is asked for, says so, and holds it until its stdin closes.
HOLDER = """
import sys, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(max(0, free - int(float(sys.argv[1]) * 2**30)), dtype=torch.uint8, device="cuda").fill_(1)
torch.cuda.synchronize()
print("held", flush=True)
sys.stdin.read()
"""


def worker_of(server):
    """The process id of reeld's first worker."""
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)
        except OSError:
            continue
        if int(fields[1].split()[1]) == server.process.pid:
            return int(status.parent.name)
    raise AssertionError("reeld has no worker")


def cancels(setup):
    """Each at a random moment of a running video: how long until the next video's first step, that one's own share left out."""
    draw = random.Random(3)
    with serving(setup) as door:
        for _ in range(3):
            must(door.generate(setup.small))
        solo = []
        for _ in range(5):
            heard = must(door.generate(setup.small))
            solo.append(next((at for at, p in heard.progress if int(p.get("step", 0)) >= 1), heard.ended))
        first_step = sorted(solo)[len(solo) // 2]
        freed = []
        for number in range(5 * setup.repeat):
            name = door.create(setup.usual | {"seed": str(number)})
            time.sleep(draw.uniform(0.02, 1.0))
            began = time.monotonic()
            door.cancel(name)
            heard = must(door.generate(setup.small | {"numInferenceSteps": 2}))
            at = next((at for at, p in heard.progress if int(p.get("step", 0)) >= 1), heard.ended)
            freed.append(time.monotonic() - began - heard.ended + at - first_step)
    return {"from the cancel to the device, ms": spread(freed), "first step alone, ms": round(first_step * 1000, 1)}


def killed(setup):
    """SIGKILL to the worker in the middle of a video, several times: the video comes all the same, with the same bytes."""
    draw = random.Random(4)
    times, same, hit = [], 0, 0
    with serving(setup) as door:
        want = [must(door.generate(setup.usual | {"seed": "1"})) for _ in range(2)][1]
        for _ in range(3):
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                running = pool.submit(door.generate, setup.usual | {"seed": "1"})
                time.sleep(draw.uniform(0.2, 0.7) * want.ended)
                os.kill(worker_of(door.server), signal.SIGKILL)
                began = time.monotonic()
                heard = must(running.result())
                times.append(time.monotonic() - began)
            hit += heard.restarts >= 1
            same += heard.sha256 == want.sha256
    return {"from the kill to the whole video, ms": spread(times), "hit in time": hit, "the same bytes": f"{same} of {len(times)}"}


def illegal_access(setup):
    """A kernel reads from nowhere in one video while another one runs: who fails, who does not, and when the device serves again."""
    folder = pathlib.Path(setup.trap)
    config = f'plugin_root: "{folder.parent}"\nplugins {{ name: "trap" folder: "{folder.name}" }}\n'
    poison = setup.usual | {"kernels": {"variants": {"rms_norm": "trap"}}}
    with serving(setup, config=config) as door:
        good = must(door.generate(setup.small | {"seed": "1"}))
        must(door.generate(setup.small | {"kernels": {"variants": {"rms_norm": "trap"}}}))
        before, worker = smi_bytes(), worker_of(door.server)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            beside = pool.submit(door.generate, setup.long | {"numInferenceSteps": 20})
            time.sleep(1)
            began = time.monotonic()
            failed = door.generate(poison)
            known = time.monotonic() - began
            after = must(door.generate(setup.small | {"seed": "1"}))
            served = time.monotonic() - began
            other = beside.result()
        then, after_bytes = worker_of(door.server), smi_bytes()
        again = door.generate(poison)
        log = door.server.log.read_text()
        return {"the poisoner": failed.error[:300] or "succeeded", "its restarts": failed.restarts, "known after, s": round(known, 2),
                "the next good one done after, s": round(served, 2), "its bytes": "the same" if after.sha256 == good.sha256 else "others",
                "the one beside it": other.error[:200] or "succeeded", "the other's restarts": other.restarts,
                "the worker": "another process" if then != worker else "the same process",
                "reeld": "the same process" if door.server.process.poll() is None else "ended",
                "the device's memory, GiB": [round(b / 2**30, 2) for b in (before, after_bytes)], "the poisoner again": again.error[:300] or "succeeded",
                "losses in the log": [line[:200] for line in log.splitlines() if "sticky" in line or "device failed" in line][:6]}


def out_of_memory(setup):
    """Another process takes the GPU's memory: what does not fit fails with a reason or comes late, and the next one is served."""
    with serving(setup) as door:
        must(door.generate(setup.small))
        with subprocess.Popen([sys.executable, "-c", HOLDER, "0.3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            holder.stdout.readline()
            full = door.generate(setup.long)
            holder.stdin.close()
            holder.wait()
        began = time.monotonic()
        after = door.generate(setup.small)
        long = door.generate(setup.long)
        return {"while it was full": full.error[:600] or "succeeded", "restarts": full.restarts, "the next small one": after.error or "succeeded",
                "took, ms": round(1000 * (time.monotonic() - began)), "the long one afterwards": long.error or "succeeded",
                "reeld": "the same process" if door.server.process.poll() is None else "ended"}
