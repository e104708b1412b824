# SPDX-License-Identifier: Apache-2.0
"""Each <path>.cc has a test tests/unit/<path>_test.cc, which CMake knows."""

import re

from tree import Finding, folder_of

PLACES = ("kernels/", "model/", "server/", "client/")
MAIN = re.compile(r"(^|/)(main|\w+_main)\.cc$")
# path or folder/ -> where it is tested instead
EXEMPT = {}


def exempt(path):
    return any(path == key or (key.endswith("/") and path.startswith(key)) for key in EXEMPT)


def check(tree):
    for path in tree.matching(".cc"):
        if path.startswith(PLACES) and not MAIN.search(path) and not exempt(path):
            twin = f"tests/unit/{path[:-3]}_test.cc"
            if not tree.has(twin):
                yield Finding(path, 1, f"has no {twin}")
    for path in tree.matching("_test.cc"):
        if path.startswith("tests/") and not listed(tree, path):
            yield Finding(path, 1, "no CMakeLists.txt above names this test, so it never runs")
    for key in EXEMPT:
        if tree.root and not any(p == key or p.startswith(key) for p in tree.paths):
            yield Finding("tests/lint/rules/twins.py", 1, f"'{key}' is exempt and does not exist")


def listed(tree, path):
    name = path.rpartition("/")[2]
    folder = folder_of(path)
    while folder:
        lists = f"{folder}/CMakeLists.txt"
        if tree.has(lists) and (name in tree.text(lists) or name[:-len(".cc")] in tree.text(lists)):
            return True
        folder = folder_of(folder)
    return False


CASES = [
    ("no twin", {"model/resolve.cc": ""}, 1),
    ("never run", {"tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": ""}, 1),
    ("good", {"model/a.cc": "", "tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": "a_test",
              "client/main.cc": ""}, 0),
]
