# SPDX-License-Identifier: Apache-2.0
"""tests/one_suite.py gives a test the slots that it needs, and keeps those of the clock alone."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
import one_suite


def entry(labels, command=("program",), name="some_test", **properties):
    return one_suite.entry("dev", name, list(command), dict(properties, LABELS=labels))


class OneSuiteTest(unittest.TestCase):
    def test_what_waits_for_servers_takes_a_slot_and_what_computes_takes_three(self):
        self.assertIn("PROCESSORS [==[1]==]", entry(["integration"]))
        for labels in (["integration", "computes"], ["unit"], ["lint"], ["e2e"]):
            self.assertIn("PROCESSORS [==[3]==]", entry(labels), labels)

    def test_what_looks_at_a_clock_takes_more_than_it_uses_but_not_the_machine(self):
        self.assertIn("PROCESSORS [==[4]==]", entry(["integration", "waits"]))
        self.assertNotIn("RUN_SERIAL", entry(["integration", "waits"]))

    def test_the_longest_begin_first(self):
        self.assertIn("COST [==[90]==]", entry(["integration"], name="outside.alerts"))
        self.assertIn("COST [==[20]==]", entry(["unit"]))

    def test_a_test_that_says_its_own_keeps_it(self):
        self.assertIn("PROCESSORS [==[5]==]", entry(["integration"], PROCESSORS=5))

    def test_what_measures_time_runs_alone(self):
        self.assertIn("RUN_SERIAL [==[ON]==]", entry(["integration", "timing"]))
        self.assertNotIn("RUN_SERIAL", entry(["integration"]))

    def test_what_runs_beside_others_computes_on_one_thread_unless_it_says_otherwise(self):
        self.assertIn("ENVIRONMENT [==[A=1;OMP_NUM_THREADS=1]==]", entry(["unit"], ENVIRONMENT=["A=1"]))
        self.assertIn("ENVIRONMENT [==[OMP_NUM_THREADS=2]==]", entry(["unit"], ENVIRONMENT=["OMP_NUM_THREADS=2"]))
        for alone in (entry(["timing"]), entry(["unit"], RUN_SERIAL=True)):
            self.assertNotIn("OMP_NUM_THREADS", alone)

    def test_what_was_not_built_fails(self):
        self.assertTrue(entry(["unit"], command=()).startswith("add_test([==[dev/some_test]==] [==[false]==])"))


if __name__ == "__main__":
    unittest.main()
