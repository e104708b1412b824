# SPDX-License-Identifier: Apache-2.0
"""An entry of the change log is short: in CHANGELOG.md's newest version, and in changes/, whose files name their group."""

import re

from tree import Finding

MOST = 240
# A group's name in changes/ and its heading in CHANGELOG.md, in order; changes/collect reads them here.
HEADINGS = {"upgrade": "Before you upgrade", "api": "API and clients", "speed": "Speed", "scheduling": "Scheduling and limits",
            "fleet": "Fleet", "kernels": "Kernels", "operations": "Operations", "fixed": "Fixed"}
NAME = re.compile(rf"changes/({'|'.join(HEADINGS)})-[a-z0-9-]+\.md")


def check(tree):
    if tree.has("CHANGELOG.md"):
        yield from check_log(tree)
    for path in tree.matching(".md"):
        if not path.startswith("changes/") or path == "changes/README.md":
            continue
        if not NAME.fullmatch(path):
            yield Finding(path, 1, f"is called changes/<group>-<topic>.md, with a group of {', '.join(HEADINGS)}")
        entries = tree.text(path).strip().split("\n\n")
        if len(entries) > 1 or len(re.findall(r"(?m)^- ", entries[0])) > 1:
            yield Finding(path, 1, "one entry a file")
        yield from too_long(path, 1, entries[0])


def check_log(tree):
    versions, start, entry = 0, 0, []
    for number, line in [*tree.lines("CHANGELOG.md"), (0, "- ")]:
        if line.startswith("## ["):
            versions += 1
        if entry and not line.startswith("  "):
            yield from too_long("CHANGELOG.md", start, " ".join(entry))
            entry = []
        if versions == 1 and line.startswith("- "):
            start, entry = number, [line]
        elif entry:
            entry.append(line.strip())


def too_long(path, number, entry):
    if len(entry) > MOST:
        yield Finding(path, number, f"an entry of {len(entry)} characters; at most {MOST}, and a link for the rest")


LONG = "word " * 60
CASES = [
    ("short", {"CHANGELOG.md": "## [0.2.0]\n\n- A word.\n", "changes/api-new-field.md": "A word.\n"}, 0),
    ("long", {"CHANGELOG.md": f"## [0.2.0]\n\n- {LONG}\n- Short.\n- {LONG[:150]}\n  {LONG[:150]}\n"}, 2),
    ("an older version", {"CHANGELOG.md": f"## [0.2.0]\n\n## [0.1.0]\n\n- {LONG}\n"}, 0),
    ("without a group", {"changes/new-field.md": "A word.\n"}, 1),
    ("two entries", {"changes/fixed-both.md": "- One.\n- Two.\n"}, 1),
    ("a long file", {"changes/fixed-much.md": LONG}, 1),
]
