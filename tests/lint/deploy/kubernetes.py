#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each overlay renders (kustomize), is valid (kubeconform -strict, local schemas), and keeps Reel's own rules."""

import copy
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tools import ROOT, find_tool, run, site_packages, skip  # noqa: E402

OVERLAYS = ("cpu", "gpu")
VERSION = "v1.31.0"
GRPC_PORT = 50051


def container(pod):
    return pod["containers"][0]


def drain_seconds(documents):
    config = by_kind(documents, "ConfigMap")["data"]["reel.textproto"]
    found = re.search(r"drain \{ seconds: (\d+) \}", config)
    return int(found[1]) if found else None


def by_kind(documents, kind, name=None):
    return next(d for d in documents if d["kind"] == kind and name in (None, d["metadata"]["name"]))


def probe_is(pod, kind, service):
    probe = container(pod).get(kind, {}).get("grpc", {})
    return probe.get("port") == GRPC_PORT and probe.get("service", "") == service


# What must hold, by name: of all documents, the StatefulSet's spec and its pod.
RULES = {
    "drain is the grace period less 10 s": lambda d, s, p: drain_seconds(d) == p["terminationGracePeriodSeconds"] - 10,
    "startup probe: 10 s x 30 of service startup": lambda d, s, p: probe_is(p, "startupProbe", "startup") and
        container(p)["startupProbe"]["periodSeconds"] == 10 and container(p)["startupProbe"]["failureThreshold"] == 30,
    "readiness probe of the whole server": lambda d, s, p: probe_is(p, "readinessProbe", ""),
    "liveness probe of service liveness": lambda d, s, p: probe_is(p, "livenessProbe", "liveness"),
    "runs as somebody else than root": lambda d, s, p: p["securityContext"].get("runAsNonRoot") is True and
        p["securityContext"].get("runAsUser") == 10001,
    "default seccomp profile": lambda d, s, p: p["securityContext"].get("seccompProfile") == {"type": "RuntimeDefault"},
    "read-only root": lambda d, s, p: container(p)["securityContext"].get("readOnlyRootFilesystem") is True,
    "no capabilities, no escalation": lambda d, s, p: container(p)["securityContext"].get("capabilities") == {"drop": ["ALL"]} and
        container(p)["securityContext"].get("allowPrivilegeEscalation") is False,
    "no token of a service account": lambda d, s, p: p.get("automountServiceAccountToken") is False and
        by_kind(d, "ServiceAccount").get("automountServiceAccountToken") is False,
    "a pinned image": lambda d, s, p: re.search(r":(?!latest$)[\w.-]+$", container(p)["image"]) is not None,
    "memory is limited": lambda d, s, p: "memory" in container(p)["resources"].get("limits", {}),
    "a volume for each replica": lambda d, s, p: [v["metadata"]["name"] for v in s["volumeClaimTemplates"]] == ["data"] and
        {"name": "data", "mountPath": "/var/lib/reel"} in container(p)["volumeMounts"],
    "a headless Service names the pods": lambda d, s, p: by_kind(d, "Service", s["serviceName"])["spec"]["clusterIP"] == "None",
    "metrics have a Service": lambda d, s, p: by_kind(d, "Service", "reel-metrics")["spec"]["ports"][0]["port"] == 9464,
    "old pods go before new ones come": lambda d, s, p: s["updateStrategy"]["type"] == "RollingUpdate",
    "one replica at a time": lambda d, s, p: by_kind(d, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1,
    "selectors meet the pods": lambda d, s, p: all(
        x == {"app.kubernetes.io/name": "reel"} for x in (
            s["selector"]["matchLabels"], by_kind(d, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
            by_kind(d, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"], by_kind(d, "Service", "reel")["spec"]["selector"])),
    "ingress is for named ports and peers only": lambda d, s, p: sorted(
        (port["port"] for rule in by_kind(d, "NetworkPolicy")["spec"]["ingress"] for port in rule["ports"] if rule.get("from"))
        ) == [9464, GRPC_PORT] and all(r.get("from") for r in by_kind(d, "NetworkPolicy")["spec"]["ingress"]),
    "egress is for names only": lambda d, s, p: {port["port"] for rule in by_kind(d, "NetworkPolicy")["spec"]["egress"]
        for port in rule["ports"]} == {53} and "Egress" in by_kind(d, "NetworkPolicy")["spec"]["policyTypes"],
    "the pods mount the ConfigMap": lambda d, s, p: by_kind(d, "ConfigMap")["metadata"]["name"] in
        [v.get("configMap", {}).get("name") for v in p["volumes"]],
}
GPU_RULES = {
    "a whole GPU": lambda d, s, p: container(p)["resources"]["limits"].get("nvidia.com/gpu") == 1,
}


def broken_rules(documents, rules):
    spec = by_kind(documents, "StatefulSet")["spec"]
    pod = spec["template"]["spec"]
    broken = []
    for name, rule in rules.items():
        try:
            if not rule(documents, spec, pod):
                broken.append(name)
        except (KeyError, StopIteration, TypeError, IndexError) as missing:
            broken.append(f"{name} (missing: {missing!r})")
    return broken


def blind_rules(documents, rules):
    """Rules that accept manifests from which every value has been taken: they look at nothing."""
    emptied = copy.deepcopy(documents)
    for document in emptied:
        for key in ("spec", "data", "automountServiceAccountToken"):
            if key in document:
                document[key] = {"template": {"spec": {}}} if document["kind"] == "StatefulSet" else {}
    seen = [name.split(" (missing")[0] for name in broken_rules(emptied, rules)]
    return [name for name in rules if name not in seen]


def local_schemas(scratch):
    """The package's schemas point at a web address for their definitions; here they point at the file beside them."""
    source = pathlib.Path(site_packages(), "kubernetes_validate/kubernetes-json-schema", f"{VERSION}-local-strict")
    if not source.is_dir():
        skip(f"the schemas of Kubernetes {VERSION} are not installed")
    for kind in ("_definitions", "serviceaccount-v1", "service-v1", "configmap-v1", "statefulset-apps-v1",
                 "networkpolicy-networking-v1", "poddisruptionbudget-policy-v1"):
        text = (source / f"{kind}.json").read_text(encoding="utf-8")
        text = re.sub(r',\s*"\$id": "[^"]*"|"\$id": "[^"]*",', "", text)
        text = text.replace('"/api/_definitions.json#', '"_definitions.json#')
        pathlib.Path(scratch, f"{kind}.json").write_text(text, encoding="utf-8")
    return f"{scratch}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"


def conforms(kubeconform, schemas, manifest):
    return run(kubeconform, "-strict", "-summary", "-schema-location", schemas, "-", input=manifest)


def check_overlay(name, kustomize, kubeconform, schemas, yaml):
    rendered = run(kustomize, "build", ROOT / "deploy/kubernetes/overlays" / name)
    if rendered.returncode or rendered.stderr:
        return [f"kustomize build: {rendered.stderr.strip()}"]
    problems = []
    answer = conforms(kubeconform, schemas, rendered.stdout)
    if answer.returncode:
        problems.append(f"kubeconform: {answer.stdout}{answer.stderr}")
    if not conforms(kubeconform, schemas, rendered.stdout.replace("serviceName:", "servceName:")).returncode:
        problems.append("self-test: kubeconform accepts a misspelt field")
    documents = list(yaml.safe_load_all(rendered.stdout))
    rules = RULES | GPU_RULES if name == "gpu" else RULES
    problems += [f"rule: {broken}" for broken in broken_rules(documents, rules)]
    problems += [f"self-test: the rule '{blind}' accepts anything" for blind in blind_rules(documents, rules)]
    print(f"{name}: {len(documents)} documents, {len(rules)} rules, {answer.stdout.strip()}")
    return problems


def main():
    kustomize, kubeconform = find_tool("kustomize"), find_tool("kubeconform")
    sys.path.append(site_packages())
    try:
        import yaml
    except ImportError:
        skip("PyYAML is not installed")
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        schemas = local_schemas(scratch)
        for name in OVERLAYS:
            found = check_overlay(name, kustomize, kubeconform, schemas, yaml)
            problems += [f"deploy/kubernetes/overlays/{name}/kustomization.yaml:1: {p}" for p in found]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
