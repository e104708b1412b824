#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""buildah builds the image from the Dockerfile, upon a Debian that mmdebstrap made, and what is in it serves and renders by its own
entry point, read-only, without capabilities, as the manifests run it. The stage that compiles is given what this tree's build installs;
REEL_TEST_CONTAINER=1 builds that as well, from nothing, in a quarter of an hour.

  container_image.py [BUILD]      with BUILD, which has the CUDA kernels, the image for NVIDIA's GPUs, on a machine that needs none
"""

import json
import os
import pathlib
import re
import signal
import shutil
import subprocess
import sys
import time

from buildah import debian, opened
from server import ROOT, find_binary, find_tool, run, skip

REVISION = "0123456789ab"
SLIM, BUILT, IMAGE = "localhost/debian:12-slim", "localhost/reel-built", "localhost/reel:test"
WHOLE = os.environ.get("REEL_TEST_CONTAINER") == "1"
WHOLE_SECONDS = 3000
SERVING_SECONDS = 60
DRIVERS = {"libcuda.so.1", "libnvidia-ml.so.1"}  # come with the machine's driver
# Namespaces of its own: the ports are the image's, and its root is read-only but for what it names.
CONTAIN = """
import fcntl, os, socket, struct, subprocess, sys
root, user, *command = sys.argv[1:]
with socket.socket() as loopback:
    fcntl.ioctl(loopback, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
volume = f"size=256m,mode=700,uid={user},gid={user}"  # of its own: this machine's disk may have no room by the server's rule
for mount in (["--rbind", root, root], ["-t", "tmpfs", "-o", volume, "tmpfs", f"{root}/var/lib/reel"], ["-t", "tmpfs", "tmpfs", f"{root}/tmp"],
              ["-t", "proc", "proc", f"{root}/proc"], ["--rbind", "/dev", f"{root}/dev"], ["-o", "remount,bind,ro", root]):
    subprocess.run(["mount", *mount], check=True)
os.execvp("chroot", ["chroot", root, "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs",
                     "--bounding-set=-all", "--inh-caps=-all", "env", "-i", *command])
"""


def without_compiling(text):
    """With an image in the place of the first stage; all else as it stands. buildah 1.28 knows no stage by an argument's value."""
    shortened, stages = re.subn(r"^FROM \S+ AS build\n.*?(?=^FROM )", f"FROM {BUILT} AS build\n\n", text, flags=re.MULTILINE | re.DOTALL)
    assert stages == 1 and "compile" not in shortened, "the Dockerfile has no first stage that compiles"
    return shortened


def build(buildah, tree):
    debian(buildah, SLIM)
    bases = ["--build-arg", f"BASE={SLIM}", "--build-arg", f"REVISION={REVISION}"]
    if WHOLE:
        buildah.build(ROOT, IMAGE, *bases, "--build-arg", f"BUILD_BASE={SLIM}", timeout=WHOLE_SECONDS)
        return
    content = buildah.folder / "built"
    run(find_tool("cmake"), "--install", tree, "--prefix", content / "installed", "--strip", timeout=600)
    shutil.copytree(ROOT / "deploy", content / "src/deploy")
    shutil.copy(ROOT / "CMakeLists.txt", content / "src")
    for wheel in ROOT.glob(".deps/venv/lib/python3*/site-packages/nvidia_*.dist-info"):  # their names say the versions
        (content / "src" / wheel.relative_to(ROOT)).mkdir(parents=True)
    python = buildah("from", SLIM)
    buildah("run", python, "sh", "-c", "apt-get update && apt-get install -y --no-install-recommends python3")
    buildah("add", "-q", python, content, "/")
    shutil.rmtree(content)
    buildah("config", "--workingdir", "/src", python)
    buildah("commit", "-q", "--rm", python, BUILT)
    dockerfile = buildah.folder / "Dockerfile"
    dockerfile.write_text(without_compiling((ROOT / "Dockerfile").read_text(encoding="utf-8")), encoding="utf-8")
    buildah.build(ROOT, IMAGE, *bases, "-f", dockerfile)


def check_settings(settings):
    labels = settings["Labels"]
    assert settings["User"] == "10001:10001" and settings["StopSignal"] == "SIGTERM", settings
    assert settings["Entrypoint"] == ["/usr/bin/reeld", "--config", "/etc/reel/reel.textproto"] and not settings["Cmd"], settings
    assert settings["Healthcheck"]["Test"] == ["NONE"], settings
    assert settings["ExposedPorts"].keys() == {"50051/tcp", "9464/tcp"} and settings["Volumes"].keys() == {"/var/lib/reel"}, settings
    assert labels["org.opencontainers.image.revision"] == REVISION and labels["org.opencontainers.image.licenses"] == "GPL-2.0-or-later", labels


def check_papers(root):
    """The list names what is there: each library of wheels, and Debian's packages."""
    listed = {package["name"] for package in json.loads((root / "usr/share/doc/reel/sbom.spdx.json").read_text(encoding="utf-8"))["packages"]}
    installed = set(run("chroot", root, "dpkg-query", "-W", "-f", "${Package}\n").split())
    assert installed <= listed, f"not in the list: {sorted(installed - listed)[:5]}"
    assert {"reel", "torch"} <= listed and "libx264-164" in listed, sorted(listed)
    assert "x264" in (root / "usr/share/doc/reel/SOURCES.md").read_text(encoding="utf-8")
    written = [path for path in ("var/lib/apt/lists", "tmp") for _ in (root / path).iterdir()]
    assert not written, f"left behind in {written[0]}"


class Container:
    """The image's entry point in namespaces of its own."""

    def __init__(self, root, log, settings):
        self.root, self.user = root, settings["User"].partition(":")[0]
        self.log = open(log, "w+b")
        self.process = subprocess.Popen(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", sys.executable, "-c", CONTAIN, root, self.user,
                                         *settings["Entrypoint"]], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def pid(self):
        """Of reeld, which is the first in there."""
        return pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="utf-8").split()[0]

    def inside(self, *command, check=True):
        done = subprocess.run(["nsenter", "--target", self.pid(), "--mount", "--net", "chroot", f"--userspec={self.user}:{self.user}", self.root, *command],
                              capture_output=True, text=True, timeout=120, check=False)
        assert not check or done.returncode == 0, f"{command} ended with {done.returncode}: {done.stderr}\n{self.told()}"
        return done

    def told(self):
        self.log.seek(0)
        return self.log.read().decode()[-3000:]

    def wait(self):
        end = time.monotonic() + SERVING_SECONDS
        while time.monotonic() < end:
            assert self.process.poll() is None, self.told()
            time.sleep(0.1)
            if self.inside("/usr/bin/reel", "doctor", check=False).returncode == 0:
                return
        raise AssertionError(f"not serving within {SERVING_SECONDS} s: {self.told()}")

    def check_restrictions(self):
        status = pathlib.Path(f"/proc/{self.pid()}/status").read_text(encoding="utf-8")
        told = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert told["Uid"].split() == [self.user] * 4 and told["NoNewPrivs"] == "1", status
        assert all(int(told[name], 16) == 0 for name in ("CapEff", "CapPrm", "CapBnd")), status
        assert "Read-only file system" in self.inside("/bin/sh", "-c", "touch /var/tmp/here", check=False).stderr, "its root can be written"

    def stop(self):
        os.kill(int(self.pid()), signal.SIGTERM)
        assert self.process.wait(30) == 0, self.told()


