#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pods that a cluster would start from deploy/kubernetes and deploy/helm, with the volumes as folders: reeld takes each
configuration, also those of a fleet with the pod's name in it and keys of deploy/fleet/keys; the init container finds damaged weights, and the secured
pod serves TLS, tokens and probes.
"""

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from fleet_keys import knows_keys, make_keys
from server import ROOT, find_binary, find_tool, make_certificate, run, running_server, wait_for_health

sys.path.insert(0, str(ROOT / "tests/lint/deploy"))
import fleet_chart  # noqa: E402
from kubernetes import CHART, MANIFESTS, OVERLAYS, VALUES, VERSION, by_kind, container  # noqa: E402
from tools import site_packages, skip  # noqa: E402

TOKEN = "a-token-of-this-test"


def renderings():
    """By name: the documents."""
    sys.path.append(site_packages())
    try:
        import yaml
    except ImportError:
        skip("PyYAML is not installed")
    for name in OVERLAYS:
        yield f"overlay {name}", list(yaml.safe_load_all(run(find_tool("kustomize"), "build", MANIFESTS / "overlays" / name)))
    for name in VALUES:
        text = run(find_tool("helm"), "template", "reel", CHART, "--kube-version", VERSION, "-f", CHART / name)
        yield f"chart with {name}", [document for document in yaml.safe_load_all(text) if document]
    for name in fleet_chart.VALUES:
        if not knows_keys() and "mesh" not in name:
            continue  # this reeld cannot read it
        text = run(find_tool("helm"), "template", "reel", CHART, "--namespace", "reel", "--kube-version", VERSION, "-f", CHART / name)
        yield f"fleet with {name}", [document for document in yaml.safe_load_all(text) if document]


def pods_of(found):
    """(name, pod, its configuration) of whatever has pods."""
    for name, documents in found:
        for document in documents:
            if document["kind"] in ("StatefulSet", "Deployment"):
                pod = document["spec"]["template"]["spec"]
                config = next(volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume)
                yield f"{name}: {document['metadata']['name']}", pod, by_kind(documents, "ConfigMap", config)["data"]["reel.textproto"]


def mount_secret(folder, files):
    """As the kubelet does: a folder of links to a dated one, files of mode 0440, root's and the pod's group's."""
    data = folder / "..2026_01_01"
    data.mkdir(parents=True)
    (folder / "..data").symlink_to(data.name)
    for name, content in files.items():
        (data / name).write_bytes(content)
        (data / name).chmod(0o440)
        (folder / name).symlink_to(f"..data/{name}")


def make_volumes(root):
    """What a pod finds below its mounts, in `root`."""
    key, certificate = root / "key", root / "certificate"
    make_certificate(key, certificate, "-addext", "subjectAltName=DNS:localhost")
    mount_secret(root / "etc/reel-tls", {"tls.crt": certificate.read_bytes(), "tls.key": key.read_bytes()})
    token = hashlib.sha256(TOKEN.encode()).hexdigest()
    mount_secret(root / "etc/reel-tokens", {"tokens": f"{token} studio user\n".encode()})
    mount_secret(root / "etc/reel-traces", {"ca.crt": certificate.read_bytes(), "headers": b"Authorization: Bearer of-the-test\n"})
    make_keys(root / "keys", "--fleet", "prod", "--gateway", "front", "--broker", "nats-0.nats.nats")
    mount_secret(root / "etc/reel-fleet", {path.name: path.read_bytes() for path in (root / "keys/members/front").iterdir()})
    mount_secret(root / "etc/reel-store", {"credentials": b"key:secret\n"})
    (root / "etc/reel").mkdir()
    (root / "etc/reel-config").mkdir()
    (root / "var/lib/reel").mkdir(parents=True)
    model = root / "models/ltx-video"
    shutil.copytree(ROOT / "model/demo/weights", model)
    (root / "models/ltx-video-13b").symlink_to(model)
    files = sorted(str(path.relative_to(model)) for path in model.rglob("*.safetensors"))
    (model / "SHA256SUMS").write_text(run("sha256sum", *files, cwd=model))


def inside(root, text):
    """Absolute places of the pod, in `root`."""
    return re.sub(r"/(models|etc/reel(?:-tls|-tokens|-traces|-fleet|-store|-config)?|var/lib/reel)(?=[/\"\s])", rf"{root}/\1", text)


def place_configuration(root, pod, text):
    """What the init container makes of a ConfigMap, called one-0."""
    (root / "etc/reel-config/reel.textproto").write_text(text)
    place = next(one for one in pod["initContainers"] if one["name"] == "place-config")
    subprocess.run([inside(root, part) for part in place["command"]], env={"POD_HOST": "one-0.one.reel.svc", "PATH": "/usr/bin:/bin"}, timeout=60, check=True)
    placed = (root / "etc/reel/reel.textproto").read_text()
    assert "POD_HOST" not in placed and 'advertise: "one-0.one.reel.svc:50053"' in placed, placed
    return placed


def check_configuration(reeld, root, name, pod, text):
    if any(one["name"] == "place-config" for one in pod.get("initContainers", [])):
        text = place_configuration(root, pod, text)
    text = inside(root, text).replace("cuda:0", "cpu")
    config = root / "reel.textproto"
    config.write_text(text)
    answer = subprocess.run([reeld, "--config", config, "--check_config"], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, f"{name}: {answer.stdout}{answer.stderr}\n{text}"
    return text


def check_weights(root, name, pod):
    """The command of the init container, twice: weights as they are, and with a byte of them changed."""
    command = [inside(root, part) for part in pod["initContainers"][0]["command"]]
    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0, f"{name}: {command}"
    file = next((root / "models").rglob("*.safetensors"))
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert answer.returncode != 0 and file.name in answer.stdout + answer.stderr, f"{name}: damage passes: {answer}"
    finally:
        file.write_bytes(whole)


def call(root, server, *flags):
    port = server.grpc.rsplit(":", 1)[1]
    return subprocess.run([find_tool("grpcurl"), "-cacert", root / "certificate", *flags,
                           "-import-path", ROOT / "proto", "-proto", "reel/v1/server_service.proto",
                           f"localhost:{port}", "reel.v1.ServerService/GetServerInfo"],
                          capture_output=True, text=True, timeout=60, check=False)


def serve_secured(root, config, pod):
    """On ports of this machine. Each probe of the pod must be answered without TLS, each call needs its token."""
    config = config.replace('health_listen: "0.0.0.0:50052"', 'health_listen: "127.0.0.1:0"')
    with running_server(config=config) as server:
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            wait_for_health(server.health, container(pod)[kind]["grpc"]["service"], server.log)
        anybody = call(root, server)
        assert "Unauthenticated" in anybody.stderr, anybody
        known = call(root, server, "-H", f"authorization: Bearer {TOKEN}")
        assert known.returncode == 0 and '"version"' in known.stdout, known.stderr


def main():
    reeld = find_binary("reeld")
    with tempfile.TemporaryDirectory(prefix="reel-cluster-") as folder:
        root, secured, pods = pathlib.Path(folder), 0, 0
        make_volumes(root)
        for name, pod, text in pods_of(renderings()):
            config = check_configuration(reeld, root, name, pod, text)
            if any(one["name"] == "check-weights" for one in pod.get("initContainers", [])):
                check_weights(root, name, pod)
            if "tokens_file" in config and name.startswith("overlay"):
                serve_secured(root, config, pod)
                secured += 1
            pods += 1
        assert secured == 1 and pods >= 8, (secured, pods)
    print(f"{pods} pods")


if __name__ == "__main__":
    sys.exit(main())
