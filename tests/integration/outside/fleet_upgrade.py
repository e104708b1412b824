#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that was alone becomes one of a fleet, on its own data folder: what it has made stays where it is under its old names, what it had not done is
the fleet's under its old name, and what is asked for from then on is the fleet's.
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import uuid

from fleet_keys import until
from server import ROOT, find_binary, skip

sys.path.insert(0, str(ROOT / "deploy/fleet"))
from local_fleet import FleetError, LocalFleet, Server, find_programs, wait_until  # noqa: E402

MODELS = 'models { name: "testcard" test_card { step_time { nanos: 50000000 } } }'


def reel(fleet, server, *words, code=0):
    command = [fleet.programs["reel"], *words, "--server", server.ports["grpc"]]
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == code, answer
    return (answer.stdout if code == 0 else answer.stderr).strip()


def state(fleet, server, video):
    return json.loads(reel(fleet, server, "get", video, "--json"))["state"]


def start_alone(fleet, name):
    """As LocalFleet starts it, but for the fleet."""
    folder = fleet.folder / name
    folder.mkdir()
    (folder / "reel.textproto").write_text(MODELS + "\ndata { max_bytes: 1000000000 }\n")
    process = fleet.start(name, fleet.programs["reeld"], "--config", folder / "reel.textproto", "--listen", "127.0.0.1:0",
                          "--metrics", "127.0.0.1:0", "--port_file", folder / "ports", "--data_dir", folder / "data")
    server = Server(name, folder, process)
    wait_until(name, server.is_ready, lambda: process.poll() is None)
    return server


def check(fleet):
    alone = start_alone(fleet, "old")
    call = ("create", "a boat", "--steps", 5, "--seed", 1, "--request-id", uuid.uuid4())
    done, waiting = reel(fleet, alone, *call), reel(fleet, alone, "create", "a boat that waits", "--steps", 60)
    assert reel(fleet, alone, *call) == done
    until("a video", lambda: state(fleet, alone, done) == "VIDEO_STATE_SUCCEEDED")
    before = reel(fleet, alone, "get", done, "--json")
    alone.process.send_signal(signal.SIGKILL)  # in the middle of the second
    alone.process.wait()

    fleet.start_brokers(1)
    fleet.start_store()
    fleet.start_server("old", is_gateway=False)
    fleet.start_server("gateway", is_gateway=True)
    fleet.wait_ready()
    old, gateway = fleet.servers["old"], fleet.servers["gateway"]
    # What was there is there, under its names, at this server.
    assert reel(fleet, old, "get", done, "--json") == before
    reel(fleet, old, "download", done, "-o", fleet.folder / "old.mp4")
    # What it had not done any server shows.
    until("what it had not done", lambda: state(fleet, gateway, waiting) == "VIDEO_STATE_SUCCEEDED")
    reel(fleet, gateway, "download", waiting, "-o", fleet.folder / "waiting.mp4")
    assert int(json.loads(reel(fleet, old, "get", waiting, "--json"))["attempt"]) > 1
    # What comes now is the fleet's.
    new = reel(fleet, gateway, *call)
    assert reel(fleet, old, *call) == new
    assert new.startswith("videos/local-") and not done.startswith("videos/local-"), (done, new)
    until("the new one", lambda: state(fleet, gateway, new) == "VIDEO_STATE_SUCCEEDED")
    assert {done, waiting, new} <= {one["name"] for one in json.loads(reel(fleet, old, "list", "--json"))["videos"]}
    # Elsewhere what had finished is another server's.
    assert "another server" in reel(fleet, gateway, "get", done, code=8)
    assert done not in reel(fleet, gateway, "list", "--json") and new in reel(fleet, gateway, "list", "--json")
    # And what is done with them is done there.
    reel(fleet, old, "delete", done)
    assert reel(fleet, old, "get", done, code=8)


def main():
    began = time.monotonic()
    try:
        programs = find_programs(pathlib.Path(find_binary("reeld")).parent)
    except FleetError as missing:
        skip(str(missing))
    with tempfile.TemporaryDirectory(prefix="reel-upgrade-") as folder:
        fleet = LocalFleet(folder, programs, MODELS)
        try:
            check(fleet)
        finally:
            fleet.end()
    print(f"FIGURE all of it in {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
