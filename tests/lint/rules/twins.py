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
    "server/*/app.cc": "only wires the parts; the integration tests run the whole program",
    "server/front/rpc/*_service.cc": "the integration tests call every RPC of the running server",
    "server/render/*.cc": "render_program_test runs the program",
    "client/command/*.cc": "client_command_test and tests/integration/client run the command",
    "kernels/rows/fused_norm_*.cc": "the tests of the fused operators run every variant of the catalog",
    "kernels/dispatch/argument_checks.cc": "every operator's test reaches its refusals",
    "model/bridge/*.cc": "every golden test of model/ltx runs through it",
    "model/torch_cuda/*.cc": "needs a GPU: ops_gpu_test and the benches run it there",
    "model/torch_plugins/*.cc": "torch_plugin_test opens libraries through it",
    "kernels/torch_ops/*.cc": "the Python suites of tests/unit/kernels/torch_ops call every operator of the library",
    "kernels/plugins/example/*.cc": "the tests of plug-ins pack and load them, and plugin_readme_test runs their page",
    "model/plugins_without_torch.cc": "the tests of plug-ins run over it in a build without libtorch",
    "kernels/cuda/*.cc": "needs a GPU: the kernel tests of the CUDA build run them there",
    "kernels/*_cuda.cc": "variants of libreel_cuda, which the kernel tests reach through the catalog where a GPU is",
}


def included_by_tests(tree):
    """Also what harnesses and fixtures of tests include."""
    tests = [path for path in tree.matching(".cc", ".h") if path.startswith("tests/")]
    return {name for path in tests for name in INCLUDE.findall(tree.text(path))}


def is_part_of(path, tested):
    """engine_pieces.cc is a part of what engine_test.cc tests, with or without an engine.cc."""
    folder, _, name = path[:-len(".cc")].rpartition("/")
    words = name.split("_")
    return any(f"{folder}/{'_'.join(words[:n])}.cc" in tested for n in range(len(words), 0, -1))


def sources_and_tests(tree):
    """Sources that want a test; of these the tested ones; and those tested through others of their own folder."""
    sources = [p for p in tree.matching(".cc") if p.startswith(PLACES) and not MAIN.search(p)]
    twins = {p[len("tests/unit/"):-len("_test.cc")] + ".cc" for p in tree.matching("_test.cc") if p.startswith("tests/unit/")}
    named = twins | {f"{name[:-2]}.cc" for name in included_by_tests(tree)}
    tested = {p for p in sources if is_part_of(p, named)}
    reached = set(tested)
    while more := next_ring(tree, sources, reached):
        reached |= more
    return sources, tested, reached - tested


def next_ring(tree, sources, reached):
    """What the reached sources and their headers include of their own folder, and sources without a header of their own
    that fill one of those."""
    headers = {f"{p[:-3]}.h" for p in reached if tree.has(f"{p[:-3]}.h")}
    seen = {name for face in reached | headers for name in INCLUDE.findall(tree.text(face)) if folder_of(name) == folder_of(face)}
    open_headers = (headers | seen) & set(tree.paths)
    return {p for p in sources if f"{p[:-3]}.h" in seen or fills(tree, p, open_headers)} - reached


def fills(tree, path, headers):
    if tree.has(f"{path[:-3]}.h"):
        return False
    return any(name in headers and folder_of(name) == folder_of(path) for name in INCLUDE.findall(tree.text(path)))


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
    """As x_test.cc, x_test, or the x of a foreach, in a CMakeLists.txt above."""
    name = re.escape(path.rpartition("/")[2][:-len("_test.cc")])
    folder = folder_of(path)
    while folder:
        lists = f"{folder}/CMakeLists.txt"
        if tree.has(lists) and re.search(rf"\b{name}(_test)?\b", tree.text(lists)):
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
    ("fills a header", {"model/x.cc": '#include "model/a.h"\n', "model/a.h": "", "model/a.cc": "",
                        "tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": "a_test"}, 0),
    ("through another folder", {"model/l/x.cc": "", "model/a.cc": '#include "model/l/x.h"\n',
                                "tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": "a_test"}, 1),
    ("never run", {"tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": ""}, 1),
    ("good", {"model/a.cc": "", "tests/unit/model/a_test.cc": "", "tests/unit/model/CMakeLists.txt": "a_test",
              "client/main.cc": ""}, 0),
]
