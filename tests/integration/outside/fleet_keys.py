#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What deploy/fleet/keys makes, at three real brokers: which key may say what, that nobody else is let in and nothing is said unencrypted; and
servers with these rights share a video without one that they lack.
"""

import contextlib
import functools
import json
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile

from nats_client import NatsClient, Refused
from server import ROOT, find_binary, run, running_server, skip, until as until_within

sys.path.insert(0, str(ROOT / "deploy/fleet"))
from local_fleet import free_ports  # noqa: E402

JOB = "reel.prod.j.studio.v1"
# Whatever a key could say, and who may.
SUBJECTS = {
    f"{JOB}.q": {"front", "both"}, f"{JOB}.r.1": {"front", "both"}, f"{JOB}.d": {"front", "both"}, f"{JOB}.x": {"front", "one", "pool", "both"},
    f"{JOB}.c.1": {"one", "pool", "both"}, f"{JOB}.f.1": {"one", "pool", "both"},
    "reel.prod.hb.front-7d9f-x2": {"front"}, "reel.prod.hb.one": {"one"}, "reel.prod.hb.pool-0": {"pool"}, "reel.prod.hb.pool-1": {"pool"}, "reel.prod.hb.both": {"both"},
    f"reel.prod.live.{JOB}.q": set(), f"reel.prod.live.{JOB}.f.1": set(), "reel.prod.live.x": set(), "reel.prod.j.studio": set(), f"{JOB}.z": set(), f"{JOB}.c": set(),
    f"{JOB}.c.1.1": set(), "reel.prod.hb.one.two": set(), "_INBOX.somebody": set(), "other": set(), "reel.other.j.t.v.q": set(), "reel.other.hb.one": set(), "$JS.API.STREAM.INFO.REEL_other": {"admin"},
    "$JS.API.STREAM.INFO.REEL": {"front", "one", "pool", "both", "admin"}, "$SYS.REQ.SERVER.PING": set(),
    "$JS.API.STREAM.INFO.REEL_prod": {"front", "one", "pool", "both", "admin"}, "$JS.API.STREAM.MSG.GET.REEL_prod": {"front", "one", "pool", "both", "admin"},
    "$JS.API.CONSUMER.CREATE.REEL_prod.a.b": {"front", "one", "pool", "both", "admin"},
    "$JS.API.CONSUMER.INFO.REEL_prod.a": {"front", "one", "pool", "both", "admin"}, "$JS.API.CONSUMER.DELETE.REEL_prod.a": {"front", "one", "pool", "both", "admin"},
    "$JS.FC.REEL_prod.a.b": {"front", "one", "pool", "both"}, "$JS.API.CONSUMER.NAMES.REEL_prod": {"admin"},
    "$JS.API.STREAM.DELETE.REEL_prod": {"admin"}, "$JS.API.STREAM.PURGE.REEL_prod": {"admin"}, "$JS.API.STREAM.UPDATE.REEL_prod": {"admin"},
    "$JS.API.STREAM.MSG.DELETE.REEL_prod": {"admin"}, "$JS.API.STREAM.CREATE.OTHER": {"admin"}, "$JS.API.STREAM.SNAPSHOT.REEL_prod": {"admin"},
    "$JS.API.STREAM.LEADER.STEPDOWN.REEL_prod": {"admin"}, "$JS.API.STREAM.PEER.REMOVE.REEL_prod": {"admin"},
}
HEARD = {"reel.other.live.>": False, "reel.prod.live.>": True, "reel.prod.hb.*": True, "reel.prod.j.>": False, ">": False, "$SYS.>": False, "$JS.API.>": False}
LOG = {"name": "REEL_prod", "subjects": ["reel.prod.j.>"], "retention": "limits", "storage": "file", "num_replicas": 3, "max_bytes": 1 << 26, "discard": "new",
       "republish": {"src": ">", "dest": "reel.prod.live.>"}}
until = functools.partial(until_within, patience=90)


def find_broker():
    path = shutil.which("nats-server", path=f"{ROOT}/.deps/bin")
    return path or skip("no nats-server here; deploy/build/setup --fleet installs it")


def make_keys(folder, *more):
    return run(ROOT / "deploy/fleet/keys", folder, *more)


def here(text, place):
    """A configuration of /etc/nats, at a place of this test."""
    return text.replace("/etc/nats", str(place)).replace("/var/lib/nats", f"{place}/data").replace("0.0.0.0", "127.0.0.1")


@contextlib.contextmanager
def running(*commands):
    processes = []
    try:
        for command, log in commands:
            with open(log, "wb") as out:
                processes.append(subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out))
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Site:
    """The folder of the keys, and clients of its brokers."""

    def __init__(self, folder, ports):
        self.folder, self.ports = folder, ports

    def seed(self, name):
        return (self.folder / "members" / name / "nkey.seed").read_text().strip()

    def connect(self, name, broker=0, **more):
        return NatsClient(self.ports[broker], self.folder / "members/front/brokers.crt", self.seed(name), **more)


def refusal(what):
    """What a connection is refused with."""
    try:
        what().close()
    except (Refused, ssl.SSLError, ConnectionError) as refused:
        return str(refused)
    raise AssertionError("a stranger was let in")


def check_strangers(site, other):
    authority = site.folder / "members/front/brokers.crt"
    said = [refusal(lambda: NatsClient(site.ports[0], authority)),  # no key
            refusal(lambda: NatsClient(site.ports[0], authority, (other / "members/front/nkey.seed").read_text().strip())),
            refusal(lambda: NatsClient(site.ports[0], None, site.seed("front"))),  # no TLS
            # A broker that is none of the fleet's: its certificate is of another authority, as that of servers is.
            refusal(lambda: NatsClient(site.ports[0], other / "members/front/brokers.crt", site.seed("front"))),
            refusal(lambda: NatsClient(site.ports[0], site.folder / "members/front/servers.crt", site.seed("front")))]
    assert "Authorization Violation" in said[0] and "Authorization Violation" in said[1], said
    assert "CERTIFICATE_VERIFY_FAILED" in said[3] and "CERTIFICATE_VERIFY_FAILED" in said[4], said


def make_log(site):
    """By a gateway, as libnats makes it; of three copies, so that the brokers know each other. Before they have a leader nobody answers."""
    def made():
        with contextlib.suppress(TimeoutError), contextlib.closing(site.connect("front", patience=1)) as front:
            return "error" not in front.request("$JS.API.STREAM.CREATE.REEL_prod", json.dumps(LOG).encode())
        return False
    until("a log of three copies", made)


def check_publishes(site):
    for name in ("front", "one", "pool", "both", "admin"):
        with contextlib.closing(site.connect(name)) as client:
            for subject, allowed in SUBJECTS.items():
                if name == "admin" and name in allowed:
                    continue  # it would do it
                assert client.may_publish(subject) == (name in allowed), f"{name}: {subject}, allowed: {name not in allowed}"
            for subject, allowed in HEARD.items():
                assert client.may_subscribe(subject) == (allowed and name != "admin"), f"{name} hears {subject}"


def check_log(site):
    """What is written is stored once and copied by the broker; what is there nobody but the admin changes."""
    with contextlib.closing(site.connect("front")) as front, contextlib.closing(site.connect("one", 1)) as one, \
            contextlib.closing(site.connect("admin", 2)) as admin:
        assert one.may_subscribe("reel.prod.live.>")
        once = "Nats-Expected-Last-Subject-Sequence: 0"
        assert "seq" in front.request("reel.prod.j.studio.v2.q", b"request", once)
        assert front.request("reel.prod.j.studio.v2.q", b"request", once)["error"]["err_code"] in (10071, 10164)
        until("the broker's copy", lambda: (one.flush(), any(to == "reel.prod.live.reel.prod.j.studio.v2.q" for to, *_ in one.messages))[1])
        other = LOG | {"republish": {"src": ">", "dest": "elsewhere.>"}}
        assert "error" in one.request("$JS.API.STREAM.CREATE.REEL_prod", json.dumps(other).encode())
        config = admin.request("$JS.API.STREAM.INFO.REEL_prod")["config"]
        assert config["republish"]["dest"] == "reel.prod.live.>", config


def check_again(site, keys, folder):
    """The same command again changes nothing but what it is asked for."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    make_keys(folder)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    secrets = [path for path in before if path.suffix in (".key", ".seed")]
    assert len(secrets) == 2 + 3 + 1 + 1 + 3 * len(keys) and all(path.stat().st_mode & 0o077 == 0 for path in secrets), secrets
    prompts = {before[path] for path in secrets if path.name == "prompts.key"}
    assert len(prompts) == 1 and re.fullmatch(rb"[0-9a-f]{64}\n", prompts.pop()), "all servers have one key for prompts"
    make_keys(folder, "--node", "late", "--remove", "one")
    reload(site)
    with contextlib.closing(site.connect("late")) as late:
        assert late.may_publish("reel.prod.hb.late")
    with contextlib.closing(site.connect("front")) as front:
        assert not front.may_publish("reel.prod.hb.late")
    assert not (folder / "members/one").exists()


