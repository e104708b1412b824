#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is read-only after relocation lies in a program's writable segments: the loader protects whole pages, and refuses to
start a program where one of them is not mapped.

  segments_test.py FOLDER    looks at every program in it
"""

import pathlib
import subprocess
import sys

PAGE = 0x1000


def segments(program):
    """(type, first address, size in memory) of each."""
    listed = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        words = line.split()
        if len(words) > 6 and words[0] in ("LOAD", "GNU_RELRO"):
            yield words[0], int(words[2], 16), int(words[5], 16)


def is_mapped(loads, page):
    return any(first // PAGE * PAGE <= page < first + size for first, size in loads)


def fault(program):
    found = list(segments(program))
    loads = [(first, size) for kind, first, size in found if kind == "LOAD"]
    for kind, first, size in found:
        if kind != "GNU_RELRO":
            continue
        for page in range(first // PAGE * PAGE, first + size, PAGE):
            if not is_mapped(loads, page):
                return f"{program}: page {page:#x} is protected and not mapped"
        # One that begins before the writable part is on its page by luck.
        if not any(start <= first < start + room for start, room in loads):
            return f"{program}: begins {first:#x}, in no segment"
    return None


def main():
    programs = [path for path in sorted(pathlib.Path(sys.argv[1]).iterdir()) if path.is_file()]
    assert programs, "nothing to look at"
    faults = [told for told in map(fault, programs) if told]
    print(f"{len(programs)} programs, {len(faults)} faults", *faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
