# SPDX-License-Identifier: Apache-2.0
"""A whole fleet on this machine: brokers, a store, gateways and nodes, on free ports of loopback, below one folder."""

import contextlib
import json
import os
import pathlib
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

TREE = pathlib.Path(__file__).resolve().parents[2]
# Below those that systems give to connections, one of which might take a port before its program has bound it.
FIRST_PORT, LAST_PORT = 10_000, 32_000
# Every process of a fleet has it in its environment, with the fleet's folder; also what those processes start.
MARK = "REEL_LOCAL_FLEET"
KEY, SECRET, BUCKET = "local", "a-secret-of-this-machine", "reel"
LOG_BYTES = 64 << 20
PORT_TRIES = 3
START_SECONDS, LEAVE_SECONDS = 120, 10


class FleetError(Exception):
    """What went wrong, in words for whoever has started it."""


def find_programs(build):
    """name -> path. FleetError: which are missing, and which command puts them there."""
    ours = {name: build / name for name in ("reeld", "reel-worker", "reel")}
    others = {name: shutil.which(name, path=f"{TREE}/.deps/bin:{os.environ.get('PATH', '')}") for name in ("nats-server", "versitygw")}
    missing = [f"  {name} is not in {build}; deploy/quickstart builds it" for name, path in ours.items() if not os.access(path, os.X_OK)]
    missing += [f"  {name} is not installed; deploy/build/setup --fleet installs it" for name, path in others.items() if not path]
    if missing:
        raise FleetError("programs are missing:\n" + "\n".join(missing))
    return ours | others


def free_ports(count):
    """By lot: others on this machine draw, too."""
    ports = set()
    while len(ports) < count:
        with contextlib.suppress(OSError), socket.socket() as one:
            port = random.randint(FIRST_PORT, LAST_PORT)
            one.bind(("127.0.0.1", port))
            ports.add(port)
    return sorted(ports)


