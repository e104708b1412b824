#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` puts on a machine with GPUs: libtorch's CUDA half finds all that it is linked with beside it, whatever
else is on the machine, and an image of it stays below 4 GB.

  cuda_installation.py BUILD      a build with the CUDA kernels
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from server import ROOT, find_tool, run

LIMIT = 3.6e9  # bytes; what is left of 4 GB is Debian's
DRIVERS = {"libcuda.so.1", "libnvidia-ml.so.1"}  # come with the machine's driver


def install(build, folder):
    """Links instead of three gigabytes of copies."""
    for component in ("cuda", "libtorch"):
        subprocess.run([find_tool("cmake"), "--install", build, "--prefix", folder, "--component", component], check=True,
                       stdout=subprocess.DEVNULL, env=os.environ | {"CMAKE_INSTALL_MODE": "ABS_SYMLINK"})


def missing_libraries(library):
    return set(re.findall(r"(\S+) => not found", run("ldd", library))) - DRIVERS


def check_closure(folder):
    """By names in the library's own folder alone: the links of another place are not there on another machine."""
    beside = {path.name for path in (folder / "lib/reel").iterdir()}
    system = {"linux-vdso.so.1"}
    for library in sorted(folder.glob("lib/**/*.so*")):
        assert not missing_libraries(library), f"{library.name} does not find {missing_libraries(library)}"
        for needed in re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", library)):
            found = needed in beside | system | DRIVERS or any(
                (pathlib.Path(place) / needed).exists() for place in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64"))
            assert found, f"{library.name} wants {needed}, which is not installed beside it"


def check_bill(folder, scratch):
    """Of every library that is installed it is known where it comes from."""
    run(ROOT / "deploy/container/bill_of_materials.py", "--packages", "/var/lib/dpkg/status", "--installed", folder, "--out", scratch)


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "usr"
        install(build, folder)
        check_closure(folder)
        check_bill(folder, pathlib.Path(scratch) / "papers")
        size = sum(path.stat().st_size for path in folder.glob("lib/**/*.so*"))
        print(f"FIGURE {size / 1e9:.2f} GB of libraries for GPUs")
        assert size < LIMIT, size


if __name__ == "__main__":
    main()
