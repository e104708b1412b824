# SPDX-License-Identifier: Apache-2.0
"""Loading: once, twice, from elsewhere, from nowhere; and what the library is linked with."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import reel_kernels
import torch
from reel_kernels._library import library_path


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=100)


class Load(unittest.TestCase):
    def test_a_second_load_and_a_second_copy_are_harmless(self):
        before = torch.ops.reel_kernels.operators()
        torch.ops.load_library(str(library_path()))
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(library_path(), folder)
            torch.ops.load_library(copy)
        self.assertEqual(torch.ops.reel_kernels.operators(), before)
        self.assertEqual(reel_kernels.rmsnorm(torch.ones(2, 8)).shape, (2, 8))

    def test_a_missing_or_broken_library_is_an_import_error(self):
        said = python("import reel_kernels", REEL_KERNELS_LIBRARY="/nowhere/lib.so")
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("ImportError: reel_kernels has no library: /nowhere/lib.so", said.stderr)
        with tempfile.NamedTemporaryFile(suffix=".so") as broken:
            said = python("import reel_kernels", REEL_KERNELS_LIBRARY=broken.name)
        self.assertIn(broken.name, said.stderr)
        self.assertNotEqual(said.returncode, 0)

    def test_no_python_and_no_cuda_in_the_library(self):
        symbols = subprocess.run(["nm", "-DC", library_path()], capture_output=True, text=True, check=True).stdout
        self.assertIn("c10::Dispatcher", symbols)
        self.assertEqual(re.findall(r"\b_?Py\w+|pybind11", symbols), [])
        needed = subprocess.run(["readelf", "-d", library_path()], capture_output=True, text=True, check=True).stdout
        self.assertRegex(needed, r"NEEDED.*libtorch_cpu\.so")
        self.assertEqual(re.findall(r"NEEDED.*(libtorch_python|libtorch_cuda|libcuda|libpython)", needed), [])

    def test_its_own_parts_are_hidden(self):
        defined = subprocess.run(["nm", "-DC", "--defined-only", library_path()], capture_output=True, text=True,
                                 check=True).stdout
        self.assertEqual(re.findall(r"reel::kernels::\w+", defined), [])


class Listing(unittest.TestCase):
    def test_variants_are_named_best_first(self):
        self.assertEqual(reel_kernels.variants("rms_norm"), ["cpu", "loops"])
        self.assertEqual(reel_kernels.variants("rope_3d"), ["loops"])

    def test_the_report_covers_every_kernel(self):
        report = reel_kernels.device_report()
        self.assertEqual(set(report["devices"]["cpu"]), set(reel_kernels.operators()))
        self.assertEqual(report["devices"]["cpu"]["rms_norm"], {"cpu": "runs", "loops": "runs"})
        self.assertEqual(pathlib.Path(report["library"]), library_path())

    def test_calls_are_counted_from_all_threads(self):
        before = reel_kernels.calls().get("activation/cpu", 0)
        x = torch.ones(4, 8)
        threads = [threading.Thread(target=lambda: [reel_kernels.silu(x) for _ in range(50)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(reel_kernels.calls()["activation/cpu"], before + 200)
