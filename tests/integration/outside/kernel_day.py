#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a kernel author's day (docs/kernel_day.md) works as it stands: its blocks run in one shell, and each line that it shows
is printed there, up to the first figure or colon in it.

    kernel_day.py [--show]     what each block prints, for the page
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from server import ROOT, find_binary, skip

PAGE = ROOT / "docs/kernel_day.md"
PATIENCE_SECONDS = 360
MARK = "end of block"


def blocks():
    """(commands, lines that the page shows of them)"""
    found = []
    for kind, text in re.findall(r"^```(sh|text)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        if kind == "sh":
            found.append((text, []))
        else:
            found[-1][1].extend(text.splitlines())
    return found


def beginning(line):
    """What does not depend on the machine; whether pictures differ in a bit does."""
    return "pictures" if line.startswith("pictures") else " ".join(re.split(r"[\d:]", line)[0].split())


def not_printed(shown, printed):
    """Lines of the page that no line of the output begins like."""
    beginnings = [" ".join(line.split()) for line in printed]
    return [line for line in shown if line.strip() and not any(other.startswith(beginning(line)) for other in beginnings)]


def script(commands):
    # A page that breaks off leaves no server behind.
    guard = "set -eu -o pipefail\ntrap '[ -z \"${reeld:-}\" ] || kill $reeld 2> /dev/null || true' EXIT\n"
    return guard + "".join(f"{text}\necho '{MARK}'\n" for text in commands)


def run_page(commands):
    """What each block printed."""
    with tempfile.TemporaryDirectory(prefix="reel-day-") as name:
        folder = pathlib.Path(name)
        for entry in ROOT.iterdir():
            if entry.name not in ("build", ".git"):
                (folder / entry.name).symlink_to(entry)
        (folder / "build/release").mkdir(parents=True)
        (folder / "build/release/bin").symlink_to(find_binary("reel").parent.resolve())
        environment = {key: value for key, value in os.environ.items() if not key.startswith("REEL_")} | {"HOME": name}
        answer = subprocess.run(["bash", "-c", script(commands)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_SECONDS, check=False)
        log = folder / "reel-day/log"
        assert answer.returncode == 0, (f"the page ended with {answer.returncode}:\n{answer.stdout[-3000:]}\n"
                                        f"{log.read_text()[-2000:] if log.exists() else ''}")
    return [part.strip("\n").splitlines() for part in answer.stdout.split(MARK + "\n")]


def check_the_check():
    assert not not_printed(["step 3 ms", "verdict: none", "", "pictures identical"], ["step  17 ms", "verdict: B is slower", "pictures PSNR"])
    assert not_printed(["verdict: none"], ["step 17 ms"]) == ["verdict: none"]


def main():
    for program in ("reel", "reeld", "reel-worker", "reel-frames"):
        find_binary(program)
    if not (ROOT / "model/demo/weights").is_dir():
        skip("ltx-demo is not there")
    check_the_check()
    page, begin = blocks(), time.monotonic()
    printed = run_page([text for text, _ in page])
    problems = []
    for (_, shown), lines in zip(page, printed):
        if "--show" in sys.argv:
            print("\n".join(lines), "\n--")
        problems += [f"the page shows what was not printed: {line}\nbut:\n" + "\n".join(lines) for line in not_printed(shown, lines)]
    assert sum(len(shown) for _, shown in page) > 10, "the page shows hardly anything"
    print("\n".join(problems))
    print(f"FIGURE: from an empty file to the verdict: {time.monotonic() - begin:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
