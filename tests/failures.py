#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says once more at the end of a run which tests failed, and why.

  failures.py JUNIT   reads ctest's --output-junit; prints each failed test with what it did not find as expected

In a log of hundreds of tests the reason stands far above the end, which is all that some readers of it keep.
"""

import sys
import xml.etree.ElementTree

PASSAGES, LINES, WIDTH = 3, 8, 200


def passages(output):
    """What GoogleTest says of each failed expectation; of other programs the last lines."""
    lines = [line.rstrip() for line in output.splitlines()]
    found = []
    for at, line in enumerate(lines):
        if not line.endswith(": Failure"):
            continue
        rest = lines[at + 1:at + LINES]
        end = next((n for n, text in enumerate(rest) if not text or text.startswith("[") or text.endswith(": Failure")), len(rest))
        found.append([line, *rest[:end]])
    found = found or [[line for line in lines if line][-LINES:]]
    return [[line[:WIDTH] for line in passage] for passage in found[:PASSAGES]]


def lines(root):
    out = []
    for case in root.iter("testcase"):
        if case.get("status") != "fail":
            continue
        reason = case.find("failure")
        out.append(f"FAILED: {case.get('name')} ({float(case.get('time', 0)):.0f} s): {'' if reason is None else reason.get('message', '')}")
        for passage in passages(case.findtext("system-out") or ""):
            out += [f"  {line}" for line in passage]
    return out


def main():
    try:
        root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"no results of tests: {error}")
        return
    for line in lines(root):
        print(line)


if __name__ == "__main__":
    main()
