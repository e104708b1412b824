#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs lint rules over the tree.

  lint.py [--root DIR] RULE...   self-test of each rule, then its findings as "file:line: rule: message"
  lint.py --list                 names of the rules
  lint.py --each-is-named-in F   fails when a rule is not named in the file F, and so never runs

A rule is a module in rules/ with check(tree), which yields findings, and CASES: for each a name, the files of a
small tree, and how many findings they must give. A rule whose cases do not come out is broken and fails, so no
rule can pass because it looks at nothing. Exit status: 0 clean, 1 findings, 77 a tool that the rule needs is absent.
"""

import argparse
import importlib
import pathlib
import sys

from tree import Tree

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def rule_names():
    return sorted(p.stem for p in (HERE / "rules").glob("*.py") if p.stem != "__init__")


def self_test(name, rule):
    """Messages about cases that do not come out."""
    wrong = []
    for case, texts, expected in rule.CASES:
        found = list(rule.check(Tree.of_texts(texts)))
        if len(found) != expected:
            wrong.append(f"{name}: case '{case}' gives {len(found)} findings instead of {expected}: {found}")
    if not any(expected for _, _, expected in rule.CASES):
        wrong.append(f"{name}: has no case that fails")
    return wrong


def run(name, root):
    rule = importlib.import_module(f"rules.{name}")
    missing = getattr(rule, "missing_tool", lambda: None)()
    if missing:
        print(f"{name}: SKIPPED: {missing}")
        return SKIPPED
    broken = self_test(name, rule)
    for message in broken:
        print(f"tests/lint/rules/{name}.py:1: self-test: {message}")
    tree = Tree.of_checkout(root)
    findings = sorted(rule.check(tree))
    for path, line, message in findings:
        print(f"{path}:{line}: {name}: {message}")
    for note in getattr(rule, "notes", lambda _: [])(tree):
        print(f"{name}: note: {note}")
    print(f"{name}: {len(findings)} findings, {len(rule.CASES)} cases")
    return 1 if broken or findings else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=HERE.parent.parent)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--each-is-named-in", metavar="FILE", type=pathlib.Path)
    parser.add_argument("rules", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(rule_names()))
        return 0
    if arguments.each_is_named_in:
        words = set(arguments.each_is_named_in.read_text(encoding="utf-8").replace(")", " ").split())
        forgotten = [name for name in rule_names() if name not in words]
        print(f"rules that never run: {', '.join(forgotten) or 'none'}")
        return 1 if forgotten else 0
    results = [run(name, arguments.root) for name in arguments.rules or rule_names()]
    return 1 if 1 in results else SKIPPED if SKIPPED in results else 0


if __name__ == "__main__":
    sys.exit(main())
