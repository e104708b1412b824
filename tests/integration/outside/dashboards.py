#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every panel of the dashboards has data once a server has worked for a while under Debian's Prometheus, but for those of what did not happen.

    dashboards.py [--seconds N] [--out FOLDER]     the pictures, into FOLDER
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from fleet_parts import fleet_parts, has_fleet_parts
from scraper import prometheus
from server import ROOT, find_binary, run, running_server, wait_until_serving

sys.path.insert(0, str(ROOT / "deploy/grafana"))
from draw import Prometheus, draw  # noqa: E402

# Panels that are empty after a short run on a CPU in which all goes well, and what would fill them.
EMPTY = {
    "Second arm against the first": "20 videos of a shape on either arm",
    "Pictures of both arms apart": "arms whose pictures differ",
    "Power": "a device whose driver counts its energy",
    "Device memory": "a device with memory of its own",
    "What sharing steps gains": "a model that shares steps",
    "Steps that wait for weights": "a model that is larger than its device",
    "Certificate ends in": "TLS",
    "Bytes of tenants": "a tenant with a limit",
}
PATIENCE = 20  # seconds
CONFIG = """
workers { device: "cpu" }
models { name: "ltx-demo" path: "%s" }
experiments { name: "framework" share: 1 shadow_share: 1 arms { name: "today" profile: "auto" } arms { name: "reference" profile: "reference" } }
telemetry { otlp_endpoint: "http://127.0.0.1:9" }
"""


def load(server, seconds):
    mix = [{"prompt": "a red circle bouncing over blue waves", "width": 128, "height": 128, "num_frames": 9, "num_inference_steps": 6},
           {"prompt": "a yellow star spinning on purple", "width": 128, "height": 128, "num_frames": 17, "num_inference_steps": 8}]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, mix)) + "\n")
        file.flush()
        command = [find_binary("reel"), "--server", server.grpc, "bench", "--mix", file.name, "--rate", "1.5", "--for", f"{seconds}s"]
        answer = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=seconds + 120, check=False)
    print(answer.stdout)
    assert "Usage" not in answer.stdout + answer.stderr, answer.stderr


def cancelled(server):
    """A video that is called off while it runs, and one that is refused."""
    reel = [find_binary("reel"), "--server", server.grpc]
    name = run(*reel, "create", "a red circle", "--steps", "100").split()[0]
    run(*reel, "cancel", name)
    refused = subprocess.run([str(c) for c in reel] + ["create", "a red circle", "--width", "7"], capture_output=True, timeout=60, check=False)
    assert refused.returncode == 3, refused


def drawn_fleet(dashboard, rules, seconds):
    """The dashboard of a fleet, from one server of one, once every panel has data or it has had its time."""
    started = time.time()
    card = 'models { name: "testcard" test_card { step_time { nanos: 20000000 } } }\n'
    with fleet_parts() as parts, running_server(config=card + parts.config) as server, prometheus(server.metrics, rules, "1s") as address:
        wait_until_serving(server)
        end = time.monotonic() + seconds
        while True:
            run(find_binary("reel"), "--server", server.grpc, "create", "a red circle", "--steps", "4", "--width", "128", "--height", "96", "--frames", "9")
            seen = Prometheus(address, (time.time() - started) / 60, interval="5s")
            svg, empty = draw(dashboard, seen)
            if time.monotonic() > end and (not empty or time.monotonic() > end + PATIENCE):
                return svg, empty


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    dashboards = {path: json.loads(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "deploy/grafana").glob("*.json"))}
    started = time.time()
    rules = (ROOT / "deploy/prometheus/rules.yaml").read_text(encoding="utf-8")
    fleet = ROOT / "deploy/grafana/fleet.json"
    of_fleet = dashboards.pop(fleet)
    with running_server(config=CONFIG % (ROOT / "model/demo/weights")) as server, prometheus(server.metrics, rules, "1s") as address:
        wait_until_serving(server)
        load(server, args.seconds)
        cancelled(server)
        end = time.monotonic() + PATIENCE
        while True:  # until the last scrape has it
            seen = Prometheus(address, (time.time() - started) / 60, interval=f"{max(5, args.seconds // 8)}s")
            drawn = {path: draw(dashboard, seen) for path, dashboard in dashboards.items()}
            problems = [f"{path.name}: panel '{title}' has no data" for path, (_, empty) in drawn.items() for title in empty if title not in EMPTY]
            if not problems or time.monotonic() > end:
                break
            time.sleep(0.5)
    if has_fleet_parts():
        drawn[fleet] = drawn_fleet(of_fleet, rules, 8)
        problems += [f"{fleet.name}: panel '{title}' has no data" for title in drawn[fleet][1]]
    for path, (svg, empty) in drawn.items():
        xml.etree.ElementTree.fromstring(svg)
        print(f"{path.name}: {len(svg) // 1024} KiB, no data: {', '.join(empty) or 'none'}")
        if args.out:
            args.out.mkdir(parents=True, exist_ok=True)
            (args.out / f"{path.stem}.svg").write_text(svg, encoding="utf-8")
    print("\n".join(problems))
    return 1 if problems or not drawn else 0


if __name__ == "__main__":
    sys.exit(main())
