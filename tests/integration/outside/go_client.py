#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Go module as a stranger has it: built in an empty module with a replace and run against a real reeld, also through
connections that break, and so are the lines of its README. Nothing is fetched.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from cut_proxy import CutProxy
from python_client import CARD, CUTS, UPLOAD_CUTS
from server import ROOT, find_tool, run, running_server, skip, wait_until_serving

MODULE = "example.com/reel/client/go"
OFFLINE = {"GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod -buildvcs=false"}


def build(scratch, name, source):
    """A program of its own module; its go.sum holds what the client's does."""
    folder = scratch / name
    folder.mkdir()
    (folder / "main.go").write_text(source, encoding="utf-8")
    (folder / "go.sum").write_bytes((ROOT / "client/go/go.sum").read_bytes())
    environment = os.environ | OFFLINE
    run("go", "mod", "init", "stranger", cwd=folder, env=environment)
    run("go", "mod", "edit", "-require", f"{MODULE}@v0.0.0", "-replace", f"{MODULE}={scratch / 'module'}", cwd=folder, env=environment)
    run("go", "build", "-o", scratch / f"{name}.program", ".", cwd=folder, env=environment, timeout=170)
    return scratch / f"{name}.program"


def main():
    for tool in ("go", "protoc", "protoc-gen-go", "protoc-gen-go-grpc"):
        find_tool(tool)
    fetched = subprocess.run(["go", "mod", "download"], cwd=ROOT / "client/go", env=os.environ | OFFLINE, capture_output=True, check=False)
    if fetched.returncode:
        skip("the modules that the client needs are not there; run deploy/build/setup --tests")
    example = re.search(r"```go\n(.*?)```", (ROOT / "client/go/README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert '"127.0.0.1:50051"' in example
    with tempfile.TemporaryDirectory(prefix="reel-go-") as folder, running_server(config=CARD) as server:
        scratch = pathlib.Path(folder)
        run(ROOT / "client/go/generate", scratch / "module")
        program = build(scratch, "use", (ROOT / "tests/integration/outside/clients/use_go.go").read_text(encoding="utf-8"))
        readme = build(scratch, "readme", example.replace("127.0.0.1:50051", server.grpc))
        wait_until_serving(server)
        (scratch / "out").mkdir()
        with CutProxy(server.grpc, CUTS) as proxy, CutProxy(server.grpc, UPLOAD_CUTS) as upload:
            run(program, server.grpc, proxy.address, scratch / "out", upload.address)
            assert (proxy.broken, upload.broken) == (len(CUTS), len(UPLOAD_CUTS)), f"{proxy.broken} and {upload.broken} connections were broken"
        said = run(readme, cwd=scratch)
        assert re.search(r"^videos/\S+ \d+ \d+$", said, re.MULTILINE) and (scratch / "circle.mp4").is_file(), said
        print(f"{len(list(scratch.rglob('*.mp4')))} files, {proxy.broken} connections broken")


if __name__ == "__main__":
    sys.exit(main())
