#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CMake says what a build lacks, and which command brings it, before anything is compiled."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[3]


class ConfigureTest(unittest.TestCase):
    def test_a_cuda_build_without_cudnn_names_the_set_up_that_brings_it(self):
        cmake = shutil.which("cmake", path=f"{ROOT}/.deps/venv/bin:{os.environ['PATH']}")
        if not (ROOT / ".deps/cuda/bin/nvcc").exists():
            self.skipTest("no nvcc: deploy/build/setup --cuda")
        with tempfile.TemporaryDirectory() as name:
            torch = pathlib.Path(name, "torch")
            for file in ["include/torch/extension.h", "lib/libtorch_cpu.so", "lib/libtorch_cuda.so"]:
                (torch / file).parent.mkdir(parents=True, exist_ok=True)
                (torch / file).touch()
            answer = subprocess.run([cmake, "--preset", "cuda", "-B", f"{name}/build", f"-DREEL_TORCH_ROOT={torch}",
                                     "-DREEL_TESTS=OFF"], cwd=ROOT, capture_output=True, text=True)
        self.assertNotEqual(answer.returncode, 0)
        said = " ".join(answer.stderr.split())
        self.assertIn("libtorch's CUDA half lacks cudnn/include/cudnn.h, cudnn/lib/libcudnn.so.9", said)
        self.assertIn("deploy/build/setup --cuda --python", said)


if __name__ == "__main__":
    unittest.main()
