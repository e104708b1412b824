#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each alert's drill makes it fire in a real Prometheus, and no other; a server that works makes none fire.

The rules are those of deploy/prometheus/rules.yaml with every window and waiting time divided by FASTER, so that two minutes pass in
two and a half seconds; thresholds stay. Every drill has a server and a Prometheus of its own, and four of them wait at a time.

    alerts.py [DRILL...]     all of them unless said
"""

import concurrent.futures
import contextlib
import http.server
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from fleet_parts import Stranger, fleet_parts, has_fleet_parts
from scraper import prometheus
from server import ROOT, find_tool, make_certificate, run, running_server, scrape, wait_until_serving

FASTER = 50
LONGEST_FOR = 6000  # milliseconds, of a rule's `for`, made faster
PATIENCE = 60  # seconds
SETTLED = 1.5  # seconds in which no other alert may come
SELF_CHECK_SECONDS = 5
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
BURN_PAGE, BURN_TICKET = "ReelErrorBudgetBurn page", "ReelErrorBudgetBurn ticket"


def faster_rules():
    text = (ROOT / "deploy/prometheus/rules.yaml").read_text(encoding="utf-8")

    def shorter(match):
        took = int(match[2]) * SECONDS[match[3]] * 1000 // FASTER
        return f"{match[1]}{took if match[1] == '[' else min(took, LONGEST_FOR)}ms"
    return re.sub(r"(\[|for: )(\d+)([smhd])\b", shorter, text)


def firing(address):
    """Names and severities."""
    try:
        with urllib.request.urlopen(f"http://{address}/api/v1/alerts", timeout=5) as answer:
            alerts = json.load(answer)["data"]["alerts"]
    except OSError:
        return set()  # it is still starting
    return {f"{alert['labels']['alertname']} {alert['labels']['severity']}" for alert in alerts if alert["state"] == "firing"}


@contextlib.contextmanager
def quiet_prometheus(target):
    """With the faster rules, once no alert fires: before its first scrape it knows of no server."""
    with prometheus(target, faster_rules(), "200ms") as address:
        end = time.monotonic() + PATIENCE
        while firing(address):
            assert time.monotonic() < end, f"an alert fires before anything went wrong: {firing(address)}"
            time.sleep(0.1)
        yield address


def value(server, metric):
    """Of a family, or of one series of it."""
    return sum(float(line.rsplit(" ", 1)[1]) for line in scrape(server).splitlines() if line.startswith((f"{metric} ", f"{metric}{{")))


def ask(server, method, prompt, **spec):
    request = {"spec": {"prompt": prompt, "width": 128, "height": 96, "num_frames": 9, **spec}}
    return subprocess.run([find_tool("grpcurl"), "-plaintext", "-d", json.dumps(request), server.grpc,
                           f"reel.v1.VideoService/{method}"], capture_output=True, text=True, timeout=60, check=False)


def render(server, prompts):
    for prompt in prompts:
        ask(server, "GenerateVideo", prompt, num_inference_steps=2)


# Each makes something go wrong, and returns when it has.

def nothing(server):
    render(server, ["a boat"] * 8)


def end_of_the_server(server):
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(30)


def workers_that_die(server):
    killed = set()
    for _ in range(3):
        end = time.monotonic() + PATIENCE
        while not (new := children_of(server.process.pid) - killed):
            assert time.monotonic() < end, "a killed worker was not replaced"
            time.sleep(0.05)
        for child in new:
            os.kill(child, signal.SIGKILL)
        killed |= new


def children_of(process):
    """The parent's number comes second after the name, which may hold anything."""
    children = set()
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            if stat.read_text().rsplit(")", 1)[1].split()[1] == str(process):
                children.add(int(stat.parent.name))
    return children


def queue_that_fills(server):
    """By small ones: the last that fits must bring it above nine tenths, and on a busy machine each is longer than it should be."""
    render(server, ["a boat"])  # the server learns what a step takes
    while value(server, "reel_queue_backlog_seconds") < 0.9 * value(server, "reel_queue_capacity_seconds"):
        answer = ask(server, "CreateVideo", "a boat", num_inference_steps=10)
        assert answer.returncode == 0, answer.stderr


def a_video_that_nobody_renders(server):
    """Its model comes back once the alert has told of it: next to nothing waits, for long."""
    end = time.monotonic() + PATIENCE
    while value(server, 'reel_model_ready{model="late"}') != 1:
        assert time.monotonic() < end, "the model has not been loaded"
        time.sleep(0.1)
    for child in children_of(server.process.pid):
        if b"late" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(child, signal.SIGKILL)
    answer = ask(server, "CreateVideo", "a boat", num_inference_steps=2, model="late")
    assert answer.returncode == 0, answer.stderr


