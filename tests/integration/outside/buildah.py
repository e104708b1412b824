# SPDX-License-Identifier: Apache-2.0
"""buildah with a store of this run, and a Debian to build on, since nothing can be pulled where tests run."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from debian_root import PATIENCE_SECONDS, make_debian
from server import find_tool, run, skip

SUITE = "bookworm"
# What lets this machine reach its registries, whatever that is: a build from nothing needs it as well.
SETTINGS = ("/etc/pip.conf",)
WORDS = re.compile(r"PIP_\w+")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def storage_driver(folder):
    """overlay keeps what a step changes; vfs, where nothing else can be mounted, copies all below it: gigabytes a step."""
    below, changes, work, mounted = (pathlib.Path(tempfile.mkdtemp(prefix="overlay-", dir=folder)) for _ in range(4))
    options = f"lowerdir={below},upperdir={changes},workdir={work}"
    tried = subprocess.run(["unshare", "--mount", "mount", "-t", "overlay", "overlay", "-o", options, mounted], capture_output=True, check=False)
    for tree in (below, changes, work, mounted):
        shutil.rmtree(tree)
    return "vfs" if tried.returncode else "overlay"


class Buildah:
    def __init__(self, folder):
        self.program, self.folder = find_tool("buildah"), pathlib.Path(folder)
        self.store = ["--root", self.folder / "store", "--runroot", self.folder / "runroot", "--storage-driver", storage_driver(self.folder)]

    def __call__(self, command, *arguments, timeout=PATIENCE_SECONDS):
        return run(self.program, *self.store, command, *arguments, timeout=timeout,
                   env=os.environ | {"BUILDAH_ISOLATION": "chroot", "TMPDIR": str(self.folder)}).strip()

    def image(self, name, base, content, *settings):
        """`content`, an archive or a folder, upon an image."""
        container = self("from", base)
        self("add", "-q", container, content, "/")
        if settings:
            self("config", *settings, container)
        self("commit", "-q", "--rm", container, name)

    def build(self, tree, name, *arguments, timeout=PATIENCE_SECONDS):
        self("bud", "--format", "docker", "--pull-never", "-t", name, *arguments, tree, timeout=timeout)

    def settings(self, image):
        """As Docker keeps them."""
        return json.loads(self("inspect", "--type", "image", image))["Docker"]["config"]

    @contextlib.contextmanager
    def mounted(self, image):
        container = self("from", "--pull-never", image)
        yield pathlib.Path(self("mount", container))
        self("rm", container)


@contextlib.contextmanager
def opened():
    """A Buildah; its store goes with it. The test skips where only a container's root could build."""
    if os.geteuid():
        skip("only root builds an image here, without a daemon and without subordinate ids")
    # Not /tmp, which may be memory: gigabytes.
    with tempfile.TemporaryDirectory(prefix="reel-buildah-", dir="/var/tmp") as folder:
        buildah = Buildah(folder)
        try:
            yield buildah
        finally:
            subprocess.run([buildah.program, *buildah.store, "rm", "--all"], capture_output=True, check=False)


def debian(buildah, name):
    """What debian:12-slim is, by mmdebstrap, and with certificates, where the host's mirror wants those."""
    root = buildah.folder / "debian"
    make_debian(root, SUITE, "minbase", "ca-certificates")
    for file in SETTINGS:
        if pathlib.Path(file).is_file():
            shutil.copy(file, root / file[1:])
    if pathlib.Path(CERTIFICATES).is_file():
        shutil.copy(CERTIFICATES, root / "usr/local/share/ca-certificates/host.crt")
        run("chroot", root, "update-ca-certificates")
    words = [word for name, value in os.environ.items() if WORDS.fullmatch(name) for word in ("--env", f"{name}={value}")]
    buildah.image(name, "scratch", root, *words)
    shutil.rmtree(root)