def reload(site):
    for place, process in site.brokers:
        (place / "accounts.conf").write_text((site.folder / "brokers" / place.name / "accounts.conf").read_text())
        process.send_signal(signal.SIGHUP)
    until("keys that were added", lambda: not_refused(lambda: site.connect("late")))


def not_refused(connect):
    try:
        connect().close()
        return True
    except (Refused, OSError):
        return False


def check_keys(broker, scratch):
    ports = free_ports(6)
    folder, other = scratch / "keys", scratch / "other"
    keys = ["--gateway", "front", "--node", "one", "--node", "pool=2", "--server", "both"]
    brokers = [f"127.0.0.1:{client}:{route}" for client, route in zip(ports[:3], ports[3:])]
    make_keys(folder, "--fleet", "prod", *keys, *[word for one in brokers for word in ("--broker", one)])
    make_keys(other, "--fleet", "prod", "--gateway", "front", "--broker", "127.0.0.1")
    commands, places = [], []
    for source in sorted((folder / "brokers").iterdir()):
        place = scratch / "etc" / source.name
        shutil.copytree(source, place)
        config = place / "nats.conf"
        config.write_text(here(config.read_text(), place))
        commands.append(((broker, "-c", config), scratch / f"{source.name}.log"))
        places.append(place)
    site = Site(folder, ports[:3])
    with running(*commands) as processes:
        site.brokers = list(zip(places, processes))
        until("brokers", lambda: all(is_listening(port) for port in site.ports))
        check_strangers(site, other)
        make_log(site)
        check_publishes(site)
        check_log(site)
        check_again(site, ["front", "one", "pool", "both"], folder)


