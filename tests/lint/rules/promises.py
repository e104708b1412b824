# SPDX-License-Identifier: Apache-2.0
"""The table of promises does not rot: a row for each, numbered without gaps; every test that it names exists; a figure has
its date, or says 'not yet'."""

import re

from tree import Finding

PAGE = "tests/PROMISES.md"
ROW = re.compile(r"\| (\d+) \|")
CODE = re.compile(r"`([^`]+)`")
DATE = re.compile(r"20\d\d-[01]\d-[0-3]\d")
GROUPS = {"attacks": "tests/integration/attacks/{}.py", "outside": "tests/integration/outside/{}.py", "lint": "tests/lint/rules/{}.py"}
CASE = re.compile(r"[A-Z]\w*(?:/[A-Z]\w*)?\.[A-Z]\w*")


def cases_of(tree):
    """`Group.Case` of every test in C++."""
    cases = set()
    for path in tree.matching("_test.cc"):
        cases.update(f"{group}.{case}" for group, case in re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", tree.text(path), re.MULTILINE))
    return cases


def programs_of(tree):
    """Names that a CMakeLists.txt makes tests of: words of it, and those of a foreach with `_test` and the like behind them."""
    words = set()
    for path in tree.matching("CMakeLists.txt"):
        words.update(re.findall(r"\w+", tree.text(path)))
    return words | {f"{word}_{end}" for word in words for end in ("test", "soak", "replay")}


def exists(tree, name, cases, programs):
    if CASE.fullmatch(name):
        return name in cases
    if "/" in name:
        return tree.has(name)
    group, dot, rest = name.partition(".")
    if dot and group in GROUPS:
        return tree.has(GROUPS[group].format(rest)) or rest in programs
    return name in programs


def check(tree):
    if not tree.has(PAGE):
        return
    cases, programs, wanted = cases_of(tree), programs_of(tree), 1
    for number, line in tree.lines(PAGE):
        row = ROW.match(line)
        if not row:
            for name in CODE.findall(line):
                if CASE.fullmatch(name) and name not in cases:
                    yield Finding(PAGE, number, f"there is no test {name}")
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if int(row[1]) != wanted:
            yield Finding(PAGE, number, f"row {row[1]} stands where row {wanted} should")
        wanted = int(row[1]) + 1
        if len(cells) != 5:
            yield Finding(PAGE, number, f"{len(cells)} columns instead of number, promise, test, figure, date")
            continue
        names = [name for name in CODE.findall(cells[2]) if " " not in name]
        if not names and "not yet" not in cells[3].lower():
            yield Finding(PAGE, number, "no test is named")
        for name in names:
            if not exists(tree, name, cases, programs):
                yield Finding(PAGE, number, f"there is no test {name}")
        if not DATE.fullmatch(cells[4]) and not cells[3].lower().startswith("not yet"):
            yield Finding(PAGE, number, "a figure without its date, or a row that does not say 'not yet' first")


GOOD = ("| # | promise | test | figure | date |\n|---|---|---|---|---|\n"
        "| 1 | a | `Drain.Ends`, `lint.links`, `x_test` | 1 s | 2026-01-02 |\n| 2 | b | `attacks.flood`, by hand `ctest -L soak` | Not yet: c. | |\n")
FILES = {"tests/a_test.cc": "TEST(Drain, Ends) {}\n", "tests/lint/rules/links.py": "", "tests/integration/attacks/flood.py": "",
         "tests/CMakeLists.txt": "foreach(name x y)\n"}
CASES = [
    ("good", {PAGE: GOOD, **FILES}, 0),
    ("a case that is not there", {PAGE: GOOD.replace("Drain.Ends", "Drain.Stays"), **FILES}, 1),
    ("an attack that is not there", {PAGE: GOOD.replace("attacks.flood", "attacks.gone"), **FILES}, 1),
    ("a program that is not there", {PAGE: GOOD.replace("x_test", "z_test"), **FILES}, 1),
    ("a figure without a date", {PAGE: GOOD.replace("2026-01-02", ""), **FILES}, 1),
    ("a case beside the rows that is not there", {PAGE: GOOD + "\nAnd `Drain.Gone`.\n", **FILES}, 1),
    ("a row that is missing", {PAGE: GOOD.replace("| 2 |", "| 3 |"), **FILES}, 1),
    ("a row without a test", {PAGE: GOOD.replace("`Drain.Ends`, `lint.links`, `x_test`", "by hand"), **FILES}, 1),
    ("a column too few", {PAGE: GOOD.replace(" | 1 s |", " |"), **FILES}, 1),
]
