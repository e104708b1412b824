#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a build's programs with the system's libraries that they need, for a machine that has torch and nothing else of ours.

  tests/bench/bundle.py build/cuda bundle.tar.xz       here, where it was built
  tar xf bundle.tar.xz && bundle/use                   there: prints LD_LIBRARY_PATH for bundle/bin/*, and proves that they start

Encoders and fonts that FFmpeg is linked with and Reel never calls are replaced by empty libraries of their names: 60 MB less.
What torch's wheel brings (libtorch, CUDA, cuDNN) is looked for in the other machine's Python, of the same version.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ["reeld", "reel-worker", "reel", "reel-render", "reel-frames", "ltx_bench", "engine_bench"]
# Of the wheel, and what every Linux has in a version of its own.
NOT_OURS = ("libtorch", "libc10", "libcud", "libcup", "libcu", "libnv", "libgomp")
SYSTEMS_OWN = ("ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libgcc_s", "libstdc++", "libresolv.so")
# Never called, and large; none of them has versions of symbols, which an empty one would lack.
EMPTY = ("libicudata", "libcodec2", "libx265", "librsvg", "libSvtAv1Enc", "libaom", "libvpx", "librav1e", "libopenmpt")

USE = """#!/bin/sh
# Prints the LD_LIBRARY_PATH that the programs in bin/ want here; fails if one of them does not start with it.
here=$(cd "$(dirname "$0")" && pwd)
packages=$(python3 -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])') || exit 1
paths=$here/lib/system:$packages/torch/lib:$packages/nvidia/cu13/lib:$packages/nvidia/cudnn/lib
for program in "$here"/bin/*; do
  missing=$(LD_LIBRARY_PATH=$paths ldd "$program" | grep 'not found') && { echo "$program: $missing" >&2; exit 1; }
done
echo "$paths"
"""


def libraries_of(program):
    """What the loader takes for it here: (name, path)."""
    found = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for line in found.splitlines():
        words = line.split()
        if "=>" in words:
            if words[2] == "not":
                sys.exit(f"{program}: {words[0]} is not found")
            yield words[0], pathlib.Path(words[2])


def strip(source, target):
    subprocess.run(["strip", "-o", target, source], check=True)


def empty(source, target):
    """A library of the same name with the same functions of C, none of which does anything. C++'s would come before those of
    the same name in libtorch: a template's destructor that does nothing breaks the heap."""
    listed = subprocess.run(["nm", "-D", "--defined-only", "--without-symbol-versions", source], capture_output=True, text=True, check=True)
    symbols = {line.split()[-1] for line in listed.stdout.splitlines() if line.split()[-2] != "A" and not line.split()[-1].startswith("_Z")}
    code = "".join(f"void {symbol}(void) {{}}\n" for symbol in sorted(symbols - {"_init", "_fini"}))
    subprocess.run(["gcc", "-w", "-fno-builtin", "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{target.name}", "-xc", "-", "-o", target],
                   input=code, text=True, check=True)
    strip(target, target)


def fill(build, folder):
    for part in ["bin", "lib/system"]:
        (folder / part).mkdir(parents=True)
    programs = [build / "bin" / name for name in PROGRAMS if (build / "bin" / name).exists()]
    if not programs:
        sys.exit(f"{build}/bin has none of {', '.join(PROGRAMS)}")
    for program in programs:
        strip(program, folder / "bin" / program.name)
        for name, path in libraries_of(program):
            target = folder / "lib/system" / name
            if not name.startswith(NOT_OURS + SYSTEMS_OWN) and not target.exists():
                (empty if name.startswith(EMPTY) else strip)(path.resolve(), target)
    for library in (build / "lib").glob("libreel_*.so"):
        strip(library, folder / "lib" / library.name)
    for package in (build / "python").glob("*"):
        shutil.copytree(package, folder / "python" / package.name, symlinks=False, ignore_dangling_symlinks=True)
    for library in folder.glob("python/*/libreel_*.so"):  # copies of those in lib/
        strip(library, library)
        (library.parent / "libreel_cuda.so").symlink_to("../../lib/libreel_cuda.so")  # it looks beside itself
    (folder / "use").write_text(USE, encoding="utf-8")
    (folder / "use").chmod(0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        fill(args.build, pathlib.Path(temporary) / "bundle")
        subprocess.run(["tar", "--use-compress-program=xz -T0 -6", "-cf", args.out, "-C", temporary, "bundle"], check=True)
    print(f"{args.out}: {args.out.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
