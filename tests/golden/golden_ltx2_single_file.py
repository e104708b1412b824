# SPDX-License-Identifier: Apache-2.0
"""Names and shapes of LTX-2 in one file, as Lightricks' own ltx-core 1.0.0 makes and reads them, and the configurations that say so: of the
first block of each kind, without weights.

Its licence is its own and it is not among requirements.txt: `pip install --no-deps ltx-core==1.0.0 einops torchaudio`, then this file alone.
"""
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).parent / "ltx2" / "single_file"
RES, ALL, SPACE, TIME = "res_x", "compress_all", "compress_space", "compress_time"


def encoder(layers, multipliers):
    steps = zip((SPACE, TIME, ALL, ALL), multipliers)
    blocks = [[RES, {"num_layers": layers[0]}]]
    for (kind, multiplier), count in zip(steps, layers[1:]):
        blocks += [[kind + "_res", {"multiplier": multiplier}], [RES, {"num_layers": count}]]
    return blocks


def decoder(layers, ups):
    """From the pictures to the latent."""
    blocks = [[RES, {"num_layers": layers[0]}]]
    for (kind, values), count in zip(ups, layers[1:]):
        blocks += [[kind, values], [RES, {"num_layers": count}]]
    return blocks


COMMON = {"rope_type": "split", "frequencies_precision": "float64", "av_ca_timestep_scale_multiplier": 1000, "attention_bias": True,
          "connector_positional_embedding_max_pos": [4096], "positional_embedding_max_pos": [20, 2048, 2048],
          "audio_positional_embedding_max_pos": [20], "cross_attention_norm": True, "standardization_norm": "rms_norm", "qk_norm": "rms_norm",
          "positional_embedding_type": "rope", "use_audio_video_cross_attention": True, "av_cross_ada_norm": True, "use_middle_indices_grid": True,
          "activation_fn": "gelu-approximate", "num_embeds_ada_norm": 1000, "caption_channels": 3840, "num_attention_heads": 32, "dropout": 0.0, "num_vector_embeds": None,
          "use_linear_projection": False, "only_cross_attention": False, "double_self_attention": False, "upcast_attention": False,
          "norm_elementwise_affine": False, "share_ff": False,
          "attention_head_dim": 128, "audio_num_attention_heads": 32, "audio_attention_head_dim": 64}
NEWER = {"caption_proj_before_connector": True, "caption_projection_first_linear": False, "caption_proj_input_norm": False,
         "caption_projection_second_linear": False, "apply_gated_attention": True, "cross_attention_adaln": True,
         "connector_apply_gated_attention": True, "connector_num_attention_heads": 32, "connector_attention_head_dim": 128,
         "connector_num_layers": 8, "audio_connector_num_attention_heads": 32, "audio_connector_attention_head_dim": 64,
         "audio_connector_num_layers": 8}
AUDIO = {"model": {"params": {"sampling_rate": 16000, "ddconfig": {
    "ch": 128, "out_ch": 2, "ch_mult": [1, 2, 4], "num_res_blocks": 2, "attn_resolutions": [], "resolution": 256, "z_channels": 8,
    "norm_type": "pixel", "causality_axis": "height", "dropout": 0.0, "mid_block_add_attention": False, "in_channels": 2, "double_z": True,
    "mel_bins": 64}}}, "preprocessing": {"stft": {"hop_length": 160, "filter_length": 1024, "causal": True}, "mel": {"n_mel_channels": 64}}}
PLAIN_VOCODER = {"resblock": "1", "stereo": True, "resblock_kernel_sizes": [3, 7, 11], "upsample_rates": [6, 5, 2, 2, 2],
                 "upsample_kernel_sizes": [16, 15, 8, 4, 4], "resblock_dilation_sizes": [[1, 3, 5]] * 3, "upsample_initial_channel": 1024}
AMP = {"resblock": "AMP1", "stereo": True, "activation": "snakebeta", "use_tanh_at_final": False, "use_bias_at_final": False,
       "resblock_kernel_sizes": [3, 7, 11], "resblock_dilation_sizes": [[1, 3, 5]] * 3}
