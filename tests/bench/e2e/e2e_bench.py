# SPDX-License-Identifier: Apache-2.0
"""diffusers in its best forms, Reel's pipeline and reeld on one machine in one run: every round gives each arm a turn.

Writes e2e.json after every round, e2e.md and e2e.svg at the end; a log for each arm beside them.
"""

import argparse
import json
import os
import pathlib
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import e2e_report
from arms import ArmFailed, Shared, make_arm
from card_watch import CardWatch, card_facts
from families import FAMILIES

SHAPE = ("width", "height", "num_frames", "steps")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=FAMILIES, default="ltx")
    parser.add_argument("--model", required=True, help="a diffusers folder: random_model.py of tests/bench/ltx, random_folder.py of ltx2")
    parser.add_argument("--random_weights", type=int, default=0, help="Reel makes them on the device from this seed; diffusers' LTX-2 always does")
    parser.add_argument("--reel_bin", type=pathlib.Path, default=pathlib.Path("build/cuda/bin"))
    parser.add_argument("--reel_libraries", type=pathlib.Path, help="LD_LIBRARY_PATH of Reel's programs, where they want one")
    parser.add_argument("--reel_python", type=pathlib.Path, help="folder of reel_kernels, as build/cuda/python")
    parser.add_argument("--arms", type=lambda text: text.split(","), help="by default all of the family")
    parser.add_argument("--minutes", type=float, default=8, help="all of it, preparation too; the round that runs is finished")
    parser.add_argument("--rounds", type=int, default=10, help="at most")
    parser.add_argument("--prepare_together", type=int, default=1, help="arms that are made ready at a time; autotune is last, alone")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--dtype", default="bf16", choices=["bf16", "fp16", "fp32"])
    for name in SHAPE:
        parser.add_argument(f"--{name}", type=int, help="by default the family's")
    parser.add_argument("--baseline", type=pathlib.Path, help="an e2e.json; Reel's arms more than 3 %% slower fail")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("e2e"))
    args = parser.parse_args()
    family = FAMILIES[args.family]
    for name in SHAPE:
        if getattr(args, name) is None:
            setattr(args, name, getattr(family, name))
    args.arms = args.arms or [*family.modes, *family.arms]
    args.reel_bin = args.reel_bin.resolve()
    return args


def without_folders(words):
    """Where things lie on this machine says nothing to a reader of the results."""
    return [":".join(pathlib.PurePath(part).name for part in word.split(":")) if "/" in word else word for word in words]


class Run:
    """The arms that are ready, and what they said so far."""

    def __init__(self, args):
        self.args, self.ready, self.end = args, {}, time.monotonic() + 60 * args.minutes
        self.shared = Shared()
        shape = {key: getattr(args, key) for key in (*SHAPE, "dtype")}
        index = int(args.device.partition(":")[2] or 0) if args.device.startswith("cuda") else None
        self.card = index or 0
        self.result = {"family": args.family, "began": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "command": without_folders(sys.argv[1:]), "shape": shape,
                       "device": args.device, "card": {} if index is None else card_facts(index),
                       "host": {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()},
                       "rounds": 0, "arms": {name: {"prepared": {}, "renders": []} for name in args.arms}}

    def left(self):
        return self.end - time.monotonic()

    def fail(self, name, failure):
        self.result["arms"][name]["error"] = str(failure)
        print(f"{name}: {failure}", file=sys.stderr, flush=True)
        arm = self.ready.pop(name, None)
        if arm:
            self.close(name, arm)

    def prepare(self, name):
        """Leaves a third of the time for the rounds."""
        try:
            arm = self.ready[name] = make_arm(name, self.args, self.shared)
            self.result["arms"][name]["prepared"] = arm.prepare(self.left() - 20 * self.args.minutes)
            print(f"{name} is ready after {self.result['arms'][name]['prepared']['prepare_s']} s", flush=True)
        except (ArmFailed, OSError) as failure:
            self.fail(name, failure)

    def prepare_all(self):
        tuned = [name for name in self.args.arms if name == "autotune"]
        with ThreadPoolExecutor(self.args.prepare_together) as pool:
            list(pool.map(self.prepare, [name for name in self.args.arms if name not in tuned]))
        for name in tuned:
            self.prepare(name)

    def round(self, number, watch):
        """Each arm once; every other round the other way about."""
        names = [name for name in self.args.arms if name in self.ready]
        for name in names if number % 2 == 0 else names[::-1]:
            began = time.monotonic()
            try:
                render = self.ready[name].render(max(self.left(), 0) + 30)
            except (ArmFailed, OSError) as failure:
                self.fail(name, failure)
                continue
            render["card"] = watch.between(began, time.monotonic())
            self.result["arms"][name]["renders"].append(render)
        self.result["rounds"] = number + 1

    def all_rounds(self):
        with CardWatch(self.card) as watch:
            longest = 0.0
            for number in range(self.args.rounds):
                began = time.monotonic()
                if not self.ready or (number > 0 and self.left() < longest):
                    break
                self.round(number, watch)
                longest = max(longest, time.monotonic() - began)
                self.write()

    def write(self):
        self.args.out.mkdir(parents=True, exist_ok=True)
        (self.args.out / "e2e.json").write_text(json.dumps(self.result, indent=1), encoding="utf-8")

    def close(self, name, arm):
        try:
            arm.close()
        except (AssertionError, OSError) as failure:
            self.result["arms"][name].setdefault("error", f"at its end: {failure}")


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    run = Run(args)
    try:
        run.prepare_all()
        run.all_rounds()
    finally:
        for name, arm in run.ready.items():
            run.close(name, arm)
        run.shared.close()
        run.write()
    baseline = json.loads(args.baseline.read_text(encoding="utf-8")) if args.baseline else None
    sys.exit(e2e_report.report(run.result, args.out, baseline))


if __name__ == "__main__":
    main()
