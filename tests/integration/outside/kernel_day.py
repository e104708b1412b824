#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a kernel author's day (docs/kernel_day.md) works as it stands: its blocks run in one shell, and each line that it shows
is printed there, up to the first figure or colon in it.

    kernel_day.py [--show]     what each block prints, for the page

REEL_TEST_DEVICE=cuda:0 walks it on a GPU: a block for GPUs stands in the place of the one before it, the experiment has a tenth of ten times the
traffic, and of what the page shows only the first words count, since other variants and types run there. On a CPU the block for GPUs is compiled, where
nvcc is. REEL_BIN names the programs' folder, which may have come from another machine.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from server import ROOT, find_binary, skip

PAGE = ROOT / "docs/kernel_day.md"
DEVICE = os.environ.get("REEL_TEST_DEVICE", "cpu")
ON_A_GPU = (("reeld --config", f"reeld --devices {DEVICE} --config"), ("--device=cuda:0", f"--device={DEVICE}"), ("share: 1 ", "share: 0.1 "), ("--rate 2 ", "--rate 20 "))
PATIENCE_SECONDS = 360
MARK = "end of block"


def blocks():
    """(commands, lines that the page shows of them) of this device."""
    found = []
    for kind, text in re.findall(r"^```(sh|sh gpu|text)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        if kind == "sh":
            found.append((text, []))
        elif kind == "text":
            found[-1][1].extend(text.splitlines())
        elif DEVICE != "cpu":
            found[-1] = (text, [])
        else:
            compile_for_gpus(text)
    return found if DEVICE == "cpu" else [(on_a_gpu(text), shown) for text, shown in found]


def on_a_gpu(text):
    for there, here in ON_A_GPU:
        text = text.replace(there, here)
    return text


def compile_for_gpus(text):
    """The block up to its compiler's line."""
    nvcc = ROOT / ".deps/cuda/bin/nvcc"
    if not nvcc.is_file():
        return
    with tempfile.TemporaryDirectory(prefix="reel-day-") as folder:
        lines = text[:text.index("deploy/kernels/pack")]
        environment = os.environ | {"day": folder, "PATH": f"{nvcc.parent}:{os.environ['PATH']}"}
        subprocess.run(["bash", "-eu", "-c", lines], cwd=ROOT, env=environment, check=True, timeout=PATIENCE_SECONDS)
        assert b"reel_plugin_v1" in pathlib.Path(folder, "norm.so").read_bytes()


def beginning(line):
    """What does not depend on the machine; whether pictures differ in a bit does."""
    if DEVICE != "cpu":
        return re.split(r"[\s\d:{]", line)[0]
    return "pictures" if line.startswith("pictures") else " ".join(re.split(r"[\d:]", line)[0].split())


def not_printed(shown, printed):
    """Lines of the page that no line of the output begins like."""
    beginnings = [" ".join(line.split()) for line in printed]
    return [line for line in shown if line.strip() and not any(other.startswith(beginning(line)) for other in beginnings)]


def script(commands):
    # A page that breaks off leaves no server behind.
    guard = "set -eu -o pipefail\ntrap '[ -z \"${reeld:-}\" ] || kill $reeld 2> /dev/null || true' EXIT\n"
    if shutil.which("curl") is None:  # as on a machine that has GPUs and little else
        guard += "curl() { python3 -c 'import sys, urllib.request as r; print(r.urlopen(sys.argv[-1]).read().decode())' \"$@\" 2> /dev/null; }\n"
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
    for there, _ in ON_A_GPU:
        assert there in PAGE.read_text(encoding="utf-8"), f"the page has no {there} any more"


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
    print(f"FIGURE: from an empty file to the verdict on {DEVICE}: {time.monotonic() - begin:.0f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
