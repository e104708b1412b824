#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gathers the tests of several presets into one suite, so that one ctest runs them and one summary speaks for all.

  one_suite.py OUT [--without LABEL] PRESET=WHICH...   writes OUT/CTestTestfile.cmake

WHICH is a regular expression that a test's name or one of its labels matches; tests with the label LABEL are left out. A test labelled "repeated" is left out where
another preset's tests have it. Tests are named PRESET/NAME and keep their properties. Tests
labelled "timing" run with nothing beside them, when all others have ended.

ctest is to have six slots a core (-j). A test takes three, since it has a processor for half of its time and more. One labelled "integration"
takes one: it waits for its servers (a fifth of it on a processor, in the middle), unless it is labelled "computes" as well. One labelled "waits"
looks at a clock and takes four, which it hardly uses. The longest begin first, so that none of them is left over at the end.
"""

import json
import pathlib
import re
import subprocess
import sys

import time_budget


def tests_of(preset, which):
    command = ["ctest", "--test-dir", f"build/{preset}", "--show-only=json-v1"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    for test in json.loads(answer.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        properties.setdefault("LABELS", [])
        if any(re.fullmatch(which, word) for word in [test["name"], *properties["LABELS"]]):
            yield test["name"], test.get("command"), properties


def quoted(value):
    """A bracket argument: nothing inside is special to CMake."""
    return f"[==[{value}]==]"


def cmake_value(value):
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if isinstance(value, list):
        return ";".join(str(v) for v in value)
    return str(value)


def slots_of(labels):
    if "waits" in labels:
        return 4
    return 1 if "integration" in labels and "computes" not in labels else 3


def with_one_thread(environment):
    """Threads of OpenMP that wait for each other take several times as long where others run, and a quarter more processor where none do."""
    return environment if any(word.startswith("OMP_NUM_THREADS=") for word in environment) else [*environment, "OMP_NUM_THREADS=1"]


def entry(preset, name, command, properties):
    if not command:  # its program was not built: it must not pass, nor vanish
        command = ["false"]
    full_name = f"{preset}/{name}"
    properties = dict(properties, LABELS=properties["LABELS"] + [f"preset-{preset}"])
    properties.setdefault("PROCESSORS", slots_of(properties["LABELS"]))
    properties["COST"] = time_budget.budget_of_test(full_name)
    if "timing" in properties["LABELS"]:
        properties["RUN_SERIAL"] = True
    if not properties.get("RUN_SERIAL"):
        properties["ENVIRONMENT"] = with_one_thread(properties.get("ENVIRONMENT", []))
    words = " ".join(quoted(word) for word in command)
    settings = " ".join(f"{key} {quoted(cmake_value(value))}" for key, value in sorted(properties.items()))
    return f"add_test({quoted(full_name)} {words})\nset_tests_properties({quoted(full_name)} PROPERTIES {settings})\n"


def main():
    arguments = sys.argv[1:]
    without = None
    if "--without" in arguments:
        at = arguments.index("--without")
        without = arguments[at + 1]
        del arguments[at : at + 2]
    out = pathlib.Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "CTestTestfile.cmake", "w", encoding="utf-8") as file:
        chosen = {}
        for argument in arguments[1:]:
            preset, _, which = argument.partition("=")
            chosen[preset] = {name: (command, properties) for name, command, properties in tests_of(preset, which)
                              if without not in properties["LABELS"]}
        for preset, tests in chosen.items():
            elsewhere = {name for other, names in chosen.items() if other != preset for name in names}
            for name, (command, properties) in tests.items():
                if "repeated" not in properties["LABELS"] or name not in elsewhere:
                    file.write(entry(preset, name, command, properties))


if __name__ == "__main__":
    sys.exit(main())
