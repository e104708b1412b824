# SPDX-License-Identifier: Apache-2.0
"""Promises do not rot: numbered without gaps; every test that they name exists; a figure is short and has its date, or says
'not yet'; the pages that are made of them are as made."""

import json
import pathlib
import re
import sys

from tree import Finding

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
import promise_pages  # noqa: E402

DATA = "tests/promises.json"
MOST = 120  # characters of a cell
CODE = re.compile(r"`([^`]+)`")
PLACE = re.compile(r"\{(\d)\}")
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
    if not tree.has(DATA):
        return
    cases, programs = cases_of(tree), programs_of(tree)
    try:
        promises = json.loads(tree.text(DATA))
    except ValueError as error:
        yield Finding(DATA, 1, f"is no JSON: {error}")
        return
    for wanted, promise in enumerate(promises, 1):
        yield from (Finding(DATA, 1, f"promise {wanted}: {what}") for what in faults_of(tree, wanted, promise, cases, programs))
    for name, text in promise_pages.pages(tree.text(DATA)).items():
        if not tree.has(f"tests/{name}") or tree.text(f"tests/{name}") != text:
            yield Finding(f"tests/{name}", 1, "is not what tests/promise_pages.py makes of promises.json: run it")


def faults_of(tree, wanted, promise, cases, programs):
    if promise["id"] != wanted:
        yield f"has the number {promise['id']}"
    not_yet = promise["last"].lower().startswith("not yet")
    if not promise["tests"] and not promise.get("run") and not not_yet:
        yield "no test is named"
    mentioned = [name for fact in promise.get("facts", []) for name in CODE.findall(fact) if CASE.fullmatch(name)]
    for name in (*promise["tests"], *mentioned):
        if not exists(tree, name, cases, programs):
            yield f"there is no test {name}"
    if not DATE.fullmatch(promise.get("date", "")) and not not_yet:
        yield "a figure without its date, or one that does not say 'not yet' first"
    figure = promise.get("figure", {"line": "", "last": ""})
    numbers = {place for place in PLACE.findall(figure.get("line", ""))}
    if set(figure) != {"line", "last"} or numbers != {str(i) for i in range(len(numbers))} or not numbers.issuperset(PLACE.findall(figure["last"])):
        yield "its figure is a line of a test with {0}, {1} ..., and the text that is made of them"
    for key in ("promise", "last", "bar"):
        if len(promise.get(key, "")) > MOST or "|" in promise.get(key, ""):
            yield f"{key} has more than {MOST} characters, or a |; facts have room"


GOOD = [{"id": 1, "promise": "a", "tests": ["Drain.Ends", "lint.links", "x_test"], "last": "1 s", "date": "2026-01-02", "facts": ["As `Drain.Ends` says."]},
        {"id": 2, "promise": "b", "tests": ["attacks.flood"], "run": "By hand `ctest -L soak`.", "last": "Not yet: c."}]
FILES = {"tests/a_test.cc": "TEST(Drain, Ends) {}\n", "tests/lint/rules/links.py": "", "tests/integration/attacks/flood.py": "",
         "tests/CMakeLists.txt": "foreach(name x y)\n"}


def tree_of(change=lambda text: text):
    data = change(json.dumps(GOOD))
    return {DATA: data, **{f"tests/{name}": text for name, text in promise_pages.pages(data).items()}, **FILES}


CASES = [
    ("good", tree_of(), 0),
    ("a case that is not there", tree_of(lambda text: text.replace('["Drain.Ends', '["Drain.Stays')), 1),
    ("an attack that is not there", tree_of(lambda text: text.replace("attacks.flood", "attacks.gone")), 1),
    ("a program that is not there", tree_of(lambda text: text.replace("x_test", "z_test")), 1),
    ("a figure without a date", tree_of(lambda text: text.replace("2026-01-02", "")), 1),
    ("a fact with a case that is not there", tree_of(lambda text: text.replace("`Drain.Ends`", "`Drain.Gone`")), 1),
    ("a number that is missing", tree_of(lambda text: text.replace('"id": 2', '"id": 3')), 1),
    ("a promise without a test", tree_of(lambda text: text.replace('"Drain.Ends", "lint.links", "x_test"', "")), 1),
    ("a figure that is updated", tree_of(lambda text: text.replace('"last": "1 s"', '"last": "1 s", "figure": {"line": "after {0} of {1}", "last": "{0}"}')), 0),
    ("a figure of a number that no line has", tree_of(lambda text: text.replace('"last": "1 s"', '"last": "1 s", "figure": {"line": "after {0}", "last": "{1}"}')), 1),
    ("a figure that is a story", tree_of(lambda text: text.replace('"1 s"', f'"{"so " * 50}"')), 1),
    ("no JSON", {DATA: "["}, 1),
    ("a page that is not as made", {**tree_of(), "tests/PROMISES.md": "by hand"}, 1),
]
