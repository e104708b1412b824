# SPDX-License-Identifier: Apache-2.0
"""A TODO names the issue that will remove it: TODO(#12)."""

import re

from tree import Finding

MARK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")
SOURCES = (".h", ".cc", ".cu", ".cuh", ".py", ".sh", ".cmake", ".proto", "CMakeLists.txt", ".yaml", ".textproto")
EXEMPT = {"tests/lint/rules/todos.py": "names what it forbids"}


def check(tree):
    for path in tree.matching(*SOURCES):
        if path in EXEMPT or path.startswith(("proto/google/", "proto/grpc/")):
            continue
        for number, line in tree.lines(path):
            if found := MARK.search(line):
                yield Finding(path, number, f"{found[1]} without an issue: write {found[1]}(#12)")


CASES = [
    ("bare", {"a.cc": "// TODO: later", "b.py": "# FIXME(ann) x"}, 2),
    ("with issue", {"a.cc": "// TODO(#7): fold both"}, 0),
]
