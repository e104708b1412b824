# SPDX-License-Identifier: Apache-2.0
"""A folder of substance explains itself: twenty sources have a README.md, fewer are named in the nearest one above. A
folder that explains itself is on the map of the one above, so that a reader who walks down finds all."""

import re

from tree import Finding, folder_of

SOURCES = (".h", ".cc", ".cu", ".cuh", ".py", ".go", ".ts", ".js", ".proto")
MANY = 20
MAX_LINES = 100
# folder -> why it needs no words of its own
EXEMPT = {
    "proto/google/": "third-party protos, named in proto/README.md",
    "proto/grpc/": "third-party protos, named in proto/README.md",
    "tests/unit/": "mirrors the tree; tests/README.md says how",
    "tests/lint/deploy/": "tests/lint/README.md lists its checks",
    "tests/lint/rules/": "one rule a file; tests/lint/README.md lists them",
}


def check(tree):
    for path in tree.paths:
        if path.endswith("README.md") and (count := tree.text(path).count("\n")) > MAX_LINES:
            yield Finding(path, MAX_LINES + 1, f"{count} lines; a README.md has at most {MAX_LINES}")
        if path.endswith("/README.md") and not path.startswith(tuple(EXEMPT)):
            yield from check_map(tree, folder_of(path))
    sources = {}
    for path in tree.matching(*SOURCES):
        sources.setdefault(folder_of(path), []).append(path)
    for folder, files in sorted(sources.items()):
        if folder and not any((folder + "/").startswith(exempt) for exempt in EXEMPT):
            yield from check_folder(tree, folder, files)


def readme_above(tree, folder):
    above = folder_of(folder)
    while above and not tree.has(f"{above}/README.md"):
        above = folder_of(above)
    return above, f"{above}/README.md" if above else "README.md"


def check_map(tree, folder):
    above, readme = readme_above(tree, folder)
    first = folder[len(above):].strip("/").split("/")[0]
    if tree.has(readme) and not re.search(rf"(?<![\w-]){re.escape(first)}[/)]", tree.text(readme)) and not names_folder(tree.text(readme), first):
        yield Finding(readme, 1, f"{folder}/ explains itself, but is not on the map here")


def check_folder(tree, folder, files):
    if tree.has(f"{folder}/README.md"):
        return
    if len(files) >= MANY:
        yield Finding(files[0], 1, f"{len(files)} sources, so {folder}/ has a README.md")
        return
    above, readme = readme_above(tree, folder)
    if not tree.has(readme) or not names_folder(tree.text(readme), folder[len(above):].strip("/")):
        yield Finding(files[0], 1, f"{folder}/ has no README.md and {readme} does not name it")


def names_folder(text, folder):
    """`rms_norm/`, or a row that describes all its siblings at once: | `<operator>/` |. A recipe's `<family>/` is no map."""
    return f"{folder}/" in text or ("/" not in folder and re.search(r"^\| `<\w+>/` \|", text, re.MULTILINE))


CASES = [
    ("many sources", {f"m/{i}.cc": "" for i in range(20)}, 1),
    ("few and unnamed", {"m/a.cc": "", "README.md": "hello"}, 1),
    ("few and named", {"m/n/a.cc": "", "m/README.md": "`n/` counts"}, 0),
    ("described with its siblings", {"m/n/a.cc": "", "m/README.md": "| `<operator>/` | one |"}, 0),
    ("named in a recipe alone", {"m/n/README.md": "", "m/README.md": "1. `<family>/`: the networks"}, 1),
    ("explains itself, off the map", {"m/n/README.md": "", "m/README.md": "nothing"}, 1),
    ("explains itself, on the map", {"m/n/README.md": "", "m/o/p/README.md": "", "m/README.md": "[n](n/README.md), `o/`"}, 0),
    ("too long", {"README.md": "\n" * 101}, 1),
    ("unit tests", {f"tests/unit/m/{i}.cc": "" for i in range(30)}, 0),
]
