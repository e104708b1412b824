#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of a real reeld reach the OpenTelemetry collector by https with a token. A wrong token and a wrong authority are refused and reported, and
a token that is put right counts from the next video on.

By hand, after deploy/build/setup --tests --collector: ctest --test-dir build/release -L collector -V
"""

import contextlib
import http.server
import json
import pathlib
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading

from server import ROOT, find_tool, make_certificate, run, running_server, scrape, skip, until, wait_or_kill, wait_until_serving
from traces_schema import Collector

sys.path.insert(0, str(ROOT / "deploy/fleet"))
from local_fleet import free_ports  # noqa: E402

PROGRAM = ROOT / ".deps/bin/otelcol"
SECONDS = 30


def make_authority(folder, name):
    """A certificate that signs itself, and its key."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.crt"
    make_certificate(key, certificate, "-addext", "subjectAltName=IP:127.0.0.1", name=name)
    return key, certificate


def write_token(path, token):
    """As a Secret that changes: whole or not at all."""
    new = path.with_suffix(".new")
    new.touch(mode=0o600)
    new.write_text(f"Authorization: Bearer {token}\n")
    new.replace(path)


@contextlib.contextmanager
def running_collector(folder, key, certificate, token, sink):
    """Yields its port, once it listens. What it takes it sends on to `sink`, as JSON."""
    port, config, log = free_ports(1)[0], folder / "collector.json", folder / "collector.log"
    config.write_text(json.dumps({
        "extensions": {"bearertokenauth": {"token": token}},
        "receivers": {"otlp": {"protocols": {"http": {
            "endpoint": f"127.0.0.1:{port}", "tls": {"cert_file": str(certificate), "key_file": str(key)}, "auth": {"authenticator": "bearertokenauth"}}}}},
        "exporters": {"otlp_http": {"endpoint": f"http://127.0.0.1:{sink}", "encoding": "json", "compression": "none"}},
        "service": {"extensions": ["bearertokenauth"], "telemetry": {"metrics": {"level": "none"}},
                    "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["otlp_http"]}}}}))
    with open(log, "wb") as out:
        process = subprocess.Popen([PROGRAM, "--config", config], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        until(f"the collector is ready: {log}", lambda: process.poll() is not None or "Everything is ready" in log.read_text(), SECONDS)
        assert process.poll() is None, log.read_text()
        yield port
    finally:
        process.terminate()
        wait_or_kill(process)


def render(server):
    """A small video whose caller has a trace; its id."""
    trace = secrets.token_hex(16)
    run(find_tool("grpcurl"), "-plaintext", "-H", f"traceparent: 00-{trace}-{secrets.token_hex(8)}-01",
        "-d", json.dumps({"spec": {"prompt": "a red circle", "num_inference_steps": 8}}), server.grpc, "reel.v1.VideoService/GenerateVideo")
    return trace


def arrived():
    """(trace, name of a span) of the next batch that the collector has taken."""
    path, _, body = Collector.bodies.get(timeout=SECONDS)
    assert path == "/v1/traces", path
    return {(span["traceId"], span["name"]) for resource in json.loads(body)["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]}


def traces_counted(server, result):
    found = re.search(rf'^reel_traces_total\{{[^}}]*result="{result}"[^}}]*\}} (\S+)$', scrape(server), re.MULTILINE)
    return float(found[1]) if found else 0


def configuration(port, authority, headers):
    return f'telemetry {{ otlp_endpoint: "https://127.0.0.1:{port}" otlp_ca_file: "{authority}" otlp_headers_file: "{headers}" }}'


def check_token(port, authority, folder, token):
    """One trace with a wrong token, then one with the right one."""
    headers = folder / "headers"
    write_token(headers, secrets.token_hex(16))
    with running_server(config=configuration(port, authority, headers)) as server:
        wait_until_serving(server)
        refused = render(server)
        until("the refusal is counted", lambda: traces_counted(server, "refused") == 1, SECONDS)
        log = server.log.read_text()
        assert "The collector refused traces" in log and "status 401" in log, log
        write_token(headers, token)
        taken = render(server)
        spans = arrived()
        assert {trace for trace, _ in spans} == {taken} and len(spans) >= 4, f"{refused} {taken} {spans}"
        until("the trace is counted", lambda: traces_counted(server, "sent") == 1, SECONDS)
        assert token not in server.log.read_text()
    return spans


def check_authority(port, authority, folder, token):
    """The collector's certificate is not of the authority that reeld knows: nothing is sent, and videos go on."""
    headers = folder / "headers"
    write_token(headers, token)
    with running_server(config=configuration(port, authority, headers)) as server:
        wait_until_serving(server)
        render(server)
        until("the log says why", lambda: "Traces cannot be sent" in server.log.read_text(), SECONDS)
        render(server)
        log = server.log.read_text()
        assert "certificate" in log[log.index("Traces cannot be sent"):], log
        assert traces_counted(server, "sent") == 0
    assert Collector.bodies.empty()


def main():
    if not PROGRAM.is_file():
        skip("no collector here; deploy/build/setup --collector builds it")
    if not shutil.which("openssl"):
        skip("openssl is not installed")
    sink = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=sink.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="reel-collector-") as name:
        folder, token = pathlib.Path(name), secrets.token_hex(16)
        key, certificate = make_authority(folder, "collector")
        with running_collector(folder, key, certificate, token, sink.server_address[1]) as port:
            spans = check_token(port, certificate, folder, token)
            check_authority(port, make_authority(folder, "stranger")[1], folder, token)
    sink.shutdown()
    print(f"{len(spans)} spans by https with a token: {', '.join(sorted(span for _, span in spans))}")


if __name__ == "__main__":
    sys.exit(main())
