# SPDX-License-Identifier: Apache-2.0
"""The arms that take turns: of diffusers, of Reel's pipeline and of a real reeld, each with prepare() and render()."""

import contextlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

from families import FAMILIES

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "server"), str(HERE.parents[1] / "integration/outside")]


class ArmFailed(Exception):
    """What an arm answered instead of figures."""


class Child:
    """A process that answers one line with one line. Idle between: it waits for its stdin."""

    def __init__(self, command, log, environment):
        with open(log, "ab") as errors:
            self._process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=errors, text=True, env=os.environ | environment)
        self._log, self._lines, self._turn = log, queue.Queue(), threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def ask(self, question, limit):
        with self._turn:
            return self._ask(question, limit)

    def _ask(self, question, limit):
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=max(limit, 0.001))
        except queue.Empty:
            self.close()  # a late answer would be taken for that of the next question
            raise ArmFailed(f"no answer within {limit:.0f} s") from None
        except OSError:
            line = None
        if line is None:
            raise ArmFailed(f"ended with {self._process.wait()}: {self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ArmFailed(answer["error"])
        return answer

    def _last_words(self):
        return pathlib.Path(self._log).read_text(encoding="utf-8", errors="replace")[-1500:]

    def close(self):
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def reel_environment(args):
    """For what is Reel's alone: another libtorch must not come between Python and its own."""
    if not args.reel_libraries:
        return {}
    return {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, [str(args.reel_libraries), os.environ.get("LD_LIBRARY_PATH", "")]))}


def request_flags(args):
    return ["--model", args.model, "--device", args.device, "--width", args.width, "--height", args.height,
            "--num-frames", args.num_frames, "--steps", args.steps]


class DiffusersArm:
    def __init__(self, name, args):
        path = os.pathsep.join(filter(None, [str(args.reel_python or ""), os.environ.get("PYTHONPATH", "")]))
        dtype = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}[args.dtype]
        self._child = Child([sys.executable, HERE / "diffusers_arm.py", "--family", args.family, *request_flags(args), "--dtype", dtype,
                             "--mode", name],
                            args.out / f"{name}.log",
                            {"PYTHONPATH": path} | (reel_environment(args) if name.startswith("patched") else {}))

    def prepare(self, limit):
        return self._child.ask({"do": "prepare"}, limit)

    def render(self, limit):
        return self._child.ask({"do": "render"}, limit)

    def close(self):
        self._child.close()


class Shared:
    """What several arms are asked through: the model lies on the card once for all of them."""

    def __init__(self):
        self._lock, self._made, self._open = threading.Lock(), {}, contextlib.ExitStack()

    def get(self, name, make):
        """`make` gets the stack of what is closed at the end."""
        with self._lock:
            if name not in self._made:
                self._made[name] = make(self._open)
            return self._made[name]

    def close(self):
        self._open.close()


class ReelArm:
    """ltx_bench, one for all profiles: the pipeline without a server; text and its encoder are in the request's time."""

    def __init__(self, name, args, shared):
        def start(opened):
            weights = ["--random-weights", args.random_weights] if args.random_weights else []
            child = Child([args.reel_bin / "ltx_bench", *request_flags(args), *weights, "--dtype", args.dtype, "--questions"],
                          args.out / "reel.log", reel_environment(args))
            opened.callback(child.close)
            return child

        self._profile = name.partition(":")[2]
        self._child = shared.get("reel", start)

    def prepare(self, limit):
        began = time.monotonic()
        for _ in range(2):
            warm = self.render(limit - (time.monotonic() - began))
        return {"prepare_s": round(time.monotonic() - began, 1), "calls": warm["calls"]}

    def render(self, limit):
        return self._child.ask({"profile": self._profile}, limit)

    def close(self):
        """Others may be asking."""


def config_of(args):
    weights = f"random_weights {{ seed: {args.random_weights} }}" if args.random_weights else ""
    return (f'models {{ name: "compared" path: "{pathlib.Path(args.model).resolve()}" dtype: "{args.dtype}" {weights} }}\n'
            f'workers {{ name: "card" device: "{args.device}" }}\n')


class ReeldArm:
    """A caller of a reeld, one for all profiles: to the last byte of the MP4. A step is the server's own figure."""

    def __init__(self, name, args, shared):
        os.environ["REEL_BIN"] = str(args.reel_bin)
        for program in ("reeld", "reel-worker"):
            if not (args.reel_bin / program).is_file():
                raise ArmFailed(f"there is no {program} in --reel_bin")
        self._args, self._shared, self._door = args, shared, None
        self._spec = {"prompt": "a red circle", "width": args.width, "height": args.height, "numFrames": args.num_frames,
                      "numInferenceSteps": args.steps, "kernels": {"profile": name.partition(":")[2]}}

    def prepare(self, limit):
        from door_client import Door
        from figures import ready_within
        from server import running_server

        def start(opened):
            server = opened.enter_context(running_server(
                "--http", "127.0.0.1:0", config=config_of(self._args), environment=reel_environment(self._args)))
            ready_within(server, limit)
            return server

        began = time.monotonic()
        try:
            self._door = Door(self._shared.get("reeld", start).http)
        except AssertionError as failure:
            raise ArmFailed(str(failure)) from failure
        for _ in range(2):
            self.render(limit)
        return {"prepare_s": round(time.monotonic() - began, 1)}

    def render(self, _limit):
        from door_client import parts_of, seconds

        heard = self._door.generate(self._spec)
        if not heard.ok:
            raise ArmFailed(heard.error)
        denoise = seconds(heard.video["stats"].get("denoise"))
        parts = {part: round(1e3 * took, 3) for part, took in parts_of(heard).items()}
        return {"steps_ms": [1e3 * denoise / self._args.steps], "request_ms": 1e3 * heard.ended,
                "first_media_ms": 1e3 * heard.first_media, "parts_ms": parts}

    def close(self):
        """Others may be asking."""


def make_arm(name, args, shared):
    modes = FAMILIES[args.family].modes
    if name in modes:
        return DiffusersArm(name, args)
    kind = {"reel": ReelArm, "reeld": ReeldArm}.get(name.partition(":")[0])
    if kind is None or ":" not in name:
        raise ArmFailed(f"no such arm; there are {', '.join(modes)}, reel:PROFILE and reeld:PROFILE")
    return kind(name, args, shared)
