#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AIPerf profiles video generation at the HTTP door and downloads what was made. It starts ten processes of its own and needs 1.2 GB of
packages, fetched by name into a folder of this run; only with REEL_TEST_AIPERF=1."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from server import run, running_server, skip, wait_until_serving

VERSION = "0.13.0"
REQUESTS = 6
# Every word is unknown to it: what prompts count here does not matter.
TOKENIZER = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
             "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
             "model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}}


def fetch(folder):
    for command in ([sys.executable, "-m", "venv", folder / "venv"],
                    [folder / "venv/bin/pip", "install", "--disable-pip-version-check", "-q", f"aiperf=={VERSION}"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            skip(f"aiperf {VERSION} cannot be fetched: {(done.stderr or done.stdout)[-300:]}")


def profile(server, folder):
    tokenizer = folder / "tokenizer"
    tokenizer.mkdir()
    (tokenizer / "tokenizer.json").write_text(json.dumps(TOKENIZER), encoding="utf-8")
    (tokenizer / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}', encoding="utf-8")
    prompts = folder / "prompts.jsonl"
    prompts.write_text("".join(json.dumps({"text": f"video {i}"}) + "\n" for i in range(REQUESTS)), encoding="utf-8")
    run(folder / "venv/bin/aiperf", "profile", "-m", "testcard", "--url", f"http://{server.http}", "--endpoint-type", "video_generation",
        "--download-video-content", "--request-count", REQUESTS, "--concurrency", 2, "--input-file", prompts, "--custom-dataset-type",
        "single_turn", "--extra-inputs", "size:64x64", "--extra-inputs", "num_frames:9", "--tokenizer", tokenizer, "--ui", "none",
        "--output-artifact-dir", folder / "figures", timeout=240)
    return json.loads((folder / "figures/profile_export_aiperf.json").read_text(encoding="utf-8"))


def main():
    if os.environ.get("REEL_TEST_AIPERF") != "1":
        skip("AIPerf's packages have 1.2 GB; set REEL_TEST_AIPERF=1 to fetch them")
    with tempfile.TemporaryDirectory(prefix="reel-aiperf-") as name, \
            running_server("--http", "127.0.0.1:0", config="models { name: 'testcard' test_card {} }") as server:
        folder = pathlib.Path(name)
        fetch(folder)
        wait_until_serving(server)
        figures = profile(server, folder)
    done, errors = figures["request_count"]["avg"], figures["error_summary"]
    assert done == REQUESTS and errors == [], figures
    print(f"FIGURE AIPerf {VERSION} video_generation: {done:.0f} of {REQUESTS} videos made and downloaded, {len(errors)} errors")


if __name__ == "__main__":
    sys.exit(main())
