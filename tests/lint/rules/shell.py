# SPDX-License-Identifier: Apache-2.0
"""Shell scripts parse (`bash -n`), are executable, and stop at the first error."""

import os
import re
import subprocess

from tree import Finding

SHEBANG = re.compile(r"#!.*\b(?:ba)?sh\b")
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
        if tree.root and not os.access(tree.root / path, os.X_OK):
            yield Finding(path, 1, "a script is executable")


CASES = [
    ("syntax", {"run": "#!/usr/bin/env bash\nset -euo pipefail\nif true; then\n"}, 1),
    ("careless", {"a.sh": "#!/bin/sh\necho a | false\n"}, 1),
    ("good", {"run": "#!/usr/bin/env bash\nset -euo pipefail\necho a\n", "data": "if then"}, 0),
]
