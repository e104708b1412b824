#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one suite: run_suite.py NAME, which is a file of unittest cases of this folder, or the path of one elsewhere.

Exit code 77 (ctest's skip) when PyTorch, or what a suite names in NEEDS, cannot be imported.
"""

import ast
import importlib
import pathlib
import sys
import unittest

SKIP = 77
HERE = pathlib.Path(__file__).resolve().parent


def needs_of(suite):
    """The value of NEEDS, read without importing the suite."""
    for node in ast.parse(suite.with_suffix(".py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "NEEDS":
            return ast.literal_eval(node.value)
    return ()


def main():
    suite = HERE / sys.argv[1]
    name = suite.name
    for module in ("torch", *needs_of(suite)):
        try:
            importlib.import_module(module)
        except (ImportError, OSError, ValueError) as missing:  # torch without the libraries that it names
            print(f"SKIPPED: {sys.executable} cannot import {module}: {missing}; deploy/build/setup --python installs it",
                  file=sys.stderr)
            sys.exit(SKIP)
    sys.path.insert(0, str(suite.parent))
    result = unittest.main(module=importlib.import_module(name), argv=[name, *sys.argv[2:]], exit=False, verbosity=1).result
    if result.testsRun == 0:
        sys.exit("FAILED: the suite has no tests")
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
