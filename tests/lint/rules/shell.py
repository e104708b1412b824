# SPDX-License-Identifier: Apache-2.0
"""Shell scripts parse (`bash -n`), are executable, and stop at the first error.

They build with ninja itself: `cmake --build` says 0 when ninja was interrupted, and a script would go on with old programs."""

import os
import re
import subprocess

from tree import Finding

SHEBANG = re.compile(r"#!.*\b(?:ba)?sh\b")
BUILDS_BY_CMAKE = re.compile(r"\bcmake --build\b")
SYNTAX = re.compile(r"line (\d+): (.*)")


def scripts(tree):
    return [p for p in tree.paths if p.endswith(".sh") or ("." not in p.rpartition("/")[2] and SHEBANG.match(tree.text(p)))]


def check(tree):
    for path in scripts(tree):
        text = tree.text(path)
        answer = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
        for line in answer.stderr.splitlines():
            found = SYNTAX.search(line)
            yield Finding(path, int(found[1]) if found else 1, found[2] if found else line)
        if "set -euo pipefail" not in text:
            yield Finding(path, 1, "a script has 'set -euo pipefail'")
        for number, line in tree.lines(path):
            if BUILDS_BY_CMAKE.search(line) and not line.lstrip().startswith("#"):
                yield Finding(path, number, "`cmake --build` says 0 when ninja was interrupted: call ninja")
        if tree.root and not os.access(tree.root / path, os.X_OK):
            yield Finding(path, 1, "a script is executable")


CASES = [
    ("syntax", {"run": "#!/usr/bin/env bash\nset -euo pipefail\nif true; then\n"}, 1),
    ("careless", {"a.sh": "#!/bin/sh\necho a | false\n"}, 1),
    ("takes an interrupted build for a whole one", {"run": "#!/usr/bin/env bash\nset -euo pipefail\ncmake --build b\n"}, 1),
    ("good", {"run": "#!/usr/bin/env bash\nset -euo pipefail\necho a\n", "data": "if then"}, 0),
]
