#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reel-client as a stranger has it: the wheel is built, installed in an empty environment and run against a real reeld, also
through connections that break, and so are the lines of its README. Nothing is fetched: what it needs is in .deps/wheels.
"""

import pathlib
import re
import shutil
import sys
import tempfile

from cut_proxy import CutProxy
from server import ROOT, run, running_server, skip, wait_until_serving

WHEELS = ROOT / ".deps/wheels"
CARD = """
models { name: "testcard" test_card { step_time { nanos: 20000000 } pictures: true } }
models { name: "singing" test_card { step_time { nanos: 20000000 } sound: true } }
"""
CUTS = (2_000, 150_000, 100_000)  # bytes, of the first connections: before the file, and twice in the middle of it
UPLOAD_CUTS = (150,)  # the server says little until it has all


def install(scratch):
    """The Python of a new environment with nothing but the wheel and what it asks for."""
    tree = scratch / "tree"  # a build leaves its folders beside the sources
    shutil.copytree(ROOT / "client/python", tree / "client/python")
    shutil.copytree(ROOT / "proto", tree / "proto")
    offline = ["--quiet", "--disable-pip-version-check", "--no-index", "--find-links", WHEELS]
    run(ROOT / ".deps/venv/bin/python", "-m", "pip", "wheel", *offline, "--no-deps", "--wheel-dir", scratch, tree / "client/python")
    run(ROOT / ".deps/venv/bin/python", "-m", "venv", scratch / "venv")
    python = scratch / "venv/bin/python"
    run(python, "-m", "pip", "install", *offline, next(scratch.glob("reel_client-*.whl")))
    return python


def readme_example():
    text = (ROOT / "client/python/README.md").read_text(encoding="utf-8")
    return re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]


def main():
    if not WHEELS.is_dir():
        skip("what reel-client needs is not in .deps/wheels; run deploy/build/setup --tests")
    with tempfile.TemporaryDirectory(prefix="reel-python-") as folder, running_server(config=CARD) as server:
        scratch = pathlib.Path(folder)
        python = install(scratch)
        wait_until_serving(server)
        (scratch / "out").mkdir()
        use = [python, ROOT / "tests/integration/outside/clients/use_python.py"]
        for how in ("blocking", "awaited"):
            run(*use, how, server.grpc, scratch / "out", cwd=scratch)
        for how in ("bound", "detached"):  # a bound job is joined again, a detached one is watched
            with CutProxy(server.grpc, CUTS) as proxy:
                run(*use, how, proxy.address, scratch / "out", cwd=scratch)
                assert proxy.broken == len(CUTS), f"{how}: {proxy.broken} connections were broken"
        with CutProxy(server.grpc, UPLOAD_CUTS) as proxy:
            run(*use, "sending", proxy.address, scratch / "out", cwd=scratch)
            assert proxy.broken == len(UPLOAD_CUTS), f"sending: {proxy.broken} connections were broken"
        example = readme_example()
        assert '"127.0.0.1:50051"' in example
        said = run(python, "-c", example.replace("127.0.0.1:50051", server.grpc), cwd=scratch)
        assert re.search(r"^videos/\S+ \d+ \d+$", said, re.MULTILINE) and (scratch / "circle.mp4").is_file(), said
        print(f"{len(list(scratch.rglob('*.mp4')))} files, {2 * len(CUTS)} connections broken")


if __name__ == "__main__":
    sys.exit(main())
