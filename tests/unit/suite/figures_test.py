# SPDX-License-Identifier: Apache-2.0
"""tests/promise_pages.py collects the FIGURE lines of a run by test."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
import promise_pages

JUNIT = """<testsuite><testcase name="dev/a_test"><system-out>[ RUN ] x
FIGURE 3 videos: 0 lost
FIGURE: a step 5 ms
no FIGURE here</system-out></testcase><testcase name="dev/b_test"><system-out>OK</system-out></testcase></testsuite>"""


class FiguresTest(unittest.TestCase):
    def test_are_those_of_each_test(self):
        with tempfile.TemporaryDirectory() as name:
            junit, out = pathlib.Path(name, "times.xml"), pathlib.Path(name, "figures.json")
            junit.write_text(JUNIT, encoding="utf-8")
            promise_pages.figures(junit, out)
            self.assertEqual(json.loads(out.read_text(encoding="utf-8")), {"dev/a_test": ["3 videos: 0 lost", "a step 5 ms"]})


if __name__ == "__main__":
    unittest.main()
