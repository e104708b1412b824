# SPDX-License-Identifier: Apache-2.0
"""One arm of diffusers in a process of its own: a line of JSON in, a line of JSON out.

    {"do": "prepare"}    loads, changes and compiles, renders twice to be warm; says what it runs on
    {"do": "render"}     one request from embeddings to decoded frames: steps_ms, decode_ms, request_ms
"""

import argparse
import importlib
import json
import os
import pathlib
import sys
import time

from families import FAMILIES

BENCHES = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCHES / family.folder) for family in FAMILIES.values()]


def patch(pipe):
    import reel_kernels
    import torch

    pipe.vae.to(memory_format=torch.channels_last_3d)  # where the kernels of its norms run
    reports = [reel_kernels.patch_ltx(pipe.transformer), reel_kernels.patch_ltx_vae(pipe.vae)]
    return " ".join(str(report) for report in reports)


def replace_norms(pipe):
    import rmsnorm_triton

    return f"{rmsnorm_triton.replace_norms(pipe.transformer)} RMSNorms"


def compile_decoder(pipe):
    import torch

    pipe.vae.to(memory_format=torch.channels_last_3d)
    pipe.vae.decoder.compile()
    return "decoder compiled, weights channels-last"


def compile_transformer(pipe, **options):
    pipe.transformer.compile(fullgraph=True, **options)
    return f"transformer compiled {options}".strip()


def compile_blocks(pipe):
    pipe.transformer.compile_repeated_blocks()
    return "transformer compiled block by block"


def cudnn_attention(pipe):
    pipe.transformer.set_attention_backend("_native_cudnn")
    return "attention by cuDNN"


def quantize(pipe):
    import diffusers_runs
    import torch

    diffusers_runs.quantize_blocks(pipe.transformer)
    torch.cuda.empty_cache()  # other arms want the memory of the 16-bit weights
    return "torchao float8, row-wise, in the blocks' linear layers"


CHANGES = {
    "fp8": quantize, "patched": patch, "rmsnorm": replace_norms, "compile": compile_transformer, "decoder": compile_decoder,
    "compile_blocks": compile_blocks, "cudnn": cudnn_attention,
    # Without graphs: a pipeline reads its last output while the next one is made.
    "autotune": lambda pipe: compile_transformer(pipe, mode="max-autotune-no-cudagraphs"),
}


class Arm:
    def __init__(self, args):
        self.args, self.pipe, self.embeds = args, None, None
        self.family = FAMILIES[args.family]
        self.runs = importlib.import_module(self.family.runs)

    def prepare(self):
        import diffusers
        import torch

        began = time.perf_counter()
        self.pipe = self.runs.load_pipeline(self.args)
        changes = [CHANGES[change](self.pipe) for change in self.family.modes[self.args.mode]]
        self.embeds = self.runs.random_embeds(self.pipe, self.args)
        for _ in range(2):
            self.render()
        versions = {"torch": torch.__version__, "diffusers": diffusers.__version__, "cuda": torch.version.cuda,
                    "cudnn": torch.backends.cudnn.version()}
        return {"prepare_s": round(time.perf_counter() - began, 1), "versions": versions, "changes": changes,
                "attention": self.attention()}

    def attention(self):
        """Which of torch's kernels a small call of the same head takes, by the profiler's names."""
        import torch

        if not self.args.device.startswith("cuda"):
            return ["cpu"]
        heads, width = self.pipe.transformer.config.num_attention_heads, self.pipe.transformer.config.attention_head_dim
        tokens = ((self.args.num_frames - 1) // 8 + 1) * (self.args.height // 32) * (self.args.width // 32)
        backend = torch.nn.attention.SDPBackend
        chosen = [backend.CUDNN_ATTENTION] if "cudnn" in self.family.modes[self.args.mode] else list(backend.__members__.values())
        q = torch.randn(2, heads, tokens, width, device=self.args.device, dtype=getattr(torch, self.args.dtype))
        cuda = [torch.profiler.ProfilerActivity.CUDA]
        with torch.nn.attention.sdpa_kernel(chosen), torch.profiler.profile(activities=cuda) as seen:
            torch.nn.functional.scaled_dot_product_attention(q, q, q)
            torch.cuda.synchronize()
        on_device = torch.autograd.DeviceType.CUDA
        return sorted({event.key[:120] for event in seen.key_averages() if event.device_type == on_device})

    def render(self):
        import torch

        with torch.no_grad():
            began = time.perf_counter()
            run = self.runs.run_once(self.pipe, self.embeds, self.args)
            request = (time.perf_counter() - began) * 1e3
        answer = {"steps_ms": run["steps"], "decode_ms": run["decode"], "request_ms": request}
        if self.args.device.startswith("cuda"):
            answer |= {"used_bytes": torch.cuda.max_memory_allocated(), "held_bytes": torch.cuda.max_memory_reserved()}
        return answer


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=FAMILIES, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--dtype", required=True)
    for name in ("width", "height", "num-frames", "steps"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--guidance-scale", type=float, default=3)
    parser.add_argument("--mode", default="eager")
    return parser.parse_args()


def main():
    # Libraries print what they like to stdout; the answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    arm = Arm(arguments())
    does = {"prepare": arm.prepare, "render": arm.render}
    for line in sys.stdin:
        try:
            answer = does[json.loads(line)["do"]]()
        except Exception as failure:  # an arm that cannot run is a line of the result
            answer = {"error": f"{type(failure).__name__}: {failure}"[:2000]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
