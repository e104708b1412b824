# SPDX-License-Identifier: Apache-2.0
"""Recipes lead somewhere: each section "Add a ..." of a README names files that exist and a commit to imitate that the
history has, and CONTRIBUTING.md links to all of them."""

import posixpath
import re
import subprocess

from tree import Finding, folder_of

CONTRIBUTING = "CONTRIBUTING.md"
# What the next person adds, as the table of CONTRIBUTING.md calls it.
WANTED = ("a request field", "a metric", "an alert", "a variant", "an operator", "a preset", "a model family", "an RPC", "an error reason")
FIRST_COMMIT = "cf3b52e"  # of the history that the recipes speak of
# folder -> why its recipes name no commit
EXEMPT = {}
HEADING = re.compile(r"## (Add an? .+)")
CODE = re.compile(r"`([^`\s]+)`")
PATH = re.compile(r"[\w.\-/]*\w[\w.\-/]*")
EXTENSIONS = (".h", ".cc", ".cu", ".cuh", ".proto", ".md", ".yaml", ".json", ".txt", ".py", ".env", ".textproto")
COMMIT = re.compile(r'"([^"]+)" \(([0-9a-f]{7,40})\)')


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections(tree):
    """(README, heading, its line, numbered lines) of each recipe."""
    for path in tree.matching("README.md"):
        found = None
        for number, line in tree.lines(path):
            if line.startswith("## "):
                if found:
                    yield found
                heading = HEADING.fullmatch(line)
                found = (path, heading[1], number, []) if heading else None
            elif found:
                found[3].append((number, line))
        if found:
            yield found


def is_path(word):
    return PATH.fullmatch(word) and not word.startswith(".") and ("/" in word or word.endswith(EXTENSIONS))


def missing_files(tree, folders, readme, lines):
    """Of the paths in code spans: seen from the README, from the root, or beside the path before it in the same step.
    Beside one with a <placeholder>, a bare name is one too."""
    beside = None
    for number, line in lines:
        if re.match(r"\s*\d+\. ", line):
            beside = None
        for word in CODE.findall(line):
            if "<" in word:
                beside = "<>"
                continue
            if not is_path(word):
                continue
            places = [folder_of(readme), "", *([beside] if beside else [])]
            if beside == "<>" and "/" not in word:
                continue
            found = [p for p in (posixpath.normpath(posixpath.join(place, word)) for place in places) if tree.has(p) or p in folders]
            if found:
                beside = found[0] if found[0] in folders else folder_of(found[0])
            else:
                yield Finding(readme, number, f"the recipe names {word}, which does not exist")


def history(tree):
    """Subjects by full id; None where the project's whole history is not there to look at, as in a shallow clone or in a
    tree that somebody began anew. A self-test brings a file of that name."""
    if tree.root is None:
        lines = tree.text("history").splitlines() if tree.has("history") else []
    else:
        def git(*command):
            answer = subprocess.run(["git", "-C", str(tree.root), *command], capture_output=True, text=True, check=False)
            return answer.stdout if answer.returncode == 0 else ""
        if git("rev-parse", "--is-shallow-repository").strip() != "false":
            return None
        lines = git("log", "--format=%H %s").splitlines()
    if not any(line.startswith(FIRST_COMMIT) for line in lines):
        return None
    return dict(line.split(" ", 1) for line in lines)


def wrong_commits(subjects, readme, heading, start, text):
    commits = COMMIT.findall(" ".join(text.partition("Imitate ")[2].split()))
    if not commits and not readme.startswith(tuple(EXEMPT)):
        yield Finding(readme, start, f"'{heading}' names no commit to imitate: Imitate \"Subject\" (short id)")
    for subject, short in commits if subjects is not None else []:
        if not any(full.startswith(short) and subject == known for full, known in subjects.items()):
            yield Finding(readme, start, f"'{heading}': the history has no {short} \"{subject}\"")


def check(tree):
    folders = {path[:i] for path in tree.paths for i, c in enumerate(path) if c == "/"}
    subjects = history(tree)
    recipes = set()
    for readme, heading, start, lines in sections(tree):
        recipes.add(f"{readme}#{slug(heading)}")
        yield from missing_files(tree, folders, readme, lines)
        yield from wrong_commits(subjects, readme, heading, start, "\n".join(line for _, line in lines))
    if tree.has(CONTRIBUTING):
        yield from check_map(tree.text(CONTRIBUTING), recipes)


def check_map(text, recipes):
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    linked = {target for row in rows for target in re.findall(r"\(([^)\s]+#add-[^)\s]+)\)", row)}
    for recipe in sorted(recipes - linked):
        yield Finding(CONTRIBUTING, 1, f"no row leads to the recipe {recipe}")
    for what in WANTED:
        if not any(re.search(rf"\b{what}\b", row.split("|")[1]) and "#add-" in row for row in rows):
            yield Finding(CONTRIBUTING, 1, f"no row leads to a recipe for {what}")


GOOD = "## Add a thing\n1. `t.h`, `sub/u.cc`, `v.cc`, `<x>/w.cc`, `y.cc`, `kernels.profile`.\n\nImitate \"Do\nit\" (abcdef1).\n"
FILES = {"m/t.h": "", "m/sub/u.cc": "", "m/sub/v.cc": "", "history": f"abcdef1234 Do it\n1111111111 Do that\n{FIRST_COMMIT}00 Begin"}
MAP = "".join(f"| {what} | [m](m/README.md#add-a-thing) |\n" for what in WANTED)
CASES = [
    ("good", {"m/README.md": GOOD, CONTRIBUTING: MAP, **FILES}, 0),
    ("a file that is not there", {"m/README.md": GOOD.replace("t.h", "gone.h"), **FILES}, 1),
    ("a file beside another that is not there", {"m/README.md": GOOD.replace("v.cc", "gone.cc"), **FILES}, 1),
    ("no commit", {"m/README.md": GOOD.replace("Imitate", "See"), **FILES}, 1),
    ("a commit of another subject", {"m/README.md": GOOD.replace("abcdef1", "1111111"), **FILES}, 1),
    ("a commit that is not there", {"m/README.md": GOOD.replace("abcdef1", "2222222"), **FILES}, 1),
    ("another history", {"m/README.md": GOOD, **FILES, "history": "3333333333 Begin anew"}, 0),
    ("a recipe off the map", {"m/README.md": GOOD, "n/README.md": "## Add an extra\nImitate \"Do it\" (abcdef1).\n", CONTRIBUTING: MAP, **FILES}, 1),
    ("a row that is missing", {"m/README.md": GOOD, CONTRIBUTING: MAP.replace("| an RPC |", "| a call |"), **FILES}, 1),
]
