# SPDX-License-Identifier: Apache-2.0
"""A real reeld for checks from outside: own data folder, free ports, ended with SIGTERM."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lint"))
from tools import ROOT, find_tool, skip  # noqa: E402, F401

START_SECONDS = 60
STOP_SECONDS = 30


def until(what, condition, patience=60):
    """Until it holds; for what only another process can tell."""
    limit = time.monotonic() + patience
    while not condition():
        if time.monotonic() >= limit:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.02)


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def find_binary(name):
    program = pathlib.Path(os.environ.get("REEL_BIN", ROOT / "build/release/bin"), name)
    return program if program.is_file() else skip(f"{program} is not built")


class Server:
    """Where a running reeld listens, and since when. `health` and `http` are None where there are no such ports."""

    def __init__(self, ports, process, log, began):
        self.grpc, self.metrics = ports["grpc"], ports["metrics"]
        self.health, self.http = ports.get("health"), ports.get("http")
        self.process, self.log, self.began = process, log, began


def wait_for_ports(port_file, process, log):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise AssertionError(f"reeld ended with {process.returncode}:\n{log.read_text()}")
        text = port_file.read_text() if port_file.exists() else ""
        found = dict(re.findall(r"^(\w+)[= ]\s*(\S+)$", text, re.MULTILINE))
        if {"grpc", "metrics"} <= found.keys() and text.endswith("\n"):
            return found
        time.sleep(0.02)
    raise AssertionError(f"reeld names no ports within {START_SECONDS} s:\n{log.read_text()}")


@contextlib.contextmanager
def running_server(*flags, config="", environment=None):
    """Yields a Server. A server that does not end cleanly fails the test. `config`: textproto for its configuration."""
    reeld = find_binary("reeld")
    find_binary("reel-worker")
    with tempfile.TemporaryDirectory(prefix="reel-outside-") as folder:
        port_file, log = pathlib.Path(folder, "ports"), pathlib.Path(folder, "log")
        # The default bound, a share of the disk, refuses jobs where the disk is nearly full.
        if "data {" not in config:
            config += "\ndata { max_bytes: 1000000000 }\n"
        config_file = pathlib.Path(folder, "reel.textproto")
        config_file.write_text(config, encoding="utf-8")
        command = [reeld, "--config", config_file, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--port_file", port_file,
                   "--data_dir", pathlib.Path(folder, "data"), *flags]
        with open(log, "wb") as out:
            process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       env=os.environ | (environment or {}))
        try:
            ports = wait_for_ports(port_file, process, log)
            yield Server(ports, process, log, port_file.stat().st_mtime)
            process.send_signal(signal.SIGTERM)
            code = process.wait(STOP_SECONDS)
            if code != 0:
                raise AssertionError(f"reeld ended with {code} on SIGTERM:\n{log.read_text()[-4000:]}")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def snake_keys(message):
    """grpcurl names fields as the proto does or in camel case, by its version and what reflection tells it."""
    return {re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), key): value for key, value in message.items()}


def run(*command, timeout=120, **options):
    answer = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, check=False, **options)
    if answer.returncode:
        raise AssertionError(f"{' '.join(str(c) for c in command)} ended with {answer.returncode}:\n"
                             f"{answer.stdout[-2000:]}{answer.stderr[-2000:]}")
    return answer.stdout


def make_certificate(key, certificate, *more, name="localhost", days=2):
    """A key and its certificate, which signs itself unless `more`, arguments of openssl, names another key."""
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate,
        "-days", days, "-subj", f"/CN={name}", *more)


def wait_or_kill(process, patience=20):
    """For a process that has been told to end."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def scrape(server):
    with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=10) as answer:
        return answer.read().decode()


def wait_until_serving(server):
    """Until a worker is ready; the health service says so."""
    wait_for_health(server.grpc, "", server.log)


def wait_for_health(address, service, log):
    grpcurl = find_tool("grpcurl")
    end = time.monotonic() + START_SECONDS
    last = ""
    while time.monotonic() < end:
        answer = subprocess.run([grpcurl, "-plaintext", "-d", json.dumps({"service": service}), address,
                                 "grpc.health.v1.Health/Check"], capture_output=True, text=True, check=False)
        last = answer.stdout + answer.stderr
        if '"SERVING"' in last:
            return
        time.sleep(0.05)
    raise AssertionError(f"not serving within {START_SECONDS} s: {last}\n{log.read_text()[-4000:]}")