def store_that_fills(server):
    while value(server, "reel_result_store_bytes") < 0.82 * value(server, "reel_result_store_limit_bytes"):
        answer = ask(server, "GenerateVideo", "a boat", num_inference_steps=2)
        assert answer.returncode == 0, answer.stderr


def descriptors_that_go(server):
    """A limit with room for little beside what callers hold, who stay until the drill is over."""
    host, port = server.grpc.rsplit(":", 1)
    before = value(server, "process_open_fds")
    server.callers = [socket.create_connection((host, int(port))) for _ in range(60)]
    end = time.monotonic() + PATIENCE
    while (used := int(value(server, "process_open_fds"))) < before + 60:
        assert time.monotonic() < end, used
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (used + 8, used + 8))


def a_call_of_its_own_without_an_answer(server):
    """For the moment in which it calls itself, every 5 s from its start on, it has no descriptor for the call. Scrapes miss that moment, too, for less
    time than makes anybody call it down."""
    grace, told, process = 0.4, "The server did not answer its own call", server.process.pid
    while told not in server.log.read_text():
        time.sleep((server.began - grace - time.time()) % SELF_CHECK_SECONDS)
        before, used = resource.prlimit(process, resource.RLIMIT_NOFILE), set(os.listdir(f"/proc/{process}/fd"))
        lowest_free = next(number for number in itertools.count() if str(number) not in used)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (lowest_free, before[1]))
        end = time.monotonic() + 3 * grace
        while told not in server.log.read_text() and time.monotonic() < end:
            time.sleep(0.02)
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)


def half_that_fail(server):
    render(server, ["a boat", "poison"] * 6)


def one_in_twenty_five_that_fails(server):
    """Never more than that, or the page would be right: it comes last but for a few."""
    render(server, ["a boat"] * 24 + ["poison"] + ["a boat"] * 6)


def certificate_that_ends_soon(server):
    """It does so by itself."""


class Refuses(http.server.BaseHTTPRequestHandler):
    """A collector that takes no traces."""

    def do_POST(self):  # noqa: N802 - the library's name
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(400)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def collector_that_refuses():
    """A configuration with it."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as collector:
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        yield card() + f'telemetry {{ otlp_endpoint: "http://127.0.0.1:{collector.server_port}" }}\n'
        collector.shutdown()


def traces_that_are_refused(server):
    render(server, ["a boat"])


def a_device_that_goes(server):
    """The one video that it had fails: one in thirty-one, which is no page's share."""
    render(server, ["a boat"] * 24)
    ask(server, "GenerateVideo", "a boat", num_inference_steps=2, model="fragile")
    render(server, ["a boat"] * 6)


# Of a server that is part of a fleet: `server.parts` are its broker and its store.

def brokers_that_are_gone(server):
    server.parts.broker_process.kill()


def a_node_that_is_far_ahead(server):
    server.stranger = Stranger(server.parts.broker)
    server.stranger.beat_on(build=build_of(server), position=10**6)


def another_build(server):
    server.stranger = Stranger(server.parts.broker)
    server.stranger.beat_on(build="0.0.1 older")


def build_of(server):
    return re.sub(r'.*reel_build_info\{revision="([^"]*)",version="([^"]*)"\}.*', r"\2 \1", scrape(server), flags=re.DOTALL)


def a_node_that_dies_with_what_it_has(server):
    """While the server is busy with a long one a stranger claims what waits, and is not heard of again."""
    server.stranger = Stranger(server.parts.broker)
    server.stranger.beat(build=build_of(server))
    for steps in (60, *[2] * 24):  # of some the server, which holds two, is quicker
        name = json.loads(ask(server, "CreateVideo", "a boat", num_inference_steps=steps).stdout)["video"]["name"]
        if steps == 2:
            server.stranger.claim("default", name.removeprefix("videos/"))


def a_store_that_is_gone(server):
    server.parts.store_process.kill()
    for _ in range(3):
        answer = ask(server, "CreateVideo", "a boat", num_inference_steps=2)
        assert answer.returncode == 0, answer.stderr


FRAGILE = """models { name: "fragile" test_card { faults { kind: "lost" step: 1 } } }
workers { name: "good" device: "cpu" models: "testcard" } workers { name: "weak" device: "cpu" models: "fragile" }
"""
LATE = """models { name: "late" test_card { load_time { seconds: 8 } } }
workers { name: "good" device: "cpu" models: "testcard" } workers { name: "late" device: "cpu" models: "late" }
scheduler { max_backlog_seconds: 1 } timing { drain { seconds: 1 } }
"""
POISON = 'faults { kind: "nan" step: 1 prompt_contains: "poison" }'