def is_listening(port):
    try:
        NatsClient(port)
    except ConnectionRefusedError:
        return False
    except (Refused, OSError):
        return True
    return True


def with_passwords(text):
    """The same rights for names with passwords, over plain connections of this machine: for a reeld that knows no keys of NATS."""
    text = re.sub(r"# (\S+)\n(\s+){ nkey: \w+,", r'# \1\n\2{ user: "\1", password: "secret",', text)
    return re.sub(r"(?m)^tls {.*\n", "", text)


def knows_keys():
    return "nkey_seed_file" in (ROOT / "proto/reel/config/v1/config.proto").read_text()


def fleet_block(folder, member, node, gateway=False):
    """What the keys' own snippet says, with this test's places."""
    place = folder / "members" / member
    text = (place / "fleet.textproto").read_text().replace("/etc/reel-fleet", str(place))
    if not knows_keys():
        secret = place / "credentials"
        secret.touch(0o600)
        secret.write_text(f"{member}:secret\n")
        text = re.sub(r"ca_file: \S+ nkey_seed_file: \S+", f'credentials_file: "{secret}"', text.replace("tls://", "nats://"), count=1)
    text = text.replace("replicas:", "max_bytes: 67108864 replicas:")
    return f'fleet {{ name: "prod" node: "{node}" listen: "127.0.0.1:0" {"gateway: true" if gateway else ""}\n{text} }}\n'


def start_rights(broker, scratch, folder, port):
    """One broker with the rights of the keys; its command and its log."""
    place, log = folder / f"brokers/127.0.0.1-{port}", scratch / "rights.log"
    for name in ("nats.conf", "accounts.conf"):
        text = here((place / name).read_text(), place)
        (place / name).write_text(text if knows_keys() else with_passwords(text))
    return (broker, "-c", place / "nats.conf"), log


def check_servers(broker, scratch):
    """A gateway and a node with the rights of their keys make, cancel and delete videos, and the broker refuses them nothing."""
    folder, (port,), reel = scratch / "rights", free_ports(1), find_binary("reel")
    make_keys(folder, "--fleet", "prod", "--gateway", "front", "--node", "one@127.0.0.1", "--broker", f"127.0.0.1:{port}")
    command, log = start_rights(broker, scratch, folder, port)
    card = 'models { name: "testcard" test_card { step_time { nanos: 50000000 } } }\n'
    with running((command, log)), \
            running_server(config=fleet_block(folder, "front", "front-0", True)) as front, \
            running_server(config=card + fleet_block(folder, "one", "one")) as one:
        def call(*words):
            return run(reel, *words, "--server", front.grpc)

        until("a node that is heard of", lambda: "testcard" in call("models"))
        until("a video", lambda: subprocess.run([reel, "generate", "a boat", "-o", scratch / "boat.mp4", "--server", front.grpc],
                                                capture_output=True, check=False).returncode == 0)
        name = call("create", "a boat to cancel", "--steps", 100).strip()
        call("cancel", name)
        until("its end", lambda: json.loads(call("get", name, "--json"))["state"] == "VIDEO_STATE_CANCELLED")
        call("delete", name)
        # One that comes later has to read what is there.
        with running_server(config=fleet_block(folder, "front", "front-1", True)) as late:
            until("what was there", lambda: "succeeded" in run(reel, "list", "--server", late.grpc))
            for server in (front, one, late):
                assert "broker reports an error" not in server.log.read_text(), server.log.read_text()
    assert "Violation" not in log.read_text(), log.read_text()
    print(f"servers with {'keys and TLS' if knows_keys() else 'passwords'} in the place of members")


def main():
    broker = find_broker()
    for program in ("reeld", "reel-worker", "reel"):
        find_binary(program)
    with tempfile.TemporaryDirectory(prefix="reel-keys-") as name:
        scratch = pathlib.Path(name)
        check_keys(broker, scratch)
        check_servers(broker, scratch)
    print(f"FIGURE {len(SUBJECTS)} subjects x 5 keys")


if __name__ == "__main__":
    sys.exit(main())
