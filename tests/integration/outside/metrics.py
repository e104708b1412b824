#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every metric of the dashboards and of the rules is in a live scrape, which promtool finds sound."""

import contextlib
import json
import re
import subprocess
import sys
import time

from fleet_parts import fleet_parts, has_fleet_parts
from server import ROOT, find_tool, run, running_server, scrape, wait_until_serving

sys.path.insert(0, str(ROOT / "tests/lint/deploy"))
from metric_names import family_of, metrics_of, queries_of_dashboard, queries_of_rules  # noqa: E402


# Families without a series until something happens that a short run on a CPU does not do. They must be named in the
# sources of the metrics.
LATER = {
    "reel_adapter_jobs_total": "a model with adapters of requests",
    "reel_adapter_uploads_total": "a model with adapters of requests",
    "reel_experiment_requests_total": "an experiment in the configuration",
    "reel_experiment_shadows_total": "an experiment in the configuration",
    "reel_experiment_shadow_psnr_db": "an experiment in the configuration",
    "reel_experiment_step_ratio": "an experiment with enough videos",
    "reel_experiment_step_seconds_total": "an experiment in the configuration",
    "reel_experiment_steps_total": "an experiment in the configuration",
    "reel_kernel_duration_seconds": "a model that calls operators",
    "reel_kernel_estimated_seconds_total": "a model that calls operators",
    "reel_kernel_sampled_steps_total": "a model that calls operators",
    "reel_gpu_errors_total": "a device that fails",
    "reel_gpu_energy_joules_total": "a device whose driver counts its energy",
    "reel_gpu_xids_total": "a kernel's log that may be read",
    "reel_gpu_copy_bytes_per_second": "a device with memory of its own",
    "reel_gpu_memory_bytes": "a device with memory of its own",
    "reel_shared_step_apart_seconds_total": "a model that shares steps",
    "reel_shared_step_seconds_total": "a model that shares steps",
    "reel_step_left_out_jobs_total": "a device that loses by sharing",
    "reel_tenant_stored_bytes": "a tenant with a limit",
    "reel_tenant_stored_limit_bytes": "a tenant with a limit",
    "reel_weights_stall_seconds_total": "a model that is larger than its device",
    "reel_weights_streamed_bytes_total": "a model that is larger than its device",
    "reel_tls_certificate_expiry_timestamp_seconds": "TLS",
}


def in_sources(family):
    return any(f'"{family}"' in path.read_text(encoding="utf-8") for path in (ROOT / "server/front/metrics").glob("*.cc"))


def families_of(text):
    """Families that have at least one series."""
    typed = set(re.findall(r"^# TYPE (\S+) \w+$", text, re.MULTILINE))
    samples = set(re.findall(r"^([a-zA-Z_]\w*)[{ ]", text, re.MULTILINE))
    return {family for family in typed if any(family_of(sample, typed) == family for sample in samples)}


def fleet_families():
    return re.findall(r'"(reel_fleet_\w+)"', (ROOT / "server/front/metrics/collectors.cc").read_text(encoding="utf-8"))


def absent_metrics(families, later):
    dashboards = sorted((ROOT / "deploy/grafana").glob("*.json"))
    queries = [query for path in dashboards for query in queries_of_dashboard(path)]
    queries += queries_of_rules(ROOT / "deploy/prometheus/rules.yaml")
    for where, query in queries:
        for metric in sorted(metrics_of(query)):
            if family_of(metric, families) in families:
                continue
            if not (family_of(metric, later) in later and in_sources(family_of(metric, later))):
                yield f"{where}: {metric} is not in the scrape"


def scrape_with_fleet(server):
    """What a server says of its fleet is a second old: once it knows of the video."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        text = scrape(server)
        if "reel_fleet_videos{" in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"a server of a fleet says nothing of its videos:\n{text}")


def main():
    grpcurl, promtool = find_tool("grpcurl"), find_tool("promtool")
    with contextlib.ExitStack() as stack:
        parts = stack.enter_context(fleet_parts()) if has_fleet_parts() else None
        server = stack.enter_context(running_server(config=parts.config if parts else ""))
        wait_until_serving(server)
        run(grpcurl, "-plaintext", "-d", json.dumps({"spec": {"prompt": "a red circle"}}), server.grpc,
            "reel.v1.VideoService/GenerateVideo")
        text = scrape_with_fleet(server) if parts else scrape(server)
    families = families_of(text)
    later = LATER if parts else LATER | dict.fromkeys(fleet_families(), "a fleet, of which nothing is installed here")
    problems = list(absent_metrics(families, later))
    assert list(absent_metrics(set(), LATER)), "self-test: an empty scrape is accepted"
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    if checked.returncode:
        problems.append(f"promtool check metrics: {checked.stdout}{checked.stderr}")
    print("\n".join(problems))
    print(f"{len(families)} families, {sum(1 for line in text.splitlines() if not line.startswith('#'))} series")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
