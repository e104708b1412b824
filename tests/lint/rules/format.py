# SPDX-License-Identifier: Apache-2.0
"""C++ is formatted as clang-format of the pinned major version does it."""

import re
import shutil
import subprocess

from tree import Finding

TOOL = "clang-format-19"
SOURCES = (".h", ".cc", ".cu", ".cuh")
WARNING = re.compile(r"^([^:\n]+):(\d+):\d+: (?:error|warning): (.*)", re.MULTILINE)
FILES_PER_CALL = 50


def missing_tool():
    return None if shutil.which(TOOL) else f"{TOOL} is not installed; run deploy/build/setup --tests"


def check(tree):
    paths = tree.matching(*SOURCES)
    if tree.root is None:
        for path in paths:
            command = [TOOL, "--style={BasedOnStyle: Google, ColumnLimit: 100}", f"--assume-filename={path}", "--dry-run", "-Werror"]
            answer = subprocess.run(command, input=tree.text(path), capture_output=True, text=True, check=False)
            if answer.returncode:
                yield Finding(path, 1, "not formatted")
        return
    for i in range(0, len(paths), FILES_PER_CALL):
        command = [TOOL, "--style=file", "--dry-run", "-Werror", *paths[i:i + FILES_PER_CALL]]
        answer = subprocess.run(command, cwd=tree.root, capture_output=True, text=True, check=False)
        seen = set()
        for path, number, _ in WARNING.findall(answer.stderr):
            if path not in seen:  # one finding a file is enough to act on
                seen.add(path)
                yield Finding(path, int(number), f"not formatted; run {TOOL} -i {path}")


CASES = [
    ("crooked", {"a.cc": "int  f( ) {return 1;}\n"}, 1),
    ("straight", {"a.cc": "int f() { return 1; }\n"}, 0),
]
