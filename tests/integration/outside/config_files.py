#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reeld accepts every file of deploy/config but those of pods (cluster_pods.py), and refuses a misspelt field and what is not there."""

import pathlib
import subprocess
import sys
import tempfile

from server import ROOT, find_binary

FOLDER = ROOT / "deploy/config"
# Their certificates and tokens exist only where they are deployed; the unit test of the configuration parses them.
WITH_SECRETS = {"production.textproto"}


def has_cuda(reeld):
    return (pathlib.Path(reeld).resolve().parent.parent / "lib/libreel_cuda.so").exists()


def check(reeld, path):
    return subprocess.run([reeld, "--config", path, "--check_config"], capture_output=True, text=True, timeout=20, check=False)


def main():
    reeld = find_binary("reeld")
    files = [path for path in sorted(FOLDER.glob("*.textproto")) if path.name not in WITH_SECRETS]
    for path in files:
        answer = check(reeld, path)
        assert answer.returncode == 0, f"{path.relative_to(ROOT)}: {answer.stdout}{answer.stderr}"
    with tempfile.TemporaryDirectory() as scratch:
        wrong = pathlib.Path(scratch, "wrong.textproto")
        wrong.write_text('lisen: "127.0.0.1:50051"\n', encoding="utf-8")
        answer = check(reeld, wrong)
        said = answer.stdout + answer.stderr
        assert answer.returncode == 1 and "lisen" in said and "listen" in said.replace("lisen", ""), said
        wrong.write_text(f'models {{ name: "m" path: "{scratch}/nowhere" }}\n', encoding="utf-8")
        answer = check(reeld, wrong)
        assert answer.returncode == 1 and "models[0].path" in answer.stderr, answer.stderr
        if not has_cuda(reeld):
            wrong.write_text('workers { device: "cuda:0" }\n', encoding="utf-8")
            answer = check(reeld, wrong)
            assert answer.returncode == 1 and "workers[0].device" in answer.stderr, answer.stderr
    print(f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
