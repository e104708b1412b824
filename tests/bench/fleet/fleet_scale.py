#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fleet of simulated nodes over three real brokers on this machine, at several sizes and rates: publishes for a claim, how old messages are when nodes
fold them, how long deciding takes, what each node and the brokers cost, how long tenants wait.

  tests/bench/fleet/fleet_scale.py --out FOLDER                  the whole table, five minutes on two cores
  tests/bench/fleet/fleet_scale.py --sizes 20 --rates 40 --seconds 5

Leaves results.json and a picture in FOLDER. The processes have what they want of the machine: run nothing beside them.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "deploy/fleet"))
from local_fleet import TREE, LocalFleet, find_programs  # noqa: E402

PER_PROCESS = 50
START_SECONDS = 300
HERTZ = os.sysconf("SC_CLK_TCK")


def cpu_of(processes):
    """Seconds that they have used."""
    return sum(sum(map(int, pathlib.Path(f"/proc/{one.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) for one in processes) / HERTZ


@contextlib.contextmanager
def simulation(program, log, *words):
    """A process that is ready. What is left of it is killed."""
    with open(log, "wb") as errors:
        process = subprocess.Popen([str(word) for word in (program, *words)], stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def await_ready(process, log):
    if process.stdout.readline().strip() != "READY":
        raise SystemExit(f"a simulation did not start: {log.read_text()}")


def figures_of(process):
    process.send_signal(signal.SIGTERM)
    return json.loads(process.communicate(timeout=START_SECONDS)[0])


def together(parts):
    """Counts are sums; of quantiles the worst process counts, of medians their mean."""
    whole = {key: sum(part[key] for part in parts) for key in ("nodes", "tried", "won", "lost", "unknown", "ended", "voids", "beats", "looks", "cpu_seconds", "memory_bytes")}
    for key in ("look_ms", "claim_ms", "lag_ms"):
        whole[key] = {"p50": sum(part[key]["p50"] for part in parts) / len(parts), "p99": max(part[key]["p99"] for part in parts),
                      "most": max(part[key]["most"] for part in parts)}
    return whole


def run_one(program, programs, size, transitions, arguments):
    """Three transitions are a video: asked for, claimed, ended. Devices take as long as that keeps all of them busy."""
    rate, queued, seconds = transitions / 3, arguments.queued, arguments.seconds
    video_ms = max(20, round(1000 * size / rate * 0.9))
    with tempfile.TemporaryDirectory(prefix="reel-scale-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        fleet = LocalFleet(folder, programs, "")
        stack.callback(fleet.end)
        fleet.start_brokers(3)
        urls = ",".join(f"nats://{broker}" for broker in fleet.brokers)
        asker = stack.enter_context(simulation(program, folder / "ask.log", "ask", urls, queued, rate))
        await_ready(asker, folder / "ask.log")
        counts = [min(PER_PROCESS, size - first) for first in range(0, size, PER_PROCESS)]
        nodes = [stack.enter_context(simulation(program, folder / f"nodes-{i}.log", "nodes", urls, f"n{i}-", count, video_ms)) for i, count in enumerate(counts)]
        for i, process in enumerate(nodes):
            await_ready(process, folder / f"nodes-{i}.log")
        time.sleep(3)  # all have heard of all
        before = cpu_of(fleet.processes)
        for process in [*nodes, asker]:
            process.send_signal(signal.SIGUSR1)
        time.sleep(seconds)
        brokers = (cpu_of(fleet.processes) - before) / seconds
        asked = figures_of(asker)
        seen = together([figures_of(process) for process in nodes])
    if not seen["ended"] or not asked["asked"]:
        raise SystemExit(f"nothing was rendered, or asked for: {seen}, {asked}")
    return {"nodes": size, "transitions_a_second": transitions, "queued": queued, "seconds": seconds, "video_ms": video_ms,
            "asked_a_second": asked["asked"] / asked["seconds"], "ended_a_second": seen["ended"] / seconds,
            "publishes_a_claim": seen["tried"] / max(1, seen["won"]), "brokers_cores": brokers, "nodes_cores": seen["cpu_seconds"] / seconds,
            "megabytes_a_node": seen["memory_bytes"] / size / 1e6, "waits_ms": asked["waits_ms"], **{key: seen[key] for key in (
                "tried", "won", "lost", "unknown", "voids", "beats", "looks", "look_ms", "claim_ms", "lag_ms")}}


def flood_share(one):
    claimed = {tenant: wait["n"] for tenant, wait in (one["waits_ms"] or {}).items()}
    return 100 * claimed.get("flood", 0) / max(1, sum(claimed.values()))


def row(one):
    return (f"| {one['nodes']} | {one['transitions_a_second']} | {one['asked_a_second'] + one['won'] / one['seconds'] + one['ended_a_second']:.0f} | {one['publishes_a_claim']:.2f} | {one['voids']} | "
            f"{one['look_ms']['p50']:.2f} / {one['look_ms']['p99']:.1f} | {one['claim_ms']['p50']:.1f} / {one['claim_ms']['p99']:.0f} | "
            f"{one['lag_ms']['p50']:.1f} / {one['lag_ms']['p99']:.0f} | {one['beats'] / one['seconds'] / one['nodes']:.0f} | {one['nodes_cores'] / one['nodes'] * 1000:.1f} | "
            f"{one['brokers_cores']:.2f} | {one['megabytes_a_node']:.0f} | {flood_share(one):.0f} |")


HEAD = ("| nodes | transitions a second | of them done | publishes a claim | void | a look, ms p50 / p99 | a claim, ms p50 / p99 | lag, ms p50 / p99 | beats heard a second and node | "
        "cores a node, thousandths | cores of brokers | MB a node | % of claims for who asks for 70 % |\n|" + "---:|" * 13)


def chart(results, path):
    """Four small charts against the nodes, a line for each rate; SVG, since that needs nothing."""
    wanted = [("publishes a claim", lambda one: one["publishes_a_claim"]), ("lag p99, ms", lambda one: one["lag_ms"]["p99"]),
              ("thousandths of a core a node", lambda one: one["nodes_cores"] / one["nodes"] * 1000), ("% of claims for who asks for 70 %", flood_share)]
    colours = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951")
    rates, parts = sorted({one["transitions_a_second"] for one in results}), []
    widest = max(one["nodes"] for one in results)
    for place, (title, value) in enumerate(wanted):
        left, top, highest = 60 + place * 250, 40, max(map(value, results)) or 1
        parts.append(f'<text x="{left}" y="25">{title}</text><path d="M{left} {top}v150h190" fill="none" stroke="#888"/>'
                     f'<text x="{left - 4}" y="{top + 8}" text-anchor="end">{highest:.3g}</text><text x="{left + 190}" y="{top + 168}" text-anchor="end">{widest} nodes</text>')
        for number, rate in enumerate(rates):
            line = sorted((one["nodes"], value(one)) for one in results if one["transitions_a_second"] == rate)
            points = " ".join(f"{left + 190 * nodes / widest:.1f},{top + 150 - 150 * height / highest:.1f}" for nodes, height in line)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colours[number % 5]}" stroke-width="2"/>')
            if place == 0:
                parts.append(f'<text x="{60 + number * 130}" y="235" fill="{colours[number % 5]}">{rate} a second</text>')
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="1060" height="250" font-family="sans-serif" font-size="12">'
                    f'<rect width="1060" height="250" fill="white"/>{"".join(parts)}</svg>\n', encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 50, 100, 200])
    parser.add_argument("--rates", type=int, nargs="+", default=[40, 200], help="transitions a second")
    parser.add_argument("--queued", type=int, default=1000, help="videos that wait from the start")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--build", type=pathlib.Path, default=TREE / "build/release")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    programs = find_programs(arguments.build / "bin")
    results = []
    print(HEAD)
    for rate in arguments.rates:
        for size in arguments.sizes:
            results.append(run_one(arguments.build / "tests/fleet-simulation", programs, size, rate, arguments))
            print(row(results[-1]), flush=True)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        chart(results, arguments.out / "scale.svg")


if __name__ == "__main__":
    main()
