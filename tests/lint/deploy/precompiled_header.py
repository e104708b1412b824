#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A precompiled header that ccache keeps is the one of the header as it is: deploy/build/compile_header sees to it. The
check takes it away and must notice."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WRAPPER = [str(ROOT / "deploy/build/compile_header")]


def compile_header(folder, wrapper, word):
    """The header with this word in it, as CMake has it compiled."""
    (folder / "header.h").write_text(f"#pragma once\ninline int {word}() {{ return 1; }}\n", encoding="utf-8")
    # ccache distrusts a header that is as young as its compilation.
    old = (folder / "header.h").stat().st_mtime - 60
    os.utime(folder / "header.h", (old, old))
    (folder / "header.h.cxx").touch()
    run(folder, *wrapper, "ccache", "c++", "-fPIC", "-x", "c++-header", "-include", f"{folder}/header.h",
        "-MD", "-MT", "header.h.gch", "-MF", "header.h.gch.d", "-o", "header.h.gch", "-c", f"{folder}/header.h.cxx")


def run(folder, *command):
    environment = {**os.environ, "CCACHE_DIR": str(folder / "cache"), "CCACHE_NOHASHDIR": "1", "CCACHE_BASEDIR": str(folder),
                   "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)


def has(folder, word):
    return word.encode() in (folder / "header.h.gch").read_bytes()


def stale(wrapper):
    """A header changes from "first" to "second", and in another checkout, or later, from the same "first" to "third"."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_header(folder, wrapper, "first")
        first = (folder / "header.h.gch").read_bytes()
        for word in ("second", "third"):
            (folder / "header.h.gch").write_bytes(first)
            compile_header(folder, wrapper, word)
            if not has(folder, word):
                return word
    return None


def main():
    if not shutil.which("ccache") or not shutil.which("c++"):
        print("skipped: ccache or c++ is not installed")
        return 77
    wrong = stale(WRAPPER)
    if wrong:
        print(f"the precompiled header does not have {wrong}, which its header has: ccache answered with an older one")
        return 1
    if stale([]) != "third":
        print("self-test: without deploy/build/compile_header nothing is stale; is it needed any more?")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
