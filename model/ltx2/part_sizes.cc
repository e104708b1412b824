// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/part_sizes.h"

#include <initializer_list>

#include "absl/strings/str_cat.h"

namespace reel::model::ltx2 {
namespace {

// What one part has, and what another wants it to have.
struct Pair {
  const char* value;
  double has;
  const char* other;
  double wants;
};

absl::Status CheckPairs(const std::string& folder, std::initializer_list<Pair> pairs) {
  for (const Pair& pair : pairs) {
    if (pair.has == pair.wants) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the parts of the folder do not match: ", folder, ": ", pair.value, " is ",
                     pair.has, ", ", pair.other, " is ", pair.wants));
  }
  return absl::OkStatus();
}

double Number(int64_t value) { return static_cast<double>(value); }

}  // namespace

absl::Status CheckVideo(const VaeConfig& vae, const TransformerConfig& transformer,
                        const std::string& folder) {
  return CheckPairs(
      folder,
      {{"the video autoencoder's latent_channels", Number(vae.latent_channels),
        "the transformer's in_channels", Number(transformer.video.channels)},
       {"the video autoencoder's temporal_compression_ratio", Number(vae.temporal_compression),
        "the first of the transformer's vae_scale_factors",
        Number(transformer.pixels_per_latent[0])},
       {"the video autoencoder's spatial_compression_ratio", Number(vae.spatial_compression),
        "the second of the transformer's vae_scale_factors",
        Number(transformer.pixels_per_latent[1])},
       {"the video autoencoder's spatial_compression_ratio", Number(vae.spatial_compression),
        "the third of the transformer's vae_scale_factors",
        Number(transformer.pixels_per_latent[2])}});
}

absl::Status CheckDiffusionDecoder(const DiffusionDecoderConfig& decoder, const VaeConfig& vae,
                                   const std::string& folder) {
  return CheckPairs(folder,
                    {{"the diffusion decoder's latent_channels", Number(decoder.latent_channels),
                      "the video autoencoder's latent_channels", Number(vae.latent_channels)},
                     {"the diffusion decoder's scaling_factor", decoder.scaling_factor,
                      "the video autoencoder's scaling_factor", vae.scaling_factor}});
}

absl::Status CheckSound(const AudioVaeConfig& vae, const TransformerConfig& transformer,
                        const std::string& folder) {
  return CheckPairs(
      folder, {{"the audio autoencoder's latent_channels times bins", Number(vae.TokenChannels()),
                "the transformer's audio_in_channels", Number(transformer.audio.channels)},
               {"the audio autoencoder's sample_rate", Number(vae.sample_rate),
                "the transformer's audio_sampling_rate", transformer.sampling_rate},
               {"the audio autoencoder's mel_hop_length", Number(vae.hop_length),
                "the transformer's audio_hop_length", transformer.hop_length},
               {"the audio autoencoder's compression in time", Number(AudioVaeConfig::kCompression),
                "the transformer's audio_scale_factor", Number(transformer.spectra_per_latent)}});
}

absl::Status CheckText(const GemmaConfig& encoder, int64_t vocabulary,
                       const ConnectorsConfig& connectors, const std::string& folder) {
  if (vocabulary > encoder.vocab_size) {
    return absl::FailedPreconditionError(
        absl::StrCat("the parts of the folder do not match: ", folder, ": the tokenizer has ",
                     vocabulary, " tokens, the text encoder ", encoder.vocab_size));
  }
  return CheckPairs(
      folder, {{"the text encoder's hidden_size", Number(encoder.width),
                "the connectors' caption_channels", Number(connectors.caption_channels)},
               {"the text encoder's number of hidden states", Number(encoder.num_layers() + 1),
                "the connectors' text_proj_in_factor", Number(connectors.num_states)}});
}

}  // namespace reel::model::ltx2
