# SPDX-License-Identifier: Apache-2.0
"""The commands of kernels/plugins/example/README.md, as they are typed: each block must succeed."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[4]
README = TREE / "kernels/plugins/example/README.md"
EXPECTED = ("rms_norm=mine: fp32", "gate_residual=mine.plain: fp32", "rms_norm=boxed: fp32, bf16, fp16",
            "gated_activation=boxed", "activation=boxed")


def main():
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if len(blocks) < 2:
        sys.exit("FAILED: the README has lost its commands")
    with tempfile.TemporaryDirectory() as home:
        command = ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)]
        done = subprocess.run(command, cwd=TREE, env=dict(os.environ, HOME=home), capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    missing = [row for row in EXPECTED if row not in done.stdout]
    if done.returncode != 0 or missing:
        sys.exit(f"FAILED: status {done.returncode}, missing {missing}")


if __name__ == "__main__":
    main()
