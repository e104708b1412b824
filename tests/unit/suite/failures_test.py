# SPDX-License-Identifier: Apache-2.0
"""tests/failures.py says which tests failed and why, from what ctest itself has written."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).parents[2]

GOOGLE_TEST = """[ RUN      ] Files.AreWhole
server/files_test.cc:7: Failure
Value of: file.whole()
  Actual: false
Expected: true
of 16

[  FAILED  ] Files.AreWhole (3 ms)
"""
PYTHON = "starting\n" * 20 + "Traceback (most recent call last):\nAssertionError: not within 60 s\n"


def told(tests):
    """What is said of a run of these: a name, what it prints and whether it passes."""
    with tempfile.TemporaryDirectory() as folder:
        suite = ""
        for name, text, passes in tests:
            output = pathlib.Path(folder, name)
            output.write_text(text)
            suite += f'add_test([[dev/{name}]] sh -c "cat {output}; exit {0 if passes else 3}")\n'
        pathlib.Path(folder, "CTestTestfile.cmake").write_text(suite)
        subprocess.run(["ctest", "--test-dir", folder, "--output-junit", "times.xml"], capture_output=True, check=False)
        said = subprocess.run([sys.executable, TESTS / "failures.py", pathlib.Path(folder, "times.xml")], capture_output=True, text=True, check=True)
        return said.stdout


class FailuresTest(unittest.TestCase):
    def test_a_run_without_failures_says_nothing(self):
        self.assertEqual(told([("passes", GOOGLE_TEST, True)]), "")

    def test_a_failed_expectation_is_told_whole(self):
        said = told([("passes", "", True), ("files_test", GOOGLE_TEST, False)])
        self.assertRegex(said, r"^FAILED: dev/files_test \(\d+ s\): .*\n  server/files_test.cc:7: Failure\n  Value of: file.whole\(\)\n")
        self.assertTrue(said.endswith("Expected: true\n  of 16\n"), said)

    def test_of_another_program_the_end_is_told(self):
        said = told([("outside.page", PYTHON, False)])
        self.assertTrue(said.endswith("  AssertionError: not within 60 s\n"), said)
        self.assertLess(said.count("\n"), 12)

    def test_a_run_that_left_nothing_is_no_reason_to_fail(self):
        said = subprocess.run([sys.executable, TESTS / "failures.py", "/nonexistent"], capture_output=True, text=True, check=True)
        self.assertIn("no results of tests", said.stdout)


if __name__ == "__main__":
    unittest.main()
