# SPDX-License-Identifier: Apache-2.0
"""Pages of figures are as tests/bench/result_pages.py makes them of their JSON."""

import json
import pathlib
import sys

from tree import Finding

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import result_pages  # noqa: E402

FOLDER = "tests/bench/results/"


def check(tree):
    for path in tree.matching(".json"):
        name = path.removeprefix(FOLDER).removesuffix(".json")
        if not path.startswith(FOLDER) or "/" in name:
            continue
        try:
            made = result_pages.page(name, tree.text(path))
        except (ValueError, KeyError) as error:
            yield Finding(path, 1, f"makes no page: {error}")
            continue
        page = f"{FOLDER}{name}.md"
        if not tree.has(page) or tree.text(page) != made:
            yield Finding(page, 1, "is not what tests/bench/result_pages.py makes of its JSON: run it")


GOOD = json.dumps({"title": "A", "about": "B.", "sections": [{"title": "C", "date": "2026-01-02", "columns": ["x", "ms"], "rows": [["y", 1000]], "notes": ["z"]}]})
CASES = [
    ("good", {f"{FOLDER}a.json": GOOD, f"{FOLDER}a.md": result_pages.page("a", GOOD)}, 0),
    ("edited by hand", {f"{FOLDER}a.json": GOOD, f"{FOLDER}a.md": "# A\n"}, 1),
    ("a row with a cell too many", {f"{FOLDER}a.json": GOOD.replace("1000", "1000, 2"), f"{FOLDER}a.md": ""}, 1),
    ("renders of a device are no page", {f"{FOLDER}h200/e2e.json": "[]"}, 0),
]
