# SPDX-License-Identifier: Apache-2.0
"""Every source starts with its licence; a header goes on with its place in the tree and `#pragma once`. A source includes
the header of its own name first, which shows that the header compiles alone."""

import re

from tree import Finding

LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCES = (".h", ".cc", ".cu", ".cuh", ".py", ".sh", ".cmake", ".proto", "CMakeLists.txt", ".go", ".ts", ".js")
HEADERS = (".h", ".cuh")
THIRD_PARTY = ("proto/google/", "proto/grpc/")
INCLUDE = re.compile(r'#include [<"](.*)[>"]')
PLACE = re.compile(r"//.*\w.* \S*\w")


def is_script(tree, path):
    return "." not in path.rpartition("/")[2] and tree.text(path).startswith("#!")


def check(tree):
    for path in tree.paths:
        if path.startswith(THIRD_PARTY):
            continue
        if path.endswith(SOURCES) or is_script(tree, path):
            yield from check_licence(tree, path)
        if path.endswith(HEADERS):
            yield from check_header(tree, path)
        if path.endswith(".cc") and path[:-3] + ".h" in tree.paths:
            yield from check_own_header(tree, path)


def check_licence(tree, path):
    first = tree.text(path).split("\n", 2)[:2]
    if not any(line.rstrip().removesuffix("-->").rstrip().endswith(LICENCE) for line in first):
        yield Finding(path, 1, f"the first line is '{LICENCE}' as a comment, and nothing else")


def check_header(tree, path):
    lines = [line for _, line in tree.lines(path)]
    if "#pragma once" not in lines:
        yield Finding(path, 1, "a header has '#pragma once'")
        return
    opening = lines[1:lines.index("#pragma once")]
    if not any(PLACE.match(line) for line in opening):
        yield Finding(path, 2, "a header opens with a comment on its place in the tree")


def check_own_header(tree, path):
    own = path[:-3] + ".h"
    for number, line in tree.lines(path):
        include = INCLUDE.match(line)
        if include:
            if include.group(1) != own:
                yield Finding(path, number, f"the first header that a source includes is its own, {own}")
            return
    yield Finding(path, 1, f"a source includes its own header, {own}")


SPDX = f"// {LICENCE}\n"
CASES = [
    ("no licence", {"a.cc": "int a;"}, 1),
    ("licence and more", {"a.cc": SPDX.rstrip() + " Makes a.\nint a;"}, 1),
    ("script without licence", {"tool": "#!/bin/sh\n:\n"}, 1),
    ("no guard", {"a.h": SPDX + "// A place.\nint a;"}, 1),
    ("no place", {"a.h": SPDX + "#pragma once\nint a;"}, 1),
    ("good", {"a.h": SPDX + "// The place of a.\n#pragma once\nint a;", "t": f"#!/bin/sh\n# {LICENCE}\n"}, 0),
    ("own header second", {"a/b.h": SPDX + "// The place of b.\n#pragma once\n",
                           "a/b.cc": SPDX + "#include <map>\n#include \"a/b.h\"\n"}, 1),
    ("own header never", {"a/b.h": SPDX + "// The place of b.\n#pragma once\n", "a/b.cc": SPDX + "int b;\n"}, 1),
    ("own header first", {"a/b.h": SPDX + "// The place of b.\n#pragma once\n", "a/b.cc": SPDX + "#include \"a/b.h\"\n"}, 0),
    ("third party", {"proto/google/rpc/x.proto": ""}, 0),
]
