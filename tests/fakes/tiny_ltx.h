// SPDX-License-Identifier: Apache-2.0
// A whole LTX-Video model that renders in milliseconds: one of tests/golden/models as a folder on
// disk, with its weights drawn from seeds in the order of golden_models.py. Free of torch.
#pragma once

#include <string>

#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {

// A diffusers folder with the weights of one generation ("0.9.0", "0.9.1", "0.9.5").
class TinyFolder {
 public:
  explicit TinyFolder(const std::string& version);
  const std::string& path() const { return scratch_.path(); }
  // Exchanges the scheduler for that of another generation, as the condition pipeline needs it.
  void TakeSchedulerOf(const std::string& version) const;
  // Gives its transformer as many blocks, and its text encoder as many layers. Its weights are of
  // two: load it with random ones.
  void SetLayers(int count) const;
  // Adds the latent upsampler `name` of tests/golden/upsampler.
  void AddUpsampler(const std::string& name) const;

 private:
  const reel::testing::TempFolder scratch_;
};

}  // namespace reel::model::ltx
