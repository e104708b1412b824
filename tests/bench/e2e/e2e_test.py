# SPDX-License-Identifier: Apache-2.0
"""The whole of e2e_bench on a CPU with the demo model: real children, a real reeld, real figures, and what it makes of them."""

import copy
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import e2e_report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BIN = pathlib.Path(sys.argv.pop(1))
THEIRS = ["eager", "patched"] if importlib.util.find_spec("diffusers") else []
ARMS = [*THEIRS, "reel:reference", "reel:auto", "reeld:auto"]


def bench(folder, arms, *more):
    command = [sys.executable, HERE / "e2e_bench.py", "--model", ROOT / "model/demo/weights", "--reel_bin", BIN,
               "--reel_python", BIN.parent / "python", "--device", "cpu",
               "--dtype", "fp32", "--width", "128", "--height", "128", "--num_frames", "9", "--steps", "2", "--rounds", "2",
               "--minutes", "3", "--prepare_together", "2", "--arms", ",".join(arms), "--out", folder, *more]
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)


class WholeRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.said = bench(cls.folder, [*ARMS, "reel:nonsense"])
        cls.result = json.loads((cls.folder / "e2e.json").read_text(encoding="utf-8"))

    def test_each_arm_has_a_turn_in_each_round(self):
        self.assertEqual(self.result["rounds"], 2, self.said.stderr)
        for name in ARMS:
            renders = self.result["arms"][name]["renders"]
            self.assertEqual(len(renders), 2, f"{name}: {self.result['arms'][name]}")
            for render in renders:
                self.assertGreater(min(render["steps_ms"]), 0, name)
                self.assertGreater(render["request_ms"], sum(render["steps_ms"]), name)
                self.assertEqual("decode_ms" in render, not name.startswith("reeld"), name)

    def test_results_do_not_tell_where_things_lie(self):
        self.assertNotIn("/", " ".join(self.result["command"]))

    def test_reel_names_the_variants_that_ran(self):
        self.assertIn("attention=", " ".join(self.result["arms"]["reel:auto"]["prepared"]["calls"]))

    def test_an_arm_that_cannot_run_is_named_and_fails_the_run_only(self):
        self.assertIn("nonsense", self.result["arms"]["reel:nonsense"]["error"])
        self.assertEqual(self.said.returncode, 1, self.said.stderr)

    def test_table_and_picture_have_every_arm(self):
        for file in ("e2e.md", "e2e.svg"):
            text = (self.folder / file).read_text(encoding="utf-8")
            for name in ARMS:
                self.assertIn(name, text, file)


class FilmsWithSound(unittest.TestCase):
    """The other family, of random weights as in its full size: nothing of a folder but its configurations is read."""

    def test_each_arm_renders_what_has_no_weights(self):
        arms = [*THEIRS[:1], "reel:auto", "reeld:auto"]
        with tempfile.TemporaryDirectory() as temporary:
            model = pathlib.Path(temporary, "model")
            shutil.copytree(ROOT / "model/demo/films/weights", model, ignore=shutil.ignore_patterns("*.safetensors"))
            said = bench(pathlib.Path(temporary, "out"), arms, "--family", "ltx2", "--model", model, "--random_weights", "1",
                         "--rounds", "1")
            result = json.loads((pathlib.Path(temporary, "out") / "e2e.json").read_text(encoding="utf-8"))
        self.assertEqual(said.returncode, 0, said.stderr)
        for name in arms:
            self.assertEqual(len(result["arms"][name]["renders"]), 1, f"{name}: {result['arms'][name]}")


class Comparison(unittest.TestCase):
    OLD = {"shape": {"width": 64}, "arms": {
        name: {"prepared": {}, "renders": [{"steps_ms": [100.0], "decode_ms": 50.0, "request_ms": 200.0}]}
        for name in ("eager", "reel:auto")}}

    def changed(self, name, **figures):
        new = copy.deepcopy(self.OLD)
        new["arms"][name]["renders"][0] |= figures
        return e2e_report.slower(new, self.OLD)

    def test_more_than_three_percent_slower_is_found(self):
        self.assertEqual(self.changed("reel:auto", steps_ms=[103.1]), ["reel:auto: step 100.00 -> 103.10 ms"])
        self.assertEqual(self.changed("reel:auto", decode_ms=52.0), ["reel:auto: decode 50.00 -> 52.00 ms"])

    def test_less_than_that_and_others_arms_are_not(self):
        self.assertEqual(self.changed("reel:auto", steps_ms=[102.9]), [])
        self.assertEqual(self.changed("eager", steps_ms=[150.0]), [])

    def test_an_arm_that_ran_no_more_is_found(self):
        new = copy.deepcopy(self.OLD)
        new["arms"]["reel:auto"]["renders"] = []
        self.assertEqual(len(e2e_report.slower(new, self.OLD)), 3)

    def test_another_request_is_no_baseline(self):
        with self.assertRaises(ValueError):
            e2e_report.slower(self.OLD | {"shape": {"width": 128}}, self.OLD)
        with self.assertRaises(ValueError):
            e2e_report.slower(self.OLD | {"family": "ltx2"}, self.OLD)

    def test_spread_is_median_and_nearest_ranks(self):
        self.assertEqual(e2e_report.spread([5, 1, 4, 2, 3]), {"median": 3, "p10": 1, "p90": 5, "n": 5})


if __name__ == "__main__":
    unittest.main()
