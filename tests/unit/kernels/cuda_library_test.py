#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libreel_cuda.so holds code for every architecture it was asked for, within its size, and exports one function.

With --each-file-once a file has code for one of them only, and nothing for later devices.

Reads the fat binaries in the file itself: cuobjdump is part of the toolkit, not of the compiler.
usage: cuda_library_test.py LIBRARY "75;80;89;90a" [--each-file-once]
"""
import os
import struct
import subprocess
import sys

CONTAINER_MAGIC = 0xBA55ED50
PTX, ELF = 1, 2
ARCHITECTURE_SPECIFIC = 0x100000  # the "a" of 90a
MEGABYTES_FOR_EACH = 7  # of the file, for each architecture; with source lines it has more


def fat_binaries(data):
    """Each container as a list of (kind, "80" or "90a", bytes)."""
    at = 0
    while (at := data.find(struct.pack("<I", CONTAINER_MAGIC), at)) >= 0:
        version, header, size = struct.unpack_from("<HHQ", data, at + 4)
        entry, end = at + header, at + header + size
        at += 4
        if version != 1 or header != 16 or end > len(data):
            continue
        entries = []
        while entry < end:
            kind, _, entry_header, entry_size = struct.unpack_from("<HHIQ", data, entry)
            (sm,) = struct.unpack_from("<I", data, entry + 28)
            (flags,) = struct.unpack_from("<I", data, entry + 40)
            name = f"{sm}a" if flags & ARCHITECTURE_SPECIFIC else f"{sm}"
            entries.append((kind, name, entry_header + entry_size))
            entry += entry_header + entry_size
        if entries:
            yield entries


def main():
    library, asked = sys.argv[1], set(sys.argv[2].split(";"))
    once = "--each-file-once" in sys.argv[3:]
    with open(library, "rb") as file:
        containers = list(fat_binaries(file.read()))
    assert containers, "no device code at all"
    for entries in containers:
        code = {sm for kind, sm, _ in entries if kind == ELF}
        assert code <= asked, f"code for {code - asked}, which nobody asked for"
        if once:
            assert len(entries) == 1, f"not one file's code alone: {entries}"
            continue
        if code == {"90a"}:
            continue  # a Hopper file
        wanted = asked - {"75"} if "75" not in code else asked
        assert code == wanted, f"code for {sorted(code)}, asked for {sorted(wanted)}"
        if "90a" in asked:
            assert any(entry[:2] == (PTX, "90") for entry in entries), "no PTX for devices after sm_90"
    for architecture in asked:
        found = [size for entries in containers for kind, sm, size in entries if (kind, sm) == (ELF, architecture)]
        print(f"sm_{architecture}: {len(found)} of {len(containers)} files, {sum(found) / 1e6:.1f} MB")
        assert found, f"no code for sm_{architecture}"
    size, most = os.path.getsize(library) / 1e6, MEGABYTES_FOR_EACH * len(asked)
    print(f"{size:.1f} MB of at most {most}")
    assert size <= most, "is device code compressed, and without source lines (-lineinfo)?"

    symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout.split()
    assert symbols[2::3] == ["reel_cuda_library"], f"exports {symbols[2::3]}"


main()
