#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Docker builds the image and runs it under the restrictions that the manifests set. Minutes, and it needs the network:
asked for with REEL_TEST_DOCKER=1 where a Docker daemon runs.
"""

import os
import subprocess
import sys
import time

from server import ROOT, find_tool, run, skip

RESTRICTED = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--tmpfs", "/tmp"]


def main():
    docker = find_tool("docker")
    if subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        skip("no Docker daemon answers here")
    if os.environ.get("REEL_TEST_DOCKER") != "1":
        skip("the image is built only with REEL_TEST_DOCKER=1")
    grpcurl = find_tool("grpcurl")
    image = run(docker, "build", "-q", ROOT, timeout=3000).strip()
    container = run(docker, "run", "-d", "--rm", *RESTRICTED, "-p", "127.0.0.1::50051", image).strip()
    try:
        address = run(docker, "port", container, "50051/tcp").split()[0]
        for _ in range(200):
            answer = subprocess.run([grpcurl, "-plaintext", address, "grpc.health.v1.Health/Check"], capture_output=True,
                                    text=True, check=False)
            if '"SERVING"' in answer.stdout:
                return 0
            time.sleep(0.1)
        raise AssertionError(f"not serving: {answer.stderr}\n{run(docker, 'logs', container)}")
    finally:
        subprocess.run([docker, "stop", container], capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
