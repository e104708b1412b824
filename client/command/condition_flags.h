// SPDX-License-Identifier: Apache-2.0
// The flags for pictures and clips that a video must contain or follow: --image, --last-image,
// --condition, --image-crf, --reference, --reference-attention, and for their sound: --sound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/command/session.h"
#include "kernels/base/program/condition_file.h"
#include "reel/v1/video.pb.h"
#include <CLI/App.hpp>

namespace reel::client {

// Adds a clip that the second pass of a preset refines, and what the spec leaves out of size, rate
// and length (clip_shape.h). INVALID_ARGUMENT names the file. A large one is sent ahead.
absl::Status AddRefinedClip(Session& session, const std::string& path, v1::VideoSpec& spec);

class ConditionFlags {
 public:
  // `command` keeps references to this object.
  void AddTo(CLI::App& command);
  // Reads the files into the spec, and sends large ones ahead. If only the model knows how long the
  // video will be, asks the server where the last image goes. INVALID_ARGUMENT names a file. Tells
  // the session which flag each condition is of.
  absl::Status Fill(Session& session, v1::VideoSpec& spec) const;

 private:
  std::string image_, last_image_, sound_;
  std::vector<ConditionFile> files_;
  std::optional<ConditionFile> reference_;
  std::optional<double> attention_;  // of the reference
  std::optional<int> crf_;
};

}  // namespace reel::client
