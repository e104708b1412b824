#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host without /proc and without name resolution: reeld says what it needs, and renders with it."""

import os
import pathlib
import subprocess
import sys
import tempfile

from server import find_binary, run, running_server, skip

# Of its own mount namespace, so that nobody else notices.
BARE = """#!/bin/sh
exec unshare -m sh -c 'mount -t tmpfs none /proc && for file in hosts resolv.conf nsswitch.conf; do
  mount --bind /dev/null /etc/$file 2>/dev/null; done; exec "$0" "$@"' {reeld} "$@"
"""


def main():
    reeld, worker, reel = find_binary("reeld"), find_binary("reel-worker"), find_binary("reel")
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc"], capture_output=True, check=False).returncode:
        skip("no right to hide /proc in a mount namespace")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("reeld", BARE.format(reeld=reeld)), ("reel-worker", "#!/bin/sh\n")):
            path = pathlib.Path(folder, name)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        os.environ["REEL_BIN"] = folder
        try:
            with running_server():
                raise AssertionError("it started, although it cannot know where it lies")
        except AssertionError as error:
            assert "--worker_binary" in str(error), error
        with running_server("--worker_binary", worker, config='models { name: "testcard" test_card {} }\n') as server:
            video = pathlib.Path(folder, "video.mp4")
            run(reel, "--server", server.grpc, "generate", "a red circle", "--width", "64", "--height", "64", "--frames", "9", "-o", video)
            print(f"a video of {video.stat().st_size} bytes without /proc and without names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
