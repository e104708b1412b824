#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each overlay (kustomize) and the chart with each of its examples (helm) renders, is valid (kubeconform -strict, local
schemas), and keeps Reel's own rules."""

import copy
import functools
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tools import ROOT, find_tool, run, site_packages, skip  # noqa: E402

VERSION = "v1.31.0"
GRPC_PORT, HEALTH_PORT = 50051, 50052
MANIFESTS, CHART = ROOT / "deploy/kubernetes", ROOT / "deploy/helm"
# Of operators: where their own definitions lie, and what comes after a kind in the name of a schema.
OPERATORS = {"prometheus-operator/servicemonitor": "monitoring", "prometheus-operator/prometheusrule": "monitoring", "keda/scaledobject": "keda"}


def container(pod):
    return pod["containers"][0]


def drain_seconds(documents):
    config = by_kind(documents, "ConfigMap")["data"]["reel.textproto"]
    found = re.search(r"drain \{ seconds: (\d+) \}", config)
    return int(found[1]) if found else None


def longest_render(documents):
    config = by_kind(documents, "ConfigMap")["data"]["reel.textproto"]
    return int(re.search(r"max_timeout \{ seconds: (\d+) \}", config)[1])


def by_kind(documents, kind, name=None):
    return next(d for d in documents if d["kind"] == kind and name in (None, d["metadata"]["name"]))


def probe_is(pod, kind, service):
    """On the port of gRPC, or on one of its own behind TLS."""
    probe = container(pod).get(kind, {}).get("grpc", {})
    tls = any("secret" in volume and volume["name"] == "tls" for volume in pod["volumes"])
    return probe.get("port") == (HEALTH_PORT if tls else GRPC_PORT) and probe.get("service", "") == service


def starts_within(pod, seconds):
    probe = container(pod)["startupProbe"]
    return probe["periodSeconds"] == 10 and probe["failureThreshold"] == seconds // 10


