# SPDX-License-Identifier: Apache-2.0
"""Measures what callers of a real reeld get from a device: times of requests, sharing, cancels and faults, part by part.

Prints a line for each figure and writes all of them as JSON. Every part starts servers of its own, on free ports.
"""

import argparse
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "integration/outside")]
import shared_device  # noqa: E402
import device_drills  # noqa: E402
import device_faults  # noqa: E402
import device_memory  # noqa: E402
import mixed_pool  # noqa: E402
import requests_alone  # noqa: E402

PARTS = {
    "start": requests_alone.start,
    "requests": requests_alone.requests,
    "estimates": requests_alone.estimates,
    "sampling": requests_alone.sampling,
    "timed_steps": requests_alone.timed_steps,
    "bare": requests_alone.bare,
    "curve": shared_device.curve,
    "behind": shared_device.behind,
    "bytes": shared_device.same_bytes,
    "pool": shared_device.pool,
    "mixed": mixed_pool.mixed,
    "cancels": device_faults.cancels,
    "killed": device_faults.killed,
    "memory": device_faults.out_of_memory,
    "trap": device_faults.illegal_access,
    "accounts": device_memory.accounts,
    "too_little": device_memory.too_little,
    "swaps": device_memory.swaps,
    "many": device_drills.many,
    "calibration": device_drills.calibration,
    "replaced": device_drills.replaced,
    "not_finite": device_drills.not_finite,
    "cold": device_drills.cold,
}


def device_facts():
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,power.draw", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True).stdout.strip().splitlines()
    except (OSError, subprocess.CalledProcessError):
        return [f"no GPU; {platform.processor() or platform.machine()}, {os.cpu_count()} cores"]


def shape(text):
    """'768x512x49x30': width, height, frames, steps."""
    width, height, frames, steps = (int(n) for n in text.split("x"))
    return {"prompt": "a red circle", "width": width, "height": height, "numFrames": frames, "numInferenceSteps": steps}


def give_up(*_):
    raise TimeoutError("this part took too long")


def main():
    signal.signal(signal.SIGALRM, give_up)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="a folder of weights, a checkpoint file, or testcard")
    parser.add_argument("--devices", default=os.environ.get("REEL_TEST_DEVICE", "cpu"), help="as reeld takes them; the default is REEL_TEST_DEVICE's")
    parser.add_argument("--parts", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--usual", type=shape, default="768x512x49x30", help="WxHxFRAMESxSTEPS of the usual request")
    parser.add_argument("--small", type=shape, default="256x256x25x30")
    parser.add_argument("--long", type=shape, default="1216x704x121x8")
    parser.add_argument("--profiles", default="auto,fp8", help="kernel profiles of the parts `requests` and `curve`")
    parser.add_argument("--repeat", type=int, default=8)
    parser.add_argument("--shapes", default="256x256x25,512x320x49,768x512x49,768x512x121,1216x704x121", help="WxHxFRAMES,... of the part `accounts`")
    parser.add_argument("--beside", type=int, default=1 << 30, help="bytes for a small video, of the part `swaps`")
    parser.add_argument("--trap", help="a folder with the packed plug-in of trap_norm.cu, in a folder for plug-ins; the part `trap`")
    parser.add_argument("--nan", help="the same, compiled with -DREEL_NAN; the part `not_finite`")
    parser.add_argument("--count", type=int, default=10000, help="videos of the parts `many` and `calibration`")
    parser.add_argument("--apart", action="store_true", help="reeld on the first core and workers on the others, of the part `sampling` on a CPU")
    parser.add_argument("--load-limit", type=float, default=120, help="seconds until a server is ready")
    parser.add_argument("--part-limit", type=int, default=300, help="seconds for a part")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("server_bench.json"))
    setup = parser.parse_args()
    result = {"command": sys.argv[1:], "began": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "device": device_facts(),
              "cores": os.cpu_count(), "parts": {}}
    failed = []
    for name in setup.parts.split(","):
        began = time.monotonic()
        signal.alarm(setup.part_limit)
        try:
            found = PARTS[name](setup)
        except Exception:  # one part's failure is its result, and the others still count
            found = {"error": traceback.format_exc()}
            failed.append(name)
        signal.alarm(0)
        found["seconds"] = round(time.monotonic() - began, 1)
        result["parts"][name] = found
        print(f"== {name} ({found['seconds']} s)\n{json.dumps(found, indent=1)}", flush=True)
        setup.out.write_text(json.dumps(result, indent=1))
    result["device after"] = device_facts()
    setup.out.write_text(json.dumps(result, indent=1))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
