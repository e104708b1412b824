// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: the kernels that it requests, and those that ran. Pure.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

struct Arm {
  std::string text;  // as typed
  std::string profile;
  std::map<std::string, std::string> variants;
};

// Parses "fp8", "auto+rms_norm=sm80+linear=aten" or "+rms_norm=sm80": a profile, then single
// variants over its choice. INVALID_ARGUMENT for anything else.
absl::StatusOr<Arm> ParseArm(const std::string& text);

// Requests these kernels in `spec`.
void Select(const Arm& arm, v1::VideoSpec& spec);

// The variants that ran, by operator: "sm90", or "sm90, sm80_general" if calls used several. Lossy
// ones are marked.
std::map<std::string, std::string> VariantsThatRan(const v1::RunStats& stats);
// Whether one of them trades accuracy for speed.
bool RanLossy(const v1::RunStats& stats);

}  // namespace reel::client
