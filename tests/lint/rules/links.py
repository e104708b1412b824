# SPDX-License-Identifier: Apache-2.0
"""Relative links and anchors in Markdown lead somewhere inside the tree."""

import posixpath
import re

from tree import Finding, folder_of

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"#{1,6}\s+(.*)")


def anchors(text):
    """As GitHub makes them: lower case, punctuation dropped, spaces to hyphens, repeats numbered."""
    made, seen = set(), {}
    for _, line in prose(text):
        if heading := HEADING.match(line):
            slug = re.sub(r"[^\w\- ]", "", heading[1].strip().lower()).replace(" ", "-")
            count = seen.get(slug, 0)
            seen[slug] = count + 1
            made.add(f"{slug}-{count}" if count else slug)
    return made


def prose(text):
    """Numbered lines outside fenced code, inline code blanked."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line if line.startswith("#") else re.sub(r"`[^`]*`", "", line)


def check(tree):
    folders = {folder_of(path[:i] + "/x") for path in tree.paths for i, c in enumerate(path) if c == "/"}
    for path in tree.matching(".md"):
        for number, line in prose(tree.text(path)):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                if problem := problem_of(tree, folders, path, target):
                    yield Finding(path, number, problem)


def problem_of(tree, folders, path, target):
    place, _, anchor = target.partition("#")
    file = posixpath.normpath(posixpath.join(folder_of(path), place)) if place else path
    if not tree.has(file) and file not in folders:
        return f"'{target}' leads nowhere"
    if anchor and tree.has(file) and file.endswith(".md") and anchor not in anchors(tree.text(file)):
        return f"'{target}': no such heading in {file}"
    return None


CASES = [
    ("dead file", {"a/README.md": "see [x](../b.md)"}, 1),
    ("dead anchor", {"README.md": "[x](#two)\n# One\n"}, 1),
    ("good", {"a/R.md": "[x](../b.md#big-news) [y](../a) [z](https://x.org)", "b.md": "# Big: news\n"}, 0),
    ("code is no link", {"R.md": "```\n[x](y)\n```\n`[x](y)`"}, 0),
]
