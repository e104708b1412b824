#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Python stubs and runs client/python/example.py against a server.

    python_example_test.py SOURCE_FOLDER FAKE_SERVER WORK_FOLDER

Exit code 77 (ctest's skip) when grpcio is not there.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

SKIP = 77


def say_skip(why):
    print(f"SKIPPED: {why}", file=sys.stderr)
    sys.exit(SKIP)


def wait_for_address(server, port_file):
    for _ in range(1000):
        if port_file.exists():
            return dict(line.split("=", 1) for line in port_file.read_text().split())["grpc"]
        if server.poll() is not None:
            break
        time.sleep(0.01)  # a file has no event that Python could wait for
    raise RuntimeError("the server did not start")


def run_example(source, work, address, *extra):
    environment = dict(os.environ, REEL_PYTHON_STUBS=str(work / "stubs"), REEL_SERVER=address)
    return subprocess.run(
        [sys.executable, source / "client/python/example.py", "a lighthouse", "--output",
         str(work / "out.mp4"), *extra],
        env=environment, capture_output=True, text=True, timeout=60)


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def main():
    source, server_binary, work = (pathlib.Path(argument) for argument in sys.argv[1:4])
    try:
        import grpc  # noqa: F401
        import grpc_tools  # noqa: F401
    except ImportError as missing:
        say_skip(f"{missing}; deploy/build/setup --tests installs it")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    subprocess.run([source / "client/python/generate_stubs", str(work / "stubs")], check=True,
                   env=dict(os.environ, PYTHON=sys.executable), timeout=60)

    port_file = work / "port"
    server = subprocess.Popen([server_binary, port_file], stdin=subprocess.PIPE)
    try:
        address = wait_for_address(server, port_file)
        done = run_example(source, work, address)
        check(done.returncode == 0, f"example.py said: {done.stderr}")
        check(done.stdout == f"{work}/out.mp4\n", f"stdout was {done.stdout!r}")
        check("denoise" in done.stderr, "no progress was shown")
        check((work / "out.mp4").stat().st_size == 300_000, "the file has another size")
        check(not (work / "out.mp4.part").exists(), "a part was left")
        digest = hashlib.sha256((work / "out.mp4").read_bytes()).hexdigest()
        print(f"wrote {digest}")
    finally:
        server.stdin.close()
        server.wait(timeout=30)

    gone = run_example(source, work, address)
    check(gone.returncode == 1 and "error: " in gone.stderr, f"without a server: {gone.stderr}")


if __name__ == "__main__":
    main()
