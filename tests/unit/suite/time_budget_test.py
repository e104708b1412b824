# SPDX-License-Identifier: Apache-2.0
"""tests/time_budget.py names what took too long, and fails only where that is gross."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
import time_budget


class TimeBudgetTest(unittest.TestCase):
    def test_within_its_budget_nothing_is_over(self):
        out, gross = time_budget.lines({"tests": 1}, {"dev/digest_test": 0.5})
        self.assertEqual(out, [f"tests: 1 s of {time_budget.PHASES['tests']} s", f"dev/digest_test: 0 s of {time_budget.TEST} s"])
        self.assertFalse(gross)

    def test_names_a_phase_and_a_test_that_are_over(self):
        out, gross = time_budget.lines({"build dev": time_budget.PHASES["build dev"] + 9}, {"dev/digest_test": 30})
        self.assertEqual([line.split(": ")[1] for line in out if "OVER" in line], ["build dev", "dev/digest_test"])
        self.assertFalse(gross)

    def test_grossly_over_fails(self):
        self.assertTrue(time_budget.lines({}, {"dev/digest_test": time_budget.GROSS_SECONDS + 1})[1])
        self.assertTrue(time_budget.lines({"build CUDA": 5 * time_budget.PHASES["build CUDA"] + 1}, {})[1])

    def test_a_short_test_that_waited_for_its_turn_is_over_and_not_gross(self):
        out, gross = time_budget.lines({}, {"dev/digest_test": 101})
        self.assertIn("OVER BUDGET: dev/digest_test: 101 s, wanted 20 s", out)
        self.assertFalse(gross)

    def test_on_a_slow_machine_each_test_has_as_much_longer_as_all_took(self):
        slow = {"tests": 2 * time_budget.PHASES["tests"]}
        self.assertFalse(time_budget.lines(slow, {"dev/front_fleet_test": 210})[1])
        self.assertTrue(time_budget.lines(slow, {"dev/front_fleet_test": 2 * 180 + 1})[1])

    def test_says_again_what_is_grossly_over(self):
        out, _ = time_budget.lines({}, {"dev/digest_test": 200})
        self.assertEqual(out[-1], "FIVE TIMES OVER BUDGET: dev/digest_test: 200 s, wanted 20 s")

    def test_a_slow_test_has_its_own_budget_in_each_preset(self):
        self.assertFalse(time_budget.lines({}, {"release/load_test": 400})[1])

    def test_the_phases_are_forty_minutes(self):
        self.assertEqual(sum(time_budget.PHASES.values()), 2400)


if __name__ == "__main__":
    unittest.main()
