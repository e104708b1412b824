#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start, memory and a page of an admin's list of a server whose fleet keeps many videos. By hand, after deploy/build/setup --fleet:
  tests/bench/fleet/kept_videos.py --videos 100000
A gateway, so that no worker counts; one broker on this machine. `first` is a start with an empty folder, `again` the ones after it.
With --alone a server over a log of its own, in which the videos are from the first start on."""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "deploy/fleet"))
from local_fleet import free_ports  # noqa: E402

PAGES, STARTS = 100, 5
PATHS = {"newest": "/reel/v1/videos?pageSize=50", "oldest": "/v1/videos?limit=50&order=asc", "failed": "/reel/v1/videos?pageSize=50&states=VIDEO_STATE_FAILED"}


@contextlib.contextmanager
def running(*command, **options):
    process = subprocess.Popen([str(part) for part in command], **options)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@contextlib.contextmanager
def broker(folder):
    port, page = free_ports(2)
    config = folder / "nats.conf"
    config.write_text(f'listen: 127.0.0.1:{port}\nhttp: 127.0.0.1:{page}\njetstream {{ store_dir: "{folder}/nats", max_mem: 16MB, max_file: 4GB }}\n')
    program = shutil.which("nats-server", path=f"{TREE}/.deps/bin:{os.environ.get('PATH', '')}")
    with running(program, "-c", config, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        while not answers(f"http://127.0.0.1:{page}/healthz?js-enabled-only=true"):
            time.sleep(0.02)
        yield f"nats://127.0.0.1:{port}"


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=2).status == 200
    except OSError:
        return False


def configuration(folder, alone, url=""):
    tokens = folder / "tokens"
    tokens.touch(mode=0o600)
    tokens.write_text(f"{hashlib.sha256(b'root').hexdigest()} root admin\n")
    config = folder / "reel.textproto"
    own = ' replica: "kept" }\nmodels { name: "testcard" test_card {} ' if alone else ""
    fleet = "" if alone else f'fleet {{ name: "kept" node: "gateway" gateway: true listen: "127.0.0.1:0" nats {{ urls: "{url}" max_bytes: {2 << 30} }} }}\n'
    config.write_text(f'data {{ max_bytes: 1000000000{own} }}\nauth {{ tokens_file: "{tokens}" }}\n{fleet}')
    return config


def ports_of(file, server):
    while not file.exists():
        if server.poll() is not None:
            raise SystemExit("the server has ended: " + (file.parent / "reeld.log").read_text())
        time.sleep(0.002)
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def page(address, path):
    """Seconds, and how many videos are on it."""
    request = urllib.request.Request(f"http://{address}{path}", headers={"Authorization": "Bearer root"})
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        body = json.load(answer)
    return time.perf_counter() - began, len(body.get("videos", body.get("data", [])))


def is_read(address):
    """A name of the fleet's that nobody has is denied only by a view that has read the whole log."""
    request = urllib.request.Request(f"http://{address}/reel/v1/videos/kept-{26 * 'a'}", headers={"Authorization": "Bearer root"})
    try:
        urllib.request.urlopen(request, timeout=60).close()
    except urllib.error.HTTPError as refused:
        return refused.code == 404
    raise SystemExit("a video is there that nobody has made")


def memory_of(process, field):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"no {field} in /proc")


def cpu_of(process):
    words = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def one_start(build, folder, config):
    ports = folder / "ports"
    ports.unlink(missing_ok=True)
    began = time.perf_counter()
    with open(folder / "reeld.log", "ab") as log, running(
            build / "bin/reeld", "--config", config, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--http", "127.0.0.1:0",
            "--port_file", ports, "--data_dir", folder / "data", stdout=log, stderr=log) as server:
        addresses = ports_of(ports, server)
        while not is_read(addresses["http"]):
            time.sleep(0.01)
        started = time.perf_counter() - began
        cpu = cpu_of(server)
        seconds = {}
        for name, path in PATHS.items():
            found = [page(addresses["http"], path) for _ in range(PAGES)]
            seconds[name] = statistics.median(one[0] for one in found) * 1e3
            if found[0][1] != (0 if name == "failed" else 50):
                raise SystemExit(f"a page of the list has {found[0][1]} videos: {name}")
        return {"start_s": round(started, 3), "cpu_s": round(cpu, 2), "rss_mib": round(memory_of(server, "VmRSS"), 1),
                "peak_mib": round(memory_of(server, "VmHWM"), 1), "page_ms": {name: round(value, 2) for name, value in seconds.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=100_000)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=TREE / "build/release")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reel-kept-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        (folder / "data").mkdir(mode=0o700)
        log = folder / "data/log.db" if arguments.alone else stack.enter_context(broker(folder))
        subprocess.run([arguments.build / "tests/fleet-kept-videos", log, "kept", str(arguments.videos)], check=True)
        config = configuration(folder, arguments.alone, log)
        for number in range(STARTS):
            figures = one_start(arguments.build, folder, config)
            print(json.dumps({"start": "again" if number else "first", **figures}), flush=True)
        disk = sum(file.stat().st_size for file in (folder / "data").rglob("*") if file.is_file())
        print(json.dumps({"data_folder_mib": round(disk / (1 << 20), 1)}))


if __name__ == "__main__":
    main()
