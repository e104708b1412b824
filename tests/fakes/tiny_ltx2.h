// SPDX-License-Identifier: Apache-2.0
// A whole LTX-2 model that makes a film in a second. It is a folder on disk with the tiny
// components of tests/golden/ltx2 and ltx2_sound, and weights drawn from seeds in the order of
// golden_ltx2.py. Free of torch.
#pragma once

#include <cstdint>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {

// A safetensors file of tensors with these shapes, by name. Norms lie around `norm`.
std::string DrawnWeights(const nlohmann::json& shapes, uint64_t seed, double norm = 1,
                         const nlohmann::json& metadata = nullptr);

enum class Scheduler { kDynamic, kStatic };  // of the releases with many steps; of distilled ones

class TinyFolder {
 public:
  // A folder of version "2.0" (its sound at 600 Hz), "2.3" (at 48 kHz), or "2.5". The last has
  // Gemma 4, and a tokenizer that puts nothing in front of a text.
  explicit TinyFolder(const std::string& variant, Scheduler scheduler = Scheduler::kDynamic);
  const std::string& path() const { return scratch_.path(); }
  // Replaces a value of `part`/config.json.
  void Set(const std::string& part, const std::string& key, const nlohmann::json& value) const;
  void Remove(const std::string& part) const;
  // latent_upsampler/ of "rational-x2", "rational-x1.5", "x2" or "temporal".
  void AddUpsampler(const std::string& name) const;
  // diffusion_decoder/ of 2.5.
  void AddDiffusionDecoder() const;
  // An upsampler as it is released: a file beside the model, its configuration in the metadata.
  void AddUpsamplerFile(const std::string& name, const nlohmann::json& config) const;

 private:
  const reel::testing::TempFolder scratch_;
};

}  // namespace reel::model::ltx2
