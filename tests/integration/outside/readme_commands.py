#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command in a fenced `sh` block of a README is run here as it stands there, or a list says why not. A new command must be put
into one of the two."""

import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

from server import ROOT, find_binary, find_tool, run, running_server, wait_until_serving

PATIENCE_SECONDS = 300

# README -> beginnings of its commands that are run, in this order.
RUN = {
    "README.md": ["build/release/bin/reel generate", "curl -s http://127.0.0.1:9464/metrics"],
    "client/README.md": ["reel generate \"a red", "name=$(reel create", "reel generate \"a cyan", "reel generate \"a big", "reel compare",
                         "reel experiments", "reel doctor", "grpcurl"],
    "deploy/kubernetes/README.md": ["cd ltx-video", "printf '%s studio user"],
    "kernels/plugins/example/README.md": ["mkdir", "g++ -std=c++20 -O3 -fPIC -shared -I.", "deploy/kernels/pack --name example-norms",
                                          "build/release/bin/reel-worker --probe_plugin=mine"],
    "tests/lint/README.md": ["tests/lint/lint.py sizes links"],
}
BUILDS = "builds the tree, from which this test comes"
CLUSTER = "wants a cluster; lint.deploy_kubernetes renders and checks what it would apply"
DOCKER = "wants a Docker daemon; outside.container_image builds and runs the image by buildah"
RESULTS = "how figures of a GPU were made"
MEASURES = "measures for minutes, or on a GPU"
ANOTHER = "wants libtorch's headers and a minute of a compiler; kernels' own tests build such plug-ins"
# README -> beginnings of its commands that are not, and why.
NOT_RUN = {
    "README.md": {"./deploy/quickstart": BUILDS, "./tests/run": BUILDS, "grpcurl": "outside.readme_line runs it", "deploy/build/setup": BUILDS,
                  "build/release/bin/reeld --model": "wants weights of gigabytes", "build/release/bin/reel-render --model": "the same"},
    "client/README.md": {"reel ab": "40 pairs of videos, and fp8 wants a GPU", "reel top": "never ends; client_command_test has --once",
                         "reel bench": "a minute of load; load_test runs the command",
                         "reel restore": "wants a worker that is out of service; device_out_test puts one back", "cmake": BUILDS, "ctest": BUILDS},
    "client/go/README.md": {"client/go/generate": "outside.go_client runs it", "go mod edit": "outside.go_client runs it"},
    "client/javascript/README.md": {"npm pack": "outside.javascript_client runs it", "reeld --http": "never ends; outside.page starts one"},
    "client/python/README.md": {"pip install": "outside.python_client runs it"},
    "deploy/README.md": {"cmake --install": "outside.packages runs it", "cd build/release && cpack": "outside.packages runs it"},
    "deploy/compose/README.md": {"docker compose": "wants a Docker daemon; lint checks the file"},
    "deploy/container/README.md": {"docker build": DOCKER, "docker run": DOCKER},
    "deploy/helm/README.md": {"helm install": CLUSTER},
    "deploy/kubernetes/README.md": {"kubectl": CLUSTER},
    "kernels/plugins/example/README.md": {"torch=": ANOTHER, "g++ -std=c++20 -O3 -fPIC -shared -isystem": ANOTHER,
                                          "deploy/kernels/pack --name example-torch": ANOTHER,
                                          "build/release/bin/reel-worker --probe_plugin=boxed": ANOTHER},
    "tests/README.md": {"./tests/run": BUILDS},
    "tests/bench/kernels/README.md": {"build/": MEASURES, "tests/bench/kernels/": MEASURES},
    "tests/bench/results/nvidia-h200/README.md": {"": RESULTS},
    "tests/fuzz/README.md": {"deploy/build/setup --tests": "installs clang", "tests/fuzz/run": "fuzzes for half an hour"},
    "tests/golden/README.md": {"tests/golden/processors": "its programs are tests of their own, and take minutes"},
    "tests/lint/README.md": {"tests/lint/lint.py                  #": "each rule is a test of its own", "ctest": "this test is one of ctest's"},
}


def readmes():
    """Also of a tree without git, as an archive of it is. What is built or fetched has READMEs of others."""
    for folder, folders, files in os.walk(ROOT):
        skipped = {"node_modules", "build"} if folder == str(ROOT) else {"node_modules"}
        folders[:] = sorted(name for name in folders if name not in skipped and not name.startswith("."))
        if "README.md" in files:
            yield (pathlib.Path(folder) / "README.md").relative_to(ROOT).as_posix()


def commands():
    """(README, command) of every fenced block of a shell; a line that ends with a backslash goes on."""
    for readme in readmes():
        text = (ROOT / readme).read_text(encoding="utf-8")
        for block in re.findall(r"^```(?:sh|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if line.strip() and not line.startswith("#"):
                    yield readme, line


def sort_out(found):
    """Those to be run. Fails for a command that neither list knows, or both, and for a list's row without a command."""
    rows = {(readme, begin): False for table in (RUN, NOT_RUN) for readme, begins in table.items() for begin in begins}
    chosen = []
    for readme, command in found:
        to_run = [b for b in RUN.get(readme, ()) if command.startswith(b)]
        left = [b for b in NOT_RUN.get(readme, ()) if command.startswith(b)]
        assert len(to_run) + len(left) == 1, f"{readme}: in RUN or in NOT_RUN of this test, once: {command} ({to_run}, {left})"
        rows[readme, (to_run + left)[0]] = True
        if to_run:
            chosen.append((readme, command))
    unused = [row for row, used in rows.items() if not used]
    assert not unused, f"no README has these any more: {unused}"
    return chosen


def check_the_check():
    for unknown in (("README.md", "rm -rf ~"), ("new/README.md", "reel top")):
        try:
            sort_out([*commands(), unknown])
        except AssertionError as refused:
            assert unknown[1] in str(refused)
        else:
            raise AssertionError(f"{unknown} was not noticed")


def write_picture(path, colour):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes(colour) * 256) * 256
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 256, 256, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def furnish(folder):
    """A place like the root of a clone, with what the commands take for granted."""
    for entry in ROOT.iterdir():
        if entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)
    write_picture(folder / "first.png", (200, 30, 30))
    write_picture(folder / "last.png", (30, 30, 200))
    (folder / "ltx-video").mkdir()
    (folder / "ltx-video/model.safetensors").write_bytes(b"weights")


def main():
    chosen = sort_out(commands())
    check_the_check()
    find_tool("grpcurl")
    programs = find_binary("reel").parent
    with tempfile.TemporaryDirectory(prefix="reel-readme-") as name, running_server() as server:
        folder = pathlib.Path(name)
        furnish(folder)
        wait_until_serving(server)
        environment = os.environ | {"PATH": f"{programs}:{ROOT}/.deps/bin:{os.environ['PATH']}", "HOME": name, "REEL_SERVER": server.grpc,
                                    "TOKEN": "secret"}
        for readme, command in chosen:
            command = command.replace("127.0.0.1:50051", server.grpc).replace("127.0.0.1:9464", server.metrics)
            command = command.replace("build/release/bin/", f"{programs}/")
            print(f"{readme}: {command}", flush=True)
            run("bash", "-o", "pipefail", "-c", command, timeout=PATIENCE_SECONDS, cwd=folder, env=environment)
        for video in ("star", "circle", "orbit"):
            assert (folder / f"{video}.mp4").read_bytes()[4:8] == b"ftyp", f"{video}.mp4 is no MP4 file"
    print(f"{len(list(commands()))} commands, {len(chosen)} of them run")


if __name__ == "__main__":
    sys.exit(main())
