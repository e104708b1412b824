# SPDX-License-Identifier: Apache-2.0
"""Schedules of the pipelines of LTX-Video and LTX-2 for many settings, as diffusers makes them."""
import json
import pathlib

FOLDER = pathlib.Path(__file__).parent / "schedules"

DYNAMIC = {"num_train_timesteps": 1000, "shift": 1.0, "use_dynamic_shifting": True,
           "base_shift": 0.95, "max_shift": 2.05, "base_image_seq_len": 1024,
           "max_image_seq_len": 4096, "shift_terminal": 0.1}
CONFIGS = {"dynamic": DYNAMIC,
           "dynamic_linear": {**DYNAMIC, "time_shift_type": "linear", "shift_terminal": None},
           "static": {"use_dynamic_shifting": False},
           "shift3": {"use_dynamic_shifting": False, "shift": 3.0},
           "shift3_terminal": {"use_dynamic_shifting": False, "shift": 3.0, "shift_terminal": 0.1}}
STEPS = [1, 2, 3, 4, 5, 7, 8, 10, 20, 30, 40, 50, 99]
TOKENS = [18, 2688, 6930, 13376]
GIVEN = [[1000, 993, 987, 981, 975, 909, 725, 0.03], [1000, 909, 725, 421, 0], [500.5]]


def generate():
    import numpy as np
    from diffusers import FlowMatchEulerDiscreteScheduler
    from diffusers.pipelines.ltx.pipeline_ltx import calculate_shift
    from diffusers.pipelines.ltx.pipeline_ltx_condition import linear_quadratic_schedule
    FOLDER.mkdir(exist_ok=True)
    cases = []

    def add(name, kind, scheduler, **case):
        cases.append({"config": name, "kind": kind, **case,
                      "timesteps": [float(t) for t in scheduler.timesteps],
                      "sigmas": [float(s) for s in scheduler.sigmas]})

    for name, config in CONFIGS.items():
        scheduler = FlowMatchEulerDiscreteScheduler(**config)
        for steps in STEPS:
            for tokens in TOKENS if scheduler.config.use_dynamic_shifting else [2688]:
                mu = calculate_shift(tokens, scheduler.config.base_image_seq_len,
                                     scheduler.config.max_image_seq_len,
                                     scheduler.config.base_shift, scheduler.config.max_shift)
                scheduler.set_timesteps(sigmas=np.linspace(1.0, 1 / steps, steps), mu=mu)
                if np.isfinite(scheduler.sigmas.numpy()).all():
                    add(name, "spaced", scheduler, steps=steps, tokens=tokens)
            if not scheduler.config.use_dynamic_shifting:
                scheduler.set_timesteps(timesteps=linear_quadratic_schedule(steps) * 1000)
                if np.isfinite(scheduler.sigmas.numpy()).all():
                    add(name, "linear_quadratic", scheduler, steps=steps)
        if not scheduler.config.use_dynamic_shifting:
            for given in GIVEN:
                scheduler.set_timesteps(timesteps=given)
                add(name, "given", scheduler, given=given)
                scheduler.set_timesteps(sigmas=np.array(given, np.float32) / np.float32(1000))
                add(name, "given_sigmas", scheduler, given=given)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (FOLDER / "schedules.json").write_text('{"cases":[\n' + lines + "\n]}\n")
    for name, config in CONFIGS.items():
        folder = FOLDER / name
        folder.mkdir(exist_ok=True)
        (folder / "scheduler_config.json").write_text(json.dumps(config) + "\n")
    print("schedules:", len(cases))