def selects_the_pods(documents, spec):
    labels = spec["template"]["metadata"]["labels"]
    selectors = [spec["selector"]["matchLabels"], by_kind(documents, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
                 by_kind(documents, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                 *[d["spec"]["selector"] for d in documents if d["kind"] == "Service"]]
    return len(selectors) == 5 and all(s == labels and s["app.kubernetes.io/name"] == "reel" for s in selectors)


def egress_ports(documents):
    """Of rules that say to which namespace; another one counts as any port."""
    rules = by_kind(documents, "NetworkPolicy")["spec"]["egress"]
    return {port["port"] if named_namespaces(rule) else "any" for rule in rules for port in rule["ports"]}


def named_namespaces(rule):
    peers = rule.get("to", [])
    return peers and all(peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] for peer in peers)


def collectors_port(documents):
    found = re.search(r'otlp_endpoint: "https?://[^":]+:(\d+)"', by_kind(documents, "ConfigMap")["data"]["reel.textproto"])
    return {int(found[1])} if found else set()


def restricted(one):
    security = one["securityContext"]
    return (security["readOnlyRootFilesystem"] is True and security["capabilities"] == {"drop": ["ALL"]} and
            security["allowPrivilegeEscalation"] is False)


def mounted_at(one, place):
    return next(m for m in one["volumeMounts"] if m["mountPath"] == place)


def volume_of(pod, mount):
    return next(v for v in pod["volumes"] if v["name"] == mount["name"])


def secret_is_mounted(pod, place):
    """As reeld takes it, and not inside another volume, where there is nothing to mount on."""
    mount = mounted_at(container(pod), place)
    others = [m["mountPath"] for m in container(pod)["volumeMounts"] if m is not mount]
    return (volume_of(pod, mount)["secret"]["defaultMode"] == 0o440 and "subPath" not in mount and
            pod["securityContext"]["fsGroup"] == 10001 and not any(place.startswith(f"{other}/") for other in others))


def checks_weights(documents, pod):
    """The folder whose sums are checked is the one that reeld loads, on a claim that nobody writes."""
    init = pod["initContainers"][0]
    path = re.search(r'path: "(/models/[^"]+)"', by_kind(documents, "ConfigMap")["data"]["reel.textproto"])[1]
    volumes = [volume_of(pod, mounted_at(one, "/models")) for one in (init, container(pod))]
    return (restricted(init) and "sha256sum --check --strict" in init["command"][2] and path in " ".join(init["command"]) and
            init["image"] == container(pod)["image"] and volumes[0] == volumes[1] and volumes[0]["persistentVolumeClaim"]["readOnly"])


# What must hold, by name: of all documents, the StatefulSet's spec and its pod.
RULES = {
    "drain is the grace period less 10 s": lambda d, s, p: drain_seconds(d) == p["terminationGracePeriodSeconds"] - 10,
    "the drain outlasts the longest render": lambda d, s, p: drain_seconds(d) >= 5 + longest_render(d) + 15,
    "startup probe of service startup": lambda d, s, p: probe_is(p, "startupProbe", "startup"),
    "readiness probe of the whole server": lambda d, s, p: probe_is(p, "readinessProbe", ""),
    "liveness probe of service liveness": lambda d, s, p: probe_is(p, "livenessProbe", "liveness"),
    "runs as somebody else than root": lambda d, s, p: p["securityContext"].get("runAsNonRoot") is True and
        p["securityContext"].get("runAsUser") == 10001,
    "default seccomp profile": lambda d, s, p: p["securityContext"].get("seccompProfile") == {"type": "RuntimeDefault"},
    "read-only root, no capabilities, no escalation": lambda d, s, p: restricted(container(p)),
    "no token of a service account": lambda d, s, p: p.get("automountServiceAccountToken") is False and
        by_kind(d, "ServiceAccount").get("automountServiceAccountToken") is False,
    "a pinned image": lambda d, s, p: re.search(r":(?!latest$)[\w.-]+$", container(p)["image"]) is not None,
    "memory is limited": lambda d, s, p: "memory" in container(p)["resources"].get("limits", {}),
    "a volume for each replica": lambda d, s, p: [v["metadata"]["name"] for v in s["volumeClaimTemplates"]] == ["data"] and
        {"name": "data", "mountPath": "/var/lib/reel"} in container(p)["volumeMounts"],
    "a headless Service names the pods": lambda d, s, p: by_kind(d, "Service", s["serviceName"])["spec"]["clusterIP"] == "None",
    "old pods go before new ones come": lambda d, s, p: s["updateStrategy"]["type"] == "RollingUpdate",
    "one replica at a time": lambda d, s, p: by_kind(d, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1,
    "replicas keep apart": lambda d, s, p: p["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0][
        "podAffinityTerm"]["labelSelector"]["matchLabels"] == s["selector"]["matchLabels"],
    "selectors meet the pods": lambda d, s, p: selects_the_pods(d, s),
    "ingress is for named ports and peers only": lambda d, s, p: sorted(
        (port["port"] for rule in by_kind(d, "NetworkPolicy")["spec"]["ingress"] for port in rule["ports"] if rule.get("from"))
        ) == [9464, GRPC_PORT] and all(r.get("from") for r in by_kind(d, "NetworkPolicy")["spec"]["ingress"]),
    "egress is for names, and the collector that is configured": lambda d, s, p: egress_ports(d) == {53} | collectors_port(d) and
        "Egress" in by_kind(d, "NetworkPolicy")["spec"]["policyTypes"],
    "the pods mount the ConfigMap": lambda d, s, p: by_kind(d, "ConfigMap")["metadata"]["name"] in
        [v.get("configMap", {}).get("name") for v in p["volumes"]],
    "metrics are scraped as the alerts' job": lambda d, s, p: scraped_jobs(d, p) == alerts_jobs(),
}
CPU_RULES = {"a model is warm within five minutes": lambda d, s, p: starts_within(p, 300)}
GPU_RULES = {
    "a whole GPU": lambda d, s, p: container(p)["resources"]["limits"].get("nvidia.com/gpu") == 1,
    "a model is warm within half an hour": lambda d, s, p: starts_within(p, 1800),
    "weights are checked first": lambda d, s, p: checks_weights(d, p),
}
TOKENS_RULES = CPU_RULES | {
    "key and certificate as reeld takes them": lambda d, s, p: secret_is_mounted(p, "/etc/reel-tls"),
    "tokens as reeld takes them": lambda d, s, p: secret_is_mounted(p, "/etc/reel-tokens"),
}
SECURED_RULES = TOKENS_RULES | {
    "a collector's authority and headers as reeld takes them": lambda d, s, p: secret_is_mounted(p, "/etc/reel-traces") and
        'otlp_endpoint: "https://' in by_kind(d, "ConfigMap")["data"]["reel.textproto"],
}
OVERLAY_RULES = {"a namespace that holds all": lambda d, s, p: by_kind(d, "Namespace")["metadata"]["labels"][
    "pod-security.kubernetes.io/enforce"] == "restricted" and {x["metadata"]["namespace"] for x in d if x["kind"] != "Namespace"} == {
    by_kind(d, "Namespace")["metadata"]["name"]}}
# Of overlays and of values of the chart: which rules hold beside RULES.
OVERLAYS = {"cpu": CPU_RULES, "gpu": GPU_RULES, "secured": TOKENS_RULES}
VALUES = {"values.yaml": CPU_RULES, "examples/gpu.yaml": GPU_RULES, "examples/secured.yaml": SECURED_RULES}
# Values that the chart's schema must refuse.
REFUSED_VALUES = ("replica=2", "image.tag=latest", "model.name=ltx-video", "device=tpu", "tls.secret=x", "traces.host=collector")


def alerts_jobs():
    """What ReelDown looks for."""
    expression = re.search(r"alert: ReelDown\n\s+expr: (.*)", (ROOT / "deploy/prometheus/rules.yaml").read_text(encoding="utf-8"))[1]
    return set(re.findall(r'job="(\w+)"', expression))


def scraped_jobs(documents, pod):
    """Names that the operator gives to the jobs of the pods' metrics."""
    jobs = set()
    for monitor in [d for d in documents if d["kind"] == "ServiceMonitor"]:
        wanted, port = monitor["spec"]["selector"]["matchLabels"], monitor["spec"]["endpoints"][0]["port"]
        found = [d for d in documents if d["kind"] == "Service" and wanted.items() <= d["metadata"]["labels"].items() and
                 any(p["name"] == port == p["targetPort"] and p["port"] == 9464 for p in d["spec"]["ports"])]
        if len(found) != 1 or {"name": port, "containerPort": 9464} not in container(pod)["ports"]:
            return f"{len(found)} Services match"
        jobs.add(found[0]["metadata"]["labels"][monitor["spec"]["jobLabel"]])
    return jobs


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
        document["metadata"] = {"name": document["metadata"]["name"]}
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
    for kind in ("_definitions", "namespace-v1", "serviceaccount-v1", "service-v1", "configmap-v1", "statefulset-apps-v1",
                 "persistentvolumeclaim-v1", "networkpolicy-networking-v1", "poddisruptionbudget-policy-v1", "deployment-apps-v1",
                 "horizontalpodautoscaler-autoscaling-v2"):
        text = (source / f"{kind}.json").read_text(encoding="utf-8")
        text = re.sub(r',\s*"\$id": "[^"]*"|"\$id": "[^"]*",', "", text)
        text = text.replace('"/api/_definitions.json#', '"_definitions.json#')
        pathlib.Path(scratch, f"{kind}.json").write_text(text, encoding="utf-8")


def operator_schemas(scratch, yaml):
    """Of the Prometheus operator's and KEDA's own definitions, closed: a misspelt field is no field."""
    def closed(schema):
        if isinstance(schema, dict):
            schema = {key: closed(value) for key, value in schema.items()}
            if "properties" in schema and schema.get("type") == "object":
                schema.setdefault("additionalProperties", False)
        return [closed(one) for one in schema] if isinstance(schema, list) else schema

    for place, group in OPERATORS.items():
        source = ROOT / ".deps" / f"{place}.yaml"
        if not source.is_file():
            skip(f"the definitions of {place} are not installed; run deploy/build/setup --tests")
        version = yaml.safe_load(source.read_text(encoding="utf-8"))["spec"]["versions"][0]
        schema = closed(version["schema"]["openAPIV3Schema"])
        schema["properties"]["metadata"] = {"type": "object"}
        pathlib.Path(scratch, f"{source.stem}-{group}-{version['name']}.json").write_text(json.dumps(schema), encoding="utf-8")


def conforms(kubeconform, scratch, manifest):
    schemas = f"{scratch}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"
    return run(kubeconform, "-strict", "-summary", "-schema-location", schemas, "-", input=manifest)


def rendered(*command):
    """The manifests, and what is wrong with them. helm tells of the link to the rules, which is as it should be."""
    answer = run(*command)
    said = "".join(line for line in answer.stderr.splitlines(True) if "found symbolic link in path" not in line)
    return answer.stdout, [f"{command[1]}: {said.strip()}"] if answer.returncode or said else []


def helm_template(helm, *values):
    return rendered(helm, "template", "reel", CHART, "--namespace", "reel", "--kube-version", VERSION,
                    "--set", "monitoring.enabled=true", *values)


def check_conformity(manifests, conforming):
    """All at once: most of the time goes into reading the schemas."""
    answer = conforming("---\n".join(manifests))
    print(answer.stdout.strip())
    if answer.returncode:
        yield f"kubeconform: {answer.stdout}{answer.stderr}"
    misspelt = "---\n".join(manifests[:1]).replace("serviceName:", "servceName:").replace("jobLabel:", "jobLable:")
    if "Invalid: 2" not in conforming(misspelt).stdout:
        yield "self-test: kubeconform accepts misspelt fields"


def check_rendering(name, manifest, rules, yaml):
    documents = [document for document in yaml.safe_load_all(manifest) if document]
    problems = [f"rule: {broken}" for broken in broken_rules(documents, rules)]
    problems += [f"self-test: the rule '{blind}' accepts anything" for blind in blind_rules(documents, rules)]
    print(f"{name}: {len(documents)} documents, {len(rules)} rules")
    return problems


def check_alerts_of_chart(manifest, yaml):
    """The chart's alerts are those of deploy/prometheus."""
    rules = yaml.safe_load((ROOT / "deploy/prometheus/rules.yaml").read_text(encoding="utf-8"))
    if by_kind([d for d in yaml.safe_load_all(manifest) if d], "PrometheusRule")["spec"] != rules:
        yield "the PrometheusRule differs from deploy/prometheus/rules.yaml"


def main():
    kustomize, kubeconform, helm = find_tool("kustomize"), find_tool("kubeconform"), find_tool("helm")
    sys.path.append(site_packages())
    try:
        import yaml
    except ImportError:
        skip("PyYAML is not installed")
    found, manifests = [], []
    monitoring, problems = rendered(kustomize, "build", MANIFESTS / "monitoring")
    found += [(MANIFESTS / "monitoring/kustomization.yaml", problem) for problem in problems]
    for name, rules in OVERLAYS.items():
        manifest, problems = rendered(kustomize, "build", MANIFESTS / "overlays" / name)
        manifests.append(f"{manifest}---\n{monitoring}")
        problems = problems or check_rendering(f"overlay {name}", manifests[-1], RULES | OVERLAY_RULES | rules, yaml)
        found += [(MANIFESTS / "overlays" / name / "kustomization.yaml", problem) for problem in problems]
    for name, rules in VALUES.items():
        manifest, problems = helm_template(helm, "-f", CHART / name)
        manifests.append(manifest)
        problems = problems or check_rendering(f"chart with {name}", manifest, RULES | rules, yaml)
        found += [(CHART / name, problem) for problem in problems or check_alerts_of_chart(manifest, yaml)]
    with tempfile.TemporaryDirectory() as scratch:
        local_schemas(scratch)
        operator_schemas(scratch, yaml)
        found += [(MANIFESTS / "README.md", problem) for problem in check_conformity(manifests, functools.partial(conforms, kubeconform, scratch))]
    found += [(CHART / "values.schema.json", f"self-test: {value} is accepted") for value in REFUSED_VALUES
              if not helm_template(helm, "--set", value)[1]]
    print("\n".join(f"{path.relative_to(ROOT)}:1: {problem}" for path, problem in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
