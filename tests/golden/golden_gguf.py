# SPDX-License-Identifier: Apache-2.0
"""Blocks of every type of GGUF that Reel reads with the values that the package gguf gives them, and a small file of its
writer. Codes are random bytes; scales are finite: usual ones, zeros of both signs, subnormal ones, the greatest."""
import pathlib

FOLDER = pathlib.Path(__file__).parent / "gguf"
SEED = 20261129

# Type -> where a block has its scales in f16.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}
EDGES = [0.0, -0.0, 6e-8, -5e-5, 65504.0]
BLOCKS = {32: 24, 256: 10}  # of a type, by the elements of a block


def scales(random, count):
    import numpy as np
    usual = random.uniform(2e-5, 1e-2, count) * random.choice([-1, 1], count)
    usual[:len(EDGES)] = EDGES
    return usual.astype(np.float16)


def blocks_of(random, name):
    import gguf
    import numpy as np
    elements, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    count = BLOCKS[elements]
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    for place in SCALES[name]:
        blocks[:, place:place + 2] = scales(random, count).view(np.uint8).reshape(count, 2)
    return blocks


def generate():
    import gguf
    import numpy as np
    from safetensors.numpy import save_file
    FOLDER.mkdir(exist_ok=True)
    random = np.random.default_rng(SEED)
    tensors = {}
    for name in SCALES:
        blocks = blocks_of(random, name)
        values = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name])
        assert values.dtype == np.float32 and np.isfinite(values).all(), name
        tensors[f"{name}.blocks"] = blocks
        tensors[f"{name}.values"] = values.reshape(-1)
    save_file(tensors, FOLDER / "blocks.safetensors")

    writer = gguf.GGUFWriter(FOLDER / "small.gguf", "ltxv")
    writer.add_string("general.name", "small")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_array("comfy.gguf.orig_shape.conv.weight", [4, 2, 1, 2, 2])
    writer.add_tensor("plain", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("half", np.arange(4, dtype=np.float16))
    row = tensors["Q4_K.blocks"][:2].reshape(2, -1)
    writer.add_tensor("coded", row, raw_dtype=gguf.GGMLQuantizationType.Q4_K)
    writer.add_tensor("conv.weight", tensors["Q8_0.blocks"][:1], raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print("gguf:", len(SCALES), "types")


if __name__ == "__main__":
    generate()
