#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' own API server, controllers and scheduler take each overlay and the chart with each of its examples: no field that it does not know,
no warning, every pod scheduled and ready; a new image comes one pod after another, scaling and disruptions keep within what is promised.

By hand, after deploy/build/setup --tests --cluster: ctest --test-dir build/release -L kubernetes -V
"""

import concurrent.futures
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cluster_parts import PROGRAMS, Refused, running_cluster
from fleet_keys import make_keys
from server import ROOT, find_tool, make_certificate, run

sys.path.insert(0, str(ROOT / "tests/lint/deploy"))
import fleet_chart  # noqa: E402
import kubernetes as lint  # noqa: E402

CHART, OPERATORS, OVERLAYS, VALUES = lint.CHART, lint.OPERATORS, lint.OVERLAYS, lint.VALUES

REPLICAS = 3
NEXT_IMAGE = "registry.example/reel:next"
GPUS = {"gpu-1": "l4", "gpu-2": "l4", "gpu-3": "h100", "gpu-4": "h100"}
KEYS = ("--fleet", "prod", "--gateway", "reel-fleet-gateway", "--server", "reel-fleet-cpu=8@*.reel.reel.svc", "--node", "reel-fleet-l4=32@*.reel-l4.reel.svc",
        "--node", "reel-fleet-h100=8@*.reel-h100.reel.svc", "--broker", "nats-0.nats.nats")
# One that Kubernetes warns of, one that it does not know, one that the namespace does not admit.
WARNED = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "warned"}, "spec": {"clusterIP": "None", "sessionAffinity": "ClientIP", "ports": [{"port": 1}]}}
UNKNOWN = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "unknown"}, "dota": {}}
AS_ROOT = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "root"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}


def refused(action, *words):
    """That the API server says no, with these words."""
    try:
        action()
    except Refused as said:
        assert all(word in str(said) for word in words), said
        return
    raise AssertionError(f"the API server took what it must refuse: {words}")


def add_nodes(cluster):
    """Two with CPUs alone, four with a GPU and the taint that keeps others off."""
    def node(name, capacity, **more):
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **more.pop("labels", {})}}, "spec": more,
                "status": {"capacity": capacity, "allocatable": capacity}}

    size = {"cpu": "32", "memory": "256Gi", "pods": "50"}
    nodes = [node(f"cpu-{count}", size) for count in (1, 2)]
    nodes += [node(name, size | {"nvidia.com/gpu": "1"}, labels={"gpu": kind}, taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}])
              for name, kind in GPUS.items()]
    cluster.kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    cluster.kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=60s")


def add_volumes(cluster, count):
    """As an administrator would; nothing here makes volumes for claims."""
    def volume(name, modes):
        return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
            "capacity": {"storage": "100Gi"}, "accessModes": modes, "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": f"/volumes/{name}"}}}

    cluster.kubectl("delete", "persistentvolume", "--all")
    cluster.apply({"apiVersion": "v1", "kind": "List", "items": [volume(f"volume-{i}", ["ReadWriteOnce"]) for i in range(count)] + [volume("shared", ["ReadWriteMany"])]})


def add_definitions(cluster):
    """Of the Prometheus operator and of KEDA: from their own modules."""
    for place in OPERATORS:
        cluster.kubectl("apply", "--server-side", "-f", ROOT / ".deps" / f"{place}.yaml")
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def add_secrets(cluster, folder):
    """As the READMEs say."""
    key, certificate, tokens, headers, store = (folder / name for name in ("tls.key", "tls.crt", "tokens", "headers", "credentials"))
    make_certificate(key, certificate, name="reel")
    tokens.write_text("0" * 64 + " studio user\n")
    headers.write_text("Authorization: Bearer of-the-test\n")
    store.write_text("key:secret\n")
    make_keys(folder / "keys", *KEYS)
    create = ("-n", "reel", "create", "secret")
    cluster.kubectl(*create, "tls", "reel-tls", f"--cert={certificate}", f"--key={key}")
    cluster.kubectl(*create, "generic", "reel-tokens", f"--from-file={tokens}")
    cluster.kubectl(*create, "generic", "reel-traces", f"--from-file=ca.crt={certificate}", f"--from-file={headers}")
    cluster.kubectl(*create, "generic", "reel-store", f"--from-file={store}")
    for member in sorted((folder / "keys/members").iterdir()):
        cluster.kubectl(*create, "generic", member.name, f"--from-file={member}")


@contextlib.contextmanager
def namespace(cluster, folder, volumes=12):
    """The namespace `reel` as the overlays make it, with Secrets; gone with all that is in it afterwards."""
    add_volumes(cluster, volumes)
    cluster.apply((lint.MANIFESTS / "base/namespace.yaml").read_text())
    with tempfile.TemporaryDirectory(dir=folder) as own:
        add_secrets(cluster, pathlib.Path(own))
    yield
    cluster.kubectl("delete", "namespace", "reel", "--timeout=90s")


def sets_of(cluster):
    """(kind, name, document) of whatever keeps pods."""
    return [(one["kind"].lower(), one["metadata"]["name"], one) for one in cluster.get("-n", "reel", "statefulset,deployment")["items"]]


def pods_of(cluster, document):
    labels = ",".join(f"{key}={value}" for key, value in document["spec"]["selector"]["matchLabels"].items())
    return cluster.get("-n", "reel", "pods", "-l", labels)["items"]


def wait_for_pods(cluster):
    for kind, name, _ in sets_of(cluster):
        cluster.kubectl("-n", "reel", "rollout", "status", f"{kind}/{name}", "--timeout=90s")


def files_of_mount(cluster, volume):
    """Names in a ConfigMap or Secret of the API server; None of another kind of volume."""
    for kind, key in (("configMap", "name"), ("secret", "secretName")):
        if kind in volume:
            found = cluster.get("-n", "reel", kind.lower(), volume[kind][key])
            return set(found["data"]) | set(found.get("binaryData", {}))
    return None


def check_mounts(cluster, pod):
    """Every file that the pod's configuration names below /etc is in a Secret that is mounted there."""
    volumes = {volume["name"]: files_of_mount(cluster, volume) for volume in pod["spec"]["volumes"]}
    config = next(volume["configMap"]["name"] for volume in pod["spec"]["volumes"] if "configMap" in volume)
    text = cluster.get("-n", "reel", "configmap", config)["data"]["reel.textproto"]
    named = re.findall(r'"(/etc/[^"]+)"', text)
    mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
    for path in map(pathlib.PurePosixPath, named):
        assert path.name in (mounts.get(str(path.parent)) or ()), f"{pod['metadata']['name']}: {path} is in no Secret: {mounts}"
    return len(named)


