# SPDX-License-Identifier: Apache-2.0
"""Puts the libraries that CMake built into the package: pip install kernels/torch_ops/python.

They are taken from build/cuda/lib or build/release/lib of this tree, or from the folder that REEL_KERNELS_BUILD names.
"""

import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
TORCH_LIBRARY = "libreel_kernels_torch.so"
CUDA_LIBRARY = "libreel_cuda.so"


def library_folder():
    tree = HERE.parents[2]
    named = os.environ.get("REEL_KERNELS_BUILD")
    folders = [pathlib.Path(named)] if named else [tree / "build/cuda/lib", tree / "build/release/lib"]
    for folder in folders:
        if (folder / TORCH_LIBRARY).exists():
            return folder
    raise SystemExit(f"{TORCH_LIBRARY} is in none of {', '.join(map(str, folders))}: build the target "
                     "reel_kernels_torch first")


class BuildWithLibraries(build_py):
    def run(self):
        super().run()
        folder = library_folder()
        package = pathlib.Path(self.build_lib) / "reel_kernels"
        for name in (TORCH_LIBRARY, CUDA_LIBRARY):
            if (folder / name).exists():
                shutil.copy2(folder / name, package / name)


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]  # the libraries know nothing of Python


class Compiled(Distribution):
    def has_ext_modules(self):
        return True  # the package is of one platform


setup(cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": Wheel}, distclass=Compiled)
