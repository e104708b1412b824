# SPDX-License-Identifier: Apache-2.0
"""Names and shapes of the released connectors and transformers of LTX-2, without weights: of the first block of each kind; and how many
parameters all blocks have."""
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).parent / "ltx2" / "layouts"
NEWER = {"rope_type": "split", "gated_attn": True, "audio_gated_attn": True, "cross_attn_mod": True, "audio_cross_attn_mod": True,
         "perturbed_attn": True, "use_prompt_embeddings": False}
TRANSFORMERS = {"2.0": {"rope_type": "split"}, "2.3": NEWER, "2.5": {**NEWER, "ff_bias": False, "use_keyframes_abs_pos_embedding": True}}
CONNECTORS = {"2.0": {"rope_type": "split"},
              "2.3": {"rope_type": "split", "video_connector_num_attention_heads": 32, "audio_connector_num_attention_heads": 32,
                      "audio_connector_attention_head_dim": 64, "video_connector_num_layers": 8, "audio_connector_num_layers": 8,
                      "video_gated_attn": True, "audio_gated_attn": True, "per_modality_projections": True, "proj_bias": True}}


def generate():
    import torch
    from diffusers import LTX2VideoTransformer3DModel
    from diffusers.pipelines.ltx2.connectors import LTX2TextConnectors
    FOLDER.mkdir(parents=True, exist_ok=True)
    for part, kind, configs in (("transformer", LTX2VideoTransformer3DModel, TRANSFORMERS), ("connectors", LTX2TextConnectors, CONNECTORS)):
        for name, config in configs.items():
            with torch.device("meta"):
                state = kind.from_config(config).state_dict()
            layout = {"config": config, "parameters": sum(value.numel() for value in state.values()),
                      "shapes": {key: list(value.shape) for key, value in state.items() if not re.search(r"transformer_blocks\.[1-9]", key)}}
            (FOLDER / f"{part}-{name}.json").write_text(json.dumps(layout, separators=(",", ":")) + "\n")
            print("ltx2", part, name, len(state), "tensors,", layout["parameters"], "parameters")
