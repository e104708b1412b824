#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ghz calls EstimateVideo 2,000 times; not one call fails."""

import json
import sys

from server import find_tool, run, running_server, wait_until_serving

CALLS = 2000


def main():
    ghz = find_tool("ghz")
    with running_server() as server:
        wait_until_serving(server)
        request = json.dumps({"spec": {"prompt": "a red circle bouncing over blue waves"}})
        report = json.loads(run(ghz, "--insecure", "--call", "reel.v1.VideoService/EstimateVideo", "-d", request,
                                "-n", CALLS, "-c", 16, "--connections", 4, "-O", "json", server.grpc))
    assert report["count"] == CALLS, f"{report['count']} calls"
    assert report["statusCodeDistribution"] == {"OK": CALLS}, report["statusCodeDistribution"]
    assert not report["errorDistribution"], report["errorDistribution"]
    p99 = next(point["latency"] for point in report["latencyDistribution"] if point["percentage"] == 99) / 1e6
    print(f"{CALLS} calls, 0 errors, {report['rps']:.0f} a second, p99 {p99:.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
