#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results: results/NAME.json holds the figures, results/NAME.md is made from it.

  tests/bench/result_pages.py    writes every page

A page has a title, an introduction and sections. A section has a title, where and when it was measured (`device`, `date`,
`commit`), the `command`, one table (`columns`, `rows`) and `notes`, one bullet each; all but the title may be absent. `more_rows`
are further rows of the table that the page leaves out. Only the newest figures of a device are kept: what they were before is in the history of the JSON file.
"""

import json
import pathlib

RESULTS = pathlib.Path(__file__).parent / "results"


def cell(value):
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(columns, rows):
    lines = [f"| {' | '.join(columns)} |\n|---|{'---:|' * (len(columns) - 1)}\n"]
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"{len(row)} cells in a table of {len(columns)} columns: {row}")
        lines.append(f"| {' | '.join(cell(value) for value in row)} |\n")
    return "".join(lines)


def measured(section):
    parts = [section[key] for key in ("device", "date") if key in section]
    if "commit" in section:
        parts.append(f"commit {section['commit']}")
    return ", ".join(parts) + ".\n" if parts else ""


def section_text(section):
    blocks = [f"## {section['title']}\n", measured(section)]
    blocks += [f"{section['about']}\n"] if "about" in section else []
    blocks += ["".join(f"    {line}\n" for line in section["command"])] if "command" in section else []
    blocks += [table(section["columns"], section["rows"])] if "rows" in section else []
    blocks += [f"![{section['picture'][1]}]({section['picture'][0]})\n"] if "picture" in section else []
    blocks += ["".join(f"- {note}\n" for note in section["notes"])] if "notes" in section else []
    return "\n".join(block for block in blocks if block)


def page(name, data):
    """What NAME.md should hold."""
    page_data = json.loads(data)
    head = f"# {page_data['title']}\n\nMade by `tests/bench/result_pages.py` from [{name}.json]({name}.json); edit that.\n\n{page_data['about']}\n"
    return "\n".join([head] + [section_text(section) for section in page_data["sections"]])


def main():
    for path in sorted(RESULTS.glob("*.json")):
        (RESULTS / f"{path.stem}.md").write_text(page(path.stem, path.read_text()))


if __name__ == "__main__":
    main()
