# SPDX-License-Identifier: Apache-2.0
"""The folder of one build in a kernel repository: its name, its files, its metadata.json."""

import base64
import hashlib
import json
import pathlib
import platform
import re
import shutil

KERNEL_NAME = re.compile(r"[a-z][-a-z0-9]*[a-z0-9]")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NATIVE_VERSION = 1  # of kernels/plugins/plugin_v1.h
METADATA = "metadata.json"


class LayoutError(Exception):
    """What an author can put right; the message says how."""


def variant_name(framework, backend):
    """"torch211-cxx11-cu130-x86_64-linux": `framework` is "torch211-cxx11" or "reel1", `backend` "cpu" or "cu130"."""
    return f"{framework}-{backend}-{platform.machine()}-{platform.system().lower()}"


def torch_framework(version):
    """"2.11.0" to "torch211-cxx11"."""
    parts = version.split("+")[0].split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        raise LayoutError(f"a version of torch is MAJOR.MINOR, not '{version}'")
    return f"torch{parts[0]}{parts[1]}-cxx11"


def make_id(name, backend, contents):
    """An identifier that no other contents have, so that versions live side by side in a process."""
    kind = "cpu" if backend == "cpu" else "cuda"
    return f"_{name.replace('-', '_')}_{kind}_{hashlib.sha256(contents).hexdigest()[:12]}"


def write_build(out, variant, metadata, files):
    """Writes build/<variant>/ below `out` anew and returns it. `files` maps paths inside to a file or to bytes."""
    check_metadata(metadata)
    folder = pathlib.Path(out) / "build" / variant
    if folder.exists():
        shutil.rmtree(folder)
    for path, source in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, bytes):
            target.write_bytes(source)
        else:
            shutil.copyfile(source, target)  # a link becomes the file
    metadata = dict(metadata, digest=digest_of(folder))
    (folder / METADATA).write_text(json.dumps(metadata, indent=2) + "\n")
    return folder


def check_metadata(metadata):
    if not KERNEL_NAME.fullmatch(metadata["name"]):
        raise LayoutError(f"a kernel's name is lower-case letters, digits and dashes, not '{metadata['name']}'")
    if not IDENTIFIER.fullmatch(metadata["id"]):
        raise LayoutError(f"an id is letters, digits and _, not '{metadata['id']}'")


def digest_of(folder):
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != METADATA and "__pycache__" not in path.parts:
            digest = hashlib.sha256(path.read_bytes()).digest()
            files[path.relative_to(folder).as_posix()] = base64.b64encode(digest).decode()
    return {"algorithm": "sha256", "files": files}


def make_metadata(name, identifier, version, backend, archs, license_name):
    kind = {"type": "cpu"} if backend == "cpu" else {"type": "cuda", "archs": archs}
    return {"id": identifier, "name": name, "version": version, "license": license_name, "python-depends": [],
            "backend": kind}


def pin_of(folder):
    """What a configuration pins: the hash of metadata.json, which has the hash of every other file."""
    return hashlib.sha256((folder / METADATA).read_bytes()).hexdigest()
