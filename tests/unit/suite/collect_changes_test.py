# SPDX-License-Identifier: Apache-2.0
"""changes/collect puts each entry under its group's heading in the newest version, and nothing else moves."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

COLLECT = pathlib.Path(__file__).resolve().parents[3] / "changes/collect"
LOG = "# Changelog\n\n## [0.2.0] - Unreleased\n\n### Fleet\n\n- An old entry.\n\n## [0.1.0] - 2026-11-20\n\n### Fixed\n\n- A first fix.\n"


class CollectChangesTest(unittest.TestCase):
    def collect(self, files):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "changes").mkdir()
            (root / "CHANGELOG.md").write_text(LOG, encoding="utf-8")
            for file, text in files.items():
                (root / "changes" / file).write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, COLLECT, root], capture_output=True, text=True, check=False)
            return done, (root / "CHANGELOG.md").read_text(encoding="utf-8"), sorted(path.name for path in (root / "changes").iterdir())

    def test_entries_go_under_their_headings_and_files_go(self):
        done, log, left = self.collect({"README.md": "how", "fixed-a.md": "- A fix\n  in two lines.\n", "fleet-b.md": "A node.\n"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(log, LOG.replace("- An old entry.\n", "- An old entry.\n- A node.\n\n### Fixed\n\n- A fix in two lines.\n"))
        self.assertEqual(left, ["README.md"])

    def test_a_name_without_a_group_changes_nothing(self):
        done, log, left = self.collect({"other-a.md": "A word.\n"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("other-a.md", done.stderr)
        self.assertEqual((log, left), (LOG, ["other-a.md"]))


if __name__ == "__main__":
    unittest.main()
