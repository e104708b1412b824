# SPDX-License-Identifier: Apache-2.0
"""Each <path>.cc has a test: tests/unit/<path>_test.cc, or one that includes its header, or one of a source beside it that
includes its header; and CMake knows every test."""

import fnmatch
import re

from tree import Finding, folder_of

PLACES = ("kernels/", "model/", "server/", "client/")
MAIN = re.compile(r"(^|/)(main|\w+_main)\.cc$")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# Pattern of sources -> why they have no test
EXEMPT = {
    "kernels/cuda/*.cc": "needs a GPU: the kernel tests of the CUDA build run them there",
    "kernels/*_cuda.cc": "rows of libreel_cuda, which the kernel tests reach through the catalog where a GPU is",
}


def included_by_tests(tree):
    tests = [path for path in tree.matching("_test.cc") if path.startswith("tests/")]
    return {name for path in tests for name in INCLUDE.findall(tree.text(path))}


def is_part_of_tested(tree, path):
    """engine_pieces.cc is a part of what engine_test.cc tests, and so is engine.cc itself."""
    folder, _, name = path[:-len(".cc")].rpartition("/")
    words = name.split("_")
    return any(tree.has(f"tests/unit/{folder}/{'_'.join(words[:n])}_test.cc") for n in range(len(words), 0, -1))


def sources_and_tests(tree):
    """Sources that want a test; of these the tested ones; and those tested through one of their own folder."""
    sources = [p for p in tree.matching(".cc") if p.startswith(PLACES) and not MAIN.search(p)]
    included = included_by_tests(tree)
    tested = {p for p in sources if f"{p[:-3]}.h" in included or is_part_of_tested(tree, p)}
    faces = tested | {f"{p[:-3]}.h" for p in tested if tree.has(f"{p[:-3]}.h")}
    seen = {(folder_of(face), name) for face in faces for name in INCLUDE.findall(tree.text(face))}
    through = {p for p in sources if (folder_of(p), f"{p[:-3]}.h") in seen} - tested
    return sources, tested, through


def notes(tree):
    _, _, through = sources_and_tests(tree)
    for path in sorted(through):
        yield f"{path} has no test of its own; it is tested through a source of its folder"


def exempt(path):
    return any(fnmatch.fnmatch(path, pattern) for pattern in EXEMPT)


def check(tree):
    sources, tested, through = sources_and_tests(tree)
    for path in sources:
        if path not in tested and path not in through and not exempt(path):
            yield Finding(path, 1, f"has no tests/unit/{path[:-3]}_test.cc, and no test reaches it through its folder")
    for path in tree.matching("_test.cc"):
        if path.startswith("tests/") and not listed(tree, path):
            yield Finding(path, 1, "no CMakeLists.txt above names this test, so it never runs")


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
    ("parts", {"model/a_rules.cc": "", "tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": "a_test"}, 0),
    ("together", {"model/x.cc": "", "tests/unit/model/a_test.cc": '#include "model/x.h"\n',
                  "tests/unit/model/CMakeLists.txt": "a_test"}, 0),
    ("through its folder", {"model/x.cc": "", "model/a.cc": '#include "model/x.h"\n', "tests/unit/model/a_test.cc": "",
                            "tests/unit/model/CMakeLists.txt": "a_test"}, 0),
    ("through another folder", {"model/l/x.cc": "", "model/a.cc": '#include "model/l/x.h"\n',
                                "tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": "a_test"}, 1),
    ("never run", {"tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": ""}, 1),
    ("good", {"model/a.cc": "", "tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": "a_test",
              "client/main.cc": ""}, 0),
]