def card(step_ms=1, more=""):
    seconds, ms = divmod(step_ms, 1000)
    return f'models {{ name: "testcard" test_card {{ step_time {{ seconds: {seconds} nanos: {ms * 1000000} }} {more} }} }}\n'


def certificate(folder, days):
    key, file = pathlib.Path(folder, "tls.key"), pathlib.Path(folder, "tls.crt")
    make_certificate(key, file, days=days)
    return card() + f'tls {{ certificate_file: "{file}" key_file: "{key}" }}\n'


# What goes wrong, the configuration in which it does, and all that may fire then.
DRILLS = (
    (nothing, card(), set()),
    (end_of_the_server, card(), {"ReelDown page"}),
    (workers_that_die, card(), {"ReelWorkerCrashLoop page"}),
    (a_device_that_goes, card() + FRAGILE, {"ReelDeviceOut page", BURN_TICKET}),
    (queue_that_fills, card(1000, "step_time_per_extra_job { seconds: 1 }") + "scheduler { max_backlog_seconds: 200 } timing { drain { seconds: 1 } }", {"ReelQueueBacklogHigh ticket"}),
    (a_video_that_nobody_renders, card() + LATE, {"ReelQueueAgeHigh page"}),
    (store_that_fills, card() + "data { max_bytes: 400000 }", {"ReelStoreAlmostFull ticket"}),
    (descriptors_that_go, card(), {"ReelDescriptorsAlmostGone page"}),
    (a_call_of_its_own_without_an_answer, card(), {"ReelSelfCheckFailing page"}),
    (half_that_fail, card(more=POISON), {BURN_PAGE, BURN_TICKET}),
    (one_in_twenty_five_that_fails, card(more=POISON), {BURN_TICKET}),
)
FLEET_DRILLS = (
    (brokers_that_are_gone, card(), {"ReelFleetLogUnreachable page"}),
    (a_node_that_is_far_ahead, card(), {"ReelFleetLagHigh page"}),
    (a_node_that_dies_with_what_it_has, card(50) + "scheduler { fill_rows: 1 }\n", {"ReelFleetTakeoversHigh ticket"}),
    (a_store_that_is_gone, card(), {"ReelFleetUploadsWaiting page"}),
    (another_build, card(), {"ReelFleetMixedBuilds ticket"}),
)


def fleet_drill(happens, config, expected):
    with fleet_parts(deliver_backlog=4) as parts:
        return drill(happens, config + parts.config, expected, parts)


def drill(happens, config, expected, parts=None):
    """True, or what fired beside what should have."""
    with running_server(config=config) as server:
        server.parts = parts
        if "tls {" not in config:  # where the probe is in plain text
            wait_until_serving(server)
        with quiet_prometheus(server.metrics) as watcher:
            begin = time.monotonic()
            happens(server)
            fired, first, end = set(), None, time.monotonic() + PATIENCE
            while time.monotonic() < end and fired <= expected:
                fired |= firing(watcher)
                if fired >= expected:
                    first = first or time.monotonic()
                    if time.monotonic() > first + SETTLED:
                        break
                time.sleep(0.1)
    seconds = "" if first is None else f"{first - begin:.1f} s"
    print(f"FIGURE {happens.__name__}: {', '.join(sorted(fired)) or 'nothing'} {seconds}", flush=True)
    return fired == expected or f"{happens.__name__}: fired {sorted(fired)}, expected {sorted(expected)}"


def main():
    find_tool("prometheus"), find_tool("grpcurl")
    with tempfile.TemporaryDirectory(prefix="reel-alerts-") as folder, collector_that_refuses() as refused:
        last = ((certificate_that_ends_soon, certificate(folder, 3), {"ReelCertificateExpiresSoon ticket"}),
                (traces_that_are_refused, refused, {"ReelTracesDropped ticket"}))
        if not has_fleet_parts():
            print("no nats-server or no versitygw here (deploy/build/setup --fleet): the drills of a fleet are left out")
        of_fleets = FLEET_DRILLS if has_fleet_parts() else ()
        drills = [row for row in (*DRILLS, *last, *of_fleets) if not sys.argv[1:] or row[0].__name__ in sys.argv[1:]]
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
            results = list(pool.map(lambda row: (fleet_drill if row in FLEET_DRILLS else drill)(*row), drills))
    problems = [result for result in results if result is not True]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
