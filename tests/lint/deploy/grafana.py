#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboards are sound: unique panels that explain themselves and do not overlap, queries that promtool can parse."""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from metric_names import metrics_of, queries_of_dashboard  # noqa: E402
from tools import ROOT, find_tool, run  # noqa: E402

FOLDER = ROOT / "deploy/grafana"
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def problems_of(dashboard):
    seen, cells = set(), {}
    for panel in dashboard["panels"]:
        where = f"panel '{panel.get('title')}'"
        if panel["id"] in seen:
            yield f"{where}: the id {panel['id']} is taken"
        seen.add(panel["id"])
        place = panel["gridPos"]
        for cell in ((x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])):
            if cells.setdefault(cell, where) != where:
                yield f"{where} overlaps {cells[cell]}"
                break
        if panel["type"] == "row":
            continue
        if not panel.get("description") or not panel["fieldConfig"]["defaults"].get("unit"):
            yield f"{where} has no description or no unit"
        if panel.get("datasource") != DATASOURCE:
            yield f"{where} does not use the variable datasource"
        if not panel.get("targets"):
            yield f"{where} asks nothing"


def unparsable(promtool, queries):
    """promtool reads rules, so each query becomes one; Grafana's variables get a value."""
    lines = ["groups:", "- name: dashboard", "  rules:"]
    for i, (_, query) in enumerate(queries):
        query = query.replace("$__rate_interval", "5m").replace("$__range", "1h").replace("$instance", ".*")
        lines += [f"  - record: query:{i}", f"    expr: {json.dumps(query)}"]
    with tempfile.TemporaryDirectory() as scratch:
        rules = pathlib.Path(scratch, "rules.yaml")
        rules.write_text("\n".join(lines), encoding="utf-8")
        answer = run(promtool, "check", "rules", rules)
    return f"{answer.stdout}{answer.stderr}" if answer.returncode else None


def check_the_check(promtool, dashboard):
    if not unparsable(promtool, [("", "sum(rate(x[5m])")]):
        yield "self-test: a query with an open bracket is accepted"
    twice = dict(dashboard, panels=[dict(p, description="") for p in dashboard["panels"][:3]] * 2)
    if len(list(problems_of(twice))) < 5:
        yield "self-test: panels that are there twice and say nothing are accepted"


def main():
    promtool = find_tool("promtool")
    problems, uids = [], set()
    for path in sorted(FOLDER.glob("*.json")):
        dashboard = json.loads(path.read_text(encoding="utf-8"))
        queries = list(queries_of_dashboard(path))
        own = list(problems_of(dashboard))
        if refused := unparsable(promtool, queries):
            own.append(refused)
        if dashboard["uid"] in uids:
            own.append(f"the uid {dashboard['uid']} is another dashboard's")
        uids.add(dashboard["uid"])
        metrics = set().union(*(metrics_of(query) for _, query in queries))
        print(f"{path.name}: {len(dashboard['panels'])} panels, {len(queries)} queries, {len(metrics)} metrics")
        own += check_the_check(promtool, dashboard)
        problems += [f"deploy/grafana/{path.name}:1: {problem}" for problem in own]
    if not uids:
        problems.append("deploy/grafana:1: there is no dashboard")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
