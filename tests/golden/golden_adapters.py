# SPDX-License-Identifier: Apache-2.0
"""Adapters of the tiny transformers as diffusers saves them, and the velocities that diffusers computes with one and with both."""
import pathlib

import golden_ltx2
import golden_ltx2_stages
import golden_models
import golden_stages

FOLDER = pathlib.Path(__file__).parent / "adapters"
SCALES = {"style": 0.7, "turn": -1.5}


def products(module, rank, seed, wanted):
    """PEFT's tensors for the linear layers whose name `wanted` accepts."""
    import torch
    generator = torch.Generator().manual_seed(seed)
    state = {}
    for name, layer in sorted(module.named_modules(), key=lambda item: item[0].encode()):
        if not isinstance(layer, torch.nn.Linear) or not wanted(name):
            continue
        state[f"{name}.lora_A.weight"] = torch.randn(rank, layer.in_features, generator=generator) / layer.in_features ** 0.5
        state[f"{name}.lora_B.weight"] = torch.randn(layer.out_features, rank, generator=generator) * 0.1
    return state


def save(pipeline, module, folder):
    """`style` is for every layer and has its alpha in the metadata, `turn` is for the self attentions and has none."""
    kinds = {"style": (2, 71, lambda name: True, 3), "turn": (3, 72, lambda name: ".attn1." in name, None)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, (rank, seed, wanted, alpha) in kinds.items():
        tensors = products(module, rank, seed, wanted)
        layers = sorted({key.split(".lora_")[0] for key in tensors})
        metadata = None if alpha is None else {"r": rank, "lora_alpha": alpha, "target_modules": layers}
        pipeline.save_lora_weights(folder, transformer_lora_layers=tensors, weight_name=f"{name}.safetensors",
                                   transformer_lora_adapter_metadata=metadata)


def load(pipeline, module, folder):
    for name in SCALES:
        state, metadata = pipeline.lora_state_dict(folder, weight_name=f"{name}.safetensors", return_lora_metadata=True)
        pipeline.load_lora_into_transformer(state, module, adapter_name=name, metadata=metadata)
        adapted = [layer for layer in module.modules() if name in getattr(layer, "lora_A", {})]
        assert len(adapted) == len(state) / 2, name


def run(module, call):
    """name of the set of adapters -> what `call` makes with them in fp32, and with `.bf16` behind the name in bf16."""
    import torch
    out = {}
    for ending, dtype in (("", torch.float32), (".bf16", torch.bfloat16)):
        module.to(dtype)
        for name, adapters in (("style", ["style"]), ("both", ["style", "turn"])):
            module.set_adapters(adapters, [SCALES[adapter] for adapter in adapters])
            out[name + ending] = call(dtype)
    return out


def ltx():
    import torch
    from diffusers import LTXPipeline
    module = golden_models.build("0.9.0")[0]["transformer"]
    save(LTXPipeline, module, FOLDER / "ltx")
    load(LTXPipeline, module, FOLDER / "ltx")
    x, caption = golden_stages.draw(21, 2, 30, 8), golden_stages.draw(22, 2, 6, 32)
    mask = torch.tensor([[1, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0]])
    scale = (8 / golden_stages.FRAME_RATE, 32, 32)
    return run(module, lambda dtype: module(x.to(dtype), caption.to(dtype), torch.tensor([725.0, 31.0]), mask, num_frames=2, height=3,
                                            width=5, rope_interpolation_scale=scale, return_dict=False)[0].float())


def ltx2():
    import torch
    from diffusers import LTX2Pipeline
    module = golden_ltx2.transformer("2.3")
    golden_ltx2.fill(module, golden_ltx2.SEEDS["transformer"])
    save(LTX2Pipeline, module, FOLDER / "ltx2")
    load(LTX2Pipeline, module, FOLDER / "ltx2")
    stages, config, draw = golden_ltx2_stages, module.config, golden_ltx2_stages.draw
    video, audio = draw(21, 2, stages.FRAMES * stages.HEIGHT * stages.WIDTH, 8), draw(22, 2, stages.SPECTRA, 8)
    texts = draw(23, 2, stages.TEXT_TOKENS, config.cross_attention_dim), draw(24, 2, stages.TEXT_TOKENS, config.audio_cross_attention_dim)
    told = stages.cases(module)["scalar"]
    made = run(module, lambda dtype: module(video.to(dtype), audio.to(dtype), *(text.to(dtype) for text in texts), num_frames=stages.FRAMES,
                                            height=stages.HEIGHT, width=stages.WIDTH, fps=stages.FRAME_RATE,
                                            audio_num_frames=stages.SPECTRA, return_dict=False, **told))
    out = {}
    for name, both in made.items():
        adapters, _, dtype = name.partition(".")
        for stream, value in zip(("video", "audio"), both):
            out[f"{adapters}.{stream}" + ("." + dtype if dtype else "")] = value.float()
    out.update({f"scalar.{key}": value.float() for key, value in told.items()})
    return out


def generate():
    import torch
    from safetensors.torch import save_file
    torch.set_grad_enabled(False)
    for name, make in (("ltx", ltx), ("ltx2", ltx2)):
        tensors = make()
        save_file({key: value.contiguous().clone() for key, value in tensors.items()}, FOLDER / name / "golden.safetensors")
        print("adapters", name, len(tensors), "tensors")


if __name__ == "__main__":
    generate()