def check_pods(cluster):
    """All are ready and where their devices are. How many files of Secrets they name."""
    wait_for_pods(cluster)
    files = 0
    for _, name, document in sets_of(cluster):
        pods, template = pods_of(cluster, document), document["spec"]["template"]["spec"]
        assert len(pods) == document["spec"]["replicas"] and all(is_ready(pod) for pod in pods), f"{name}: {len(pods)} pods"
        for pod in pods:
            place = GPUS.get(pod["spec"]["nodeName"])
            assert (place is not None) == ("nvidia.com/gpu" in template["containers"][0]["resources"]["limits"]), f"{name} is at {place}"
            assert template.get("nodeSelector", {}).get("gpu") in (None, place), f"{name} is at {place}"
            files += check_mounts(cluster, pod)
    return files


def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"]["conditions"])


def fewest_ready(cluster, document, change):
    """How many pods are ready at the worst moment of a change to NEXT_IMAGE, by every event that the API server tells."""
    labels = ",".join(f"{key}={value}" for key, value in document["spec"]["selector"]["matchLabels"].items())
    command = [PROGRAMS["kubectl"], "-n", "reel", "get", "pods", "-l", labels, "--watch", "--output-watch-events", "--request-timeout=120s", "-o", "jsonpath="
               '{.type}|{.object.metadata.name}|{.object.metadata.deletionTimestamp}|{.object.status.conditions[?(@.type=="Ready")].status}|{.object.spec.containers[0].image}{"\\n"}']
    ready, fewest, changing = {}, document["spec"]["replicas"], None
    with concurrent.futures.ThreadPoolExecutor(1) as beside, subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=cluster.environment()) as watch:
        for line in watch.stdout:
            event, pod, leaves, state, image = line.strip().split("|")
            ready.pop(pod, None)
            if event != "DELETED" and not leaves and state == "True":
                ready[pod] = image
            if changing is None:  # until it has told of all that were there
                changing = beside.submit(change) if len(ready) == fewest else None
                continue
            fewest = min(fewest, len(ready))
            if list(ready.values()) == [NEXT_IMAGE] * document["spec"]["replicas"]:
                watch.terminate()
                changing.result()
                return fewest
    raise AssertionError(f"{document['metadata']['name']} has not changed within two minutes: {ready}")


