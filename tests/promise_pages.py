#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Promises: promises.json is the data, PROMISES.md (a table) and PROMISE_DETAILS.md are made from it.

  tests/promise_pages.py                    writes both pages
  tests/promise_pages.py figures JUNIT OUT  collects the FIGURE lines of a run of ctest as JSON, by test
  tests/promise_pages.py update FIGURES     takes over what such a run measured, as of today, and writes all three

A promise has an id, its text, tests, the last figure with its date, and may have the bar, the machine (without one it is two busy CPU cores), a
command by hand (`run`) and facts. One with a `figure` is updated: `line` is part of its FIGURE line, with {0}, {1} ... for numbers, of which `last` makes the text. What
was measured by hand, on a GPU or by a soak stays as it is. Look at the difference before you commit it: figures are of this machine.
"""

import datetime
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).parent
HEAD = """# What Reel promises

Made by `tests/promise_pages.py` from [promises.json](promises.json); edit that. Tests and further facts: [details](PROMISE_DETAILS.md). Unless a row
says otherwise, figures are of two busy CPU cores, preset release and the test card. The bar is what the test, or the measurement by hand, must stay within.

| # | promise | last figure | bar | date |
|---|---|---|---|---|
"""
DETAILS_HEAD = """# Promises in detail

Made by `tests/promise_pages.py` from [promises.json](promises.json); edit that. Each number is a promise of the [table](PROMISES.md).

Tests without a command run in `tests/run --all`; `soak` stands for `ctest --test-dir build/release -L soak -R NAME`. Tests that start brokers or a store skip without `deploy/build/setup --fleet`. Lines of
a test that begin with `FIGURE` are collected in `build/all/figures.json`. "Not yet" was never tried.
"""


def table(promises):
    rows = (f"| [{p['id']}](PROMISE_DETAILS.md#{p['id']}) | {p['promise']} | {figure_of(p)} | {p.get('bar', '')} | {p.get('date', '')} |\n" for p in promises)
    return HEAD + "".join(rows)


def figure_of(promise):
    return f"{promise['machine']}: {promise['last']}" if "machine" in promise else promise["last"]


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


def rounded(number):
    """Three digits that count where there is a point, and a space before the unit: 20.583312ms is 20.6 ms."""
    parts = re.fullmatch(r"(-?\d+)(\.\d+)?([a-z%]*)", number)
    if not parts:
        return number
    value = parts[1] if not parts[2] else f"{float(parts[1] + parts[2]):.{max(3, len(parts[1].lstrip('-')))}g}"
    return f"{value} {parts[3]}".strip()


def measured(figure, lines):
    """The text of a figure by the lines of a run, the last that fits, or None."""
    pattern = re.sub(r"\\{(\d)\\}", r"(?P<n\1>\\S+?)", re.escape(figure["line"])) + r"(?=[\s,;)]|$)"
    found = [match for line in lines if (match := re.search(pattern, line))]
    if not found:
        return None
    numbers = found[-1].groupdict()
    return figure["last"].format(*(rounded(numbers[f"n{i}"]) for i in range(len(numbers))))


def update(promises, found, today):
    """Writes new figures into `promises`. Returns the numbers of those that have one now, and of those that the run did not measure."""
    lines = [line for of_test in found.values() for line in of_test]
    new, missing = [], []
    for promise in promises:
        if "figure" in promise:
            text = measured(promise["figure"], lines)
            (missing if text is None else new).append(promise["id"])
            promise.update({} if text is None else {"last": text, "date": today})
    return new, missing


def write_pages():
    for name, text in pages((HERE / "promises.json").read_text(encoding="utf-8")).items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["figures"] and len(sys.argv) == 4:
        figures(*sys.argv[2:])
    elif sys.argv[1:2] == ["update"] and len(sys.argv) == 3:
        all_promises = json.loads((HERE / "promises.json").read_text(encoding="utf-8"))
        new_ones, without = update(all_promises, json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")), datetime.date.today().isoformat())
        (HERE / "promises.json").write_text(json.dumps(all_promises, indent=1) + "\n", encoding="utf-8")
        write_pages()
        print(f"updated: {', '.join(map(str, new_ones)) or 'none'}; not measured by this run: {', '.join(map(str, without)) or 'none'}")
    elif len(sys.argv) == 1:
        write_pages()
    else:
        sys.exit(__doc__)