EXTENDED = {"vocoder": {**AMP, "upsample_initial_channel": 1536, "upsample_rates": [5, 2, 2, 2, 2, 2],
                        "upsample_kernel_sizes": [11, 4, 4, 4, 4, 4]},
            "bwe": {**AMP, "upsample_initial_channel": 512, "upsample_rates": [6, 5, 2, 2, 2], "upsample_kernel_sizes": [12, 11, 4, 4, 4],
                    "n_fft": 512, "hop_length": 80, "num_mels": 64, "input_sampling_rate": 16000, "output_sampling_rate": 48000}}
RESIDUAL = [ALL, {"multiplier": 2, "residual": True}]
CONFIGS = {
    "2.0": {"transformer": COMMON, "audio_vae": AUDIO, "vocoder": PLAIN_VOCODER,
            "vae": {"timestep_conditioning": False, "causal_decoder": False, "encoder_blocks": encoder((4, 6, 6, 2, 2), (2, 2, 2, 2)),
                    "decoder_blocks": decoder((5, 5, 5, 5), [RESIDUAL] * 3)}},
    "2.3": {"transformer": {**COMMON, **NEWER}, "audio_vae": AUDIO, "vocoder": EXTENDED,
            "vae": {"timestep_conditioning": False, "causal_decoder": False, "spatial_padding_mode": "zeros",
                    "encoder_blocks": encoder((4, 6, 4, 2, 2), (2, 2, 2, 1)),
                    "decoder_blocks": decoder((4, 6, 4, 2, 2), [[SPACE, {"multiplier": 2}], [TIME, {"multiplier": 2}], [ALL, {"multiplier": 1}],
                                                                [ALL, {"multiplier": 2}]])}}}


def tensors(config):
    """Of a whole file, without values."""
    import torch
    from ltx_core.model.audio_vae.model_configurator import AudioDecoderConfigurator, AudioEncoderConfigurator, VocoderConfigurator
    from ltx_core.model.transformer.model_configurator import LTXModelConfigurator
    from ltx_core.model.video_vae.model_configurator import VideoDecoderConfigurator, VideoEncoderConfigurator
    from ltx_core.text_encoders.gemma.encoders.encoder_configurator import EmbeddingsProcessorConfigurator
    parts = {"model.diffusion_model.": LTXModelConfigurator, "vae.encoder.": VideoEncoderConfigurator, "vae.decoder.": VideoDecoderConfigurator,
             "audio_vae.encoder.": AudioEncoderConfigurator, "audio_vae.decoder.": AudioDecoderConfigurator, "vocoder.": VocoderConfigurator,
             "": EmbeddingsProcessorConfigurator}
    moved = {"vae.encoder.per_channel_statistics.": "vae.per_channel_statistics.", "vae.decoder.per_channel_statistics.": "vae.per_channel_statistics.",
             "audio_vae.encoder.per_channel_statistics.": "audio_vae.per_channel_statistics.",
             "audio_vae.decoder.per_channel_statistics.": "audio_vae.per_channel_statistics.",
             "feature_extractor.": "text_embedding_projection.", "video_connector.": "model.diffusion_model.video_embeddings_connector.",
             "audio_connector.": "model.diffusion_model.audio_embeddings_connector."}
    found = {}
    for prefix, configurator in parts.items():
        with torch.device("meta"):
            state = configurator.from_config(config).state_dict()
        for key, value in state.items():
            name = prefix + key
            for old, new in moved.items():
                name = new + name.removeprefix(old) if name.startswith(old) else name
            found[name] = list(value.shape)
    return found


def generate():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for version, config in CONFIGS.items():
        found = tensors(config)
        kept = {name: shape for name, shape in sorted(found.items()) if not re.search(r"model\.transformer_blocks\.[1-9]", name)}
        text = json.dumps({"model_version": version, "config": config, "shapes": kept}, separators=(",", ":"))
        (FOLDER / f"{version}.json").write_text(text + "\n")
        print("ltx2 single file", version, len(found), "tensors,", len(text), "bytes")


if __name__ == "__main__":
    generate()
