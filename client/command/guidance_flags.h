// SPDX-License-Identifier: Apache-2.0
// The flags that say how a video is denoised: schedule, and what its steps are guided by.
#pragma once

#include <optional>
#include <vector>

#include "reel/v1/video.pb.h"
#include <CLI/App.hpp>

namespace reel::client {

class GuidanceFlags {
 public:
  // `command` keeps references to this object.
  void AddTo(CLI::App& command);
  // Only what was given.
  void Fill(v1::VideoSpec& spec) const;

 private:
  std::optional<double> scale_, rescale_, audio_scale_, audio_rescale_;
  std::optional<double> stg_, audio_stg_, modality_, audio_modality_;
  std::vector<int> stg_blocks_;
  std::vector<double> timesteps_;
};

}  // namespace reel::client
