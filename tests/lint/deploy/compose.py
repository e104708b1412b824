#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/compose: what its schema allows, our rules, and a Prometheus that finds the job of the alerts."""

import copy
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tools import ROOT, find_tool, run, site_packages, skip  # noqa: E402

FOLDER = ROOT / "deploy/compose"
SCHEMA = ROOT / ".deps/compose/compose-spec.json"


def mounted(compose):
    """(service, file of the tree, place in the container) of each mount of a file."""
    for name, service in compose["services"].items():
        for source, place, *_ in (volume.split(":") for volume in service.get("volumes", [])):
            if source.startswith("."):
                yield name, FOLDER / source, place


def broken_rules(compose, prometheus, source, dashboards):
    services = compose["services"]
    places = {place: file for _, file, place in mounted(compose)}
    reeld = services.get("reeld", {})
    ports = [port for service in services.values() for port in service.get("ports", [])]
    jobs = {job["job_name"]: job["static_configs"][0]["targets"] for job in prometheus.get("scrape_configs", [])}
    expected = re.search(r'up\{job="(\w+)"', (ROOT / "deploy/prometheus/rules.yaml").read_text(encoding="utf-8"))[1]
    dashboard_folder = places.get(dashboards.get("providers", [{}])[0].get("options", {}).get("path"))
    rules = {
        "images have versions": all(re.search(r":v?\d+\.\d+", service.get("image", "")) for service in services.values()),
        "ports are published on loopback": len(ports) >= 4 and all(port.startswith("127.0.0.1:") for port in ports),
        "nobody has capabilities": all(service.get("cap_drop") == ["ALL"] for service in services.values()),
        "nobody gains privileges": all(service.get("security_opt") == ["no-new-privileges:true"] for service in services.values()),
        "reeld has a read-only root": reeld.get("read_only") is True and reeld.get("tmpfs") == ["/tmp"],
        "videos are kept": "videos:/var/lib/reel" in reeld.get("volumes", []) and "videos" in compose.get("volumes", {}),
        "what is mounted is there": len(places) >= 5 and all(file.exists() for file in places.values()),
        "the alerts find their job": jobs.get(expected) == ["reeld:9464"],
        "the alerts are loaded": prometheus.get("rule_files") == ["rules.yaml"] and "/etc/prometheus/rules.yaml" in places,
        "Grafana asks that Prometheus": source.get("datasources", [{}])[0].get("url") == "http://prometheus:9090",
        "Grafana finds the dashboards": dashboard_folder is not None and (dashboard_folder / "service.json").is_file(),
    }
    return [name for name, holds in rules.items() if not holds], len(rules)


def check_prometheus(promtool):
    """As it lies in the container."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(FOLDER / "prometheus.yaml", scratch)
        shutil.copy(ROOT / "deploy/prometheus/rules.yaml", scratch)
        answer = run(promtool, "check", "config", pathlib.Path(scratch, "prometheus.yaml"))
    return [] if answer.returncode == 0 else [f"promtool: {answer.stdout}{answer.stderr}"]


def main():
    promtool = find_tool("promtool")
    sys.path.append(site_packages())
    try:
        import jsonschema
        import yaml
    except ImportError as missing:
        skip(f"{missing}")
    if not SCHEMA.is_file():
        skip("the schema of Compose is not installed; run deploy/build/setup --tests")
    schema = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    files = [yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
             for name in ("compose.yaml", "prometheus.yaml", "grafana-source.yaml", "grafana-dashboards.yaml")]
    problems = [f"schema: {error.message}" for error in schema.iter_errors(files[0])] + check_prometheus(promtool)
    broken, count = broken_rules(*files)
    problems += [f"rule: {name}" for name in broken]
    misspelt = copy.deepcopy(files[0])
    misspelt["services"]["reeld"]["prots"] = []
    if schema.is_valid(misspelt):
        problems.append("self-test: the schema accepts a misspelt field")
    if len(broken_rules({"services": {"x": {}}}, {}, {}, {})[0]) != count:
        problems.append("self-test: a rule accepts anything")
    print(f"{len(files[0]['services'])} services, {count} rules")
    print("\n".join(f"deploy/compose/compose.yaml:1: {problem}" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