def check_roll(cluster, document, change):
    """One pod leaves before the next one comes; of gateways one comes first."""
    fewest, replicas = fewest_ready(cluster, document, change), document["spec"]["replicas"]
    expected = replicas if document["kind"] == "Deployment" else replicas - 1
    assert fewest == expected, f"{document['metadata']['name']}: {fewest} of {replicas} pods were ready"
    for pod in pods_of(cluster, document):
        images = {one["image"] for one in pod["spec"]["containers"] + pod["spec"].get("initContainers", [])}
        assert images == {NEXT_IMAGE}, images


def evict(cluster, pod):
    cluster.kubectl("create", "--raw", f"/api/v1/namespaces/reel/pods/{pod}/eviction", "-f", "-", text=json.dumps(
        {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": "reel"}}))


def check_disruptions(cluster, document):
    """One pod may be evicted; the next one not before another is ready in its place."""
    name = document["metadata"]["name"]
    first, second = sorted(pod["metadata"]["name"] for pod in pods_of(cluster, document))[:2]

    def allowed():
        status = cluster.get("-n", "reel", "poddisruptionbudget", name)["status"]
        return status["expectedPods"] == document["spec"]["replicas"] and status["disruptionsAllowed"] == 1

    cluster.wait_for(f"{name} may be disrupted", allowed)
    cluster.kubectl("cordon", "--selector", "kubernetes.io/hostname")  # so nothing comes in its place
    evict(cluster, first)
    refused(lambda: evict(cluster, second), "disruption budget")
    cluster.wait_for(f"{first} is gone", lambda: sum(is_ready(pod) for pod in pods_of(cluster, document)) == document["spec"]["replicas"] - 1)
    refused(lambda: evict(cluster, second), "disruption budget")
    cluster.kubectl("uncordon", "--selector", "kubernetes.io/hostname")
    wait_for_pods(cluster)
    cluster.wait_for(f"{name} may be disrupted again", allowed)
    evict(cluster, second)
    wait_for_pods(cluster)


def check_overlay(cluster, folder, name):
    """As it is, then of three replicas, then with another image: as somebody would by kustomize, in a copy of the tree."""
    copy = folder / name
    for part in ("kubernetes", "config/kubernetes"):
        shutil.copytree(ROOT / "deploy" / part, copy / part)
    overlay, kustomize = copy / "kubernetes/overlays" / name, find_tool("kustomize")

    def apply(*edit):
        if edit:
            run(kustomize, "edit", "set", *edit, cwd=overlay)
        cluster.apply(run(kustomize, "build", overlay))

    with namespace(cluster, folder):
        apply()
        cluster.apply(run(kustomize, "build", copy / "kubernetes/monitoring"))
        check_pods(cluster)
        apply("replicas", f"reel={REPLICAS}")
        files = check_pods(cluster)
        document = cluster.get("-n", "reel", "statefulset", "reel")
        check_roll(cluster, document, lambda: apply("image", f"reel={NEXT_IMAGE}"))
        check_disruptions(cluster, document)
    return files


class Release:
    """The chart, installed by helm as `reel`."""

    def __init__(self, cluster):
        self.cluster = cluster

    def helm(self, *words):
        answer = subprocess.run([find_tool("helm"), *map(str, words)], capture_output=True, text=True, timeout=180, env=self.cluster.environment(), check=False)
        assert answer.returncode == 0, f"helm {' '.join(map(str, words))}: {answer.stderr}"
        self.cluster.warnings += re.findall(r"warnings\.go:\d+\] (.*)", answer.stderr)
        return answer.stdout

    def put(self, *values):
        """Tried by the server with strict fields first: helm itself asks for no such thing."""
        given = ("reel", CHART, "--namespace", "reel", *values)
        self.cluster.kubectl("apply", "-n", "reel", "--server-side", "--force-conflicts", "--validate=strict", "--dry-run=server", "-f", "-", text=self.helm("template", "--kube-version", lint.VERSION, *given))
        self.helm("upgrade", "--install", "--wait", "--timeout", "90s", *given)


def scale_as_keda(cluster):
    """KEDA itself is not here: what it would do with each ScaledObject, to the target that this names."""
    for one in cluster.get("-n", "reel", "scaledobject")["items"]:
        target = one["spec"]["scaleTargetRef"]
        assert one["spec"]["minReplicaCount"] <= 2 <= one["spec"]["maxReplicaCount"], one["spec"]
        cluster.kubectl("-n", "reel", "scale", f"{target['kind'].lower()}.apps/{target['name']}", "--replicas=2")


def wait_for_autoscalers(cluster):
    """Kubernetes' own brings gateways to their least number. It sees no load here: nothing measures any."""
    def at_least():
        counts = {one["metadata"]["name"]: one["spec"]["replicas"] for one in cluster.get("-n", "reel", "deployment")["items"]}
        return all(counts[one["spec"]["scaleTargetRef"]["name"]] == one["spec"]["minReplicas"] for one in cluster.get("-n", "reel", "hpa")["items"])

    cluster.wait_for("gateways are as many as the autoscaler wants", at_least)


def check_chart(cluster, folder, values):
    """Installed, scaled, with another image, disrupted, and uninstalled without its volumes."""
    example = ("-f", CHART / values, "--set", "monitoring.enabled=true")
    with namespace(cluster, folder):
        cluster.apply((lint.MANIFESTS / "overlays/gpu/weights.yaml").read_text(), "-n", "reel")
        release = Release(cluster)
        if values in fleet_chart.VALUES:  # as a lone server becomes a fleet
            release.put()
        before = {one["metadata"]["name"]: one["metadata"]["uid"] for one in cluster.get("-n", "reel", "pvc")["items"]}
        release.put(*example)
        scale_as_keda(cluster)
        scaled = {one["spec"]["scaleTargetRef"]["name"] for one in cluster.get("-n", "reel", "scaledobject")["items"]}
        replicas = () if scaled else ("--set", f"replicas={REPLICAS}")
        if replicas:
            release.put(*example, *replicas)
        wait_for_autoscalers(cluster)
        files = check_pods(cluster)
        sets = [document for _, _, document in sets_of(cluster)]
        image = ("--set", f"image.repository={NEXT_IMAGE.split(':')[0]},image.tag={NEXT_IMAGE.split(':')[1]}")
        check_roll(cluster, sets[0], lambda: release.put(*example, *replicas, *image))
        after = [document for _, _, document in sets_of(cluster)]
        assert [one["spec"]["replicas"] for one in after] == [one["spec"]["replicas"] for one in sets], "an upgrade has set the count back"
        for document in after:
            check_disruptions(cluster, document)
        release.helm("uninstall", "reel", "--namespace", "reel", "--wait")
        left = {one["metadata"]["name"]: one["metadata"]["uid"] for one in cluster.get("-n", "reel", "pvc")["items"]}
        assert "data-reel-0" in left and before.items() <= left.items(), f"{before} {left}"
    return files


def check_the_check(cluster):
    """That this API server does warn and refuse."""
    cluster.apply((lint.MANIFESTS / "base/namespace.yaml").read_text())
    cluster.apply(WARNED, "-n", "reel")
    assert cluster.warnings, "nothing is warned of"
    cluster.warnings.clear()
    refused(lambda: cluster.apply(UNKNOWN, "-n", "reel"), "dota")
    refused(lambda: cluster.apply(AS_ROOT, "-n", "reel"), "violates PodSecurity")
    cluster.kubectl("delete", "namespace", "reel")


def main():
    with running_cluster() as cluster:
        add_nodes(cluster)
        add_definitions(cluster)
        check_the_check(cluster)
        for name in OVERLAYS:
            print(f"overlay {name}: {check_overlay(cluster, cluster.folder, name)} files of Secrets", flush=True)
        for name in (*VALUES, *fleet_chart.VALUES):
            print(f"chart with {name}: {check_chart(cluster, cluster.folder, name)} files of Secrets", flush=True)
        print("\n".join(f"warning: {warning}" for warning in cluster.warnings))
        return 1 if cluster.warnings else 0


if __name__ == "__main__":
    sys.exit(main())
