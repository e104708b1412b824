// SPDX-License-Identifier: Apache-2.0
// The network between two passes, LTXLatentUpsamplerModel or LTX2LatentUpsamplerModel: latents to
// latents of twice or one and a half times the width and height, or twice the frames. It runs once
// a request; all but its convolutions is libtorch's alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/latents/latents.h"
#include "model/layers/weights.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

struct UpsamplerConfig {
  int64_t channels = 128;  // of the latents
  int64_t width = 512;     // channels inside
  int64_t blocks = 4;      // before, and after the upsampling
  bool flat = false;       // convolves frame by frame
  bool spatial = true;
  bool temporal = false;
  bool rational = false;  // sides grow and then shrink, blurred, if they grow alone
  int64_t grow = 2, shrink = 1;

  // Peak of numbers in memory for each token of its output.
  int64_t TokenNumbers() const;
};

// The keys that both classes have; those that are missing are as in `defaults`. Errors are
// remembered in `reader`.
UpsamplerConfig ReadUpsamplerKeys(ConfigReader& reader, const UpsamplerConfig& defaults);

// Reads the configuration of an LTXLatentUpsamplerModel. FAILED_PRECONDITION names `source`, the
// key and the rule.
absl::StatusOr<UpsamplerConfig> ReadUpsamplerConfig(const nlohmann::json& json,
                                                    const std::string& source);

// Immutable after loading.
class LatentUpsampler {
 public:
  static absl::StatusOr<LatentUpsampler> Load(const WeightSet& stored,
                                              const UpsamplerConfig& config, at::ScalarType dtype,
                                              at::Device device);

  const UpsamplerConfig& config() const { return config_; }
  at::ScalarType dtype() const { return initial_conv_.weight.scalar_type(); }
  int64_t bytes() const { return bytes_; }
  int64_t parameters() const { return parameters_; }
  // [1, C, F, h, w], not normalised, in its type. Norms look at the whole clip: there are no
  // pieces.
  at::Tensor operator()(const Ops& ops, const at::Tensor& latents) const;

 private:
  struct Conv {
    at::Tensor weight, bias;
  };
  struct Norm {
    at::Tensor weight, bias;
  };
  struct Block {
    Conv conv1, conv2;
    Norm norm1, norm2;
  };

  explicit LatentUpsampler(const UpsamplerConfig& config) : config_(config) {}
  static at::Tensor Convolve(const Ops& ops, const Conv& conv, const at::Tensor& x);
  static at::Tensor Normalize(const Norm& norm, const at::Tensor& x);
  static at::Tensor Run(const Ops& ops, const Block& block, const at::Tensor& x);
  at::Tensor GrowSides(const Ops& ops, const at::Tensor& pictures) const;
  at::Tensor Upsample(const Ops& ops, const at::Tensor& x) const;

  UpsamplerConfig config_;
  Conv initial_conv_, upsampler_, final_conv_;
  Norm initial_norm_;
  at::Tensor blur_;  // [1, 1, 5, 5], where sides grow by a ratio
  std::vector<Block> before_, after_;
  int64_t parameters_ = 0, bytes_ = 0;
};

// Channel by channel towards the mean and the deviation of `reference`; `factor` 0 is not at all, 1
// wholly.
at::Tensor MatchStatistics(const at::Tensor& latents, const at::Tensor& reference, double factor);

// Draws in what is large, smoothly; `compression` 0..1.
at::Tensor ToneMap(const at::Tensor& latents, double compression);

// How the upsampled latents are brought back to those that they came from.
struct UpsampleTouch {
  double match_statistics = 0;  // "adain" of the reference
  double tone_map = 0;

  friend bool operator==(const UpsampleTouch&, const UpsampleTouch&) = default;
};

// LTXLatentUpsamplePipeline from normalised latents to normalised latents, fp32 both. In between
// they are of the upsampler's type.
at::Tensor UpsampleLatents(const Ops& ops, const LatentUpsampler& upsampler,
                           const LatentStatistics& statistics, const UpsampleTouch& touch,
                           const at::Tensor& latents);

}  // namespace reel::model
