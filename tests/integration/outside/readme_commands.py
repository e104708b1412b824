#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command in a fenced `sh` block of a README is run here as it stands there, or by another test, or a list says why not. A new command must be
put into one of the lists.

Only addresses, and the folders of programs and of plug-ins, are others here. What would reach for a cluster goes as far as one goes without: `helm
template` for `helm install`, `kustomize build` for `kubectl apply -k`, `--dry-run=client` behind `kubectl create`. Servers get free ports, and are ended
when they serve. Where weights of LTX-Video are wanted lies ltx-demo, which has their shape, with small videos and few steps as its defaults; the server
has it as well. Measurements that a report reads are those that the tree keeps. Each README has a place of its own, and a few run at a time.
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from python_client import WHEELS
from server import ROOT, find_binary, find_tool, make_certificate, run, running_server, wait_for_health, wait_for_ports, wait_until_serving

PATIENCE_SECONDS = 300
AT_A_TIME = 4

# README -> beginnings of its commands that are run. Those of one block share a shell.
RUN = {
    "README.md": ["build/release/bin/reel generate", "grpcurl", "curl -s http://127.0.0.1:9464/metrics", "build/release/bin/reeld --model LTX-Video",
                  "build/release/bin/reel-render --model LTX-Video"],
    "client/README.md": ["reel generate \"a red", "name=$(reel create", "reel generate \"a cyan", "reel generate \"a big", "reel compare",
                         "reel ab", "reel experiments", "reel top", "reel fleet", "reel bench", "reel restore", "reel doctor"],
    "client/go/README.md": ["client/go/generate", "go mod edit"],
    "client/javascript/README.md": ["npm pack", "reeld --http=127.0.0.1:8080"],
    "client/python/README.md": ["pip install client/python"],
    "deploy/helm/README.md": ["helm install"],
    "deploy/kubernetes/README.md": ["kubectl apply -k", "cd ltx-video", "kubectl -n reel create", "printf '%s studio user"],
    "server/front/http/README.md": ["name=$(curl", "curl -N", "curl -so"],
    "server/render/README.md": ["reel-render"],
    "tests/bench/kernels/README.md": ["tests/bench/kernels/report.py"],
    "tests/bench/server/README.md": ["mkdir -p /tmp/plugins", "nvcc", "deploy/kernels/pack"],
    "tests/lint/README.md": ["tests/lint/lint.py sizes links"],
}
# Begins -> what is put there instead.
WITHOUT_A_CLUSTER = {"helm install": "helm template --kube-version 1.31", "kubectl apply -k": "kustomize build",
                     "kubectl -n reel create": "kubectl create --dry-run=client -o yaml -n reel"}
# README -> a program that not everybody has, without which none of its commands that begin with one of these is run.
WANTS = {"deploy/kubernetes/README.md": ("kubectl", ("kubectl -n reel create",)),
         "tests/bench/server/README.md": ("nvcc", ("mkdir -p /tmp/plugins", "nvcc", "deploy/kernels/pack"))}
