# SPDX-License-Identifier: Apache-2.0
"""Sources see each other one way. A unit is a header and the source of its name: those of the folders below are in no circle
of includes. And a class's methods stand in its own unit, everywhere: spread over files they could call each other in a
circle that no include shows."""

import re

from tree import Finding, folder_of

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
CLASS = re.compile(r"^\s*(?:class|struct)\s+(\w+)(?:\s+final)?\s*(?:[:{]|$)")
METHOD = re.compile(r"^(?:\w[\w:<>,*&\s]*[\s*&])?(\w+)::~?\w+\(")
# Folders without a circle; one that has none may be added.
ONE_WAY = ("server/front/jobs/", "server/front/scheduling/")
# Class whose methods fill more than its own unit -> why
SPREAD = {"Ops": "a method is an operator and stands in the operator's file; none calls another (model/bridge/ops.h)"}


def unit_of(path):
    return path.rpartition(".")[0]


def includes(tree):
    """unit -> {unit that it includes: (path, line)}, of our own headers that are in the tree."""
    edges = {}
    for path in tree.matching(".h", ".cc"):
        for number, line in tree.lines(path):
            if (found := INCLUDE.match(line)) and tree.has(found[1]) and unit_of(found[1]) != unit_of(path):
                edges.setdefault(unit_of(path), {}).setdefault(unit_of(found[1]), (path, number))
    return edges


def circles(edges):
    """The sets of units that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in edges.get(unit, {}):
            if other not in index:
                visit(other)
            if other in stack:
                low[unit] = min(low[unit], low[other])
        if low[unit] == index[unit]:
            members = set(stack[stack.index(unit):])
            del stack[stack.index(unit):]
            if len(members) > 1:
                found.append(members)

    for unit in sorted(edges):
        if unit not in index:
            visit(unit)
    return found


def homes(tree):
    """(folder, class) -> units whose header declares it."""
    found = {}
    for path in tree.matching(".h"):
        for _, line in tree.lines(path):
            if declared := CLASS.match(line):
                found.setdefault((folder_of(path), declared[1]), set()).add(unit_of(path))
    return found


def check(tree):
    edges = includes(tree)
    for members in circles(edges):
        held = sorted(member for member in members if member.startswith(ONE_WAY))
        if not held:
            continue
        first = held[0]
        path, line = next(edges[first][other] for other in sorted(edges[first]) if other in members)
        yield Finding(path, line, f"in a circle of includes: {', '.join(sorted(members))}")
    declared = homes(tree)
    for path in tree.matching(".cc"):
        told = set()
        for number, line in tree.lines(path):
            if not (found := METHOD.match(line)) or found[1] in told or found[1] in SPREAD:
                continue
            units = declared.get((folder_of(path), found[1]), set())
            if units and unit_of(path) not in units:
                told.add(found[1])
                yield Finding(path, number, f"{found[1]} is declared in {min(units)}.h: its methods belong into {min(units)}.cc")


JOBS = ONE_WAY[0]
CASES = [
    ("two units include each other", {
        f"{JOBS}x.cc": f'#include "{JOBS}x.h"\n#include "{JOBS}y.h"', f"{JOBS}x.h": "",
        f"{JOBS}y.cc": f'#include "{JOBS}x.h"', f"{JOBS}y.h": "",
    }, 1),
    ("a circle of three, over folders", {
        f"{JOBS}x.h": '#include "b/y.h"', "b/y.cc": '#include "c/z.h"', "b/y.h": "", "c/z.h": "", "c/z.cc": f'#include "{JOBS}x.h"',
    }, 1),
    ("a circle of another folder", {"a/x.h": '#include "a/y.h"', "a/y.h": "", "a/y.cc": '#include "a/x.h"'}, 0),
    ("a class that is spread", {
        "a/x.h": "class X {\n  void F();\n};", "a/x.cc": "", "a/f.cc": "void X::F() {}\nint X::G() { return 0; }",
    }, 1),
    ("a destructor and a constructor elsewhere", {"a/x.h": "struct X {", "a/f.cc": "X::X() {}", "a/g.cc": "X::~X() = default;"}, 2),
    ("good", {
        "a/x.h": "class X final : public Y {", "a/x.cc": '#include "a/x.h"\n#include "a/y.h"\nstd::vector<int> X::F() {}\n  Y::F();',
        "a/y.h": '#include "b/x.h"\nclass Y;', "b/x.h": "class Z {", "b/y.cc": "X::F(1);",
    }, 0),
]
