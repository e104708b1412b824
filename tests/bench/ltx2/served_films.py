#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Films of LTX-2 through a real reeld, one after the other: where the time of each went, its peak memory, and the file.

A film is a JSON object: flags of `reel generate` without their dashes, as {"preset": "22b-2.3-distilled", "width": 768}, one that is given
several times with a list; `twice` renders it again with the next seed, for what only a first film of its shape pays; `promote` makes a draft and
then the rest of it, each with its bill; `then` goes on from the film and from what came of it, as [{"extend": {"frames": 72}},
{"retake": {"from": 1, "to": 2}}, {"refine": {}}]. Prints a JSON line for each.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration/outside"))
from server import find_binary, running_server  # noqa: E402

CONFIG = """
models {{ name: "ltx2" path: "{model}" dtype: "{dtype}" random_weights {{ seed: 1 }} adapter_ranks: {ranks} weights_form: "{form}" }}
workers {{ name: "card" device: "{device}" memory_bytes: {memory} }}
data {{ max_bytes: 4000000000 }}
"""
PROMPT = "rain on a tin roof, a cat listens. its tail beats time against the gutter, far away thunder rolls over the hills"


def config_of(args):
    text = CONFIG.format(model=args.model.resolve(), device=args.device, dtype=args.dtype, memory=args.memory, ranks=args.adapter_ranks,
                         form=args.weights_form)
    for file in args.adapter:
        text += f'adapters {{ name: "{file.stem}" file: "{file.name}" }}\n'
    return text + (f'adapter_root: "{args.adapter[0].resolve().parent}"\n' if args.adapter else "")


def reel(server, *arguments, seconds=600):
    command = [find_binary("reel"), "--server", server.grpc, "--json", "--quiet", *arguments]
    answer = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds, check=False)
    return answer.returncode, answer.stdout, answer.stderr


def wait_for_model(server, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        code, said, _ = reel(server, "models")
        models = json.loads(said).get("models", []) if code == 0 else []
        if models and models[0].get("ready"):
            return models[0]
        if server.process.poll() is not None:
            break
        time.sleep(0.5)
    raise SystemExit("the model is not ready within the time:\n" + server.log.read_text()[-4000:])


def card():
    if shutil.which("nvidia-smi") is None:
        return None
    text = subprocess.run(["nvidia-smi", "--query-gpu=name,memory.used,clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader"],
                          capture_output=True, text=True, check=False)
    return text.stdout.strip()


def flags_of(wanted):
    flags = []
    for name, value in wanted.items():
        for each in value if isinstance(value, list) else [value]:
            flags += [f"--{name}"] if each is True else [f"--{name}", str(each)]
    return flags


def film(server, wanted, seed, out):
    return rendered(server, {"film": wanted, "seed": seed}, out, "generate", PROMPT, *flags_of(wanted), "--seed", seed)


def gone_on(server, whole, then, out):
    """Each from the one before; a state is kept by all but refined ones, which are made of a file."""
    video, last = whole.get("video", ""), out
    for number, step in enumerate(then):
        (command, wanted), = step.items()
        place = out.with_stem(f"{out.stem}-{number}")
        source, kept = (last, []) if command == "refine" else (video, ["--keep-state"])
        made = rendered(server, {command: wanted, "of": video}, place, command, source, PROMPT, *flags_of(wanted), *kept)
        print(json.dumps(made), flush=True)
        video, last = made.get("video", video), place


def rendered(server, what, out, *command):
    begun = time.monotonic()
    code, said, told = reel(server, *command, "--output", out)
    took = round(time.monotonic() - begun, 3)
    if code:
        return {**what, "exit": code, "error": (said + told)[-1500:], "took_s": took}
    video = json.loads(said)["video"]
    return {**what, "took_s": took, "bytes": os.path.getsize(out), "stats": video.get("stats"), "media": video.get("media"), "card": card(),
            "video": video.get("name")}


def promoted(server, wanted, seed, out):
    draft = film(server, {**wanted, "draft": True}, seed, out)
    print(json.dumps(draft), flush=True)
    return rendered(server, {"film": wanted, "seed": seed, "promoted": True}, out, "promote", draft.get("video", ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("films", nargs="+", type=json.loads)
    parser.add_argument("--model", required=True, type=pathlib.Path, help="a folder of random_folder.py")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--memory", type=int, default=0, help="bytes of the device that it may use")
    parser.add_argument("--weights-form", default="", help="e4m3: blocks' weights in 8 bits alone")
    parser.add_argument("--adapter", type=pathlib.Path, action="append", default=[], help="a file of random_adapter.py; all lie in one folder")
    parser.add_argument("--adapter-ranks", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="where the files go")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with running_server(config=config_of(args)) as server:
        model = wait_for_model(server, 300)
        print(json.dumps({"ready_s": round(time.monotonic() - begun, 1), "family": model.get("family"), "card": card()}), flush=True)
        for number, wanted in enumerate(args.films):
            out = args.out / f"film-{number}.mp4"
            times = 2 if wanted.pop("twice", False) else 1
            make = promoted if wanted.pop("promote", False) else film
            then = wanted.pop("then", [])
            if then:
                wanted["keep-state"] = True
            for seed in range(1, times + 1):
                whole = make(server, wanted, seed, out)
                print(json.dumps(whole), flush=True)
            gone_on(server, whole, then, out)
        log = server.log.read_text()
        print(json.dumps({"log": [line for line in log.splitlines() if '"level":"warn' in line or '"level":"error' in line][-10:]}), flush=True)


if __name__ == "__main__":
    main()