def get(url):
    """None where nothing answers so."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.read().decode()
    except (OSError, urllib.error.URLError, ValueError):
        return None


def wait_until(what, condition, alive=lambda: True, seconds=START_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end or not alive():
            raise FleetError(f"{what} did not start")
        time.sleep(0.02)


def log_end(folder, lines=15):
    return "\n".join((folder / "log").read_text(errors="replace").splitlines()[-lines:])


class Server:
    """A reeld that has been started; its addresses once they are known."""

    def __init__(self, name, folder, process):
        self.name, self.folder, self.process, self.ports = name, folder, process, {}

    def read_ports(self):
        text = (self.folder / "ports").read_text() if (self.folder / "ports").exists() else ""
        self.ports = dict(re.findall(r"^(\w+)=(\S+)$", text, re.MULTILINE))
        return bool(self.ports)

    def is_ready(self):
        return self.read_ports() and get(f"http://{self.ports['metrics']}/readyz") is not None

    def renders(self):
        """Videos that its devices have now."""
        found = re.search(r"^reel_inflight_requests (\d+)", get(f"http://{self.ports['metrics']}/metrics") or "", re.MULTILINE)
        return int(found[1]) if found else 0


class LocalFleet:
    """Starts what it is told to. `end` ends all of it, also what a server has left behind."""

    def __init__(self, folder, programs, models):
        self.folder, self.programs, self.models = pathlib.Path(folder), programs, models
        self.brokers, self.store, self.servers, self.processes = [], "", {}, []
        self.secret = secrets.token_hex(8)
        (self.folder / "fleet").write_text("a fleet of deploy/fleet/quickstart\n")

    def start(self, name, *command):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        with open(folder / "log", "ab") as log:
            # In a session of its own: Ctrl-C is for who has started it, and it can outlive the terminal.
            process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True, env=os.environ | {MARK: str(self.folder)})
        self.processes.append(process)
        return process

    def start_on_free_ports(self, what, count, start, is_up):
        """On other ports where another program took one before ours did, which then ends. `start` gives name -> process."""
        for tries_left in reversed(range(PORT_TRIES)):
            ports = free_ports(count)
            running = start(ports)
            try:
                return wait_until(what, lambda: is_up(ports), lambda: all(one.poll() is None for one in running.values()))
            except FleetError as late:
                ended = [name for name, one in running.items() if one.poll() is not None]
                if not ended:
                    raise
                if not tries_left:
                    raise FleetError(f"{late}; the end of its log:\n{log_end(self.folder / ended[0])}") from None
            for one in running.values():
                one.terminate()
                one.wait()
                self.processes.remove(one)

    def page(self, port, path):
        """What one of our programs answers: under a name that those of other fleets don't know, whose ports it may be."""
        return get(f"http://127.0.0.1:{port}/{self.secret}/{path}")

    def start_brokers(self, count):
        is_cluster = count > 1

        def start(ports):
            clients, routes, pages = ports[:count], ports[count:2 * count], ports[2 * count:]
            self.brokers = [f"127.0.0.1:{port}" for port in clients]
            all_routes = ", ".join(f"nats-route://127.0.0.1:{route}" for route in routes)
            running = {}
            for number, (client, route, page) in enumerate(zip(clients, routes, pages), start=1):
                name = f"broker-{number}"
                shutil.rmtree(self.folder / name, ignore_errors=True)  # of a cluster on other ports
                config = self.folder / f"{name}.conf"
                config.write_text(
                    f'server_name: {name}\nlisten: 127.0.0.1:{client}\nhttp: 127.0.0.1:{page}\nhttp_base_path: "/{self.secret}"\n'
                    f'jetstream {{ store_dir: "{self.folder}/{name}", max_mem: 16MB, max_file: 512MB, sync_interval: always }}\n'
                    + (f"cluster {{ name: local{routes[0]}, listen: 127.0.0.1:{route}, routes: [ {all_routes} ] }}\n" if is_cluster else ""))
                running[name] = self.start(name, self.programs["nats-server"], "-c", config)
            return running

        def listens(page):
            """Its page comes before its port for clients, and answers also in a broker that is about to end without one."""
            return self.page(page, "healthz?js-enabled-only=true") is not None

        def knows_all(page):
            """To whom the others are known, which the leader alone tells: before that there is no place for three copies."""
            facts = json.loads(self.page(page, "jsz") or "{}")
            others = facts.get("meta_cluster", {}).get("replicas", [])
            return bool(facts) and len(others) == count - 1 and not any(one.get("offline") for one in others)

        def are_up(ports):
            pages = ports[2 * count:]
            return all(map(listens, pages)) and any(map(knows_all, pages))
        self.start_on_free_ports("the brokers (nats-server)", 3 * count, start, are_up)

    def start_store(self):
        objects, facts = self.folder / "store/objects", self.folder / "store/facts"
        (objects / BUCKET).mkdir(parents=True)
        facts.mkdir()
        credentials = self.folder / "credentials"
        credentials.touch(mode=0o600)
        credentials.write_text(f"{KEY}:{SECRET}\n")

        def start(ports):
            self.store = f"http://127.0.0.1:{ports[0]}"
            return {"store": self.start("store", self.programs["versitygw"], "--quiet", "--access", KEY, "--secret", SECRET, "--health",
                                        f"/{self.secret}/up", "--port", f"127.0.0.1:{ports[0]}", "posix", "--sidecar", facts, objects)}
        self.start_on_free_ports("the store (versitygw)", 1, start, lambda ports: self.page(ports[0], "up") is not None)

    def start_server(self, name, is_gateway):
        """Returns at once; `wait_ready` waits for all. Under a name that has been there it goes on with that one's data."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "ports").unlink(missing_ok=True)
        urls = " ".join(f'urls: "nats://{broker}"' for broker in self.brokers)
        (folder / "reel.textproto").write_text(
            ("" if is_gateway else f"{self.models}\n") +
            "data { max_bytes: 1000000000 }\ntiming { drain { seconds: 1 } }\n"
            f'fleet {{\n  name: "local" node: "{name}" listen: "127.0.0.1:0"{" gateway: true" if is_gateway else ""}\n'
            f"  nats {{ {urls} replicas: {len(self.brokers)} max_bytes: {LOG_BYTES} }}\n"
            f'  objects {{ endpoint: "{self.store}" bucket: "{BUCKET}" credentials_file: "{self.folder}/credentials" }}\n}}\n')
        process = self.start(name, self.programs["reeld"], "--config", folder / "reel.textproto", "--listen", "127.0.0.1:0",
                             "--metrics", "127.0.0.1:0", "--http", "127.0.0.1:0", "--port_file", folder / "ports", "--data_dir", folder / "data")
        self.servers[name] = Server(name, folder, process)

    def wait_ready(self):
        for server in self.servers.values():
            try:
                wait_until(server.name, server.is_ready, lambda one=server: one.process.poll() is None)
            except FleetError as late:
                raise FleetError(f"{late}; the end of its log:\n{log_end(server.folder)}") from None

    def find_renderer(self):
        """The server whose devices have a video now; None while none has."""
        return next((one for one in self.servers.values() if one.process.poll() is None and one.renders()), None)

    def end(self):
        end_processes(self.folder)
        for process in self.processes:
            process.wait()


def processes_of(folder):
    """pid -> name of the program, of all that run with this folder's mark."""
    wanted, found = f"{MARK}={folder}".encode(), {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "comm").read_text().strip()
    return found


def end_processes(folder):
    """Servers first, since they say good-bye to brokers and the store; what does not leave is killed."""
    def is_server(name):
        return name.startswith("reel")

    for chosen in (is_server, lambda name: not is_server(name)):
        def left(wanted=chosen):
            return [pid for pid, name in processes_of(folder).items() if wanted(name)]

        for pid in left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + LEAVE_SECONDS
        while left():
            late = time.monotonic() > end
            for pid in left() if late else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
