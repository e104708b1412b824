#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboards have the fields that Grafana's published types demand, no others, and of the right types. The check damages one and must notice."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tools import ROOT, find_tool, run  # noqa: E402

FOLDER = ROOT / "deploy/grafana"


def damaged(text):
    """(name, text) of what must be refused."""
    def changed(change):
        dashboard = json.loads(text)
        change(dashboard, next(panel for panel in dashboard["panels"] if panel["type"] == "timeseries"))
        return json.dumps(dashboard)

    yield "a misspelt field", changed(lambda dashboard, _: dashboard.update(titel="x"))
    yield "a misspelt option of a panel", changed(lambda _, panel: panel["options"]["legend"].update(showLegendd=True))
    yield "a missing option of a panel", changed(lambda _, panel: panel["options"]["legend"].pop("showLegend"))
    yield "a number as words", changed(lambda _, panel: panel["gridPos"].update(w="12"))


def main():
    reader = find_tool("read-dashboards")
    dashboards = sorted(FOLDER.glob("*.json"))
    answer = run(reader, *dashboards)
    problems = answer.stdout.splitlines() + answer.stderr.splitlines()
    if bool(answer.returncode) != bool(problems) or len(dashboards) < 4:
        problems.append(f"{len(dashboards)} dashboards, status {answer.returncode}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in damaged(dashboards[0].read_text(encoding="utf-8")):
            file = pathlib.Path(folder, "dashboard.json")
            file.write_text(text, encoding="utf-8")
            if not run(reader, file).returncode:
                problems.append(f"self-test: {name} is accepted")
    print(f"{len(dashboards)} dashboards")
    print("\n".join(f"deploy/grafana/README.md:1: {problem}" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
