# SPDX-License-Identifier: Apache-2.0
"""Files, classes and CMake targets are named for their concept, never for being a drawer."""

import re

from tree import Finding

DRAWERS = ("utils", "util", "helpers", "helper", "common", "misc", "manager")
IN_PATH = re.compile(r"(?:^|[/_.-])(" + "|".join(DRAWERS) + r")(?=$|[/_.-])")
IN_CLASS = re.compile(r"\b(?:class|struct)\s+\w*?(Utils?|Helpers?|Common|Misc|Manager)\b")
EXEMPT = {"tests/lint/rules/names.py": "names what it forbids"}
SOURCES = (".h", ".cc", ".cu", ".cuh", ".py")


def check(tree):
    for path in tree.paths:
        if found := IN_PATH.search(path):
            yield Finding(path, 1, f"a file is not named '{found[1]}': name the concept")
    for path in tree.matching(*SOURCES):
        if path in EXEMPT:
            continue
        for number, line in tree.lines(path):
            if found := IN_CLASS.search(line):
                yield Finding(path, number, f"a class is not named '{found[1]}': name the concept")


CASES = [
    ("drawer file", {"model/tensor_utils.h": ""}, 1),
    ("drawer folder", {"server/common/a.h": ""}, 1),
    ("drawer class", {"a/b.h": "class JobManager {"}, 1),
    ("concepts", {"server/front/utilisation.h": "class Commoner {};"}, 0),
]
