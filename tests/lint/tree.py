# SPDX-License-Identifier: Apache-2.0
"""The files that lints look at: those that git knows or would add, or a dictionary in a self-test."""

import pathlib
import subprocess
from typing import NamedTuple


class Finding(NamedTuple):
    path: str
    line: int
    message: str


class Tree:
    """A read-only view of source files by their path from the repository root. Not thread-safe."""

    def __init__(self, root, texts):
        self.root = root  # None in a self-test
        self._texts = texts  # path -> text, or None until it is read
        self.paths = sorted(texts)

    @classmethod
    def of_checkout(cls, root):
        root = pathlib.Path(root).resolve()
        return cls(root, {path: None for path in list_files(root)})

    @classmethod
    def of_texts(cls, texts):
        return cls(None, dict(texts))

    def text(self, path):
        if self._texts[path] is None:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._texts[path]

    def lines(self, path):
        """Numbered from 1."""
        return enumerate(self.text(path).splitlines(), start=1)

    def has(self, path):
        return path in self._texts

    def matching(self, *suffixes):
        return [path for path in self.paths if path.endswith(suffixes)]


def list_files(root):
    """Tracked files and new ones that are not ignored; without git, everything outside build folders."""
    command = ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"]
    answer = subprocess.run(command, capture_output=True, check=False)
    if answer.returncode == 0:
        names = answer.stdout.decode().split("\0")
    else:
        names = [str(p.relative_to(root)) for p in root.rglob("*")]
        names = [n for n in names if n.split("/")[0] not in ("build", ".deps", ".git") and "__pycache__" not in n]
    return [n for n in names if n and (root / n).is_file() and not (root / n).is_symlink()]


def folder_of(path):
    return path.rpartition("/")[0]
