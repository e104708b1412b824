#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cpack's .deb asks for what the programs link, and what its tarball holds renders from whatever folder it is unpacked in."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import server as outside
from server import ROOT, find_binary, find_tool, run, running_server, skip, wait_until_serving

WORDS = {"share/man/man1/reel.1": ".TH REEL 1", "share/bash-completion/completions/reel": "complete ", "share/fish/vendor_completions.d/reel.fish": "complete -c reel"}


def make_packages(build, scratch):
    """Without libtorch, half a gigabyte that would be packed twice; it is installed beside the unpacked tarball. By zstd, since gzip takes all the time."""
    run(find_tool("cpack"), "-G", "DEB;TZST", "--config", build / "CPackConfig.cmake", "-B", scratch, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=zstd",
        "-D", f"CPACK_INSTALL_CMAKE_PROJECTS={build};reel;Unspecified;/", timeout=350)
    return next(scratch.glob("*.deb")), next(scratch.glob("*.tar.zst"))


def check_components(build):
    """What cpack takes by itself: libtorch's CPU half, and nothing of three gigabytes for GPUs."""
    configured = re.search(r'CPACK_INSTALL_CMAKE_PROJECTS "(.*)"', (build / "CPackConfig.cmake").read_text(encoding="utf-8"))[1].split(";")
    assert configured[2::4] == ["Unspecified", "libtorch"], configured
    for_gpus = [line for line in (ROOT / "deploy/build/cmake/install.cmake").read_text(encoding="utf-8").splitlines()
                if line.strip().startswith("install(") and "cuda_half" in line]
    assert for_gpus and all("COMPONENT cuda)" in line for line in for_gpus), for_gpus


def check_deb(deb):
    """The image's list of packages is held to the binaries by lint.container; a virtual name stands for one of them."""
    wanted = [line for line in (ROOT / "deploy/container/runtime-packages.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    depends = ", ".join(run("dpkg-deb", "-f", deb, field).strip() for field in ("Depends", "Recommends"))
    missing = [package for package in wanted if not re.search(rf"(^|[ |]){re.escape(package)}(-fmt9)?([ ,(]|$)", depends)]
    assert not missing or not is_bookworm(), f"the .deb does not ask for {missing}: {depends}"
    files = run("dpkg-deb", "-c", deb)
    for name in ("usr/bin/reeld", "usr/bin/reel-worker", "usr/bin/reel", "usr/bin/reel-render", "usr/bin/reel-frames", "usr/share/reel/models/ltx-demo/model_index.json"):
        assert f"./{name}\n" in files, f"{name} is not in the .deb"


def is_bookworm():
    return 'VERSION_ID="12"' in pathlib.Path("/etc/os-release").read_text(encoding="utf-8")


def check_libraries(folder):
    """Nothing comes from the build's folders, which are not there elsewhere."""
    for program in sorted((folder / "bin").iterdir()):
        paths = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run("readelf", "-d", program))
        assert paths == ["$ORIGIN/../lib/reel"], f"{program.name}: {paths}"
        assert "not found" not in run("ldd", program), run("ldd", program)


def render(folder, scratch):
    os.environ["REEL_BIN"] = str(folder / "bin")
    assert pathlib.Path(outside.find_binary("reeld")).is_relative_to(folder)
    with running_server() as server:
        wait_until_serving(server)
        run(folder / "bin/reel", "--server", server.grpc, "generate", "a red circle bouncing over blue waves", "--width", "128", "--height", "128",
            "--frames", "9", "--steps", "2", "-o", scratch / "circle.mp4")
        models = run(folder / "bin/reel", "--server", server.grpc, "models")
    assert (scratch / "circle.mp4").read_bytes()[4:8] == b"ftyp"
    return "ltx-demo" in models


def main():
    build = pathlib.Path(find_binary("reeld")).parent.parent
    find_binary("reel-render")
    if not (build / "CPackConfig.cmake").is_file() or subprocess.run(["which", "dpkg-shlibdeps"], capture_output=True, check=False).returncode:
        skip("this build has no packages, or this system no dpkg")
    with tempfile.TemporaryDirectory(prefix="reel-packages-") as name:
        scratch = pathlib.Path(name)
        check_components(build)
        deb, tarball = make_packages(build, scratch)
        check_deb(deb)
        elsewhere = scratch / "some where else"
        elsewhere.mkdir()
        run(find_tool("cmake"), "-E", "tar", "xf", tarball, cwd=elsewhere)
        folder = next(elsewhere.iterdir())
        run(find_tool("cmake"), "--install", build, "--component", "libtorch", "--prefix", folder)
        check_libraries(folder)
        for path, words in WORDS.items():
            assert words in (folder / path).read_text(encoding="utf-8"), path
        run("bash", "-n", folder / "share/bash-completion/completions/reel")
        with_model = render(folder, scratch)
        assert with_model == (folder / "lib/reel/libtorch_cpu.so").exists(), "ltx-demo is served where libtorch is"
        print(f"{deb.stat().st_size >> 20} MiB .deb, {tarball.stat().st_size >> 20} MiB tarball")


if __name__ == "__main__":
    sys.exit(main())
