#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names phases of tests/run and tests that took longer than their budget.

  time_budget.py JUNIT PHASE=SECONDS...   reads ctest's --output-junit; prints the slowest tests and what went over

Seconds are of two cores with nothing else on them and an empty compiler cache. Over is a warning, since a busy machine takes
longer; more than five times over, and of three minutes at least, a phase or a test has gone wrong, and the exit status is 1.
Where all tests together take longer than they should, the machine is slow, and each test has that much longer.
"""

import sys
import xml.etree.ElementTree

GROSSLY = 5
GROSS_SECONDS = 180  # a test of seconds waits for its turn longer than it takes where six others want two cores
# The sum is the 40 minutes that are wanted of two cores; two of a shared AMD EPYC took 45, of an Intel Xeon 49.
PHASES = {"set-up": 60, "build dev": 400, "build tsan": 190, "set-up of libraries": 30, "build release": 530, "build CUDA": 110, "rest of set-up": 20, "tests": 1060}
TEST = 20
# Without the preset: the slowest counts. test -> seconds and why.
SLOW_TESTS = {
    "attacks.half_open": (45, "connections that gRPC closes after 20 and 40 seconds"),
    "attacks.rapid_resets": (35, "ten forms of a flood, three seconds each"),
    "deadline_test": (40, "two hundred deadlines, one after the other"),
    "door_peers_test": (30, "thousands of connections, under a sanitizer"),
    "estimate_test": (30, "four hundred videos in twos"),
    "experiment_test": (45, "a verdict wants tens of videos of the demo model"),
    "fleet_chaos_test": (40, "twenty seconds of blows, and what they leave behind"),
    "fleet_faults_test": (40, "servers that die, sleep and come back"),
    "fleet_kill_conformance_test": (40, "twelve kills, and silences that others wait for"),
    "fleet_restart_conformance_test": (30, "seven services that end in the middle of a video and start again"),
    "fleet_servers_test": (110, "nineteen fleets that lose servers and wait until the others know"),
    "fleet_storm_test": (30, "brokers and nodes that fail for as long as it takes, and elections of five seconds"),
    "front_fleet_test": (30, "eight hundred histories under a sanitizer"),
    "interleaved_test": (30, "a hundred videos of the demo model"),
    "kill_conformance_test": (35, "twelve kills under a sanitizer"),
    "load_test": (90, "a server under load for as long as it takes to see a leak"),
    "lint.headers_alone": (120, "compiles every header"),
    "outside.sglang_bench": (60, "fetches packages"),
    "outside.vllm_omni_client": (40, "fetches packages"),
    "outside.container_image": (110, "makes a Debian, and an image of a gigabyte upon it"),
    "outside.dashboards": (40, "two servers that work for as long as panels want"),
    "outside.kernel_day": (40, "ninety videos of the demo model"),
    "outside.kernels_wheel": (30, "makes a wheel, and another Debian to try it in"),
    "outside.alerts": (90, "eleven alerts, each of which waits before it fires"),
    "outside.packages": (30, "a .deb and a tarball, and a video from wherever that is unpacked"),
    "outside.readme_commands": (60, "fifty commands, of which a dozen render"),
    "overload_test": (50, "four seconds of flood at servers of two kinds, and what they do without"),
    "samples_test": (40, "fifteen videos, of which five have thirty steps"),
    "ltx_golden_test": (40, "libtorch, tile by tile"),
    "ltx_pipeline_test": (40, "whole requests"),
    "ltx2_refined_test": (120, "fifty cases, most of which render films of a tiny model"),
    "render_ltx_test": (30, "whole renders of a tiny model"),
    "restart_conformance_test": (30, "services that end in the middle of a video, under a sanitizer"),
}
SLOWEST = 10


def tests_of(path):
    """A suite that did not come to an end has no times."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (FileNotFoundError, xml.etree.ElementTree.ParseError):
        return {}
    return {case.get("name"): float(case.get("time")) for case in root.iter("testcase")}


def budget_of_test(name):
    return SLOW_TESTS.get(name.split("/", 1)[-1], (TEST, ""))[0]


def lines(phases, tests):
    """The lines to print, and whether something is grossly over."""
    out, gross = [], False
    slowness = max(1, phases.get("tests", 0) / PHASES["tests"])
    over = [(name, took, PHASES[name]) for name, took in phases.items() if name in PHASES]
    out += [f"{name}: {took:.0f} s of {budget} s" for name, took, budget in over]
    for name, took in sorted(tests.items(), key=lambda item: -item[1])[:SLOWEST]:
        out.append(f"{name}: {took:.0f} s of {budget_of_test(name)} s")
    over += [(name, took, budget_of_test(name)) for name, took in tests.items()]
    for name, took, budget in over:
        if took > budget:
            out.append(f"OVER BUDGET: {name}: {took:.0f} s, wanted {budget} s")
        if took > max(GROSSLY * budget, GROSS_SECONDS) * (slowness if name in tests else 1):
            out.append(f"FIVE TIMES OVER BUDGET: {name}: {took:.0f} s, wanted {budget} s")
            gross = True
    return out, gross


def main():
    phases = {name: float(took) for name, _, took in (word.rpartition("=") for word in sys.argv[2:])}
    out, gross = lines(phases, tests_of(sys.argv[1]))
    print("\n".join(out))
    return 1 if gross else 0


if __name__ == "__main__":
    sys.exit(main())
