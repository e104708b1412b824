#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""buf over proto/.

  proto_checks.py lint       STANDARD and COMMENTS on reel/
  proto_checks.py breaking   FILE against proto/image.binpb, the descriptors of the last release
  proto_checks.py renew      writes proto/image.binpb; done at a release, in a commit of its own

Each check first proves on a damaged copy that it can fail. Exit status 77 without buf. No network is used.
"""

import os
import pathlib
import shutil
import sys
import tempfile

from tools import ROOT, find_tool, run

PROTO = ROOT / "proto"
IMAGE = PROTO / "image.binpb"

# A file, a line of it, and what to put in its place so that the check must fail.
DAMAGE = {
    "lint": ("reel/v1/video_service.proto", "  // One video as it stands.\n", ""),
    "breaking": ("reel/v1/video.proto", "string prompt = 2;", "string prompt = 99;"),
}


def run_check(buf, folder, check, scratch):
    against = ["--against", IMAGE] if check == "breaking" else []
    return run(buf, check, folder, *against, env=dict(os.environ, BUF_CACHE_DIR=scratch))


def fails_on_damage(buf, check, scratch):
    copy = pathlib.Path(scratch) / "proto"
    shutil.copytree(PROTO, copy)
    name, line, instead = DAMAGE[check]
    text = (copy / name).read_text(encoding="utf-8")
    if line not in text:
        return f"{name} no longer holds {line.strip()!r}: choose another line in DAMAGE"
    (copy / name).write_text(text.replace(line, instead, 1), encoding="utf-8")
    return None if run_check(buf, copy, check, scratch).returncode else f"the check passes a damaged {name}"


def main():
    action = sys.argv[1] if len(sys.argv) == 2 else ""
    if action not in ("lint", "breaking", "renew"):
        print(__doc__, file=sys.stderr)
        return 2
    buf = find_tool("buf")
    if action == "renew":
        return run(buf, "build", PROTO, "--exclude-source-info", "-o", IMAGE).returncode
    with tempfile.TemporaryDirectory() as scratch:
        if broken := fails_on_damage(buf, action, scratch):
            print(f"tests/lint/proto_checks.py:1: self-test: {broken}")
            return 1
        answer = run_check(buf, PROTO, action, scratch)
    print(answer.stdout + answer.stderr + f"buf {action}: exit {answer.returncode}")
    return 1 if answer.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