# What a command says of its own exit codes: it has worked all the same.
ENDS_WITH = {"reel ab": 11}
# Beginnings of those that end when they are told to.
SERVERS = ("build/release/bin/reeld --model LTX-Video", "reeld --http=127.0.0.1:8080")
# Beginnings of those that go to a server with the test card and a worker that is out of service.
ON_CARD = ("reel top", "reel bench", "reel restore")
# README -> beginnings of its commands that another test runs, and which; with other folders than they name, no more.
ELSEWHERE = {
    "deploy/README.md": {"cmake --install": "outside.packages", "cd build/release && cpack": "outside.packages"},
    "deploy/fleet/README.md": {"deploy/fleet/keys": "outside.fleet_keys", "deploy/fleet/quickstart": "outside.fleet_quickstart"},
    "deploy/kernels/README.md": {"deploy/kernels/build": "torch_ops_repository_test", "deploy/kernels/wheel": "outside.kernels_wheel",
                                 "python -c": "torch_ops_repository_test"},
    "kernels/plugins/example/README.md": {"": "plugin_readme_test"},
    "README.md": {"./deploy/quickstart": "outside.first_video"},  # by hand, since it builds
    # "Docker, podman and buildah all build it", as that README says: by the last of them here.
    "deploy/container/README.md": {"docker build -t reel:0.2.0 ": "outside.container_image", "docker run": "outside.container_image"},
    "tests/bench/e2e/README.md": {"python3 tests/bench/e2e/e2e_report.py": "e2e_test"},
}
BUILDS = "builds the tree, from which this test comes"
DRAFTS = "the demo makes one pass; draft_conformance_test has drafts"
REFINES = "needs LTX-2's weights; refine_conformance_test has clips that are refined"
HOLDS = "needs the name of a video; hold_conformance_test has extensions and retakes"
SINGS = "needs LTX-2's weights; film_with_sound_test has sounds of requests"
MEASURES = "measures for minutes, or on a GPU"
# README -> beginnings of its commands that are not, and why.
NOT_RUN = {
    "README.md": {"./tests/run": BUILDS, "deploy/build/setup": BUILDS},
    "client/README.md": {"cmake": BUILDS, "ctest": BUILDS, "reel generate \"waves": DRAFTS, "reel promote": DRAFTS, "reel extend": HOLDS, "reel retake": HOLDS,
                         "reel generate \"a singer": SINGS, "reel refine": REFINES},
    "deploy/compose/README.md": {"docker compose": "wants a Docker daemon; lint.compose checks the file"},
    "deploy/container/README.md": {"docker build -t reel:0.2.0-cuda": "gigabytes of CUDA's wheels; outside.cuda_installation looks at what is installed of them"},
    "deploy/kernels/README.md": {".deps/venv/bin/python deploy/kernels/try_wheel": "runs suites that are tests of their own; by hand, on a GPU"},
    "deploy/fleet/README.md": {"deploy/build/setup --fleet": "installs brokers and a store, which other tests here are run with"},
    "tests/README.md": {"./tests/run": BUILDS},
    "tests/bench/engine/README.md": {"": MEASURES},
    "tests/bench/fleet/README.md": {"": MEASURES},
    "tests/bench/e2e/README.md": {"python3 tests/bench/ltx": MEASURES, "python3 tests/bench/e2e/e2e_bench.py": MEASURES},
    "tests/bench/kernels/README.md": {"build/": MEASURES, "tests/bench/kernels/torch_rows.py": MEASURES},
    "tests/bench/ltx/README.md": {"": MEASURES},
    "tests/bench/ltx2/README.md": {"": MEASURES},
    "tests/bench/server/README.md": {"python3": MEASURES, "REEL_BIN": MEASURES},
    "tests/fuzz/README.md": {"deploy/build/setup --tests": "installs clang", "tests/fuzz/run": "fuzzes for half an hour"},
    "tests/golden/README.md": {"tests/golden/processors": "its programs are tests of their own, and take minutes"},
    "tests/lint/README.md": {"tests/lint/lint.py                  #": "each rule is a test of its own", "ctest": "this test is one of ctest's"},
}
# What some of them leave behind.
VIDEOS = (("star", "README.md"), ("fox", "README.md"), ("circle", "client/README.md"), ("orbit", "client/README.md"),
          ("video", "server/front/http/README.md"), ("circle", "server/render/README.md"), ("fox", "server/render/README.md"))
# A worker of its own that is out of service once it was asked for a video.
CARD = """models { name: "testcard" test_card {} } models { name: "fragile" test_card { faults { kind: "lost" step: 1 } } }
workers { name: "good" device: "cpu" models: "testcard" } workers { name: "gpu0" device: "cpu" models: "fragile" }
"""


def readmes():
    """Also of a tree without git, as an archive of it is. What is built or fetched has READMEs of others."""
    for folder, folders, files in os.walk(ROOT):
        skipped = {"node_modules", "build"} if folder == str(ROOT) else {"node_modules"}
        folders[:] = sorted(name for name in folders if name not in skipped and not name.startswith("."))
        if "README.md" in files:
            yield (pathlib.Path(folder) / "README.md").relative_to(ROOT).as_posix()


