#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""promtool accepts the rules, their tests pass, and every alert has a firing case, a silent one and a runbook."""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tools import ROOT, find_tool, run, site_packages, skip  # noqa: E402

FOLDER = ROOT / "deploy/prometheus"
RULES, TESTS = FOLDER / "rules.yaml", FOLDER / "rules_test.yaml"
THRESHOLD = r"> [\d.]+"


def alerts_of(rules):
    return [rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule]


def cases_of(tests):
    """(alert, does it fire) of every case."""
    return {(check["alertname"], bool(check["exp_alerts"]))
            for test in tests["tests"] for check in test.get("alert_rule_test", [])}


def check_alerts(rules, tests):
    cases = cases_of(tests)
    names = {rule["alert"] for rule in alerts_of(rules)}
    for rule in alerts_of(rules):
        name, notes = rule["alert"], rule.get("annotations", {})
        for fires, kind in ((True, "firing"), (False, "silent")):
            if (name, fires) not in cases:
                yield f"{name} has no {kind} case in rules_test.yaml"
        if notes.get("runbook") != f"deploy/runbooks/{name}.md" or not (ROOT / notes["runbook"]).is_file():
            yield f"{name} has no runbook deploy/runbooks/{name}.md"
        if rule.get("labels", {}).get("severity") not in ("page", "ticket"):
            yield f"{name} has no severity of page or ticket"
    for page in sorted((ROOT / "deploy/runbooks").glob("Reel*.md")):
        if page.stem not in names:
            yield f"deploy/runbooks/{page.name} belongs to no alert"
        text = page.read_text(encoding="utf-8")
        yield from (f"{page.name} does not say **{part}**" for part in ("Means.", "Look at", "Do") if f"**{part}**" not in text)


def damage_is_seen(promtool, rules, tests, dump):
    """The tests of the rules must notice when no threshold is ever met. One that fires is enough."""
    with_threshold = {rule["alert"] for rule in alerts_of(rules) if re.search(THRESHOLD, rule["expr"])}
    fires = next(test for test in tests["tests"] for check in test.get("alert_rule_test", []) if check["exp_alerts"] and check["alertname"] in with_threshold)
    with tempfile.TemporaryDirectory() as scratch:
        text = RULES.read_text(encoding="utf-8")
        pathlib.Path(scratch, "rules.yaml").write_text(re.sub(THRESHOLD, "> 1e9", text), encoding="utf-8")
        pathlib.Path(scratch, "rules_test.yaml").write_text(dump({**tests, "tests": [fires]}), encoding="utf-8")
        return run(promtool, "test", "rules", pathlib.Path(scratch, "rules_test.yaml")).returncode != 0


def main():
    promtool = find_tool("promtool")
    sys.path.append(site_packages())
    try:
        import yaml
    except ImportError:
        skip("PyYAML is not installed")
    problems = []
    for command in (("check", "rules", RULES), ("test", "rules", TESTS)):
        answer = run(promtool, *command)
        print(answer.stdout.strip())
        if answer.returncode:
            problems.append(f"promtool {command[0]} {command[1]}: {answer.stdout}{answer.stderr}")
    rules, tests = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in (RULES, TESTS))
    problems += check_alerts(rules, tests)
    if not list(check_alerts(rules, {"tests": []})):
        problems.append("self-test: alerts without cases are accepted")
    if not damage_is_seen(promtool, rules, tests, yaml.safe_dump):
        problems.append("self-test: the cases pass with rules that never fire")
    print("\n".join(f"deploy/prometheus/rules.yaml:1: {problem}" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
