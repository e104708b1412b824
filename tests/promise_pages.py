#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Promises: promises.json is the data, PROMISES.md (a table) and PROMISE_DETAILS.md are made from it.

  tests/promise_pages.py                    writes both pages
  tests/promise_pages.py figures JUNIT OUT  collects the FIGURE lines of a run of ctest as JSON, by test
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).parent
HEAD = """# What Reel promises

Made by `tests/promise_pages.py` from [promises.json](promises.json); edit that. Which tests hold a promise, and how its figure was
measured, is in the [details](PROMISE_DETAILS.md). Unless a row says otherwise, figures are of two busy CPU cores, preset release and the test
card. The bar is what the test, or the measurement by hand, must stay within.

| # | promise | last figure | bar | date |
|---|---|---|---|---|
"""
DETAILS_HEAD = """# Promises in detail

Made by `tests/promise_pages.py` from [promises.json](promises.json); edit that. Each number is a promise of the [table](PROMISES.md); here are its
tests, then facts that the table has no room for.

Tests without a command run in `tests/run --all`; `soak` stands for `ctest --test-dir build/release -L soak -R NAME`. Tests that start brokers or a store skip without `deploy/build/setup --fleet`. Lines of
a test that begin with `FIGURE` are collected in `build/all/figures.json`. "Not yet" was never tried.
"""


def table(promises):
    rows = (f"| [{p['id']}](PROMISE_DETAILS.md#{p['id']}) | {p['promise']} | {p['last']} | {p.get('bar', '')} | {p.get('date', '')} |\n" for p in promises)
    return HEAD + "".join(rows)


def details(promises):
    return DETAILS_HEAD + "".join(details_of(p) for p in promises)


def tests_of(tests):
    """One line, or one a suite where there are many."""
    names = [f"`{test}`" for test in tests]
    line = ", ".join(names)
    if len(line) <= 400:
        return line
    suites = {}
    for name in names:
        suites.setdefault(name.partition(".")[0], []).append(name)
    return "\n".join(f"- {', '.join(of_suite)}" for of_suite in suites.values())


def details_of(promise):
    how = [tests_of(promise["tests"])] if promise["tests"] else []
    how += [promise["run"]] if "run" in promise else []
    facts = "".join(f"- {fact}\n" for fact in promise.get("facts", []))
    return f"\n## {promise['id']}\n\n" + "".join(f"{line}\n\n" for line in how) + facts


def pages(data):
    """path below tests/ -> what it should hold."""
    promises = json.loads(data)
    return {"PROMISES.md": table(promises), "PROMISE_DETAILS.md": details(promises)}


def figures(junit, out):
    found = {}
    for case in xml.etree.ElementTree.parse(junit).iter("testcase"):
        lines = re.findall(r"^FIGURE:?\s+(.+)$", case.findtext("system-out") or "", re.MULTILINE)
        if lines:
            found[case.get("name")] = lines
    pathlib.Path(out).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["figures"] and len(sys.argv) == 4:
        figures(*sys.argv[2:])
    elif len(sys.argv) == 1:
        for name, text in pages((HERE / "promises.json").read_text(encoding="utf-8")).items():
            (HERE / name).write_text(text, encoding="utf-8")
    else:
        sys.exit(__doc__)
