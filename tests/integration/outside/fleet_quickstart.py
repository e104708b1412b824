#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/fleet/quickstart as a stranger meets it: what it says when a program is missing, its story of a node that dies with the test card, the
fleet that it keeps, and that nothing of it is left behind, also at Ctrl-C.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from server import ROOT, find_binary, run, skip

sys.path.insert(0, str(ROOT / "deploy/fleet"))
import local_fleet  # noqa: E402
from local_fleet import FleetError, LocalFleet, find_programs, processes_of  # noqa: E402

QUICKSTART = ROOT / "deploy/fleet/quickstart"
PATIENCE_SECONDS = 90
# What it prints, in this order.
STORY = [r"3 brokers \(nats-server\): 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+", r"a store \(versitygw\): http://127\.0\.0\.1:\d+, bucket reel",
         r"node-1 .*gRPC 127\.0\.0\.1:\d+", r"gateway-2 .*HTTP 127\.0\.0\.1:\d+", r"accepted as videos/local-\w+", r"(?P<first>node-\d) renders it",
         r"step \d+ of 30", r"(?P<dead>node-\d) is killed \(SIGKILL\)", r"the stream says: restarted, attempt (?P<attempt>\d+)",
         r"(?P<second>node-\d) renders it", r"the stream says: finished", r"`reel watch` has the whole file",
         r"gateway-1, as it came: sha256 (?P<one>\w{64})", r"gateway-2, from the store: sha256 (?P<two>\w{64})",
         r"one stream went on, (?P<seconds>[\d.]+) s after the kill"]


