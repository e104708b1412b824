#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chart as a fleet, with each of its examples of one: renders, is valid, and keeps the rules of gateways, nodes and what joins them."""

import concurrent.futures
import copy
import re
import sys
import tempfile

from kubernetes import (CHART, GPU_RULES, ROOT, by_kind, conforms, container, drain_seconds, egress_ports, find_tool, helm_template, local_schemas, longest_render,
                        named_namespaces, operator_schemas, restricted, secret_is_mounted, site_packages, skip)

GRPC, METRICS, FLEET = 50051, 9464, 50053
VALUES = {"examples/fleet.yaml": ["reel", "reel-l4", "reel-h100"], "examples/fleet-mesh.yaml": ["reel"]}
# Values over those of examples/fleet.yaml that the schema must refuse.
REFUSED_VALUES = ("fleet.name=Prod", "fleet.secretName=", "fleet.nats.urls=null", "fleet.nats.urls={nats://nats.nats:4222}", "fleet.nats.namespace=",
                  "fleet.objects.secretName=", "fleet.objects.cidr=", "fleet.objects.endpoint=", "fleet.gateways.secretName=", "fleet.gateways.min=0", "fleet.insecure=true", "fleet.encryptPrompts=yes",
                  "fleet.pools[0].secretName=", "fleet.pools[0].name=gateway", "fleet.pools[0].device=tpu", "fleet.pools[0].image=x", "autoscaling.min=0")


class Fleet:
    """What one rendering has, by kind and name."""

    def __init__(self, documents, nodes, before):
        self.documents, self.nodes, self.before = documents, nodes, before
        self.by_name = {(d["kind"], d["metadata"]["name"]): d for d in documents}

    def spec(self, kind, name):
        return self.by_name[kind, name]["spec"]

    def sets(self):
        """(name, kind, spec) of whatever has pods."""
        return [(name, kind, d["spec"]) for (kind, name), d in self.by_name.items() if kind in ("StatefulSet", "Deployment")]

    def config(self, name):
        return self.by_name["ConfigMap", f"{name}-config"]["data"]["reel.textproto"]

    def part(self, name):
        """The documents of one kind of pods, for rules of one server."""
        return [d for d in self.documents if d["metadata"]["name"] in (name, f"{name}-config")]


def every(fleet, rule):
    """Of each kind of pods; there are gateways and all nodes."""
    sets = fleet.sets()
    names = sorted(name for name, *_ in sets)
    return names == sorted([*fleet.nodes, "reel-gateway"]) and all(rule(name, spec, spec["template"]["spec"]) for name, _, spec in sets)


def selected_by_one(fleet, kind, key):
    """Each kind of pods is selected by exactly one document of a kind, and no other pods are."""
    chosen = [key(d["spec"]) for d in fleet.documents if d["kind"] == kind]
    labels = [spec["template"]["metadata"]["labels"] for *_, spec in fleet.sets()]
    return all(sum(selector.items() <= one.items() for selector in chosen) == 1 for one in labels) and \
        all(sum(selector.items() <= one.items() for one in labels) == 1 for selector in chosen)


def keeps_what_cannot_change(fleet):
    """What Kubernetes refuses to change of the StatefulSet that the same release without a fleet has made: with it its volumes and their videos stay."""
    spec, fixed = fleet.spec("StatefulSet", "reel"), ("serviceName", "podManagementPolicy", "selector", "volumeClaimTemplates")
    return all(spec[key] == fleet.before[key] for key in fixed)