def commands():
    """(README, number of the block, command) of every fenced block of a shell; a line that ends with a backslash goes on."""
    for readme in readmes():
        text = (ROOT / readme).read_text(encoding="utf-8")
        for number, block in enumerate(re.findall(r"^```(?:sh|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)):
            for line in block.replace("\\\n", " ").splitlines():
                if line.strip() and not line.startswith("#"):
                    yield readme, number, line


def sort_out(found):
    """Those to be run, and how many run elsewhere. Fails for a command that no list knows, or two do, and for a list's row without a command."""
    tables = (RUN, ELSEWHERE, NOT_RUN)
    rows = {(readme, begin): False for table in tables for readme, begins in table.items() for begin in begins}
    chosen, elsewhere = [], 0
    for readme, number, command in found:
        fits = [[begin for begin in table.get(readme, ()) if command.startswith(begin)] for table in tables]
        assert sum(map(len, fits)) == 1, f"{readme}: in one list of this test, once: {command} ({fits})"
        rows[readme, sum(fits, [])[0]] = True
        elsewhere += len(fits[1])
        if fits[0]:
            chosen.append((readme, number, command))
    unused = [row for row, used in rows.items() if not used]
    assert not unused, f"no README has these any more: {unused}"
    return chosen, elsewhere


def check_elsewhere():
    """The tests that are named are there."""
    scripts = {path.stem for folder in ("integration/outside", "unit", "bench/e2e") for path in (ROOT / "tests" / folder).rglob("*.py")}
    missing = {test for begins in ELSEWHERE.values() for test in begins.values() if re.sub(r"^(outside\.|torch_ops_)", "", test) not in scripts}
    assert not missing, f"no such tests: {missing}"


def check_the_check():
    for unknown in (("README.md", 0, "rm -rf ~"), ("new/README.md", 0, "reel top")):
        try:
            sort_out([*commands(), unknown])
        except AssertionError as refused:
            assert unknown[2] in str(refused)
        else:
            raise AssertionError(f"{unknown} was not noticed")


def write_picture(path, colour):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes(colour) * 256) * 256
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 256, 256, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_quick_model(folder):
    folder.mkdir()
    for entry in (ROOT / "model/demo/weights").iterdir():
        if entry.name not in ("reel.json", "SHA256SUMS"):
            (folder / entry.name).symlink_to(entry)
    told = json.loads((ROOT / "model/demo/weights/reel.json").read_text(encoding="utf-8"))
    told["defaults"] |= {"width": 128, "height": 128, "steps": 4}
    (folder / "reel.json").write_text(json.dumps(told), encoding="utf-8")


def furnish(folder):
    """A place like the root of a clone, with what the commands take for granted."""
    folder.mkdir()
    for entry in ROOT.iterdir():
        if entry.name in ("client", "proto"):  # packing writes beside the sources
            shutil.copytree(entry, folder / entry.name)
        elif entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)
    for name, colour in {"first": (200, 30, 30), "last": (30, 30, 200), "fox": (200, 90, 30), "start": (30, 200, 30), "a": (90, 90, 90)}.items():
        write_picture(folder / f"{name}.png", colour)
    (folder / "ltx-video").mkdir()
    (folder / "ltx-video/model.safetensors").write_bytes(b"weights")
    (folder / "b.mp4").write_bytes((ROOT / "tests/fuzz/corpus/clip/h264.mp4").read_bytes())
    write_quick_model(folder / "LTX-Video")
    (folder / "go.mod").write_text("module stranger\n\ngo 1.19\n", encoding="utf-8")
    for name, kept in {"out.json": "kernels_bf16.json", "torch.json": "kernels_torch.json"}.items():
        (folder / name).symlink_to(ROOT / "tests/bench/results/nvidia-h200" / kept)


@contextlib.contextmanager
def worker_out_of_service():
    """The address of a server with the test card, whose worker gpu0 has lost its device."""
    with running_server(config=CARD) as server:
        wait_until_serving(server)
        ask = [find_tool("grpcurl"), "-plaintext", "-d", '{"spec": {"prompt": "a boat", "model": "fragile"}}', server.grpc, "reel.v1.VideoService/GenerateVideo"]
        answer = subprocess.run(ask, capture_output=True, text=True, check=False)
        assert answer.returncode, f"the worker has not lost its device: {answer.stdout}"
        yield server.grpc


