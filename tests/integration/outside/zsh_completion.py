#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The words that a real zsh completes with `reel completion zsh`, asked at a terminal of its own."""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sys
import tempfile
import time

from server import find_binary, run, skip

PATIENCE = 30
# A key that completes what stands there, tells the line, and empties it.
RC = """
PS1= ; unset zle_bracketed_paste
autoload -Uz compinit && compinit -u -D
source {script}
tell() {{ zle complete-word; print -r -- "LINE<$BUFFER>"; BUFFER= }}
zle -N tell
bindkey '^T' tell
print READY
"""
CASES = [("reel gener", "reel generate "), ("reel --server x can", "reel --server x cancel "), ("reel help est", "reel help estimate "),
         ("reel generate a --last", "reel generate a --last-image "), ("reel generate a --priority lo", "reel generate a --priority low "),
         ("reel generate a -o clip-", "reel generate a -o clip-a.mp4 "), ("reel no_such_comm", "reel no_such_comm")]


def read_until(terminal, pattern):
    text, end = "", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        text += os.read(terminal, 65536).decode(errors="replace")
        if found := re.search(pattern, text):
            return found
    raise AssertionError(f"zsh did not say {pattern} within {PATIENCE} s: {text!r}")


def check(terminal):
    read_until(terminal, "READY")
    for typed, completed in CASES:
        os.write(terminal, (typed + "\x14").encode())
        line = read_until(terminal, r"LINE<(.*)>")[1]
        assert line == completed, f"{typed!r} became {line!r}, not {completed!r}"


def main():
    zsh = shutil.which("zsh") or skip("zsh is not installed; run deploy/build/setup --tests")
    reel = find_binary("reel")
    with tempfile.TemporaryDirectory(prefix="reel-zsh-") as name:
        folder = pathlib.Path(name)
        script = folder / "completion.zsh"
        script.write_text(run(reel, "completion", "zsh"), encoding="utf-8")
        (folder / ".zshrc").write_text(RC.format(script=script), encoding="utf-8")
        (folder / "clip-a.mp4").touch()
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(folder)
            os.execve(zsh, [zsh, "-d", "-i"], os.environ | {"ZDOTDIR": name, "HOME": name, "TERM": "dumb"})
        try:
            check(terminal)
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(terminal)
    print(f"zsh completes {len(CASES)} lines as it should")


if __name__ == "__main__":
    sys.exit(main())