def check_cuda_half(root):
    """All that it loads lies beside it, but for what comes with the host's driver; each library is in the list. Returns the largest."""
    libraries = sorted((root / "usr/lib/reel").iterdir(), key=lambda path: -path.stat().st_size)
    for library in [*libraries, *(root / "usr/lib").glob("libreel*.so")]:
        found = run("chroot", root, "ldd", "/" + str(library.relative_to(root)))
        missing = set(re.findall(r"(\S+) => not found", found)) - DRIVERS
        assert not missing, f"{library.name} does not find {missing}"
    listed = (root / "usr/share/doc/reel/sbom.spdx.json").read_text(encoding="utf-8")
    assert all(name in listed for name in ("nvidia-cudnn-cu13", "nvidia-cublas", "nvidia-nccl-cu13")), listed[:1000]
    return ", ".join(f"{library.name} {library.stat().st_size >> 20}" for library in libraries[:6])


def main():
    tree = pathlib.Path(sys.argv[1]) if sys.argv[1:] else find_binary("reeld").parent.parent
    with opened() as buildah:
        if subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True, check=False).returncode:
            skip("this machine lets nobody make namespaces")
        start = time.monotonic()
        build(buildah, tree)
        built = time.monotonic() - start
        settings = buildah.settings(IMAGE)
        check_settings(settings)
        with buildah.mounted(IMAGE) as root:
            check_papers(root)
            if sys.argv[1:]:
                print(f"FIGURE for GPUs, in MiB: {check_cuda_half(root)}")
            container = Container(root, buildah.folder / "log", settings)
            try:
                container.wait()
                container.check_restrictions()
                container.inside("/usr/bin/reel", "generate", "a red circle bouncing over blue waves", "--width", "128", "--height", "128",
                                 "--frames", "9", "--steps", "2", "-o", "/tmp/circle.mp4")
                assert container.inside("/usr/bin/head", "-c", "8", "/tmp/circle.mp4").stdout[4:] == "ftyp"
                container.stop()
            finally:
                container.process.kill()
                container.process.wait()
            size = int(run("du", "-sm", root).split()[0])
    print(f"FIGURE image of {size} MiB, built {'from nothing' if WHOLE else 'with what the tree has compiled'} in {built:.0f} s; "
          "serves and renders read-only without capabilities")


if __name__ == "__main__":
    sys.exit(main())
