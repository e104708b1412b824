# SPDX-License-Identifier: Apache-2.0
"""Metrics that pages for operators name exist: those of the dashboard and of the rules are looked for in a live scrape
(tests/integration/outside/metrics.py), those in Markdown in the sources."""

import pathlib
import re
import sys

from tree import Finding

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "deploy"))
from metric_names import family_of, metrics_of  # noqa: E402

PAGES = ("deploy/runbooks/", "deploy/prometheus/", "deploy/grafana/")
SOURCES = "server/front/"
CODE = re.compile(r"`([^`]+)`")
FAMILY = re.compile(r'"((?:reel|grpc|process)_\w+)"')
OURS = ("reel_", "grpc_", "process_")


def check(tree):
    known = {name for path in tree.matching(".cc") if path.startswith(SOURCES) for name in FAMILY.findall(tree.text(path))}
    for path in tree.matching(".md"):
        if not path.startswith(PAGES):
            continue
        for number, line in tree.lines(path):
            for code in CODE.findall(line):
                for metric in sorted(metrics_of(code)):
                    if metric.startswith(OURS) and family_of(metric, known) not in known:
                        yield Finding(path, number, f"reeld has no metric {metric}")


SOURCE = {"server/front/metrics/a.cc": 'Counter("reel_calls_total"); Histogram("reel_step_seconds")'}
CASES = [
    ("a metric that nobody counts", {"deploy/runbooks/A.md": "look at `rate(reel_gone_total[5m])`", **SOURCE}, 1),
    ("good", {"deploy/runbooks/A.md": "`sum(rate(reel_calls_total{a=\"b\"}[5m]))`, `reel_step_seconds_bucket`, reel_gone", **SOURCE}, 0),
    ("elsewhere it is no metric", {"deploy/kernels/README.md": "`reel_kernels`", **SOURCE}, 0),
]
