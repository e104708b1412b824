# SPDX-License-Identifier: Apache-2.0
"""Text that must not be in the tree: folders of a developer's machine, package registries, unsafe loaders, getenv."""

import re

from tree import Finding

SOURCES = (".h", ".cc", ".cu", ".cuh")
MAIN_FILES = re.compile(r"(^|/)([a-z_]*main|[a-z_]*_main)\.cc$")

# pattern, files it is looked for in (suffixes; empty: all), why
RULES = [
    (re.compile(r"(?<![\w.$}/-])/(?:work|home/(?!somebody/)\w+|Users/\w+|root|tmp/\w+/\w+)/"), (), "a path of one machine"),
    (re.compile(r"https?://(?:pypi\.org|registry\.npmjs\.org|proxy\.golang\.org|files\.pythonhosted\.org)"), (),
     "a registry's host: each client knows its own"),
    (re.compile(r"--(?:extra-)?index[-]url|--registry[ =]"), (), "a registry's host: each client knows its own"),
    (re.compile(r"\btorch::(?:jit::)?load\s*\("), SOURCES, "a loader that runs code; weights are safetensors"),
    (re.compile(r"\btorch\.load\s*\("), (".py",), "a loader that runs code; weights are safetensors"),
    (re.compile(r"\b(?:std::)?(?:secure_)?getenv\s*\("), SOURCES, "the environment is read in main files only"),
]
# path -> why the rule does not bind there
EXEMPT = {
    "tests/lint/rules/forbidden_text.py": "names what it forbids",
}


def check(tree):
    for path in tree.paths:
        if path in EXEMPT or path.endswith((".binpb", ".png", ".mp4", "package-lock.json")):
            continue
        for pattern, suffixes, why in RULES:
            if suffixes and not path.endswith(suffixes):
                continue
            if "getenv" in pattern.pattern and (MAIN_FILES.search(path) or path.startswith("tests/")):
                continue
            for number, line in tree.lines(path):
                if found := pattern.search(line):
                    yield Finding(path, number, f"'{found[0].strip()}': {why}")


CASES = [
    ("machine path", {"README.md": "see /home/ann/reel/x"}, 1),
    ("registry", {"setup": "pip install --index" + "-url x"}, 1),
    ("loader", {"model/w.cc": "auto t = torch::load (x);", "a.py": "torch.load(f)"}, 2),
    ("environment", {"server/a.cc": 'std::getenv("X")'}, 1),
    ("environment in main", {"client/main.cc": 'std::getenv("X")', "tests/unit/a_test.cc": 'getenv("X")'}, 0),
    ("other paths", {"a.md": "/var/lib/reel, $HOME/work/x and https://example.com/"}, 0),
]
