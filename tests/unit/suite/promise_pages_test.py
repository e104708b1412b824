# SPDX-License-Identifier: Apache-2.0
"""What a run of ctest measured becomes the figures of promises.json, and nothing else there changes."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
import promise_pages  # noqa: E402

JUNIT = """<testsuite><testcase name="release/load_test"><system-out>[ RUN ]
FIGURE cancel to free slot: median 40.1ms, p99 90ms of 100
FIGURE cancel to free slot: median 20.583312ms, p99 1.5s of 100
FIGURE: 46 of 50 reasons are heard
</system-out></testcase><testcase name="release/quiet_test"/></testsuite>"""


def promises():
    return [{"id": 1, "last": "old", "date": "2026-01-01", "figure": {"line": "median {0}, p99 {1} of {2}", "last": "{2} cancels: {0}, p99 {1}"}},
            {"id": 2, "last": "old", "date": "2026-01-01", "figure": {"line": "{1} of {0} reasons", "last": "{1} of {0}"}},
            {"id": 3, "last": "old", "date": "2026-01-01", "figure": {"line": "gone after {0}", "last": "{0}"}},
            {"id": 4, "last": "by hand", "date": "2026-01-01"}]


class PromisePagesTest(unittest.TestCase):
    def test_the_last_line_of_a_run_becomes_the_figure_with_its_date(self):
        with tempfile.TemporaryDirectory() as name:
            junit, out = pathlib.Path(name) / "times.xml", pathlib.Path(name) / "figures.json"
            junit.write_text(JUNIT, encoding="utf-8")
            promise_pages.figures(junit, out)
            found = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual(list(found), ["release/load_test"])
        told = promises()
        self.assertEqual(promise_pages.update(told, found, "2026-02-03"), ([1, 2], [3]))
        self.assertEqual((told[0]["last"], told[0]["date"]), ("100 cancels: 20.6 ms, p99 1.5 s", "2026-02-03"))
        self.assertEqual(told[1]["last"], "46 of 50")

    def test_what_was_not_measured_stays(self):
        told = promises()
        promise_pages.update(told, {"release/load_test": ["nothing of it"]}, "2026-02-03")
        self.assertEqual(told, promises())

    def test_numbers_have_three_digits_that_count_and_their_unit_apart(self):
        cases = {"20.583312ms": "20.6 ms", "16.5s": "16.5 s", "1234.6us": "1235 us", "0.0754": "0.0754", "12469": "12469", "-3": "-3",
                 "95.42%": "95.4 %", "1m3.2s": "1m3.2s"}
        self.assertEqual({number: promise_pages.rounded(number) for number in cases}, cases)

    def test_lines_of_promises_have_the_numbers_of_their_texts(self):
        for promise in json.loads((pathlib.Path(promise_pages.__file__).parent / "promises.json").read_text(encoding="utf-8")):
            if "figure" in promise:
                line = promise["figure"]["line"].format(*"7" * 9)
                self.assertIsNotNone(promise_pages.measured(promise["figure"], [f"FIGURE {line}"]), promise["id"])


if __name__ == "__main__":
    unittest.main()
