// SPDX-License-Identifier: Apache-2.0
// Everything of one LTX-2 model: read from a diffusers folder, on one device or on a group.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/adapting/adapter_shelf.h"
#include "model/bridge/rank_crew.h"
#include "model/conditions/condition_pictures.h"
#include "model/fit_plan.h"
#include "model/latents/latents.h"
#include "model/layers/fitted_load.h"
#include "model/layers/weights.h"
#include "model/load_options.h"
#include "model/ltx2/prompts.h"
#include "model/ltx2/sound_output.h"
#include "model/ltx2/transformer_ranks.h"
#include "model/sampler/schedule.h"
#include "model/vae/diffusion_decoder.h"
#include "model/vae/latent_upsampler.h"
#include "model/vae/rank_parts.h"
#include "model/vae/vae_config.h"
#include "model/vae/vae_decoder.h"
#include "model/vae/vae_encoder.h"

namespace reel::model::ltx2 {

// The most tokens of a text, with those that fill it.
inline constexpr int kMostTextTokens = 1024;

struct Ltx2Model {
  at::ScalarType dtype = at::kFloat;  // of all but the vocoder, which computes in fp32
  at::Device device = at::kCPU;
  SchedulerConfig scheduler;
  Prompts prompts;
  Transformer transformer;
  VaeConfig vae_config;
  VaeEncoder encoder;
  VaeDecoder decoder;
  // Set if the configuration names it: makes the pictures instead of `decoder`, except previews.
  std::optional<DiffusionDecoder> diffusion_decoder;
  LatentStatistics statistics;  // fp32
  SoundOutput sound;
  // For films in two passes, of distilled models: others want an adapter in each.
  std::optional<LatentUpsampler> upsampler;
  int64_t parameters = 0, bytes = 0;
  // Of all its files together, with the adapters; empty without a manifest.
  std::string weights_sha256;
  std::vector<FixedAdapter> adapters;           // in its weights
  std::unique_ptr<AdapterShelf> adapter_shelf;  // of requests; null: they take none
  // The other devices of a group. Null and empty on one device, which is then `device`.
  std::unique_ptr<RankCrew> crew;
  std::vector<PeerParts<Transformer>> peers;

  // The transformers of all devices, borrowed from the model.
  TransformerRanks ranks() const {
    if (crew == nullptr) return transformer;
    return {*crew, TransformersOf<Transformer>(*this)};
  }
  // Whether it was trained for a few given steps, without guidance: its schedule does not depend on
  // the size of the video.
  bool is_distilled() const { return !scheduler.use_dynamic_shifting; }

  // A request's conditions at the size of a pass. INVALID_ARGUMENT names the condition and the
  // rule.
  absl::StatusOr<std::vector<PictureCondition>> ConditionsOf(const GenerationSpec& spec,
                                                             const LatentShape& pass) const;
};

// Of a model without values too.
WeightSizes SizesOf(const Ltx2Model& model);

// `options` as for LTX-Video. Throws what libtorch throws. NOT_FOUND and FAILED_PRECONDITION name
// the part that is missing, not supported, or of another size than its neighbours.
absl::StatusOr<std::unique_ptr<Ltx2Model>> LoadLtx2Model(const LoadOptions& options,
                                                         at::Device device,
                                                         Values values = Values::kStored,
                                                         const FittedLoad& fitted = {});

}  // namespace reel::model::ltx2
