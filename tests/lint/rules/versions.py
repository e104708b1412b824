# SPDX-License-Identifier: Apache-2.0
"""One version: that of the newest heading of CHANGELOG.md, in the build, the packages, the chart and whatever names an image or a file of it."""

import re

from tree import Finding

NEWEST = re.compile(r"^## \[(\d+\.\d+\.\d+)\]")
DECLARED = {
    "CMakeLists.txt": re.compile(r"^project\(reel VERSION (\d+\.\d+\.\d+)"),
    "client/javascript/package.json": re.compile(r'^  "version": "(\d+\.\d+\.\d+)"'),
    "client/python/pyproject.toml": re.compile(r'^version = "(\d+\.\d+\.\d+)"'),
    "deploy/helm/Chart.yaml": re.compile(r"^appVersion: (\d+\.\d+\.\d+)"),
    "kernels/torch_ops/python/pyproject.toml": re.compile(r'^version = "(\d+\.\d+\.\d+)"'),
}
NAMED = re.compile(r"\breel(?:-client-|[:_])(\d+\.\d+\.\d+)")  # reel:1.2.3, reel_1.2.3_amd64.deb, reel-client-1.2.3.tgz


def newest(tree):
    found = [NEWEST.match(line) for _, line in tree.lines("CHANGELOG.md")] if tree.has("CHANGELOG.md") else []
    return next((match[1] for match in found if match), None)


def versions_in(tree, path, pattern):
    return [(number, match[1]) for number, line in tree.lines(path) for match in pattern.finditer(line)]


def check(tree):
    version = newest(tree)
    if version is None:
        yield Finding("CHANGELOG.md", 1, "no heading of a version: ## [1.2.3]")
        return
    for path, pattern in DECLARED.items():
        found = versions_in(tree, path, pattern) if tree.has(path) else []
        if tree.has(path) and not found:
            yield Finding(path, 1, "declares no version where it did")
        yield from (Finding(path, number, f"version {other}; the newest of CHANGELOG.md is {version}") for number, other in found if other != version)
    for path in tree.matching(".md", ".yaml"):
        if path != "CHANGELOG.md":
            yield from (Finding(path, number, f"names version {other}; the newest of CHANGELOG.md is {version}")
                        for number, other in versions_in(tree, path, NAMED) if other != version)


LOG = "# Changelog\n\n## [0.2.0] - Unreleased\n\n## [0.1.0] - 2026-11-20\n"
CASES = [
    ("all one", {"CHANGELOG.md": LOG, "CMakeLists.txt": "project(reel VERSION 0.2.0 LANGUAGES CXX)", "a.md": "docker build -t reel:0.2.0 ."}, 0),
    ("an old build", {"CHANGELOG.md": LOG, "CMakeLists.txt": "project(reel VERSION 0.1.0 LANGUAGES CXX)"}, 1),
    ("old names", {"CHANGELOG.md": LOG, "a.md": "reel_0.1.0_amd64.deb and ./reel-client-0.1.0.tgz", "b.yaml": "image: reel:0.1.0"}, 3),
    ("not declared", {"CHANGELOG.md": LOG, "deploy/helm/Chart.yaml": "apiVersion: v2"}, 1),
    ("no versions at all", {"CHANGELOG.md": "# Changelog\n"}, 1),
]
