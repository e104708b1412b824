// SPDX-License-Identifier: Apache-2.0
// Everything of one LTX-Video model: read from a diffusers folder or a single-file checkpoint, held
// in one type on one device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/adapting/adapter_shelf.h"
#include "model/bridge/rank_crew.h"
#include "model/fit_plan.h"
#include "model/frames/vae_tiles.h"
#include "model/latents/latents.h"
#include "model/layers/fitted_load.h"
#include "model/load_options.h"
#include "model/ltx/transformer.h"
#include "model/sampler/schedule.h"
#include "model/text/prompt_encoder.h"
#include "model/vae/latent_upsampler.h"
#include "model/vae/rank_parts.h"
#include "model/vae/vae_config.h"
#include "model/vae/vae_decoder.h"
#include "model/vae/vae_encoder.h"

namespace reel::model::ltx {

struct LtxModel {
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  std::string version;  // "0.9.0", "0.9.1", "0.9.5": the oldest release with such parts
  SchedulerConfig scheduler;
  PromptEncoder prompts;
  Transformer transformer;
  VaeConfig vae_config;
  VaeEncoder encoder;
  VaeDecoder decoder;
  VaeTiling tiling;
  LatentStatistics statistics;
  std::optional<LatentUpsampler> upsampler;  // for presets of two passes
  int64_t parameters = 0;
  // The SHA-256 of all its files and adapters together; empty without a manifest.
  std::string weights_sha256;
  std::vector<FixedAdapter> adapters;           // in its weights
  std::unique_ptr<AdapterShelf> adapter_shelf;  // of requests; null: they take none
  // The other devices of a group. Null and empty on one device, which is then `device`.
  std::unique_ptr<RankCrew> crew;
  std::vector<PeerParts<Transformer>> peers;
};

// Of a model without values too.
WeightSizes SizesOf(const LtxModel& model);

// The options' `dtype` empty: fp32 on a CPU; on a GPU bf16, or fp16 where it computes in no bf16. A
// group's devices are `device` and the options' `peers`; the files are read once, and copied from
// the first device to the others. Throws what libtorch throws. NOT_FOUND and FAILED_PRECONDITION
// name the file and what is wrong with it.
absl::StatusOr<std::unique_ptr<LtxModel>> LoadLtxModel(const LoadOptions& options,
                                                       at::Device device,
                                                       Values values = Values::kStored,
                                                       const FittedLoad& fitted = {});

}  // namespace reel::model::ltx
