# SPDX-License-Identifier: Apache-2.0
"""The queries of dashboards and of the rules, and the metrics that they name."""

import json
import re

NAME = re.compile(r"(?<![\w:$\"{])((?:reel|grpc|process|prometheus|go)_\w+)(?=\s*[\[{)/\s]|$)")
LABEL_LIST = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
SUFFIX = re.compile(r"_(?:bucket|sum|count)$")


def queries_of_dashboard(path):
    """(where, query) of every target, rows' inner panels as well."""
    dashboard = json.loads(path.read_text(encoding="utf-8"))
    for panel in dashboard["panels"] + [p for row in dashboard["panels"] for p in row.get("panels", [])]:
        for target in panel.get("targets", []):
            yield f"panel '{panel['title']}'", target["expr"]


def queries_of_rules(path):
    """(where, query) of every rule; enough of YAML for a file of this shape."""
    text = path.read_text(encoding="utf-8")
    for name, block, line in re.findall(r"(?:alert|record): (\S+)\n\s+expr: (?:\|\n((?:\s{10,}.*\n)+)|(.*)\n)", text):
        yield f"rule {name}", block or line


def metrics_of(query):
    """Names as they stand in the query."""
    return set(NAME.findall(LABEL_LIST.sub(" ", query)))


def family_of(metric, families):
    """The family that a scrape must have for this name: histograms are asked for by their parts."""
    return metric if metric in families else SUFFIX.sub("", metric)
