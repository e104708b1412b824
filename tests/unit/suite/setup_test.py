# SPDX-License-Identifier: Apache-2.0
"""The names of packages that set-up asks for: deploy/build/setup among programs that stand in for Debian's."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
# More than a pipe holds comes after the line that matters, as on a system with many versions of a package.
APT_CACHE = """#!/bin/sh
case $2 in
  {offered}) echo "  Candidate: 1.83"; head -c 300000 /dev/zero | tr '\\0' '\\n' ;;
  *) echo "  Candidate: (none)" ;;
esac
"""
APT_GET = """#!/bin/sh
[ "$1" = update ] && exit 0
echo "$@" >>"$ASKED"
exit 1
"""
SUDO = """#!/bin/sh
[ "$1" = -n ] && shift
exec "$@"
"""


class Setup(unittest.TestCase):
    def asked_where(self, offered: str) -> list[str]:
        """The packages that it asks apt-get for where `offered` is what the system has."""
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / "deploy/build").mkdir(parents=True)
            for name in ("setup", "versions.env", "packages.txt"):
                shutil.copy(SOURCE / "deploy/build" / name, tree / "deploy/build" / name)
            programs = tree / "programs"
            programs.mkdir()
            for name, text in (("dpkg-query", "#!/bin/sh\nexit 1\n"), ("apt-cache", APT_CACHE.format(offered=offered)),
                               ("apt-get", APT_GET), ("sudo", SUDO)):
                (programs / name).write_text(text)
                (programs / name).chmod(0o755)
            asked = tree / "asked"
            environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", ASKED=str(asked))
            ended = subprocess.run([tree / "deploy/build/setup"], env=environment, capture_output=True, text=True, timeout=60,
                                   check=False)
            self.assertNotEqual(ended.returncode, 0, "apt-get failed, and set-up went on")
            return asked.read_text().split("\n")[0].split()

    def test_takes_the_name_that_the_system_offers_and_no_other(self):
        packages = self.asked_where("libboost-dev")
        self.assertIn("libboost-dev", packages)
        self.assertNotIn("libboost1.81-dev", packages)

    def test_takes_the_first_name_where_it_is_offered(self):
        packages = self.asked_where("libboost1.81-dev")
        self.assertIn("libboost1.81-dev", packages)
        self.assertNotIn("libboost-dev", packages)


if __name__ == "__main__":
    unittest.main()