def start(programs, output, *flags):
    """With a folder of its own for what it makes, so that what is left there is seen."""
    return subprocess.Popen([QUICKSTART, "--test-card", "--bin", programs, "--output", output, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, env=os.environ | {"TMPDIR": str(output.parent)})


def folders_in(scratch):
    return list(scratch.glob("reel-fleet.*"))


def check_missing(scratch):
    answer = subprocess.run([QUICKSTART, "--bin", scratch], capture_output=True, text=True, check=False, env=os.environ | {"PATH": "/usr/bin:/bin"})
    assert answer.returncode == 1 and "deploy/quickstart builds it" in answer.stderr and "Traceback" not in answer.stderr, answer
    assert not folders_in(scratch)


@contextlib.contextmanager
def drawing(port, place, times):
    """The first draws have this port in this place. Yields a list with an entry for each draw."""
    draw, drawn = local_fleet.free_ports, []

    def with_the_taken_one(count):
        drawn.append(count)
        ports = draw(count)
        return ports[:place] + [port] + ports[place + 1:] if len(drawn) <= times else ports

    local_fleet.free_ports = with_the_taken_one
    try:
        yield drawn
    finally:
        local_fleet.free_ports = draw


@contextlib.contextmanager
def new_fleet(programs, folder):
    folder.mkdir()
    fleet = LocalFleet(folder, find_programs(pathlib.Path(programs)), "")
    try:
        yield fleet
    finally:
        fleet.end()


def expect_no_start(start_part, *arguments):
    try:
        start_part(*arguments)
    except FleetError as error:
        assert "did not start" in str(error) and "address already in use" in str(error), error
    else:
        raise AssertionError("it counts as started")


# Shows its page for a while, as a broker does before it finds that its port for clients is taken, and ends as such a one.
PAGE_ONLY = """#!{python}
import http.server, pathlib, re, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(500 if "/healthz" in self.path else 200)
        self.end_headers()
        self.wfile.write(b'{{"config": {{}}}}')
host, port = re.search(r"^http: (.+):(\\d+)$", pathlib.Path(sys.argv[2]).read_text(), re.MULTILINE).groups()
server = http.server.HTTPServer((host, int(port)), Page)
for _ in range(3):
    server.handle_request()
sys.exit("address already in use")
"""


def check_page_before_port(programs, scratch):
    """A broker that has a page and no port for clients has not started."""
    with new_fleet(programs, scratch / "page-only") as fleet:
        broker = fleet.folder / "nats-server"
        broker.write_text(PAGE_ONLY.format(python=sys.executable))
        broker.chmod(0o755)
        fleet.programs["nats-server"] = broker
        expect_no_start(fleet.start_brokers, 1)


def check_taken_port(programs, scratch):
    """A port that another program has by the time ours wants it, be that one of another fleet."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with new_fleet(programs, scratch / "taken-once") as fleet, drawing(port, 0, 1) as drawn:
            fleet.start_brokers(1)
            assert len(drawn) == 2 and fleet.brokers != [f"127.0.0.1:{port}"], (drawn, fleet.brokers)
        with new_fleet(programs, scratch / "taken-always") as fleet, drawing(port, 0, 2 * local_fleet.PORT_TRIES) as drawn:
            expect_no_start(fleet.start_brokers, 1)
            expect_no_start(fleet.start_store)
            assert len(drawn) == 2 * local_fleet.PORT_TRIES, drawn
    with new_fleet(programs, scratch / "other") as other, new_fleet(programs, scratch / "own") as fleet:
        other.start_brokers(1)
        other.start_store()
        page = int(re.search(r"^http: .+:(\d+)$", (other.folder / "broker-1.conf").read_text(), re.MULTILINE)[1])
        with drawing(page, 2, 1) as drawn:
            fleet.start_brokers(1)
            assert len(drawn) == 2, "the other's page was taken for its own"
        with drawing(int(other.store.rsplit(":", 1)[1]), 0, 1) as drawn:
            fleet.start_store()
            assert len(drawn) == 2 and fleet.store != other.store, "the other's store was taken for its own"


def check_story(programs, scratch):
    """Returns the folder of the fleet, which runs on."""
    process = start(programs, scratch / "video.mp4", "--keep")
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, said
    found = re.search(".*?".join(STORY), said, re.DOTALL)
    assert found, said
    assert found["first"] == found["dead"] != found["second"] and int(found["attempt"]) >= 2 and found["one"] == found["two"], said
    assert (scratch / "video.mp4").read_bytes()[4:8] == b"ftyp"
    print(f"FIGURE the stream goes on {found['seconds']} s after the kill")
    folder, = folders_in(scratch)
    return said, folder


def check_kept(said, folder):
    """What it tells to type works; all of it ends with the word that it tells."""
    names = sorted(processes_of(folder).values())
    assert [names.count(name) for name in ("nats-server", "versitygw", "reeld")] == [3, 1, 5], names
    listing = re.search(r"^  (\S+reel list --server \S+)$", said, re.MULTILINE)[1]
    assert "succeeded" in run("bash", "-c", listing)
    ending = re.search(r"^  (\S+quickstart --end \S+)$", said, re.MULTILINE)[1]
    assert "Ended" in run("bash", "-c", ending)
    assert not processes_of(folder) and not folder.exists()
    refused = subprocess.run([QUICKSTART, "--end", folder], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and "no folder of a fleet" in refused.stderr, refused


def check_interrupt(programs, scratch):
    process = start(programs, scratch / "interrupted.mp4")
    folder = None
    for line in process.stdout:
        if "its folder is" in line:
            folder = line.split()[-1]
        if "a store" in line:  # servers are being started
            process.send_signal(signal.SIGINT)
            break
    rest, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130 and "Ended and removed the fleet." in rest and "Traceback" not in rest, (process.returncode, rest)
    assert not processes_of(folder) and not folders_in(scratch) and not (scratch / "interrupted.mp4").exists()


def main():
    for program in ("nats-server", "versitygw"):
        if not shutil.which(program, path=f"{ROOT}/.deps/bin"):
            skip(f"no {program} here; deploy/build/setup --fleet installs it")
    programs = find_binary("reeld").parent
    find_binary("reel-worker")
    find_binary("reel")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="reel-quickstart-test-") as name:
        scratch = pathlib.Path(name)
        check_missing(scratch)
        check_page_before_port(programs, scratch)
        check_taken_port(programs, scratch)
        check_kept(*check_story(programs, scratch))
        check_interrupt(programs, scratch)
    print(f"FIGURE all of it in {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
