# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' own servers on free ports of this machine, after deploy/build/setup --cluster. Its nodes are kwok's: pods are
scheduled, ready, disrupted and deleted as anywhere, but nothing runs in them and nothing is mounted.
"""

import contextlib
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import sys
import tempfile

from server import ROOT, make_certificate, run, skip, until, wait_or_kill

sys.path.insert(0, str(ROOT / "deploy/fleet"))
from local_fleet import free_ports  # noqa: E402

PROGRAMS = {name: shutil.which(name, path=f"{ROOT}/.deps/cluster/bin:{ROOT}/.deps/bin")
            for name in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubectl")}
STAGES = ROOT / ".deps/cluster/stages.yaml"
START_SECONDS = 120
WARNING = re.compile(r"^Warning: (.*)$", re.MULTILINE)


class Refused(Exception):
    """What the API server said no with."""


class Cluster:
    """Kubernetes' programs as processes, and `kubectl` for their API. `warnings`: what the API server said beside its answers."""

    def __init__(self, folder):
        self.folder, self.processes, self.warnings = pathlib.Path(folder), [], []
        self.store, self.peers, self.port = free_ports(3)
        self.kubeconfig = self.folder / "kubeconfig"

    def start(self):
        self.make_keys()
        self.start_program("etcd", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync", "--log-level", "warn",
                           "--listen-client-urls", f"http://127.0.0.1:{self.store}", "--advertise-client-urls", f"http://127.0.0.1:{self.store}",
                           "--listen-peer-urls", f"http://127.0.0.1:{self.peers}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{self.peers}",
                           "--initial-cluster", f"default=http://127.0.0.1:{self.peers}")
        self.start_program("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self.store}", "--bind-address", "127.0.0.1", "--secure-port", self.port,
                           # An address for documentation: nobody asks for the Service that it would be of.
                           "--advertise-address", "192.0.2.1", "--endpoint-reconciler-type", "none", "--service-cluster-ip-range", "10.96.0.0/16",
                           "--tls-cert-file", self.folder / "api.crt", "--tls-private-key-file", self.folder / "api.key",
                           "--token-auth-file", self.folder / "tokens", "--authorization-mode", "RBAC",
                           "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", self.folder / "account.key",
                           "--service-account-signing-key-file", self.folder / "account.key")
        self.wait_for("the API server is ready", lambda: self.answers("get", "--raw", "/readyz"))
        as_admin = ("--kubeconfig", self.kubeconfig)
        self.start_program("kube-controller-manager", *as_admin, "--leader-elect=false", "--secure-port", 0,
                           "--service-account-private-key-file", self.folder / "account.key", "--root-ca-file", self.folder / "authority.crt")
        self.start_program("kube-scheduler", *as_admin, "--leader-elect=false", "--secure-port", 0)
        self.start_program("kwok", *as_admin, "--manage-all-nodes", "--node-lease-duration-seconds", 40, "--config", STAGES)
        return self

    def make_keys(self):
        at = self.folder
        make_certificate(at / "authority.key", at / "authority.crt", name="authority of the test")
        make_certificate(at / "api.key", at / "api.crt", "-CA", at / "authority.crt", "-CAkey", at / "authority.key", "-addext", "subjectAltName=IP:127.0.0.1",
                         "-addext", "basicConstraints=critical,CA:FALSE", name="api")
        run("openssl", "genrsa", "-out", at / "account.key", "2048")
        token = secrets.token_hex(32)
        for name, text in (("tokens", f'{token},admin,admin,"system:masters"\n'), ("kubeconfig", json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "test", "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
                "clusters": [{"name": "test", "cluster": {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": str(at / "authority.crt")}}],
                "users": [{"name": "admin", "user": {"token": token}}]}))):
            (at / name).touch(mode=0o600)
            (at / name).write_text(text)

    def start_program(self, name, *flags):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes.append((name, subprocess.Popen([PROGRAMS[name], *map(str, flags)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)))

    def wait_for(self, what, condition, patience=START_SECONDS):
        """Until it holds; a program that has ended meanwhile fails the test, with its last words."""
        def holds():
            for name, process in self.processes:
                if process.poll() is not None:
                    raise AssertionError(f"{name} ended with {process.returncode}:\n{(self.folder / f'{name}.log').read_text()[-3000:]}")
            return condition()
        until(what, holds, patience)

    def environment(self):
        """Of clients of the API: no configuration, cache or plug-in of whoever runs the test."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "KUBECONFIG": str(self.kubeconfig)}

    def kubectl(self, *words, text=None):
        """What it answers. The API server's warnings are kept; raises Refused where it says no."""
        answer = subprocess.run([PROGRAMS["kubectl"], *map(str, words)], input=text, capture_output=True, text=True, timeout=180,
                                env=self.environment(), check=False)
        self.warnings += WARNING.findall(answer.stderr)
        if answer.returncode:
            raise Refused(f"kubectl {' '.join(map(str, words))}: {answer.stderr.strip()}")
        return answer.stdout

    def answers(self, *words):
        try:
            return self.kubectl(*words)
        except Refused:
            return ""

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json"))

    def apply(self, manifest, *flags):
        """By the server, which refuses fields that it does not know."""
        return self.kubectl("apply", *flags, "--server-side", "--validate=strict", "-f", "-", text=manifest if isinstance(manifest, str) else json.dumps(manifest))

    def end(self):
        """The last started first: whoever needs another one is gone before it."""
        for _, process in reversed(self.processes):
            process.terminate()
            wait_or_kill(process)


@contextlib.contextmanager
def running_cluster():
    missing = [name for name, path in PROGRAMS.items() if not path] + ([] if STAGES.is_file() else [STAGES.name])
    if missing:
        skip(f"no {', '.join(missing)} here; deploy/build/setup --cluster builds Kubernetes")
    with tempfile.TemporaryDirectory(prefix="reel-kubernetes-") as folder:
        cluster = Cluster(folder)
        try:
            yield cluster.start()
        finally:
            cluster.end()