def serve(command, folder, environment):
    """Runs a server's command until it serves; it ends cleanly when it is told to."""
    port_file, log = folder / "ports", folder / "log"
    port_file.unlink(missing_ok=True)
    flags = f" --listen 127.0.0.1:0 --metrics 127.0.0.1:0 --port_file {port_file} --data_dir {folder / 'served'}"
    with open(log, "wb") as out:
        process = subprocess.Popen(["bash", "-c", f"exec {command}{flags}"], stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder, env=environment)
    try:
        wait_for_health(wait_for_ports(port_file, process, log)["grpc"], "", log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()


def as_here(command, changes):
    for begin, instead in WITHOUT_A_CLUSTER.items():
        if command.startswith(begin):
            command = instead + command.removeprefix(begin)
    for there, here in changes.items():
        command = command.replace(there, here)
    for begin, code in ENDS_WITH.items():
        if command.startswith(begin):
            command = f"{command.split(' #')[0]} || [ $? = {code} ]"
    return f"REEL_SERVER=$REEL_CARD {command}" if command.startswith(ON_CARD) else command


def run_readme(readme, rows, folder, changes, environment):
    """(seconds, the folder). What is served comes first; the rest block by block."""
    began = time.monotonic()
    furnish(folder)
    environment = environment | {"PATH": f"{folder}/venv/bin:{environment['PATH']}"}
    changes = changes | {"/tmp/plugins": str(folder / "plugins")}
    if readme == "client/python/README.md":
        run(ROOT / ".deps/venv/bin/python", "-m", "venv", folder / "venv")
    if any("tls.key" in command for _, command in rows):
        make_certificate(folder / "tls.key", folder / "tls.crt", days=1)
    blocks = {}
    for number, command in rows:
        if command.startswith(SERVERS):
            serve(as_here(command, changes), folder, environment)
        else:
            blocks.setdefault(number, []).append(as_here(command, changes))
    for lines in blocks.values():
        run("bash", "-euxo", "pipefail", "-c", "\n".join(lines), timeout=PATIENCE_SECONDS, cwd=folder, env=environment)
    print("\n".join([f"{readme}, {time.monotonic() - began:.1f} s:", *(f"    {command}" for _, command in rows)]), flush=True)


def run_all(chosen, scratch, changes, environment):
    """Those with the most commands first; what goes to the test card waits more than it works, and goes by itself. Returns where each README has run."""
    readmes = {}
    for readme, number, command in chosen:
        readmes.setdefault(f"{readme} on a test card" if command.startswith(ON_CARD) else readme, []).append((number, command))
    folders = {readme: scratch / readme.replace("README.md", "").strip("/").replace("/", "-") / "root" for readme in readmes}
    for folder in folders.values():
        folder.parent.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        runs = [pool.submit(run_readme, readme, rows, folders[readme], changes, environment)
                for readme, rows in sorted(readmes.items(), key=lambda item: -len(item[1]))]
        for one in runs:
            one.result()
    return folders


def that_can(chosen, path):
    """Without what wants a program that is not there."""
    for readme, (program, begins) in WANTS.items():
        if shutil.which(program, path=path) is None:
            print(f"not run, since there is no {program} here: {readme}: {', '.join(begins)}")
            chosen = [one for one in chosen if one[0] != readme or not one[2].startswith(begins)]
    return chosen


def main():
    chosen, elsewhere = sort_out(commands())
    check_the_check()
    check_elsewhere()
    for tool in ("grpcurl", "helm", "kustomize", "npm", "go", "protoc-gen-go"):
        find_tool(tool)
    programs = find_binary("reel").parent
    if not WHEELS.is_dir():  # as python_client.py says
        chosen = [one for one in chosen if one[0] != "client/python/README.md"]
    path = f"{programs}:{ROOT}/.deps/bin:{ROOT}/.deps/cuda/bin:{os.environ['PATH']}"
    chosen = that_can(chosen, path)
    with tempfile.TemporaryDirectory(prefix="reel-readme-") as name:
        scratch = pathlib.Path(name)
        write_quick_model(scratch / "LTX-Video")
        model = f'models {{ name: "ltx-demo" path: "{scratch}/LTX-Video" }}'
        with running_server("--http", "127.0.0.1:0", config=model) as server, worker_out_of_service() as card:
            wait_until_serving(server)
            # Nothing is fetched.
            environment = os.environ | {"PATH": path, "HOME": name,
                                        "REEL_SERVER": server.grpc, "REEL_CARD": card, "TOKEN": "secret", "PIP_NO_INDEX": "1",
                                        "PIP_FIND_LINKS": str(WHEELS), "npm_config_offline": "true", "npm_config_audit": "false",
                                        "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local",
                                        "OMP_NUM_THREADS": "1"}  # threads that wait for each other take minutes where others run
            changes = {"127.0.0.1:50051": server.grpc, "127.0.0.1:9464": server.metrics, "localhost:8080": server.http,
                       "127.0.0.1:8080": "127.0.0.1:0", "build/release/bin/": f"{programs}/"}
            folders = run_all(chosen, scratch, changes, environment)
        for video, readme in VIDEOS:
            assert (folders[readme] / f"{video}.mp4").read_bytes()[4:8] == b"ftyp", f"{readme}: {video}.mp4 is no MP4 file"
    print(f"FIGURE commands of READMEs: {len(list(commands()))}, {len(chosen)} run here, {elsewhere} by other tests")


if __name__ == "__main__":
    sys.exit(main())
