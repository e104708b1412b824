# SPDX-License-Identifier: Apache-2.0
"""The kernel repository of this tree: built by deploy/kernels/build, loaded by the public package `kernels`, by this
process's own copy beside it, and by reel-worker."""

import base64
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import kernels
import reel_kernels
import torch

NEEDS = ("kernels",)

BINARY = pathlib.Path(os.environ["REEL_BINARY_DIR"])
SCRIPTS = pathlib.Path(__file__).resolve().parents[4] / "deploy/kernels"
sys.path.insert(0, str(SCRIPTS))


def load_script(name):
    loader = importlib.machinery.SourceFileLoader(f"deploy_kernels_{name}", str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class HashTest(unittest.TestCase):
    def test_every_file_that_decides_what_is_compiled_makes_a_version_of_its_own(self):
        script = load_script("build")
        cache = script.read_cache(BINARY)
        for name in ("operators.def", "operators.cmake", "rows/row.cuh", "CMakeLists.txt"):
            made = set()
            for text in ("one", "two"):
                with tempfile.TemporaryDirectory() as tree:
                    script.TREE = pathlib.Path(tree)
                    file = script.TREE / "kernels" / name
                    file.parent.mkdir(parents=True)
                    file.write_text(text)
                    made.add(script.hash_of(cache))
            self.assertEqual(len(made), 2, name)


class RepositoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        script = load_script("build")
        cls.backend = "cuda" if BINARY.name == "cuda" else "cpu"
        cls.folder = cls.build(script, "one")
        cls.first = kernels.get_local_kernel(cls.root("one"), backend=cls.backend)
        hash_of = script.hash_of
        script.hash_of = lambda cache: hashlib.sha256(hash_of(cache)).digest()  # as other sources would
        cls.other_folder = cls.build(script, "two")
        cls.second = kernels.get_local_kernel(cls.root("two"), backend=cls.backend)

    @classmethod
    def root(cls, name):
        return pathlib.Path(cls.scratch.name) / name

    @classmethod
    def build(cls, script, name):
        return script.build(script.parse(["--preset", BINARY.name, "--out", str(cls.root(name))]))

    def metadata(self, folder):
        return json.loads((folder / "metadata.json").read_text())

    def test_the_public_package_loads_it_and_it_computes(self):
        x = torch.randn(5, 64)
        weight = torch.randn(64)
        torch.testing.assert_close(self.first.rmsnorm(x, weight), torch.nn.functional.rms_norm(x, (64,), weight, 1e-6))
        torch.testing.assert_close(self.first.layers.SiluAndMul()(x), torch.nn.functional.silu(x[:, :32]) * x[:, 32:])

    def test_copies_in_one_process_do_not_meet(self):
        copies = (self.first, self.second, reel_kernels)
        before = [copy.calls().get("rms_norm/cpu", 0) for copy in copies]
        self.first.rmsnorm(torch.randn(3, 16))
        after = [copy.calls().get("rms_norm/cpu", 0) for copy in copies]
        self.assertEqual([now - then for now, then in zip(after, before)], [1, 0, 0])
        x = torch.randn(3, 16)
        for copy in copies[1:]:
            self.assertTrue(torch.equal(copy.rmsnorm(x), self.first.rmsnorm(x)))

    def test_its_id_is_its_namespace_and_file(self):
        for folder, module in ((self.folder, self.first), (self.other_folder, self.second)):
            metadata = self.metadata(folder)
            self.assertRegex(metadata["id"], r"^_reel_kernels_(cpu|cuda)_[0-9a-f]{12}$")
            self.assertTrue((folder / f"{metadata['id']}.abi3.so").exists())
            self.assertIn("rms_norm", dir(getattr(torch.ops, metadata["id"])) + module.operators())
            self.assertEqual(metadata["python-depends"], [])
            self.assertEqual(metadata["backend"]["type"], self.backend)
        self.assertNotEqual(self.metadata(self.folder)["id"], self.metadata(self.other_folder)["id"])

    def test_every_file_has_its_digest(self):
        files = {path.relative_to(self.folder).as_posix(): path for path in self.folder.rglob("*")
                 if path.is_file() and path.name != "metadata.json" and "__pycache__" not in path.parts}
        digest = self.metadata(self.folder)["digest"]
        self.assertEqual(digest["algorithm"], "sha256")
        self.assertEqual(set(files), set(digest["files"]))
        for name, path in files.items():
            expected = base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()
            self.assertEqual(digest["files"][name], expected, name)

    def test_the_library_knows_no_python(self):
        library = next(self.folder.glob("*.abi3.so"))
        symbols = subprocess.run(["nm", "-DC", str(library)], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(symbols, r"\b_?Py[A-Z]\w*|pybind11")
        versions = sorted({tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", symbols)})
        print(f"highest symbol version: GLIBC_{'.'.join(map(str, versions[-1]))}; publishable is at most GLIBC_2.28",
              file=sys.stderr)

    def test_it_traces(self):
        compiled = torch.compile(lambda x: self.first.rmsnorm(x) * 2, fullgraph=True, backend="aot_eager")
        x = torch.randn(4, 32)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), self.first.rmsnorm(x) * 2)

    def test_a_worker_opens_it(self):
        worker = BINARY / "bin/reel-worker"
        if self.backend != "cpu":
            self.skipTest("a worker on a device needs one")
        self.assertTrue(worker.exists(), "build reel-worker first")
        pin = hashlib.sha256((self.folder / "metadata.json").read_bytes()).hexdigest()
        command = [str(worker), "--probe_plugin=reel-other", f"--plugin_root={self.scratch.name}", "--plugin_folder=one"]
        done = subprocess.run([*command, f"--plugin_sha256={pin}"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for row in ("rms_norm=reel-other: fp32, bf16, fp16", "gate_residual=reel-other: fp32, bf16, fp16",
                    "gated_activation=reel-other", "adaln_rms_norm=reel-other", "rms_norm_residual=reel-other",
                    "layer_norm_residual=reel-other", "adaln_layer_norm=reel-other", "adaln_zero=reel-other"):
            self.assertIn(row, done.stdout)
        refused = subprocess.run([*command, f"--plugin_sha256={'0' * 64}"], capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("not the one that the configuration pins", refused.stderr)


if __name__ == "__main__":
    unittest.main()