def calls_itself(fleet, name, pod):
    """The address that others are told: of a node its name, which its Service has also while it drains, with the port that is open."""
    place = next(one for one in pod["initContainers"] if one["name"] == "place-config")
    environment = {one["name"]: one for one in place["env"]}
    if name == "reel-gateway":
        good = environment["POD_HOST"]["valueFrom"]["fieldRef"]["fieldPath"] == "status.podIP"
    else:
        service = fleet.spec("Service", name)
        good = (environment["POD_HOST"]["value"] == f"$(POD_NAME).{name}.reel.svc" and environment["POD_NAME"]["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.name" and
                service["clusterIP"] == "None" and service["publishNotReadyAddresses"] is True and FLEET in [port["port"] for port in service["ports"]])
    placed = next(v for v in pod["volumes"] if v["name"] == "placed-config")
    return (good and restricted(place) and f'advertise: "POD_HOST:{FLEET}"' in fleet.config(name) and f'listen: "0.0.0.0:{FLEET}"' in fleet.config(name) and "emptyDir" in placed and
            {"name": "fleet", "containerPort": FLEET} in container(pod)["ports"] and place["image"] == container(pod)["image"])


def is_secret(fleet, name, pod):
    """Keys and certificates where the configuration has them, or it says that nothing encrypts."""
    config = fleet.config(name)
    store = secret_is_mounted(pod, "/etc/reel-store") and 'credentials_file: "/etc/reel-store/credentials"' in config
    if "insecure: true" in config.split("fleet {")[1].split("objects {")[0]:
        return store and "/etc/reel-fleet" not in config
    return store and secret_is_mounted(pod, "/etc/reel-fleet") and all(f'"/etc/reel-fleet/{file}"' in config for file in (
        "tls.crt", "tls.key", "servers.crt", "brokers.crt", "nkey.seed", "prompts.key"))


def own_secrets(fleet):
    """No two kinds of pods have one key."""
    names = [v["secret"]["secretName"] for *_, spec in fleet.sets() for v in spec["template"]["spec"]["volumes"] if v["name"] == "fleet"]
    return len(names) == len(set(names)) and (not names or len(names) == len(fleet.sets()))


def ingress(fleet, name):
    rules = fleet.spec("NetworkPolicy", name)["ingress"]
    return {port["port"]: rule["from"] for rule in rules for port in rule["ports"]}


def closed_network(fleet, name, pod):
    """Clients reach gateways and the pods that were there before; servers each other; all go to names, brokers and the store."""
    ports, ours = ingress(fleet, name), [{"podSelector": {"matchLabels": {"reel/fleet": "reel"}}}]
    clients = {GRPC} if name in ("reel", "reel-gateway") else set()
    egress = fleet.spec("NetworkPolicy", name)["egress"]
    to_fleet = [rule for rule in egress if [port["port"] for port in rule["ports"]] == [FLEET]]
    outside = [rule for rule in egress if any("ipBlock" in peer for peer in rule["to"])]
    brokers = set(map(int, re.findall(r'urls: "\w+://[^":]+:(\d+)"', fleet.config(name))))
    named = {port["port"] for rule in egress if rule not in to_fleet + outside and named_namespaces(rule) for port in rule["ports"]}
    return (set(ports) == {METRICS, FLEET} | clients and all(ports.values()) and ports[FLEET] == ours and len(to_fleet) == 1 and to_fleet[0]["to"] == ours and
            brokers and brokers <= named and len(egress) == 4 and all(rule["to"] and rule["ports"] for rule in egress) and pod is not None and
            fleet.spec("NetworkPolicy", name)["policyTypes"] == ["Ingress", "Egress"])


def scales_nodes(fleet):
    """By the backlog of the model that they have; one leaves at a time, and has the time for its drain."""
    scaled = {d["spec"]["scaleTargetRef"]["name"]: d["spec"] for d in fleet.documents if d["kind"] == "ScaledObject"}
    if not scaled:
        return all("replicas" in fleet.spec("StatefulSet", name) for name in fleet.nodes)
    for name in fleet.nodes:
        trigger, = scaled[name]["triggers"]
        down = scaled[name]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
        grace = fleet.spec("StatefulSet", name)["template"]["spec"]["terminationGracePeriodSeconds"]
        served = re.search(r'models \{\s+name: "([^"]+)"', fleet.config(name))
        wanted = f'max(reel_fleet_backlog_seconds{{job="reel",model="{served[1] if served else "ltx-demo"}"}})'
        if (trigger["metadata"]["query"] != wanted or trigger["metricType"] != "AverageValue" or scaled[name]["minReplicaCount"] < 1 or
                "replicas" in fleet.spec("StatefulSet", name) or down["policies"] != [{"type": "Pods", "value": 1, "periodSeconds": grace}] or
                scaled[name]["scaleTargetRef"]["kind"] != "StatefulSet" or down["stabilizationWindowSeconds"] < 300):
            return False
    return len(scaled) == len(fleet.nodes)


def scales_gateways(fleet):
    scaler, gateway = fleet.spec("HorizontalPodAutoscaler", "reel-gateway"), fleet.spec("Deployment", "reel-gateway")
    requests = container(gateway["template"]["spec"])["resources"]["requests"]
    return (scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "reel-gateway"} and "replicas" not in gateway and scaler["minReplicas"] >= 2 and
            "cpu" in requests and gateway["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0})


def all_are_scraped(fleet):
    """By one ServiceMonitor, as the job of the alerts."""
    monitor, = [d["spec"] for d in fleet.documents if d["kind"] == "ServiceMonitor"]
    services = [d for d in fleet.documents if d["kind"] == "Service" and monitor["selector"]["matchLabels"].items() <= d["metadata"]["labels"].items()]
    selectors = [one["spec"]["selector"] for one in services]
    labels = [spec["template"]["metadata"]["labels"] for *_, spec in fleet.sets()]
    return ({one["metadata"]["labels"][monitor["jobLabel"]] for one in services} == {"reel"} and all(one["spec"]["publishNotReadyAddresses"] for one in services) and
            all(sum(selector.items() <= one.items() for selector in selectors) == 1 for one in labels))


RULES = {
    "gateways render nothing, nodes do": lambda f: every(f, lambda name, s, p: ("gateway: true" in f.config(name)) == (name == "reel-gateway") !=
        ("workers {" in f.config(name)) and not (name == "reel-gateway" and "nvidia.com/gpu" in container(p)["resources"]["limits"])),
    "the StatefulSet of before stays what it was": keeps_what_cannot_change,
    "a pod tells its own address": lambda f: every(f, lambda name, s, p: calls_itself(f, name, p)),
    "keys, certificates and credentials as reeld takes them": lambda f: every(f, lambda name, s, p: is_secret(f, name, p)),
    "each kind of pods has a key of its own": own_secrets,
    "the network is closed": lambda f: every(f, lambda name, s, p: closed_network(f, name, p)),
    "one at a time is disrupted": lambda f: selected_by_one(f, "PodDisruptionBudget", lambda s: s["selector"]["matchLabels"]) and
        all(d["spec"]["maxUnavailable"] == 1 for d in f.documents if d["kind"] == "PodDisruptionBudget"),
    "one policy for each kind of pods": lambda f: selected_by_one(f, "NetworkPolicy", lambda s: s["podSelector"]["matchLabels"]),
    "selectors meet their own pods": lambda f: every(f, lambda name, s, p: s["selector"]["matchLabels"].items() <= s["template"]["metadata"]["labels"].items() and
        sum(s["selector"]["matchLabels"].items() <= other["template"]["metadata"]["labels"].items() for *_, other in f.sets()) == 1),
    "clients find gateways that are ready": lambda f: f.spec("Service", "reel-gateway")["selector"] == f.spec("Deployment", "reel-gateway")["selector"]["matchLabels"] and
        not f.spec("Service", "reel-gateway").get("publishNotReadyAddresses") and f.spec("Service", "reel-gateway")["ports"][0]["port"] == GRPC,
    "a drain outlasts the longest render, and is over before the kill": lambda f: every(f, lambda name, s, p:
        drain_seconds(f.part(name)) == p["terminationGracePeriodSeconds"] - 10 >= 20 + longest_render(f.part(name))),
    "restricted, limited, with probes": lambda f: every(f, lambda name, s, p: restricted(container(p)) and p["securityContext"]["runAsNonRoot"] is True and
        "memory" in container(p)["resources"]["limits"] and container(p)["readinessProbe"]["grpc"]["service"] == ""),
    "nodes come and go with the backlog": scales_nodes,
    "gateways come and go with their work": scales_gateways,
    "all are scraped as the alerts' job": all_are_scraped,
    "one name of a fleet": lambda f: len({re.search(r'fleet \{\n\s+name: "(\w+)"', f.config(name))[1] for name, *_ in f.sets()}) == 1,
    "weights of GPUs are checked": lambda f: all(GPU_RULES["weights are checked first"](f.part(name), None, f.spec("StatefulSet", name)["template"]["spec"])
        for name in f.nodes if "cuda:0" in f.config(name)) and len(f.nodes) > 0 and bool(f.spec("StatefulSet", f.nodes[0])),
}


def broken_rules(documents, nodes, before):
    broken = []
    for name, rule in RULES.items():
        try:
            if not rule(Fleet(documents, nodes, before)):
                broken.append(name)
        except (KeyError, StopIteration, TypeError, IndexError, ValueError, AttributeError) as missing:
            broken.append(f"{name} (missing: {missing!r})")
    return broken


def blind_rules(documents, nodes, before):
    """Rules that accept documents from which every value has been taken."""
    emptied = copy.deepcopy(documents)
    for document in emptied:
        document["metadata"] = {"name": document["metadata"]["name"]}
        for key in {"spec", "data"} & document.keys():
            document[key] = {}
    seen = [name.split(" (missing")[0] for name in broken_rules(emptied, nodes, before)]
    return [name for name in RULES if name not in seen]


def main():
    helm, kubeconform = find_tool("helm"), find_tool("kubeconform")
    sys.path.append(site_packages())
    try:
        import yaml
    except ImportError:
        skip("PyYAML is not installed")
    found, manifests = [], []
    for name, nodes in VALUES.items():
        manifest, problems = helm_template(helm, "-f", CHART / name)
        alone, more = helm_template(helm, "-f", CHART / name, "--set", "fleet.name=")
        problems = problems or more
        if not problems:
            documents = [document for document in yaml.safe_load_all(manifest) if document]
            before = by_kind([document for document in yaml.safe_load_all(alone) if document], "StatefulSet")["spec"]
            problems = [f"rule: {broken}" for broken in broken_rules(documents, nodes, before)]
            problems += [f"self-test: the rule '{blind}' accepts anything" for blind in blind_rules(documents, nodes, before)]
            print(f"chart with {name}: {len(documents)} documents, {len(RULES)} rules")
            manifests.append(manifest)
        found += [(CHART / name, problem) for problem in problems]
    with tempfile.TemporaryDirectory() as scratch:
        local_schemas(scratch)
        operator_schemas(scratch, yaml)
        answer = conforms(kubeconform, scratch, "---\n".join(manifests))
        if answer.returncode:
            found.append((CHART / "README.md", f"kubeconform: {answer.stdout}{answer.stderr}"))
        misspelt = "---\n".join(manifests[:1]).replace("pollingInterval:", "polingInterval:").replace("maxReplicas:", "maxReplica:")
        if "Invalid: 4" not in conforms(kubeconform, scratch, misspelt).stdout:
            found.append((CHART / "README.md", "self-test: kubeconform accepts misspelt fields"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        refusals = pool.map(lambda value: helm_template(helm, "-f", CHART / "examples/fleet.yaml", "--set", value)[1], REFUSED_VALUES)
        found += [(CHART / "values.schema.json", f"self-test: {value} is accepted") for value, refusal in zip(REFUSED_VALUES, refusals) if not refusal]
    print("\n".join(f"{path.relative_to(ROOT)}:1: {problem}" for path, problem in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
